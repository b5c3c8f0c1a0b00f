//! A set-up with nothing wrong.

use crate::doctor::{doctor, small, told};
use crate::gate::{Gate, Site};
use crate::harness::certificates::Authority;
use crate::harness::redis::{Options, Server};
use crate::until;

#[test]
fn two_gates_on_a_durable_store_have_nothing_wrong() {
    let store = Server::start(&Options::durable());
    let site = small(Site::shared(
        &store.url(),
        "[tls]\nlisten = [\"127.0.0.1:0\"]\ncertificates = [{ cert_file = \"shop.pem\", key_file = \"shop.key\" }]",
    ));
    Authority::new().issue(&["shop.example"]).write(&site.path(""), "shop");
    let gates = [site.start(), site.start()];
    gates.iter().for_each(Gate::lives);
    gates[0].insider();
    // Each has left its note, and is on the other's roster.
    let all = until("two gates that know each other", || {
        let all = doctor(&site, Some(&gates[0]));
        let keys = all.of("keys")["message"].as_str().unwrap();
        (keys == "All 2 gates have the same keys.").then_some(all)
    });
    assert!(
        all.findings.iter().all(|finding| finding["severity"] == "fine"),
        "{all:#?}"
    );
    assert_eq!(all.code, Some(0));
    for check in [
        "gate",
        "shop",
        "back-door",
        "forwarded-for",
        "store",
        "keys",
        "clocks",
        "certificates",
        "open-files",
        "memory",
    ] {
        all.of(check);
    }
    assert!(
        all.of("store")["message"].as_str().unwrap().contains("edis"),
        "{all:#?}"
    );
}

#[test]
fn without_a_gate_the_file_and_the_machine_are_examined_and_that_is_said() {
    let site = small(Site::new("", ""));
    let all = doctor(&site, None);
    assert_eq!(all.code, Some(0), "a gate that does not run yet is no fault");
    let gate = all.says("gate", "warning", "what only a running gate knows is missing");
    assert_eq!(gate["command"], "ropeline run config.toml");
    all.says("shop", "fine", "200 OK");
    let rest = all.findings.iter().filter(|finding| finding["check"] != "gate");
    assert!(
        rest.into_iter().all(|finding| finding["severity"] == "fine"),
        "{all:#?}"
    );
}

#[test]
fn the_words_name_the_line_and_the_file_leads_to_the_gate() {
    let site = small(Site::new("", ""));
    let gate = site.start();
    gate.lives();
    let ended = site.run(&["doctor", "--admin", &format!("http://{}", gate.admin)]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.out.contains("fine     gate: The gate reads its log"),
        "{}",
        ended.out
    );
    assert!(ended.out.ends_with(" fine\n"), "{}", ended.out);
    // The listener of the file, and a token in it.
    let token = "a-token-of-the-tests";
    let own = format!("admin_listen = \"{}\"\nadmin_token = \"{token}\"", gate.admin);
    site.edit("admin_listen = \"127.0.0.1:0\"", &own);
    gate.stop();
    let gate = site.start();
    gate.lives_with(token);
    let all = told(&site, &[]);
    all.says("gate", "fine", "The gate reads its log");
    let asked = told(&site, &["--admin", &format!("http://localhost:{}", gate.admin.port())]);
    asked.says("gate", "warning", "asks for a token");
}

#[test]
fn a_file_with_a_mistake_is_a_fault_with_its_line() {
    let site = small(Site::new("grace = \"soon\"", ""));
    let all = doctor(&site, None);
    assert_eq!(all.code, Some(78));
    let file = all.says("file", "fault", "\"soon\" is no duration");
    assert_eq!(file["key"], "room[0].grace");
    assert!(file["line"].is_u64(), "{file}");
}
