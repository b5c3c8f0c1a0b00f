//! An archive made by working gates, and the output of `ropeline report` and `ropeline log` for it.

use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::program::Program;
use crate::until;
use crate::visitor::Visitor;

/// The files of an archive, in order.
fn files(site: &Site, folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(site.path(folder))
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    files
}

fn report(site: &Site, folders: &[&str]) -> Value {
    let ended = site.run(&[&["report", "--format", "json"], folders].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    serde_json::from_str(&ended.out).unwrap()
}

#[test]
fn a_gates_archive_and_its_data_folder_tell_the_same_and_nothing_of_anybody() {
    let site = Site::new("", "");
    site.set_store("archive = \"archive\"");
    let gate = site.start();
    let mut inside = gate.insider();
    let mut next = gate.waits(1);
    gate.waits(2).leaves();
    inside.leaves();
    until("the turn", || next.goes_to("/").is_the_shops().then_some(()));
    let shown = gate.asks_admin("/api/v1/gates").json()["log"]["hash"].clone();
    assert_eq!(gate.stop().code, Some(0));
    let shown = site.run(&["report", "archive", "--expect", shown.as_str().unwrap()]);
    assert_eq!(shown.code, Some(0), "what a gate showed is in its archive: {shown:?}");

    let (archived, kept) = (report(&site, &["archive"]), report(&site, &["data"]));
    let tally = &archived["lines"][0]["tally"];
    for (name, count) in [
        ("joins", 3),
        ("calls", 2),
        ("claims", 2),
        ("left", 1),
        ("inversions", 0),
    ] {
        assert_eq!(tally[name], count, "{name} in {tally}");
    }
    assert_eq!(kept["lines"][0]["tally"], *tally);
    assert_eq!(kept["covers"]["hash"], archived["covers"]["hash"]);
    let hash = archived["covers"]["hash"].as_str().unwrap();
    let text = site.run(&["report", "archive", "--expect", hash]);
    assert!(
        text.code == Some(0) && text.out.ends_with("who was there\n") && text.out.contains("0 entries before the end"),
        "{text:?}"
    );
    let page = site.run(&["report", "archive", "--format", "html", "--output", "report.html"]);
    assert_eq!(page.code, Some(0), "{page:?}");
    let page = fs::read_to_string(site.path("report.html")).unwrap();
    assert!(page.contains("Whole and fair") && page.ends_with("</html>"), "{page}");

    let said = site.run(&["log", "archive"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(
        said.out.contains("shop: 1 join") && said.out.contains("goodbye"),
        "{said:?}"
    );
    assert_eq!(site.run(&["log", "data"]).out, said.out);
    let third = said.out.lines().nth(3).unwrap().split("  ").nth(1).unwrap();
    let rest = site.run(&["log", "archive", "--from", third, "--format", "json"]);
    let first: Value = serde_json::from_str(rest.out.lines().next().unwrap()).unwrap();
    assert_eq!(first["position"], third);

    let mut all = said.out + &rest.out + &page + &archived.to_string();
    for file in files(&site, "archive") {
        all += &String::from_utf8_lossy(&fs::read(file).unwrap());
    }
    for visitors in ["127.0.0.1", "ropeline-ticket", "user-agent", "Mozilla"] {
        assert!(!all.contains(visitors), "{visitors}");
    }
}

#[test]
fn a_gate_that_was_killed_leaves_a_whole_history_in_its_folder_and_in_its_archive() {
    let site = Site::new("", "");
    site.set_store("archive = \"archive\"");
    let gate = site.start();
    gate.insider();
    gate.kill();
    let gate = site.start();
    gate.visitor().goes_to("/");
    assert_eq!(gate.stop().code, Some(0));
    let kept = report(&site, &["data"]);
    let logs = kept["covers"]["logs"].as_array().unwrap();
    let from: Vec<_> = logs.iter().map(|log| log["goes_on_from"].as_str().unwrap()).collect();
    assert_eq!(from, ["nothing", "whole"]);
    assert_eq!(kept["lines"][0]["tally"]["joins"], 2);
    // Entries that the gate had not archived when it was killed are archived once it has read its log again.
    let archived = report(&site, &["archive"]);
    assert_eq!(archived["covers"]["logs"], kept["covers"]["logs"]);
    assert_eq!(archived["covers"]["entries"], kept["covers"]["entries"]);
    assert_eq!(archived["covers"]["hash"], kept["covers"]["hash"]);
}

#[test]
fn an_altered_archive_is_told_and_by_ten_lines_of_python_too() {
    let site = Site::new("", "");
    site.set_store("archive = \"archive\"");
    for visitors in 1..=2 {
        let gate = site.start();
        if visitors == 1 {
            gate.insider();
        } else {
            gate.waits(1);
        }
        assert_eq!(gate.stop().code, Some(0));
    }
    let findings = report(&site, &["archive"]);
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guides/audit.md")).unwrap();
    let (_, block) = page
        .split_once("<!-- check by hand -->\n```python\n")
        .expect("the program");
    fs::write(site.path("check.py"), block.split("```").next().unwrap()).unwrap();
    let by_hand = || {
        let mut python = Command::new("python3");
        let ended = python
            .arg(site.path("check.py"))
            .args(files(&site, "archive"))
            .output()
            .unwrap();
        (ended.status.success(), String::from_utf8(ended.stdout).unwrap())
    };
    let hash = findings["covers"]["hash"].as_str().unwrap().to_owned();
    assert_eq!(by_hand(), (true, format!("{hash}\n")));

    let file = files(&site, "archive").remove(0);
    let bytes = fs::read(&file).unwrap();
    let mut altered = bytes.clone();
    let at = altered.len() - 140;
    altered[at] ^= 1;
    fs::write(&file, altered).unwrap();
    assert!(!by_hand().0);
    let told = site.run(&["report", "archive"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(told.out.lines().last().unwrap().starts_with("NOT WHOLE: "), "{told:?}");
    assert_eq!(site.run(&["log", "archive"]).code, Some(1));

    fs::write(&file, bytes).unwrap();
    let other = "0".repeat(64);
    let told = site.run(&["report", "archive", "--expect", &other]);
    assert!(
        told.code == Some(1) && told.out.contains("is nowhere in this history"),
        "{told:?}"
    );
    for (args, code) in [
        (["report", "config.toml"].as_slice(), 66),
        (&["report", "nowhere"], 66),
        (&["report", "archive", "--expect", "abc"], 64),
        (&["log", "archive", "--from", "here"], 64),
        (&["log", "nowhere"], 66),
        (&["log", "data", "--follow"], 64),
        (&["log", "redis://127.0.0.1:1/x"], 64),
    ] {
        let ended = site.run(args);
        assert_eq!(ended.code, Some(code), "{args:?}: {ended:?}");
    }
}

/// A named operator removes a visitor, a network is let past, and the store is wiped while the archive stays.
#[test]
fn what_was_done_by_hand_and_a_wiped_store_are_in_the_verdict() {
    let site = Site::new("", "");
    site.set_store("archive = \"archive\"");
    site.edit(
        "threads = 1",
        &format!("threads = 1\nadmin_tokens = [{{ name = \"anna\", token = \"{TOKEN}\", may = \"change\" }}]"),
    );
    let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
    let gate = site.start();
    gate.insider();
    let status = gate.visitor().joins_as_app().json();
    let reference = status["reference"].as_str().unwrap_or_else(|| panic!("{status}"));
    let gone = format!("DELETE /api/v1/rooms/shop/visitors/{reference}");
    let ended = Visitor::new(gate.admin).asks(&gone, &bearer, "");
    assert_eq!(ended.json()["state"], "ended");
    assert_eq!(gate.stop().code, Some(0));

    site.edit(
        "total_active_users = 1",
        "total_active_users = 1\nbypass_networks = [\"127.0.0.0/8\"]",
    );
    let gate = site.start();
    assert!(gate.visitor().goes_to("/").is_the_shops());
    let room = || {
        Visitor::new(gate.admin)
            .asks("GET /api/v1/rooms/shop", &bearer, "")
            .json()
    };
    until("the log to know of it", || (room()["bypasses"] == 1).then_some(()));
    assert_eq!(gate.stop().code, Some(0));
    let told = site.run(&["report", "archive"]);
    let last = told.out.lines().last().unwrap();
    assert!(
        told.code == Some(0)
            && last.contains("eviction by anna: 1")
            && last.contains("bypass network by bypass_networks"),
        "{told:?}"
    );
    assert_eq!(site.run(&["report", "archive", "--strict"]).code, Some(1));

    fs::remove_dir_all(site.path("data")).unwrap();
    assert_eq!(site.start().stop().code, Some(0));
    let wiped = site.run(&["report", "archive"]);
    assert_eq!(wiped.code, Some(1), "{wiped:?}");
    let last = wiped.out.lines().last().unwrap();
    assert!(
        last.starts_with("NOT WHOLE: ") && last.contains("begins from nothing"),
        "{last}"
    );
}

const TOKEN: &str = "annas-token-0123456789abcdef";

#[test]
fn gates_that_share_a_store_and_a_folder_file_one_history_also_when_one_dies() {
    let store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), "");
    site.set_store("archive = \"archive\"");
    let gates = [site.start(), site.start()];
    for gate in &gates {
        until("calls", || {
            let gate = &gate.asks_admin("/api/v1/gates").json()["gate"];
            (gate["condition"] == "live" && gate["healing_secs"].is_null()).then_some(())
        });
    }
    let follows = Program::start(
        site.path("").as_path(),
        &["log", &store.url(), "--follow", "--room", "shop"],
    );
    until("the settings", || follows.out().contains("configured").then_some(()));
    gates[0].insider();
    until("what comes in", || {
        follows.out().contains("shop: claim 0").then_some(())
    });
    drop(follows);
    let mut waiting = gates[1].visitor();
    assert_eq!(waiting.goes_to("/").word(), "waiting");

    let url = store.url();
    let said = site.run(&["log", &url]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(
        said.out.contains("has read up to") && said.out.contains("shop: claim 0"),
        "{said:?}"
    );
    let only = site.run(&["log", &url, "--room", "shop"]);
    assert!(
        !only.out.contains("  -\n") && only.out.contains("shop: 1 join"),
        "{only:?}"
    );
    assert_eq!(site.run(&["log", &url, "--prefix", "other"]).code, Some(66));

    let [one, other] = gates;
    one.kill();
    until("an empty place on the roster", || {
        let gates = other.asks_admin("/api/v1/gates").json();
        (gates["gates"].as_array().unwrap().len() == 1).then_some(())
    });
    assert_eq!(other.stop().code, Some(0));
    let findings = report(&site, &["archive"]);
    assert_eq!(findings["lines"][0]["tally"]["joins"], 2);
    assert_eq!(findings["gates"].as_array().unwrap().len(), 2);
    assert!(
        findings["checks"]["votes_matched"].as_u64() > Some(0),
        "{}",
        findings["checks"]
    );
}

/// A gate that starts begins behind a snapshot, and no longer knows what the one before it had not filed.
#[test]
fn gates_that_are_restarted_one_after_the_other_leave_a_whole_archive() {
    let server = Server::start(&Options::default());
    let site = Site::shared(&server.url(), "");
    site.set_store("archive = \"archive\"");
    let mut gates = VecDeque::from([site.start(), site.start()]);
    gates.iter().for_each(Gate::lives);
    gates[0].insider();
    until("the full room at the other gate", || {
        let room = gates[1].asks_admin("/api/v1/rooms/shop").json();
        (room["sessions"] == 1).then_some(())
    });
    let snapshots = |gates: &VecDeque<Gate>| {
        let saved = |gate: &Gate| gate.figure("ropeline_store_snapshots_total");
        gates.iter().map(saved).sum::<u64>()
    };
    for _ in 0..2 {
        let before = snapshots(&gates);
        gates[0].waits(1).leaves();
        until("a snapshot", || (snapshots(&gates) > before).then_some(()));
        let oldest = gates.pop_front().unwrap();
        assert_eq!(oldest.stop().code, Some(0));
        let next = site.start();
        next.lives();
        gates.push_back(next);
    }
    for gate in gates {
        assert_eq!(gate.stop().code, Some(0));
    }
    let whole = site.run(&["report", "archive"]);
    assert!(
        whole.code == Some(0) && whole.out.lines().last().unwrap().starts_with("whole and fair"),
        "{whole:?}"
    );
}
