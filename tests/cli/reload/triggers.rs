//! SIGHUP, the command, and the file itself.

use std::os::unix::fs::symlink;

use rustix::process::Signal;

use super::{capacity, taken};
use crate::gate::{Gate, Site, line_with};
use crate::program::Program;
use crate::until;

const TWO: (&str, &str) = ("total_active_users = 1", "total_active_users = 2");

/// The room takes one more, and no present visitor has lost anything.
fn one_more(site: &Site, gate: &Gate, change: impl FnOnce()) {
    let mut inside = gate.insider();
    let (mut first, mut second) = (gate.waits(1), gate.waits(2));
    change();
    until("the capacity of the new file", || (capacity(gate) == 2).then_some(()));
    until("the first's turn", || {
        (first.status()["state"] == "called").then_some(())
    });
    assert!(first.goes_to("/").is_the_shops() && inside.goes_to("/").is_the_shops());
    assert_eq!(second.position(), Some(1));
    // Rooms change first: their visitors may know of it before it is counted.
    until("word of the reload", || {
        (gate.figure("ropeline_config_reloads_total{result=\"taken\"} ") >= 1).then_some(())
    });
    assert_eq!(gate.figure("ropeline_config_last_reload_successful "), 1);
    let changed = until("the change in the log", || {
        line_with(&gate.program.err(), "a key of the configuration has changed")
    });
    assert_eq!(changed["what"], "room.shop.total_active_users = 2, was 1");
    assert!(site.shop.address.port() > 0);
}

#[test]
fn a_signal_has_the_file_read_again() {
    let site = Site::new("", "");
    let gate = site.start();
    let since = || gate.asks_admin("/api/v1/reload").json()["in_force_since"].to_string();
    let before = since();
    one_more(&site, &gate, || {
        site.edit(TWO.0, TWO.1);
        gate.program.signal(Signal::HUP);
    });
    assert!(since() > before);
    assert!(gate.figure("ropeline_config_last_reload_success_timestamp_seconds ") > 1_500_000_000);
}

#[test]
fn the_command_waits_and_tells_what_came_of_it() {
    let site = Site::new("", "");
    let gate = site.start();
    let admin = gate.admin.to_string();
    let last = || site.run(&["reload", "--last", "--admin", &admin]).out;
    assert!(last().starts_with("As it was read at the start"), "{}", last());
    one_more(&site, &gate, || {
        site.edit(TWO.0, TWO.1);
        assert!(taken(&site, &gate).starts_with("Read again at "));
        assert_eq!(capacity(&gate), 2, "it waits until it is in force");
    });
    assert!(last().starts_with("Read again at "), "{}", last());
    let json = site.run(&["reload", "--format", "json", "--admin", &admin]);
    let told: serde_json::Value = serde_json::from_str(&json.out).unwrap_or_else(|_| panic!("{json:?}"));
    assert_eq!(
        (&told["result"], &told["trigger"]),
        (&"taken".into(), &"command".into())
    );
}

#[test]
fn the_gate_sees_by_itself_that_its_file_is_another() {
    let site = Site::new("", "");
    let gate = site.start();
    one_more(&site, &gate, || site.edit(TWO.0, TWO.1));
    assert_eq!(gate.asks_admin("/api/v1/reload").json()["trigger"], "file");
}

#[test]
fn a_config_map_whose_link_is_swapped_is_another_file() {
    let site = Site::new("", "");
    let text = std::fs::read_to_string(site.path("config.toml")).unwrap();
    for (data, text) in [("..1", text.clone()), ("..2", text.replace(TWO.0, TWO.1))] {
        std::fs::create_dir(site.path(data)).unwrap();
        std::fs::write(site.path(data).join("config.toml"), text).unwrap();
    }
    std::fs::remove_file(site.path("config.toml")).unwrap();
    symlink("..1", site.path("..data")).unwrap();
    symlink("..data/config.toml", site.path("config.toml")).unwrap();
    let gate = Gate::serving(Program::start(&site.path(""), &["run", "--config", "config.toml"]));
    one_more(&site, &gate, || {
        symlink("..2", site.path("..data_tmp")).unwrap();
        std::fs::rename(site.path("..data_tmp"), site.path("..data")).unwrap();
    });
}

#[test]
fn what_the_command_line_says_stays_in_force() {
    let site = Site::new("", "");
    let upstream = site.shop.url();
    site.edit(&format!("url = \"{upstream}\""), "url = \"http://127.0.0.1:1\"");
    let args = [
        "run",
        "--config",
        "config.toml",
        "--upstream",
        &upstream,
        "--listen",
        "127.0.0.1:0",
    ];
    let gate = Gate::serving(Program::start(&site.path(""), &args));
    one_more(&site, &gate, || {
        // Only a start reads it, and the command line stands over it.
        site.edit("listen = [\"127.0.0.1:0\"]", "listen = [\"127.0.0.1:1\"]");
        site.edit(TWO.0, TWO.1);
        taken(&site, &gate);
    });
}
