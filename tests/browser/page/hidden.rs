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
    let waiting = browser.client.window().await.expect("a tab");
    let other = browser.client.new_window(true).await.expect("another tab").handle;
    browser.client.switch_to_window(other).await.expect("the other tab");
    browser.open(&gate.at("/static/style.css")).await;
    (browser, waiting, inside)
}

/// The room's figures, as the operator has them.
async fn is(gate: &Gate, called: u64, sessions: u64) {
    eventually(&format!("{called} called and {sessions} inside"), async || {
        let mut operator = Guest::new(&format!("http://{}", gate.admin));
        let answer = operator.visit(&format!("/api/v1/rooms/{ROOM}")).await;
        let room: serde_json::Value = serde_json::from_str(&answer.body).ok()?;
        (room["called"] == called && room["sessions"] == sessions).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_page_says_so_in_its_tab_and_claims_the_turn_when_it_is_seen() {
    let gate = hall::open(1, "claim_deadline = \"10 min\"\nlate_window = \"15 min\"").await;
    let (browser, waiting, mut inside) = behind(&gate).await;
    inside.leave(ROOM).await;
    is(&gate, 1, 0).await;
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
    is(&gate, 1, 0).await;
    assert_ne!(waiting, hidden);
    browser.client.switch_to_window(waiting).await.expect("the waiting tab");
    browser.shows("Choose your seats").await;
    is(&gate, 0, 1).await;
}

#[tokio::test]
async fn a_turn_that_is_short_is_claimed_at_once() {
    let gate = hall::open(1, "claim_deadline = \"60s\"").await;
    let (browser, waiting, mut inside) = behind(&gate).await;
    inside.leave(ROOM).await;
    is(&gate, 0, 1).await;
    browser.client.switch_to_window(waiting).await.expect("the waiting tab");
    browser.shows("Choose your seats").await;
}
