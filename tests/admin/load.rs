//! Figures of the shop from an outside source: the callers who may give them, refusals, and their effect on a room.

use ropeline::admin::{Entrance, May, Named, Options, Token};
use ropeline::room::{Controller, Linear, LoadControl, Settings, Standing, Why};
use serde_json::{Value, json};

use crate::support::{Gate, room_name};

const LOAD: &str = "/api/v1/rooms/main/load";
const ROOM: &str = "/api/v1/rooms/main";

pub fn following() -> Settings {
    Settings {
        load_control: Some(LoadControl::by(Controller::Linear(Linear::default()))),
        ..Settings::default()
    }
}

fn load_control(gate: &Gate) -> Value {
    gate.get(ROOM).ok()["admission"].clone()
}

#[test]
fn nobody_is_called_until_figures_are_given_and_nobody_once_they_are_taken_back() {
    let gate = Gate::of_room(following());
    let first = gate.join("main", "");
    gate.until("an entry later", || gate.replica.view().clock.0 > 500);
    assert!(matches!(gate.standing(&first), Standing::Waiting(_)));
    assert_eq!(
        (&load_control(&gate)["why"], &load_control(&gate)["calls_milli"]),
        (&json!("figures"), &json!(0))
    );
    let revision = gate.get(ROOM).ok()["revision"].clone();
    let given = gate
        .post(
            LOAD,
            r#"{"requests_per_second": 0, "ttl_secs": 3600, "reason": "the monitor"}"#,
        )
        .ok();
    assert_eq!(given["revision"], revision, "it raises no revision");
    gate.until("called", || matches!(gate.standing(&first), Standing::Called(_)));
    let seen = load_control(&gate);
    assert_eq!(
        (&seen["by"], &seen["why"], &seen["gates"], &seen["given_by"]),
        (&json!("linear"), &json!("free"), &json!(0), &json!("operator"))
    );
    assert!(
        seen["given_secs"]
            .as_u64()
            .is_some_and(|secs| (3_000..=3_600).contains(&secs)),
        "{seen}"
    );
    let metrics = gate.get("/metrics").text;
    assert!(
        metrics.contains(r#"ropeline_admission{room="main",why="free"} 1"#),
        "{metrics}"
    );
    assert!(
        !metrics.contains("ropeline_shop_p95_seconds{"),
        "nobody knows it: {metrics}"
    );
    gate.delete(LOAD).ok();
    let why = || {
        gate.replica.view().rooms[&room_name("main")]
            .load
            .as_ref()
            .map(|load| load.why)
    };
    gate.until("stopped", || why() == Some(Why::Figures));
    let second = gate.join("main", "");
    assert!(matches!(gate.standing(&second), Standing::Waiting(_)));
}

#[test]
fn figures_that_cannot_be_are_refused_all_at_once_and_a_room_without_a_controller_takes_none() {
    let gate = Gate::of_room(following());
    let wrong = gate
        .post(
            LOAD,
            r#"{"requests_per_second": 10000001, "error_share": 1.1, "ttl_secs": 0}"#,
        )
        .refused(422);
    for key in ["requests_per_second", "error_share", "ttl_secs"] {
        assert!(wrong.contains(key), "{key}: {wrong}");
    }
    gate.post(LOAD, r#"{"requests_per_second": 1, "ttl_secs": 3601}"#)
        .refused(422);
    gate.post(LOAD, r#"{"requests_per_second": 1, "ttl_secs": 10, "colour": 1}"#)
        .refused(400);
    gate.post(LOAD, r#"{"ttl_secs": 10}"#).refused(400);
    let plain = Gate::start();
    plain
        .post(LOAD, r#"{"requests_per_second": 1, "ttl_secs": 10}"#)
        .refused(409);
    plain.delete(LOAD).refused(409);
}

#[test]
fn whoever_may_only_read_gives_no_figures_and_nor_does_a_page_of_another_site() {
    let named = |name: &str, may| Named {
        name: name.to_owned(),
        token: Token::new(format!("the token of {name}").as_bytes()),
        may,
    };
    let gate = Gate::with(Options {
        entrance: Entrance {
            token: Some(Token::new(b"the token of nobody")),
            named: vec![named("anna", May::Change), named("board", May::Read)],
            ..Entrance::default()
        },
        ..Options::default()
    });
    let ask = |token: &str, method: &str, site: &str| {
        let token = format!("Bearer the token of {token}");
        let headers = [
            ("host", "gate"),
            ("content-type", "application/json"),
            ("authorization", &token),
            ("sec-fetch-site", site),
        ];
        gate.ask(method, LOAD, &headers, r#"{"requests_per_second": 1, "ttl_secs": 10}"#)
    };
    for method in ["POST", "DELETE"] {
        ask("stranger", method, "same-origin").refused(401);
        ask("board", method, "same-origin").refused(403);
        ask("anna", method, "cross-site").refused(403);
        // The room of these tests goes by no figures.
        ask("anna", method, "same-origin").refused(409);
    }
}
