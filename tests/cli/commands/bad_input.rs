//! Invalid input as an operator might write it: refused with the reason by `check` and over HTTP, and without any change.

use serde_json::{Value, json};

use crate::codes::single_use::{LANES, follows, joins_as_app, refused};
use crate::gate::{Gate, Site};
use crate::rooms::added::{adds, sends};
use crate::until;

const OTHER: &str = "[[room]]\nname = \"other\"\nroutes = [\"/other/*\"]\n[[room.lane]]\nname = \"everybody\"\n\
    [[room.lane]]\nname = \"press\"\ncode = true\n";

/// A room with one slot at `/other/`, out of the way of the others, that has sold a piece of five.
fn sale() -> (Site, Gate) {
    let room = "routes = [\"/*\"]\nstock = 5\ncompletes_on = [{ route = \"/done\", status = 200 }]";
    let site = Site::new(room, LANES);
    site.edit(
        "[[room]]\nname = \"shop\"",
        &format!("{OTHER}[[room]]\nname = \"shop\""),
    );
    let gate = site.start();
    let mut buyer = gate.insider();
    assert!(buyer.goes_to("/done").is_the_shops());
    until("the piece that is sold", || {
        (all(&gate)["shop"]["completed"] == 1).then_some(())
    });
    (site, gate)
}

/// All rooms, as far as an operator's word could have changed them.
fn all(gate: &Gate) -> Value {
    let told = gate.asks_admin("/api/v1/rooms").json();
    let rooms = told["rooms"].as_array().unwrap().iter();
    let kept = [
        "revision",
        "edition",
        "overridden",
        "stock",
        "completed",
        "schedule",
        "mode",
    ];
    rooms
        .map(|room| {
            let of = kept
                .map(|key| (key.to_owned(), room[key].clone()))
                .into_iter()
                .collect();
            (room["name"].as_str().unwrap().to_owned(), Value::Object(of))
        })
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[test]
fn over_http_nothing_is_changed_and_the_reason_is_told() {
    let (_site, gate) = sale();
    let before = all(&gate);
    let lanes = "[[room.lane]]\nname = \"z\"\n[[room.lane]]\nname = \"a\"\nnetworks = [\"10.0.0.0/8\"]\n\
        [[room.lane]]\nname = \"b\"\nnetworks = [\"10.1.0.0/16\"]\n";
    let over = "opens_at = \"2020-01-01T10:00:00Z\"\ncloses_at = \"2020-01-02T10:00:00Z\"\n";
    for (keys, reason) in [
        (lanes, "10.1.0.0/16 is in the lane"),
        (over, "the sale would be over already"),
    ] {
        let answer = adds(
            &gate,
            &format!("[[room]]\nname = \"vip\"\nroutes = [\"/vip/*\"]\n{keys}"),
        );
        assert!(answer.status == 422 && answer.body.contains(reason), "{answer:?}");
    }
    let shop = "/api/v1/rooms/shop";
    let (patch, reset) = (format!("PATCH {shop}"), format!("POST {shop}/reset"));
    for (what, body, status, reason) in [
        (&patch, json!({"stock": 0}), 422, "1 are sold already; right: 1 or more"),
        (&patch, json!({"stock": 1_000_001}), 422, "a whole number from 0"),
        (
            &patch,
            json!({"opens_at": "2020-01-01T10:00:00Z", "closes_at": "2020-01-02T10:00:00Z"}),
            422,
            "the sale would be over already",
        ),
        (
            &patch,
            json!({"opens_at": "2999-01-02T10:00:00Z", "closes_at": "2999-01-01T10:00:00Z"}),
            422,
            "the room would close before it opens",
        ),
        (&reset, json!({}), 400, "missing field `confirm`"),
        (
            &reset,
            json!({"confirm": "other", "reason": "why"}),
            422,
            "confirm must be the room's name",
        ),
        (
            &reset,
            json!({"confirm": "shop", "reason": " "}),
            422,
            "reason must say why",
        ),
    ] {
        let answer = sends(&gate, what, "application/json", &body.to_string());
        assert!(
            answer.status == status && answer.body.contains(reason),
            "{body}: {answer:?}"
        );
    }
    assert_eq!(all(&gate), before);
    let noted = gate.asks_admin(&format!("{shop}/changes")).json();
    assert_eq!(noted["changes"], json!([]), "nor is any of it in the log");
    assert_eq!(gate.stop().code, Some(0));
}

#[test]
fn a_code_for_another_room_leads_nowhere() {
    let (site, gate) = sale();
    let issue = |room: &str, lane: &str| {
        let grants = format!("lane:{lane}");
        site.run(&["code", "issue", "--room", room, "--grants", &grants])
    };
    let code = issue("other", "press");
    assert_eq!(code.code, Some(0), "{code:?}");
    let code = code.out.trim();
    let before = all(&gate);
    refused(
        &follows(&mut gate.visitor(), code),
        403,
        "code_other_room",
        "for another line",
    );
    assert_eq!(joins_as_app(&mut gate.visitor(), code).word(), "code_other_room");
    assert_eq!(all(&gate), before);
    for (room, lane, reason) in [
        ("other", "vip", "has no lane \"vip\""),
        ("none", "press", "there is no room \"none\""),
    ] {
        let told = issue(room, lane);
        assert!(told.code == Some(1) && told.err.contains(reason), "{told:?}");
    }
    gate.stop();
}

#[test]
fn check_tells_each_with_its_line() {
    let checked = |room: &str, tables: &str| {
        let checked = Site::new(room, tables).run(&["check"]);
        assert_eq!(checked.code, Some(78), "{checked:?}");
        checked.out
    };
    let lanes = "[[room.lane]]\nname = \"z\"\n[[room.lane]]\nname = \"a\"\nnetworks = [\"10.0.0.0/8\"]\n\
        [[room.lane]]\nname = \"b\"\nnetworks = [\"10.1.0.0/16\"]";
    for (room, tables, reason) in [
        (
            "",
            lanes,
            "room[0].lane[2].networks: 10.1.0.0/16 is in the lane \"a\" too",
        ),
        ("stock = 0", "", "room[0].stock: 0 is out of range"),
        ("closes_at = \"2020-01-02T10:00:00Z\"", "", "the sale is over"),
        (
            "opens_at = \"2999-01-02T10:00:00Z\"\ncloses_at = \"2999-01-01T10:00:00Z\"",
            "",
            "the room would close before it opens",
        ),
    ] {
        let told = checked(room, tables);
        assert!(told.contains(reason) && told.contains("line "), "{told}");
    }
}
