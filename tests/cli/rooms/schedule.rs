//! Rooms by the clock, as processes: a reload and an operator's word move the dates.

use crate::gate::{Gate, Site};
use crate::program::Ended;
use crate::until;

fn says(site: &Site, gate: &Gate, arguments: &[&str]) -> Ended {
    let admin = gate.admin.to_string();
    site.run(&[arguments, &["--admin", &admin]].concat())
}

fn phase(gate: &Gate) -> String {
    let room = gate.asks_admin("/api/v1/rooms/shop").json();
    room["schedule"]["phase"].as_str().unwrap_or("none").to_owned()
}

fn word(gate: &Gate) -> String {
    let answer = gate.visitor().goes_to("/");
    if answer.is_the_shops() {
        return "the shop's".to_owned();
    }
    answer.word().to_owned()
}

#[test]
fn a_reload_moves_the_dates() {
    let site = Site::new("opens_at = \"2999-12-01 13:00 Asia/Seoul\"", "");
    let gate = site.start();
    assert_eq!((phase(&gate), word(&gate)), ("early".to_owned(), "early".to_owned()));
    site.edit("opens_at", "prequeue_from = \"2020-12-01T13:00:00Z\"\nopens_at");
    let reloads = || says(&site, &gate, &["reload"]);
    assert_eq!(reloads().code, Some(0));
    assert_eq!(
        (phase(&gate), word(&gate)),
        ("prequeue".to_owned(), "waiting".to_owned())
    );
    let mut waiting = gate.visitor();
    assert_eq!(waiting.goes_to("/").word(), "waiting");
    assert_eq!(waiting.status()["why"], "prequeue");
    site.edit("2999-12-01 13:00 Asia/Seoul", "2019-12-01 13:00 Asia/Seoul");
    let refused = reloads();
    assert_eq!(refused.code, Some(78), "{refused:?}");
    assert!(
        refused.err.contains("the prequeue would begin after the opening"),
        "{refused:?}"
    );
    assert_eq!(phase(&gate), "prequeue", "as before");
    site.edit("2019-12-01 13:00 Asia/Seoul", "2021-12-01 13:00 Asia/Seoul");
    assert_eq!(reloads().code, Some(0));
    assert_eq!(phase(&gate), "open");
    until("the turn of somebody who waited", || {
        gate.asks_admin("/api/v1/rooms/shop").json()["calls"]
            .as_u64()
            .filter(|calls| *calls > 0)
    });
    // Without the dates the room is open as any other.
    site.edit("opens_at = \"2021-12-01 13:00 Asia/Seoul\"", "");
    site.edit("prequeue_from = \"2020-12-01T13:00:00Z\"", "");
    assert_eq!(reloads().code, Some(0));
    assert_eq!(phase(&gate), "none");
    assert_eq!(gate.stop().code, Some(0));
}

#[test]
fn an_operator_moves_the_dates_and_a_restart_keeps_them() {
    let site = Site::new("opens_at = \"2999-12-01T13:00:00Z\"", "");
    let gate = site.start();
    assert_eq!(word(&gate), "early");
    let set = |gate: &Gate, arguments: &[&str]| says(&site, gate, &[&["rooms", "set", "shop"], arguments].concat());
    let refused = set(
        &gate,
        &[
            "--opens-at",
            "2000-01-01T13:00:00Z",
            "--closes-at",
            "2000-01-01T15:00:00Z",
        ],
    );
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("the sale would be over already"), "{refused:?}");
    assert_eq!(word(&gate), "early", "nothing has changed");
    let moved = set(
        &gate,
        &["--opens-at", "now", "--closes-at", "2999-12-02 15:00 Europe/Berlin"],
    );
    assert_eq!(moved.code, Some(0), "{moved:?}");
    assert_eq!(word(&gate), "the shop's");
    let room = gate.asks_admin("/api/v1/rooms/shop").json();
    assert_eq!(room["schedule"]["next_change"], "2999-12-02T14:00:00.000Z");
    assert_eq!(room["overridden"], serde_json::json!(["opens_at", "closes_at"]));
    assert_eq!(gate.stop().code, Some(0));
    let gate = site.start();
    assert_eq!(phase(&gate), "open");
    assert_eq!(set(&gate, &["--configured"]).code, Some(0));
    assert_eq!(phase(&gate), "early");
    let told = says(&site, &gate, &["rooms"]);
    assert!(
        told.out
            .contains("shop: by its schedule early, opens at 2999-12-01T13:00:00.000Z"),
        "{told:?}"
    );
    assert_eq!(gate.stop().code, Some(0));
}

#[test]
fn check_refuses_a_sale_that_is_over_and_a_start_does_not() {
    let site = Site::new("closes_at = \"2020-12-01T13:00:00Z\"", "");
    let checked = site.run(&["check"]);
    assert_eq!(checked.code, Some(78), "{checked:?}");
    assert!(
        checked.out.contains("the sale is over, so the room is closed")
            && checked.out.contains("refused: a sale is over"),
        "{checked:?}"
    );
    assert_eq!(site.run(&["check", "--starting"]).code, Some(0));
    let gate = site.start();
    assert_eq!((phase(&gate), word(&gate)), ("closed".to_owned(), "over".to_owned()));
    assert_eq!(gate.stop().code, Some(0));
}
