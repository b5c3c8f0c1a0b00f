//! An invalid configuration: no part of it is put in force, and the refusal is reported in all places.

use rustix::process::Signal;

use super::{capacity, refused, taken};
use crate::gate::{Gate, Site, line_with};
use crate::until;

/// The gate is as it was before, and says that the last configuration was refused for this.
fn stays(site: &Site, gate: &Gate, why: &str) {
    let admin = gate.admin.to_string();
    let told = gate.asks_admin("/api/v1/reload").json();
    assert_eq!(told["result"], "refused");
    let mistakes = told["mistakes"].as_array().expect("a list");
    assert!(mistakes.iter().any(|one| one.as_str().unwrap().contains(why)), "{told}");
    // Written perhaps a moment after the answer.
    let is_told = |log: &str| {
        let mut lines = log.lines();
        let mistake =
            |line: &str| line.contains("the configuration has a mistake") && line.contains(&why.replace('"', "\\\""));
        line_with(log, "the configuration was refused; the one before stays").is_some() && lines.any(mistake)
    };
    until("word of it in the log", || is_told(&gate.program.err()).then_some(()));
    assert!(gate.figure("ropeline_config_reloads_total{result=\"refused\"} ") >= 1);
    assert_eq!(gate.figure("ropeline_config_last_reload_successful "), 0);
    let rooms = site.run(&["rooms", "--admin", &admin]).out;
    assert!(rooms.contains("The configuration was refused at "), "{rooms}");
    let last = site.run(&["reload", "--last", "--admin", &admin]).out;
    assert!(last.starts_with("Refused at ") && last.contains(why), "{last}");
    assert_eq!(capacity(gate), 1);
}

/// No refusal is reported any more.
fn cleared(site: &Site, gate: &Gate) {
    assert_eq!(gate.figure("ropeline_config_last_reload_successful "), 1);
    assert_eq!(gate.asks_admin("/api/v1/reload").json()["result"], "taken");
    let rooms = site.run(&["rooms", "--admin", &gate.admin.to_string()]).out;
    assert!(!rooms.contains("refused"), "{rooms}");
}

#[test]
fn every_mistake_is_told_with_its_line_and_a_good_file_clears_it() {
    let site = Site::new("", "");
    let gate = site.start();
    let (mut inside, mut waiting) = (gate.insider(), gate.waits(1));
    let since = || gate.asks_admin("/api/v1/reload").json()["in_force_since"].to_string();
    let before = since();
    site.edit(
        "total_active_users = 1",
        "total_active_users = 5\ngrace = \"soon\"\nmode = \"ajar\"",
    );
    let told = refused(&site, &gate);
    assert!(
        told.contains("config.toml: line 15: room[0].grace: ") && told.contains("line 16: room[0].mode: "),
        "{told}"
    );
    assert!(
        told.ends_with("ropeline reload: the configuration was refused, and the one in force stays\n"),
        "{told}"
    );
    stays(&site, &gate, "line 15: room[0].grace");
    assert_eq!(since(), before);
    assert!(inside.goes_to("/").is_the_shops());
    assert_eq!(waiting.position(), Some(1));

    site.edit("\ngrace = \"soon\"\nmode = \"ajar\"", "");
    taken(&site, &gate);
    cleared(&site, &gate);
    assert_eq!(capacity(&gate), 5);
}

#[test]
fn what_only_a_start_reads_is_refused_with_everything_beside_it() {
    let site = Site::new("", "[logging]\nformat = \"json\"");
    let gate = site.start();
    site.edit("total_active_users = 1", "total_active_users = 5");
    for (from, to, told) in [
        (
            "listen = [\"127.0.0.1:0\"]",
            "listen = [\"127.0.0.1:0\", \"unix:/nowhere/new.sock\"]",
            "line 2: server.listen: this is read when the gate starts",
        ),
        (
            "threads = 1",
            "threads = 2",
            "line 4: server.threads: this is read when",
        ),
        (
            "url = \"embedded:data\"",
            "url = \"embedded:other\"",
            "store.url: this is read when",
        ),
        (
            "format = \"json\"",
            "format = \"text\"",
            "logging.format: this is read when",
        ),
    ] {
        site.edit(from, to);
        let words = refused(&site, &gate);
        assert!(words.contains(told) && words.contains("restart the gate"), "{words}");
        stays(&site, &gate, told);
        site.edit(to, from);
    }
    taken(&site, &gate);
    cleared(&site, &gate);
}

#[test]
fn a_file_that_is_gone_changes_nothing_and_one_that_is_back_clears_it() {
    let site = Site::new("", "");
    let gate = site.start();
    let mut inside = gate.insider();
    std::fs::rename(site.path("config.toml"), site.path("away")).unwrap();
    until("the refusal", || {
        (gate.asks_admin("/api/v1/reload").json()["result"] == "refused").then_some(())
    });
    stays(&site, &gate, "the file cannot be opened");
    assert!(inside.goes_to("/").is_the_shops());
    std::fs::rename(site.path("away"), site.path("config.toml")).unwrap();
    until("the file that is back", || {
        (gate.asks_admin("/api/v1/reload").json()["result"] == "taken").then_some(())
    });
    cleared(&site, &gate);
}

#[test]
fn what_a_file_names_is_checked_with_it() {
    let site = Site::new("", "[room.page]\ntemplate = \"page.html\"");
    std::fs::write(site.path("page.html"), "<html>one {{ title }}</html>").unwrap();
    let gate = site.start();
    let _inside = gate.insider();
    assert!(gate.visitor().goes_to("/").body.contains("<html>one "));
    std::fs::write(site.path("page.html"), "<html>two {{ nothing.of }}</html>").unwrap();
    site.edit("total_active_users = 1", "total_active_users = 2");
    let told = refused(&site, &gate);
    assert!(told.contains("room[0].page.template"), "{told}");
    stays(&site, &gate, "room[0].page.template");
    assert!(gate.visitor().goes_to("/").body.contains("<html>one "));
    std::fs::write(site.path("page.html"), "<html>two {{ title }}</html>").unwrap();
    site.edit("total_active_users = 2", "total_active_users = 1");
    // Its path is the same, and its content is not.
    gate.program.signal(Signal::HUP);
    until("the new page", || {
        let page = gate.visitor().goes_to("/");
        page.body.contains("<html>two ").then_some(())
    });
    // Said once it is in force, so perhaps a moment after the first who meets it.
    until("word of it", || {
        let log = gate.program.err();
        log.contains("room.shop.page.template holds something else")
            .then_some(())
    });
}

#[test]
fn a_changed_logo_and_name_are_on_the_next_page() {
    let page = "[room.page]\nlogo = \"logo.svg\"\nname = \"Spring <Sale>\"\naccent = \"#7a3e9d\"";
    let site = Site::new("", page);
    let logo = |fill: &str| format!("<svg xmlns=\"http://www.w3.org/2000/svg\"><path fill=\"{fill}\"/></svg>");
    std::fs::write(site.path("logo.svg"), logo("red")).unwrap();
    let gate = site.start();
    let _inside = gate.insider();
    let shown = gate.visitor().goes_to("/").body;
    for part in [
        "fill=%22red%22",
        "<b>Spring &lt;Sale&gt;</b>",
        ":root{--m:#7a3e9d}",
        "<span id=\"host\"></span>",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    std::fs::write(site.path("logo.svg"), logo("blue").replace("<path", "<script/><path")).unwrap();
    site.edit("Spring", "Summer");
    let told = refused(&site, &gate);
    assert!(
        told.contains("room[0].page.logo") && told.contains("a <script>"),
        "{told}"
    );
    assert!(gate.visitor().goes_to("/").body.contains("fill=%22red%22"));
    std::fs::write(site.path("logo.svg"), logo("blue")).unwrap();
    gate.program.signal(Signal::HUP);
    until("the new logo", || {
        let page = gate.visitor().goes_to("/").body;
        (page.contains("fill=%22blue%22") && page.contains("Summer &lt;Sale&gt;")).then_some(())
    });
    until("word of it", || {
        let log = gate.program.err();
        log.contains("room.shop.page.logo holds something else").then_some(())
    });
}

#[test]
fn no_secret_is_told_by_whatever_comes_of_it() {
    let key = |secret: &str| format!("keys = [{{ id = \"a\", secret = \"{secret}\" }}]");
    let first = key("hush-hush-first-0123456789-0123456789");
    let site = Site::new("", &format!("[tokens]\n{first}"));
    let gate = site.start();
    let mut inside = gate.insider();
    let rotated = first.replace(
        "keys = [",
        "keys = [{ id = \"b\", secret = \"hush-hush-second-0123456789-0123456789\" }, ",
    );
    site.edit(&first, &rotated);
    taken(&site, &gate);
    assert!(inside.goes_to("/").is_the_shops(), "the old key verifies still");
    assert!(gate.program.err().contains("tokens.keys"), "{}", gate.program.err());
    site.edit(&rotated, &key("hush-hush-short"));
    let told = refused(&site, &gate);
    assert!(told.contains("the secret has 15 bytes"), "{told}");
    site.edit(
        "url = \"embedded:data\"",
        "url = \"embedded:data\"\npassword = \"hush-hush-third\"",
    );
    site.edit(&key("hush-hush-short"), &key("hush-hush-first-0123456789-9876543210"));
    let words = told + &refused(&site, &gate);
    let shown = gate.asks_admin("/api/v1/reload").body + &gate.asks_admin("/metrics").body;
    let ended = gate.stop();
    for place in [&words, &shown, &ended.err, &ended.out] {
        assert!(!place.contains("hush-hush"), "{place}");
    }
}
