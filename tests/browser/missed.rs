//! A phone whose screen goes off while it waits.

use crate::hall::{self, ROOM};
use crate::harness::browser::Browser;
use crate::harness::guest::Guest;
use crate::harness::look::Look;

#[tokio::test]
async fn who_sleeps_past_a_turn_is_told_and_is_next_again() {
    let gate = hall::open(1, "claim_deadline = \"5s\"\nlate_window = \"5 min\"").await;
    let mut inside = hall::insider(&gate).await;
    let browser = Browser::start(Look {
        phone: true,
        ..Look::default()
    })
    .await;
    browser.open(&gate.at("/seats?from=mail")).await;
    browser.shows("You are next").await;
    let mut behind = Guest::new(&gate.address);
    assert_eq!(behind.visit("/seats").await.gate.as_deref(), Some("waiting"));
    browser.sleep();
    inside.leave(ROOM).await;
    // The sleeping phone's turn passes first.
    behind.becomes(ROOM, "called").await;
    for _ in 0..2 {
        assert_eq!(behind.visit("/seats").await.gate, None);
    }
    browser.wake();
    let page = browser.shows("Your turn came at").await;
    assert!(
        page.contains("You are called next. If you miss your turn again"),
        "{page}"
    );
    browser.screenshot("missed-turn").await;
    behind.leave(ROOM).await;
    browser.shows("Choose your seats").await;
    assert!(browser.address().await.ends_with("/seats?from=mail"));
}
