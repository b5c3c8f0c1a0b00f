//! A room with active slots that is off.

use std::time::Duration;

use crate::guest::SCRIPT;

use super::{ACTIVE, house};

/// Longer than a session, and shorter than a test's patience.
const OFF: u32 = 30;

/// Each of two visitors sends requests for longer than a session lasts while the room is off, but only one of them uses the session.
#[tokio::test]
async fn a_parked_session_goes_on_in_a_room_that_is_off_as_long_as_it_is_used() {
    let house = house(
        2,
        &format!("{ACTIVE}\nsession_duration = \"10s\"\nbackground = [\"/cart/poll\"]"),
    )
    .await;
    let (mut used, mut polls) = (house.inside().await, house.inside().await);
    house.until("parked", 2).await;
    house.gate.set("{\"mode\": \"off\"}").await;
    for _ in 0..OFF {
        assert!(used.page("/seats").await.is_the_shops());
        assert!(
            polls
                .once("GET", "/cart/poll", SCRIPT, "")
                .await
                .unwrap()
                .is_the_shops()
        );
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    house.gate.set("{\"mode\": \"auto\"}").await;
    assert_eq!(used.own("GET", "status").await.json()["state"], "inside");
    assert_eq!(polls.own("GET", "status").await.json()["state"], "ended");
    assert!(used.page("/still-in").await.is_the_shops());
    let (first, last) = (&house.shop.seen_of("/seats")[0], &house.shop.seen_of("/still-in")[0]);
    assert!(first.session().is_some());
    assert_eq!(first.session(), last.session());
    assert_eq!(house.gate.room().await["calls"], 2);
}
