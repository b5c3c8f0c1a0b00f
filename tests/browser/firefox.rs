//! The same in Firefox: from the line into the shop, without a script too, and called in a hidden tab.

use crate::hall::{self, ROOM};
use crate::harness::browser::Browser;
use crate::harness::look::{Engine, Look};

/// A Firefox that is otherwise like `look`.
async fn firefox(look: Look) -> Browser {
    let engine = Engine::Firefox;
    Browser::start(Look { engine, ..look }).await
}

#[tokio::test]
async fn of_two_visitors_the_second_waits_for_the_firsts_order() {
    let gate = hall::open(1, "").await;
    let (first, second) = tokio::join!(firefox(Look::default()), firefox(Look::default()));
    first.open(&gate.at("/seats")).await;
    first.shows("Choose your seats").await;
    let link = gate.at("/seats?from=mail&id=7");
    second.open(&link).await;
    let page = second.shows("You are in line").await;
    assert!(
        page.contains("You are next") && page.contains("Your reference"),
        "{page}"
    );
    second.screenshot("firefox-waiting").await;
    hall::buy(&first, &gate.address, 7).await;
    second.shows("Choose your seats").await;
    assert_eq!(second.address().await, link);
}

#[tokio::test]
async fn without_scripts_the_page_reloads_and_gets_in() {
    let gate = hall::open(1, "").await;
    let mut inside = hall::insider(&gate).await;
    let scripts = false;
    let browser = firefox(Look {
        scripts,
        ..Look::default()
    })
    .await;
    browser.open(&gate.at("/seats?from=mail")).await;
    browser.shows("Stop automatic reloading").await;
    browser.screenshot("firefox-waiting-without-scripts").await;
    inside.leave(ROOM).await;
    browser.shows("Choose your seats").await;
}

#[tokio::test]
async fn a_turn_that_comes_in_a_hidden_tab_is_claimed_when_the_tab_is_seen() {
    let gate = hall::open(1, "claim_deadline = \"10 min\"\nlate_window = \"15 min\"").await;
    let mut inside = hall::insider(&gate).await;
    let browser = firefox(Look::default()).await;
    browser.open(&gate.at("/seats")).await;
    browser.shows("You are next").await;
    let waiting = hall::hide(&browser).await;
    inside.leave(ROOM).await;
    hall::is(&gate, 1, 0).await;
    browser.client.switch_to_window(waiting).await.expect("the waiting tab");
    browser.shows("Choose your seats").await;
    hall::is(&gate, 0, 1).await;
}
