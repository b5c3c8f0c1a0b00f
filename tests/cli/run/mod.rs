//! `ropeline run`: its requirements, its messages, and its refusals.

mod crawlers;
mod demo;
mod drain;
mod foreign;
mod idle;
pub mod listeners;
mod logs;
mod sockets;
mod states;
mod systemd;
mod tls;

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::gate::{Gate, Site, line_with};
use crate::program::Program;
use crate::shop::Shop;
use crate::until;

/// Any free port, on both sides.
const ANYWHERE: [&str; 4] = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];

#[test]
fn an_upstream_is_all_it_needs() {
    let (folder, shop) = (tempfile::tempdir().unwrap(), Shop::open());
    let url = shop.url();
    let args = [&["run", "--upstream", &url][..], &ANYWHERE].concat();
    let gate = Gate::serving(Program::start(folder.path(), &args));

    let said = until("the summary", || {
        Some(gate.program.out()).filter(|said| said.contains("first"))
    });
    for part in [
        &format!("is in front of {}.", shop.address)[..],
        &format!("visitors   http://{}/", gate.address),
        &format!("dashboard  http://{}/", gate.admin),
        "/*: at most 100 inside at once",
        "ropeline-data",
        "ropeline init",
    ] {
        assert!(said.contains(part), "{part} is not said:\n{said}");
    }
    assert!(said.lines().count() <= 10 && !said.contains(" = "), "{said}");

    let key = folder.path().join("ropeline-data/token.key");
    assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let log = gate.program.err();
    let made = line_with(&log, "made a key").unwrap_or_else(|| panic!("nothing about the key:\n{log}"));
    assert!(made["path"].as_str().unwrap().ends_with("token.key"), "{made}");
    let secret = std::fs::read_to_string(&key).unwrap();
    let secret = &secret[..64];
    assert!(!said.contains(secret) && !log.contains(secret));

    let mut visitor = gate.visitor();
    for page in ["/", "/deep/link?a=b"] {
        let answer = visitor.goes_to(page);
        assert!(answer.is_the_shops() && answer.body.contains(page), "{answer:?}");
    }
    assert!(
        visitor.jar.keys().any(|name| name == "ropeline-pass-main"),
        "{:?}",
        visitor.jar
    );
    assert_eq!(gate.stop().code, Some(0));
}

#[test]
fn the_values_in_force_are_printed_and_secrets_masked() {
    let secret = "do not print this secret of many bytes";
    let tables = format!(
        "[tokens]\nkeys = [{{ id = \"first\", secret = \"{secret}\" }}]\n[[limit]]\nname = \"seats\"\n\
         routes = [\"/seats/*\"]\nrequests = 5\nwindow = \"10s\""
    );
    let site = Site::new("claim_deadline = \"80s\"", &tables);
    let gate = Gate::serving(Program::start(&site.path(""), &["run", "--print-config"]));
    let said = gate.program.out();
    for line in ["claim_deadline = \"80s\"", "window = \"10s\"", "total_active_users = 1"] {
        assert!(said.lines().any(|said| said == line), "{line} is not said:\n{said}");
    }
    assert!(said.contains("first") && !said.contains(secret), "{said}");
    assert!(!site.path("data/token.key").exists(), "a configured key is enough");
    let ended = gate.stop();
    assert!(!ended.err.contains(secret) && ended.code == Some(0), "{ended:?}");
}

/// A gate whose file has this line for its listeners, with `ROPELINE_LISTEN` and options.
fn listening(env: &str, line: &str, options: &[&str]) -> (Site, Program) {
    let site = Site::new("", "");
    site.edit("listen = [\"127.0.0.1:0\"]\n", line);
    let program = with_listen(&site, env, &[&["run"], options].concat());
    (site, program)
}

fn with_listen(site: &Site, env: &str, args: &[&str]) -> Program {
    let var = format!("ROPELINE_LISTEN={env}");
    let args = [&[&var, env!("CARGO_BIN_EXE_ropeline")], args].concat();
    Program::start_as(Path::new("/usr/bin/env"), &site.path(""), &args)
}

#[test]
fn an_option_for_the_listeners_goes_before_the_file_and_the_file_before_the_environment() {
    let listens = |env: &str, line: &str, options: &[&str]| {
        let (_site, program) = listening(env, line, options);
        let listens = Gate::serving(program).logs("serving")["listen"]
            .as_str()
            .unwrap()
            .to_owned();
        let ip = |place: &str| place.parse::<SocketAddr>().unwrap().ip().to_string();
        listens.split(", ").map(ip).collect::<Vec<_>>().join(" ")
    };
    let line = "listen = [\"127.0.0.3:0\"]\n";
    assert_eq!(listens("127.0.0.2:0", "", &[]), "127.0.0.2");
    assert_eq!(listens("127.0.0.2:0, 127.0.0.5:0", "", &[]), "127.0.0.2 127.0.0.5");
    assert_eq!(listens("127.0.0.2:0", line, &[]), "127.0.0.3");
    assert_eq!(listens("127.0.0.2:0", line, &["--listen", "127.0.0.4:0"]), "127.0.0.4");

    let (_site, program) = listening("nowhere", "", &[]);
    let ended = program.ended();
    assert_eq!(ended.code, Some(78), "{ended:?}");
    assert!(
        ended.err.contains("ROPELINE_LISTEN: server.listen: \"nowhere\""),
        "{ended:?}"
    );
}

/// A file that would be refused at the start is refused before it.
#[test]
fn check_and_doctor_know_the_listeners_of_the_environment() {
    let site = Site::new("", "");
    site.edit("listen = [\"127.0.0.1:0\"]\n", "");
    let admin = format!("http://{}", crate::commands::nobody_listens());
    for (env, code) in [("nowhere", 78), ("127.0.0.1:8099", 0)] {
        for args in [&["check"][..], &["doctor", "config.toml", "--admin", &admin]] {
            let ended = with_listen(&site, env, args).ended();
            assert_eq!(ended.out.contains("\"nowhere\""), env == "nowhere", "{ended:?}");
            let is_of_machine = args[0] == "doctor" && code == 0;
            assert!(ended.code == Some(code) || is_of_machine, "{env}: {ended:?}");
        }
    }
    // A file that names its listeners holds.
    site.edit("[server]\n", "[server]\nlisten = [\"127.0.0.1:0\"]\n");
    assert_eq!(with_listen(&site, "nowhere", &["check"]).ended().code, Some(0));
}

#[test]
fn mistakes_are_told_all_at_once_and_nothing_starts() {
    let site = Site::new(
        "capacity = 3\ngrace = \"5\"",
        "[tokens]\nkeys = [{ id = \"k\", secret = \"short\" }]",
    );
    let ended = site.run(&["run"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(78), ""), "{ended:?}");
    for told in ["capacity", "grace", "keys", "3 mistakes"] {
        assert!(ended.err.contains(told), "{told} is not told:\n{}", ended.err);
    }
    assert!(!site.path("data").exists());

    let ended = site.run(&["run", "--config", "elsewhere.toml"]);
    assert_eq!(ended.code, Some(78));
    assert!(ended.err.contains("elsewhere.toml"), "{ended:?}");

    let ended = site.run(&["run", "--upstream", "shop"]);
    assert_eq!(ended.code, Some(78));
    assert!(ended.err.contains("--upstream: upstream.url"), "{ended:?}");
}

#[test]
fn a_taken_port_is_told_with_what_to_do_and_the_first_gate_goes_on() {
    let site = Site::new("", "");
    let gate = site.start();
    for side in ["--listen", "--admin-listen"] {
        let (mut args, folder) = (ANYWHERE, tempfile::tempdir().unwrap());
        let taken = if side == "--listen" { gate.address } else { gate.admin }.to_string();
        let at = args.iter().position(|arg| *arg == side).unwrap();
        args[at + 1] = &taken;
        let url = site.shop.url();
        let ended = Program::run(folder.path(), &[&["run", "--upstream", &url][..], &args].concat());
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let told = format!("cannot listen on {taken}");
        assert!(
            ended.err.contains(&told) && ended.err.contains("stop it, or set"),
            "{ended:?}"
        );
        assert!(!folder.path().join("ropeline-data").exists(), "nothing was written");
    }
    gate.insider();
}
