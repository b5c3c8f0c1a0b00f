//! Requests to add and remove rooms at run time, on an admin listener without a gate: the parts of a request, and the callers
//! who may make one. Their effects on a whole gate are in `tests/cli/rooms/added.rs`.

use ropeline::admin::{Entrance, May, Named, Options, Token};
use serde_json::json;

use crate::support::{Answer, Gate};

const VIP: &str = "[[room]]\nname = \"vip\"\nroutes = [\"/vip/*\"]\n";

fn post(gate: &Gate, kind: &str, body: &str) -> Answer {
    let headers = [("host", "localhost"), ("content-type", kind)];
    gate.ask("POST", "/api/v1/rooms", &headers, body)
}

fn delete(gate: &Gate, body: &str) -> Answer {
    let headers = [("host", "localhost"), ("content-type", "application/json")];
    gate.ask("DELETE", "/api/v1/rooms/main", &headers, body)
}

#[test]
fn a_table_has_a_type_that_another_sites_page_cannot_send() {
    let gate = Gate::start();
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "",
    ] {
        assert!(
            post(&gate, kind, VIP).refused(415).contains("application/toml"),
            "{kind}"
        );
    }
    post(&gate, "application/json", "[]").refused(400);
    post(&gate, "application/json", r#"{"name": "a", "name": "b"}"#).refused(400);
    let headers = [("host", "localhost"), ("content-type", "application/toml")];
    let long = format!("/api/v1/rooms?reason={}", "x".repeat(201));
    assert!(gate.ask("POST", &long, &headers, VIP).refused(422).contains("reason"));
    gate.ask("POST", "/api/v1/rooms?why=x", &headers, VIP).refused(400);
    // Well-formed, but no gate is there to carry it out.
    assert!(
        post(&gate, "application/toml; charset=utf-8", VIP)
            .refused(503)
            .contains("no room is added")
    );
    post(&gate, "application/json", r#"{"name": "vip"}"#).refused(503);
}

#[test]
fn a_removal_wants_the_name_and_a_reason() {
    let gate = Gate::start();
    let body = |confirm: &str, reason: &str| json!({"confirm": confirm, "reason": reason}).to_string();
    assert!(
        delete(&gate, &body("events", "over"))
            .refused(422)
            .contains("confirm must be the room's name")
    );
    assert!(
        delete(&gate, &body("main", " "))
            .refused(422)
            .contains("reason must say why")
    );
    delete(&gate, r#"{"confirm": "main"}"#).refused(400);
    delete(&gate, "").refused(400);
    gate.delete("/api/v1/rooms/main").refused(415);
    delete(&gate, &body("main", "over")).refused(503);
    assert_eq!(
        gate.get("/api/v1/rooms").ok()["rooms"].as_array().expect("rooms").len(),
        2
    );
    let none: Vec<i32> = Vec::new();
    assert_eq!(gate.get("/api/v1/additions").ok(), json!({"changes": none}));
}

#[test]
fn whoever_may_only_look_adds_and_removes_none() {
    let gate = Gate::with(Options {
        entrance: Entrance {
            named: vec![Named {
                name: "board".to_owned(),
                token: Token::new(b"a token that may only look"),
                may: May::Read,
            }],
            ..Entrance::default()
        },
        ..Options::default()
    });
    let ask = |method: &str, path: &str, kind: &str, body: &str| {
        let bearer = "Bearer a token that may only look";
        let headers = [("host", "localhost"), ("authorization", bearer), ("content-type", kind)];
        gate.ask(method, path, &headers, body)
    };
    ask("POST", "/api/v1/rooms", "application/toml", VIP).refused(403);
    let body = r#"{"confirm": "main", "reason": "over"}"#;
    ask("DELETE", "/api/v1/rooms/main", "application/json", body).refused(403);
    ask("GET", "/api/v1/additions", "", "").ok();
}
