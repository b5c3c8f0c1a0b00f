//! Rooms and lines: their representation, and the effects of an operator's change.

use ropeline::replica::Condition;
use ropeline::room::{Standing, State};
use serde_json::json;

use crate::harness::redis::{Options, Server};
use crate::support::{Gate, path_of, room_name};

#[test]
fn a_lowered_capacity_shows_as_excess_until_the_session_ends() {
    let gate = Gate::start();
    let visitor = gate.join("main", "");
    gate.enter(&visitor);
    assert_eq!(gate.get("/api/v1/rooms/main").ok()["excess"], 0);
    gate.patch("main", r#"{"total_active_users": 0}"#).ok();
    assert_eq!(gate.get("/api/v1/rooms/main").ok()["excess"], 1);
    let text = gate.get("/metrics").text;
    assert!(
        text.contains("\nropeline_excess_sessions{room=\"main\"} 1.0\n"),
        "{text}"
    );
    gate.delete(&path_of(&visitor)).ok();
    assert_eq!(gate.get("/api/v1/rooms/main").ok()["excess"], 0);
}

#[test]
fn a_room_shows_its_settings_and_what_it_counts() {
    let gate = Gate::start();
    let first = gate.join("main", "");
    gate.join("main", "");
    gate.enter(&first);
    let rooms = gate.get("/api/v1/rooms").ok();
    let names: Vec<_> = rooms["rooms"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|room| room["name"].clone())
        .collect();
    assert_eq!(names, ["events", "main"]);
    assert_eq!(
        rooms["gate"],
        json!({"condition": "live", "cut_off_secs": null, "healing_secs": null})
    );
    let room = gate.get("/api/v1/rooms/main").ok();
    for (key, value) in [
        ("mode", json!("auto")),
        ("total_active_users", json!(1)),
        ("new_users_per_minute", json!(null)),
        ("overridden", json!([])),
        ("capacity", json!(1)),
        ("joins", json!(2)),
        ("sessions", json!(1)),
        ("waiting", json!(1)),
        ("called", json!(0)),
    ] {
        assert_eq!(room[key], value, "{key} of {room}");
    }
    assert!(
        room["last_call"].as_str().is_some_and(|time| time.ends_with('Z')),
        "{room}"
    );
}

#[test]
fn a_change_is_in_force_at_once_and_kept_over_a_restart() {
    let gate = Gate::start();
    let body = r#"{"mode": "hold", "total_active_users": 7, "new_users_per_minute": 90, "message": "Back at 14:00"}"#;
    let room = gate.patch("main", body).ok();
    let wanted = [
        ("mode", json!("hold")),
        ("total_active_users", json!(7)),
        ("new_users_per_minute", json!(90)),
    ];
    for (key, value) in &wanted {
        assert_eq!(room[key], *value, "{room}");
    }
    assert_eq!(gate.replica.view().rooms[&room_name("main")].settings.capacity, 7);

    let gate = gate.restart();
    let room = gate.get("/api/v1/rooms/main").ok();
    for (key, value) in &wanted {
        assert_eq!(room[key], *value, "{room}");
    }
    assert_eq!(room["message"], "Back at 14:00");
    let set = json!(["mode", "total_active_users", "new_users_per_minute", "message"]);
    assert_eq!(room["overridden"], set);

    let room = gate
        .patch(
            "main",
            r#"{"total_active_users": null, "new_users_per_minute": "none", "message": ""}"#,
        )
        .ok();
    assert_eq!(
        (&room["total_active_users"], &room["new_users_per_minute"]),
        (&json!(1), &json!(null))
    );
    assert_eq!((&room["mode"], &room["message"]), (&json!("hold"), &json!(null)));
    assert_eq!(
        room["overridden"],
        json!(["mode"]),
        "no rate and no message are as configured"
    );
    assert_eq!(gate.metrics.admin_changes.get(), 1);
}

#[test]
fn what_operators_say_of_a_room_at_two_gates_at_once_is_all_in_force() {
    let store = Server::start(&Options::default());
    let gates = [(); 2].map(|()| Gate::sharing(&store.url(), State::apply));
    for gate in &gates {
        gate.readiness.serving();
        gate.until("the roster", || {
            gate.replica.view().roster.len() == 2 && gate.replica.condition() == Condition::Live
        });
    }
    for round in 2..=9_u32 {
        // The other gate reads a few times a second: it has not seen this yet.
        gates[0].patch("main", &format!(r#"{{"message": "{round}"}}"#)).ok();
        let room = gates[1].patch("main", &format!(r#"{{"capacity": {round}}}"#)).ok();
        assert_eq!(
            (&room["capacity"], &room["message"]),
            (&json!(round), &json!(round.to_string()))
        );
        gates[0].until("both", || {
            let set = gates[0].replica.view().rooms[&room_name("main")].overrides.clone();
            set.capacity == Some(round) && set.message == Some(round.to_string())
        });
    }
}

#[test]
fn a_wrong_change_says_why_and_changes_nothing() {
    let gate = Gate::start();
    let before = gate.get("/api/v1/rooms/main").ok();
    for (status, body, reason) in [
        (400, "", "JSON"),
        (400, "[1]", "JSON"),
        (400, "{\"mode\": \"hold\"", "JSON"),
        (422, "{}", "empty"),
        (422, r#"{"mode": "hold", "capacity": -1}"#, "total_active_users must be"),
        (422, r#"{"mode": "hold", "colour": 1}"#, "\"colour\" is no key"),
        (422, r#"{"mode": "open"}"#, "\"auto\", \"hold\""),
        (422, r#"{"capacity": 10000001}"#, "from 0 to 10000000"),
        (422, r#"{"message": 5}"#, "must be a text"),
    ] {
        let detail = gate.patch("main", body).refused(status);
        assert!(detail.contains(reason), "{body}: {detail}");
    }
    let long = format!(r#"{{"message": "{}"}}"#, "x".repeat(70_000));
    assert!(gate.patch("main", &long).refused(413).contains("length limit"));
    let plain = [("host", "localhost"), ("content-type", "text/plain")];
    let detail = gate
        .ask("PATCH", "/api/v1/rooms/main", &plain, r#"{"mode": "hold"}"#)
        .refused(415);
    assert!(detail.contains("application/json"), "{detail}");
    assert_eq!(gate.get("/api/v1/rooms/main").ok()["revision"], before["revision"]);
    assert_eq!(gate.metrics.admin_changes.get(), 0);
}

#[test]
fn two_changes_at_once_both_stand() {
    let gate = Gate::start();
    std::thread::scope(|scope| {
        let ask = |body: &'static str| {
            let address = gate.address;
            scope.spawn(move || crate::support::patch_from_elsewhere(address, "main", body))
        };
        let (one, two) = (ask(r#"{"capacity": 9}"#), ask(r#"{"rate": 60}"#));
        assert_eq!((one.join().expect("asked"), two.join().expect("asked")), (200, 200));
    });
    let room = gate.get("/api/v1/rooms/main").ok();
    assert_eq!(
        (&room["total_active_users"], &room["new_users_per_minute"]),
        (&json!(9), &json!(60))
    );
}

#[test]
fn a_lowered_capacity_evicts_nobody() {
    let gate = Gate::start();
    let inside = gate.join("main", "");
    gate.enter(&inside);
    let room = gate.patch("main", r#"{"capacity": 0}"#).ok();
    assert_eq!((&room["sessions"], &room["capacity"]), (&json!(1), &json!(0)));
    assert!(matches!(gate.standing(&inside), Standing::Inside(_)));
}

#[test]
fn what_is_not_there_says_what_is() {
    let gate = Gate::start();
    assert!(gate.get("/api/v1/rooms/garden").refused(404).contains("events, main"));
    assert!(gate.get("/api/v1/rooms/%ff").refused(404).contains("events, main"));
    assert!(gate.get("/elsewhere").refused(404).contains("/api/v1/rooms"));
    let answer = gate.delete("/api/v1/rooms/main/changes");
    assert!(answer.refused(405).contains("DELETE"));
    assert_eq!(answer.headers["allow"], "GET,HEAD");
}

#[test]
fn lines_come_a_page_at_a_time() {
    let gate = Gate::start();
    for line in ["a", "b", "c/d", "e"] {
        gate.join("events", line);
    }
    let page = |query: &str| gate.get(&format!("/api/v1/rooms/events/lines{query}"));
    let names = |page: &serde_json::Value| -> Vec<String> {
        let lines = page["lines"].as_array().expect("a list").iter();
        lines
            .map(|line| line["line"].as_str().expect("a name").to_owned())
            .collect()
    };
    let first = page("?limit=3").ok();
    assert_eq!(
        (names(&first), &first["next"]),
        (vec!["a".into(), "b".into(), "c/d".into()], &json!("c/d"))
    );
    assert_eq!(first["lines"][0]["joins"], 1);
    let rest = page("?limit=3&after=c%2Fd").ok();
    assert_eq!((names(&rest), &rest["next"]), (vec!["e".into()], &json!(null)));
    assert_eq!(gate.get("/api/v1/rooms/events").ok()["capacity"], 20);
    for (query, status) in [
        ("?limit=0", 422),
        ("?limit=1001", 422),
        ("?limit=x", 400),
        ("?page=2", 400),
        ("?after=%01", 422),
    ] {
        page(query).refused(status);
    }
}
