//! A sale over HTTP: its dates as an operator moves them, and its draw.

use ropeline::dates::rfc3339;
use ropeline::draw::Figures;
use ropeline::room::{Drawing, Phase, Schedule, Settings, Standing, Wall, Window};
use ropeline::time;
use serde_json::{Value, json};

use crate::support::{Gate, room_name};

/// In a hundred years.
const FAR: &str = "2126-11-22T12:00:00.000Z";

/// The line forms, and opens in a hundred years.
fn forming(draw: Option<Drawing>) -> Gate {
    let window = Window {
        begins: Wall(1),
        opens: Wall(4_951_022_400_000),
        closes: None,
        results: None,
    };
    Gate::of_room(Settings {
        schedule: Some(Schedule {
            rule: format!("prequeue_from = 1970-01-01T00:00:01Z; opens_at = {FAR}"),
            windows: vec![window],
        }),
        draw,
        ..Settings::default()
    })
}

fn draw(beacon: &str) -> Drawing {
    Drawing {
        beacon: Some(beacon.to_owned()),
        ..Drawing::default()
    }
}

fn phase(gate: &Gate) -> Option<Phase> {
    gate.replica.view().rooms[&room_name("main")]
        .stage
        .map(|stage| stage.phase)
}

fn schedule(gate: &Gate) -> Value {
    gate.get("/api/v1/rooms/main").ok()["schedule"].clone()
}

const CALL: &str = "/api/v1/rooms/main/call";
const BEYOND: &str = r#"{"count": 1, "beyond_capacity": true}"#;

#[test]
fn nobody_is_called_while_the_line_forms() {
    let gate = forming(None);
    gate.until("the prequeue", || phase(&gate) == Some(Phase::Prequeue));
    let joined = gate.join("main", "");
    let detail = gate.post(CALL, BEYOND).refused(409);
    assert!(detail.contains("opens later"), "{detail}");
    assert!(matches!(gate.standing(&joined), Standing::Waiting(_)));
    assert_eq!(gate.get("/api/v1/rooms/main/changes").ok()["changes"], json!([]));
}

#[test]
fn an_operator_moves_the_opening_and_opens_at_once() {
    let gate = forming(None);
    gate.until("the prequeue", || phase(&gate) == Some(Phase::Prequeue));
    let before = schedule(&gate);
    assert_eq!(
        (&before["phase"], &before["opens_at"]),
        (&json!("prequeue"), &json!(FAR))
    );
    let sooner = "2101-01-01T09:00:00+09:00";
    gate.patch("main", &json!({"opens_at": sooner}).to_string()).ok();
    assert_eq!(schedule(&gate)["opens_at"], "2101-01-01T00:00:00.000Z");
    let room = gate.patch("main", r#"{"opens_at": "now"}"#).ok();
    assert!(
        room["overridden"]
            .as_array()
            .is_some_and(|keys| keys.contains(&json!("opens_at"))),
        "{room}"
    );
    gate.until("the opening", || phase(&gate) == Some(Phase::Open));
    let metrics = gate.get("/metrics").text;
    assert!(
        metrics.contains("ropeline_phase{room=\"main\",phase=\"open\"} 1"),
        "{metrics}"
    );
    let room = gate.patch("main", r#"{"opens_at": null}"#).ok();
    assert_eq!(room["schedule"]["opens_at"], FAR, "the configured one: {room}");
}

#[test]
fn dates_that_cannot_be_are_refused_and_change_nothing() {
    let gate = forming(None);
    gate.until("the prequeue", || phase(&gate) == Some(Phase::Prequeue));
    let before = gate.get("/api/v1/rooms/main").ok();
    for (body, reason) in [
        (r#"{"opens_at": "soon"}"#, "is no date"),
        (r#"{"opens_at": 12}"#, "is no date"),
        (r#"{"opens_at": "daily 13:00 Asia/Soul"}"#, "Asia/Seoul"),
        (r#"{"opens_at": "none", "prequeue_from": "none"}"#, "keeps one of them"),
        (r#"{"closes_at": "2001-01-01T00:00:00Z"}"#, "closes_at"),
        (r#"{"mode": "hold", "opens_at": ""}"#, "is no date"),
    ] {
        let detail = gate.patch("main", body).refused(422);
        assert!(detail.contains(reason), "{body}: {detail}");
    }
    let after = gate.get("/api/v1/rooms/main").ok();
    assert_eq!(
        (&after["revision"], &after["mode"]),
        (&before["revision"], &before["mode"])
    );
    assert_eq!(after["schedule"], before["schedule"]);
}

#[test]
fn a_draw_is_promised_then_made_by_the_beacons_value_once_the_line_is_closed() {
    let gate = forming(Some(draw("drand quicknet round 7")));
    let path = "/api/v1/rooms/main/draw";
    let digits = "0badcafe".repeat(8);
    let value = &json!({ "beacon_value": digits }).to_string();
    gate.until("the promise", || {
        gate.replica.view().rooms[&room_name("main")].sale.commitment.is_some()
    });
    let promised = gate.get(path).ok();
    assert_eq!(promised["state"], "promised");
    assert!(promised["figures"][0].get("secret").is_none(), "{promised}");
    let early = gate.post(path, value).refused(409);
    assert!(early.contains("not closed yet"), "{early}");
    for _ in 0..5 {
        gate.join("main", "");
    }
    // At once would be sooner than a promise for it can be published.
    let sooner = gate.patch("main", r#"{"opens_at": "now"}"#).refused(409);
    assert!(sooner.contains("promised for another opening"), "{sooner}");
    let soon = rfc3339(time::wall().plus(6_000));
    gate.patch("main", &json!({ "opens_at": soon }).to_string()).ok();
    gate.until("a promise for it", || {
        let sale = &gate.replica.view().rooms[&room_name("main")].sale;
        let hash = sale.commitment.as_ref().map(|commitment| commitment.hash.to_string());
        hash.as_deref() != promised["figures"][0]["commitment"].as_str()
    });
    gate.until("the closing", || {
        gate.replica.view().rooms[&room_name("main")].sale.closed.is_some()
    });
    assert_eq!(gate.get(path).ok()["state"], "closed");
    let undrawn = gate.post(CALL, BEYOND).refused(409);
    assert!(undrawn.contains("is to be drawn"), "{undrawn}");
    for (body, status) in [
        ("{}", 400),
        (r#"{"beacon_value": ""}"#, 422),
        ("{\"beacon_value\": \"two\\nlines\"}", 422),
        (&json!({ "beacon_value": digits.to_uppercase() }).to_string(), 422),
        (&json!({ "beacon_value": format!("{digits} ") }).to_string(), 422),
        (r#"{"beacon_value": "x", "secret": "mine"}"#, 400),
    ] {
        gate.post(path, body).refused(status);
    }
    let long = json!({ "beacon_value": digits.repeat(3) }).to_string();
    assert!(gate.post(path, &long).refused(422).contains("small letters"));
    assert_eq!(gate.get(path).ok()["state"], "closed");

    let made = gate.post(path, value).ok();
    assert_eq!(
        (&made["state"], &made["figures"][0]["count"]),
        (&json!("made"), &json!(5))
    );
    let figures = Figures::parse(made["figures"][0].to_string().as_bytes()).expect("figures");
    assert_eq!(figures.faults(), []);
    let again = gate.post(path, value).refused(409);
    assert!(again.contains("is made"), "{again}");
    assert_eq!(gate.get(path).ok(), made, "what is published stays");
}

#[test]
fn a_draw_without_a_beacon_takes_nobodys_word_and_a_room_without_draws_has_none() {
    let gate = forming(Some(Drawing::default()));
    let path = "/api/v1/rooms/main/draw";
    gate.until("the promise", || {
        gate.replica.view().rooms[&room_name("main")].sale.commitment.is_some()
    });
    let mine = json!({ "beacon_value": "5e".repeat(32) }).to_string();
    let detail = gate.post(path, &mine).refused(409);
    assert!(detail.contains("no beacon"), "{detail}");
    let fifo = forming(None);
    assert!(fifo.get(path).refused(404).contains("queueing_method"));
    assert!(fifo.post(path, &mine).refused(404).contains("queueing_method"));
    assert_eq!(gate.get("/api/v1/rooms/nowhere/draw").status, 404);
}
