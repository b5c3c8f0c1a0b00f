//! A visitor who is called while they look elsewhere.

use serde_json::json;

use crate::hall::{self, ROOM};
use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::gate::Gate;
use crate::harness::guest::Guest;
use crate::harness::look::Look;

/// A browser whose waiting page is hidden behind another tab, both of their handles, and the visitor inside.
async fn behind(gate: &Gate) -> (Browser, fantoccini::wd::WindowHandle, Guest) {
    let inside = hall::insider(gate).await;
    let browser = Browser::start(Look::default()).await;
    browser.open(&gate.at("/seats")).await;
    browser.shows("You are next").await;
    let waiting = hall::hide(&browser).await;
    browser.open(&gate.at("/static/style.css")).await;
    (browser, waiting, inside)
}

#[tokio::test]
async fn the_page_says_so_in_its_tab_and_claims_the_turn_when_it_is_seen() {
    let gate = hall::open(1, "claim_deadline = \"10 min\"\nlate_window = \"15 min\"").await;
    let (browser, waiting, mut inside) = behind(&gate).await;
    inside.leave(ROOM).await;
    hall::is(&gate, 1, 0).await;
    let hidden = browser.client.window().await.expect("the other tab");
    // Nothing claims the turn while nobody looks; the titles of all tabs are the browser's to tell.
    let told = async || {
        let targets = browser.devtools("Target.getTargets", json!({})).await;
        targets
            .to_string()
            .contains("It is your turn. Come in before")
            .then_some(())
    };
    eventually("a title that calls", told).await;
    hall::is(&gate, 1, 0).await;
    assert_ne!(waiting, hidden);
    browser.client.switch_to_window(waiting).await.expect("the waiting tab");
    browser.shows("Choose your seats").await;
    hall::is(&gate, 0, 1).await;
}

#[tokio::test]
async fn a_turn_that_is_short_is_claimed_at_once() {
    let gate = hall::open(1, "claim_deadline = \"60s\"").await;
    let (browser, waiting, mut inside) = behind(&gate).await;
    inside.leave(ROOM).await;
    hall::is(&gate, 0, 1).await;
    browser.client.switch_to_window(waiting).await.expect("the waiting tab");
    browser.shows("Choose your seats").await;
}
