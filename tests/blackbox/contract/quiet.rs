//! Requests that the gate can decide without the log cost no entry and no wait.

use ropeline::room::LineName;
use ropeline::token::ticket_cookie;

use crate::gate::room;
use crate::guest::PAGE;

use super::{House, OFTEN, eventually};

/// Counts what the log carried although the room had no use for it.
const SKIPPED: &str = "ropeline_items_skipped_total";

#[tokio::test]
async fn leaving_twice_is_on_record_once() {
    let (house, mut inside) = House::full_and_patient().await;
    let mut waiting = house.in_line().await;
    let before = house.counter(SKIPPED).await;
    for guest in [&mut waiting, &mut inside] {
        let mut again = guest.clone();
        for guest in [guest, &mut again] {
            let answer = guest.own("POST", "leave").await;
            assert_eq!((answer.status(), &answer.json()["state"]), (200, &"none".into()));
            assert!(guest.jar.is_empty());
        }
    }
    let room = house.gate.room().await;
    assert_eq!((&room["left"], &room["sessions"]), (&1.into(), &0.into()));
    assert_eq!(house.counter(SKIPPED).await, before);
}

#[tokio::test]
async fn a_ticket_of_a_forgotten_line_is_late_without_asking_the_log() {
    let short = "claim_deadline = \"4s\"\nfirm_within = \"4s\"\ngrace = \"8s\"\nlate_window = \"8s\"\nsession_duration = \"4s\"";
    let room_of_events = format!("total_active_users = 1\nroutes = [\"/event/{{id}}/*\"]\nper = \"{{id}}\"\n{short}");
    let house = House::open(&room_of_events, OFTEN).await;
    let (mut inside, mut waiting) = (house.guest(), house.guest());
    assert!(inside.page("/event/a").await.is_the_shops());
    assert_eq!(waiting.page("/event/a").await.word(), "waiting");
    let old = waiting.jar[&ticket_cookie(&room(), &LineName::new("a").unwrap())].clone();
    for guest in [&mut inside, &mut waiting] {
        guest.script("POST", "/.ropeline/rooms/shop/leave?line=a").await;
    }
    eventually("a line that is forgotten", async || {
        (house.gate.room().await["lines"] == 0).then_some(())
    })
    .await;

    let mut back = house.guest();
    back.says(
        "Cookie",
        &format!("{}={old}", ticket_cookie(&room(), &LineName::new("a").unwrap())),
    );
    let before = (
        house.counter(SKIPPED).await,
        house.counter("ropeline_store_appends_total").await,
    );
    for asset in [
        "Sec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n",
        crate::guest::SCRIPT,
    ] {
        for _ in 0..5 {
            let answer = back.send("GET", "/event/a/x", asset, "").await.unwrap();
            assert!(
                answer.is_the_shops(),
                "a line that is not there is open: {}",
                answer.head
            );
        }
    }
    let status = back.script("GET", "/.ropeline/rooms/shop/status?line=a").await.json();
    assert_eq!(status["state"], "late");
    let after = (
        house.counter(SKIPPED).await,
        house.counter("ropeline_store_appends_total").await,
    );
    assert_eq!((after, &house.gate.room().await["lines"]), (before, &0.into()));
    let answer = back.send("GET", "/event/a", PAGE, "").await.unwrap();
    assert!(answer.is_the_shops(), "joins anew: {}", answer.head);
}
