//! Operators' commands: visitors admitted now, a room reset, messages to waiting visitors, and the record of who did what.

use ropeline::admin::{Entrance, May, Named, Options, Token};
use ropeline::room::{NamedLane, Settings, Standing};
use serde_json::{Value, json};

use crate::support::{Answer, Gate};

const CALL: &str = "/api/v1/rooms/main/call";
const RESET: &str = "/api/v1/rooms/main/reset";
const MESSAGE: &str = "/api/v1/rooms/main/message";
const CHANGES: &str = "/api/v1/rooms/main/changes";

/// The room as it is, without what time alone changes.
fn settled(gate: &Gate) -> (Value, Value) {
    (gate.get("/api/v1/rooms/main").ok(), gate.get(CHANGES).ok())
}

fn operators() -> Options {
    let named = |name: &str, may| Named {
        name: name.to_owned(),
        token: Token::new(format!("the token of {name}").as_bytes()),
        may,
    };
    Options {
        entrance: Entrance {
            token: Some(Token::new(b"the token of nobody")),
            named: vec![named("anna", May::Change), named("board", May::Read)],
            ..Entrance::default()
        },
        ..Options::default()
    }
}

fn by(gate: &Gate, who: &str, method: &str, target: &str, body: &str) -> Answer {
    let token = format!("Bearer the token of {who}");
    let headers = [
        ("host", "gate"),
        ("content-type", "application/json"),
        ("authorization", &token),
    ];
    gate.ask(method, target, &headers, body)
}

#[test]
fn a_lane_is_called_by_its_name_or_its_index() {
    let lane = |name: &str| NamedLane {
        name: name.to_owned(),
        out: false,
    };
    let gate = Gate::of_room(Settings {
        rate_per_minute: Some(0),
        lane_weights: vec![1, 1],
        lanes: vec![lane("public"), lane("press")],
        ..Settings::default()
    });
    let people = [(); 2].map(|()| gate.join("main", ""));
    let calls = |body: &str| gate.post(CALL, body).ok()["called"].clone();
    assert_eq!(calls(r#"{"count": 1, "lane": "press"}"#), 0, "nobody stands there");
    assert_eq!(calls(r#"{"count": 1, "lane": "public"}"#), 1);
    assert_eq!(calls(r#"{"count": 1, "lane": "0"}"#), 1);
    let is_called = |visitor| matches!(gate.standing(visitor), Standing::Called(_));
    assert_eq!(people.each_ref().map(is_called), [true, true]);
    let wrong = gate.post(CALL, r#"{"count": 1, "lane": "gold"}"#).refused(422);
    assert!(wrong.contains("one of public, press"), "{wrong}");
    gate.post(CALL, r#"{"count": 1, "lane": "2"}"#).refused(422);
}

#[test]
fn the_next_in_line_are_let_in_above_the_rate_and_above_the_capacity_only_if_that_is_said() {
    let gate = Gate::start();
    gate.patch("main", r#"{"capacity": 2, "rate": 0}"#).ok();
    let people = [(); 5].map(|()| gate.join("main", ""));
    let called = gate.post(CALL, r#"{"count": 3}"#).ok();
    assert_eq!((&called["asked"], &called["called"]), (&json!(3), &json!(2)));
    assert_eq!(called["room"]["called"], 2);
    let called = gate
        .post(CALL, r#"{"count": 2, "beyond_capacity": true, "reason": "friends"}"#)
        .ok();
    assert_eq!((&called["called"], &called["room"]["excess"]), (&json!(2), &json!(2)));
    let is_called = |visitor| matches!(gate.standing(visitor), Standing::Called(_));
    assert_eq!(people.each_ref().map(is_called), [true, true, true, true, false]);
    let newest = &gate.get(CHANGES).ok()["changes"][0];
    for (key, value) in [
        ("what", json!("call")),
        ("asked", json!(2)),
        ("called", json!(2)),
        ("beyond_capacity", json!(true)),
        ("reason", json!("friends")),
        ("who", json!("operator")),
    ] {
        assert_eq!(newest[key], value, "{newest}");
    }
}

#[test]
fn a_call_that_cannot_be_is_refused_with_the_reason_and_calls_nobody() {
    let gate = Gate::start();
    gate.patch("main", r#"{"capacity": 0}"#).ok();
    gate.join("main", "");
    let before = settled(&gate);
    for (body, status, reason) in [
        (r#"{"count": 0}"#, 422, "count must be 1 to 10000"),
        (r#"{"count": 10001}"#, 422, "count must be 1 to 10000"),
        (r#"{"count": 1, "lane": 1}"#, 422, "number of lanes"),
        (r#"{"count": 1, "line": "elsewhere"}"#, 404, "no such line"),
        (r#"{"count": 1, "reason": "a\nb"}"#, 422, "one line"),
        (r#"{"count": -1}"#, 400, "expected u32"),
        (r#"{"count": 1, "all": true}"#, 400, "all"),
        ("[]", 400, "the body"),
    ] {
        let detail = gate.post(CALL, body).refused(status);
        assert!(detail.contains(reason), "{body}: {detail}");
    }
    let long = format!(r#"{{"count": 1, "reason": "{}"}}"#, "x".repeat(201));
    assert!(gate.post(CALL, &long).refused(422).contains("at most 200"));
    assert!(
        gate.post("/api/v1/rooms/none/call", r#"{"count": 1}"#)
            .refused(404)
            .contains("no room")
    );
    let detail = gate.post("/api/v1/rooms/events/call", r#"{"count": 1}"#).refused(404);
    assert!(detail.contains("nobody waits"), "{detail}");
    assert_eq!(settled(&gate), before);
    gate.patch("main", r#"{"mode": "closed"}"#).ok();
    let detail = gate.post(CALL, r#"{"count": 1, "beyond_capacity": true}"#).refused(409);
    assert!(detail.contains("closed"), "{detail}");
}

#[test]
fn a_reset_takes_the_rooms_name_and_a_reason() {
    let gate = Gate::start();
    let inside = gate.join("main", "");
    gate.enter(&inside);
    let waits = gate.join("main", "");
    let before = settled(&gate);
    for (body, status, reason) in [
        (r#"{"confirm": "main"}"#, 400, "reason"),
        (r#"{"reason": "over"}"#, 400, "confirm"),
        (r#"{"confirm": "events", "reason": "over"}"#, 422, "confirm must be"),
        (r#"{"confirm": "main", "reason": " "}"#, 422, "reason must say why"),
        ("{}", 400, "missing"),
    ] {
        let detail = gate.post(RESET, body).refused(status);
        assert!(detail.contains(reason), "{body}: {detail}");
    }
    assert_eq!(settled(&gate), before);
    let room = gate
        .post(RESET, r#"{"confirm": "main", "reason": "the rehearsal is over"}"#)
        .ok();
    assert_eq!(
        (&room["edition"], &room["sessions"], &room["waiting"]),
        (&json!(1), &json!(0), &json!(0))
    );
    assert!(!matches!(gate.standing(&inside), Standing::Inside(_)));
    assert!(!matches!(gate.standing(&waits), Standing::Waiting(_)));
    let newest = &gate.get(CHANGES).ok()["changes"][0];
    assert_eq!(
        (&newest["what"], &newest["reason"]),
        (&json!("reset"), &json!("the rehearsal is over"))
    );
    assert_eq!(newest["keys"], json!([{"key": "edition", "before": 0, "after": 1}]));
}

#[test]
fn a_message_is_kept_for_each_language_and_one_for_all_takes_its_place() {
    let gate = Gate::start();
    let room = gate
        .post(MESSAGE, r#"{"en": "Back at two", "ko": "두 시에", "reason": "delay"}"#)
        .ok();
    assert_eq!(room["messages"], json!({"en": "Back at two", "ko": "두 시에"}));
    assert_eq!(room["overridden"], json!(["message"]));
    let gate = gate.restart();
    let room = gate.post(MESSAGE, r#"{"pt-BR": "Já voltamos", "en": null}"#).ok();
    assert_eq!(room["messages"], json!({"pt-BR": "Já voltamos"}));
    let room = gate.patch("main", r#"{"message": "Back at three"}"#).ok();
    assert_eq!(
        (&room["message"], room.get("messages")),
        (&json!("Back at three"), None)
    );
    gate.post(MESSAGE, r#"{"en": "Back at four"}"#).ok();
    let room = gate.post(MESSAGE, "{}").ok();
    assert_eq!((&room["message"], room.get("messages")), (&json!(null), None));
    let changes = gate.get(CHANGES).ok();
    let first = changes["changes"]
        .as_array()
        .and_then(|all| all.last())
        .expect("a change");
    let korean = json!({"key": "message.ko", "before": null, "after": "두 시에"});
    assert!(
        first["keys"].as_array().is_some_and(|keys| keys.contains(&korean)),
        "{first}"
    );
}

#[test]
fn a_message_in_no_language_or_too_long_changes_nothing() {
    let gate = Gate::start();
    gate.post(MESSAGE, r#"{"en": "Back at two"}"#).ok();
    let before = settled(&gate);
    let long = format!(r#"{{"en": "{}"}}"#, "x".repeat(1_001));
    let many: Vec<String> = [
        "aa", "ab", "af", "ak", "am", "an", "ar", "as", "av", "ay", "az", "ba", "be", "bg", "bi", "bm", "bn",
    ]
    .map(|tag| format!(r#""{tag}": "x""#))
    .to_vec();
    let many = format!("{{{}}}", many.join(", "));
    for (body, reason) in [
        (r#"{"en": "Hello", "jp": "안녕"}"#, "\"jp\" is no language's tag"),
        (r#"{"en": "a", "EN": "b"}"#, "given twice"),
        (r#"{"en": ""}"#, "is empty"),
        (r#"{"en": "\u0007"}"#, "control characters"),
        (long.as_str(), "at most 1000 bytes"),
        (many.as_str(), "17 languages are more than 16"),
    ] {
        let detail = gate.post(MESSAGE, body).refused(422);
        assert!(detail.contains(reason), "{body}: {detail}");
    }
    gate.post(MESSAGE, r#"{"en": 5}"#).refused(400);
    let twice = [
        gate.post(MESSAGE, r#"{"en": "a", "en": "b"}"#),
        gate.patch("main", r#"{"capacity": 4, "capacity": 5}"#),
    ];
    for answer in twice {
        assert!(answer.refused(400).contains("given twice"));
    }
    assert_eq!(settled(&gate), before);
}

#[test]
fn every_change_says_whose_it_was_and_what_was_before() {
    let gate = Gate::with(operators());
    let room = "/api/v1/rooms/main";
    let lowered = r#"{"capacity": 7, "mode": "hold", "reason": "fire drill"}"#;
    assert_eq!(by(&gate, "anna", "PATCH", room, lowered).status, 200);
    assert_eq!(by(&gate, "nobody", "PATCH", room, r#"{"capacity": null}"#).status, 200);
    let changes = by(&gate, "board", "GET", CHANGES, "").ok();
    let of = |at: usize, key: &str| changes["changes"][at][key].clone();
    assert_eq!((of(0, "who"), of(1, "who")), (json!("operator"), json!("anna")));
    assert_eq!(of(1, "reason"), "fire drill");
    assert_eq!(
        of(1, "keys"),
        json!([
            {"key": "mode", "before": "auto", "after": "hold"},
            {"key": "total_active_users", "before": 1, "after": 7},
        ])
    );
    assert_eq!(
        of(0, "keys"),
        json!([{"key": "total_active_users", "before": 7, "after": 1}])
    );
    let before = by(&gate, "board", "GET", room, "").ok();
    for (method, target, body) in [
        ("PATCH", room, r#"{"capacity": 9}"#),
        ("POST", RESET, r#"{"confirm": "main", "reason": "x"}"#),
        ("POST", CALL, r#"{"count": 1}"#),
    ] {
        let detail = by(&gate, "board", method, target, body).refused(403);
        assert!(detail.contains("board"), "{detail}");
    }
    by(&gate, "stranger", "GET", room, "").refused(401);
    assert_eq!(by(&gate, "board", "GET", room, "").ok(), before);
}
