//! A sale by its schedule, from the countdown to inside, as one visitor sees it who only keeps the page open.

use ropeline::dates::rfc3339;
use ropeline::time;

use crate::hall;
use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::look::Look;

/// Long enough to see the countdown, short enough to wait for.
const COUNTDOWN_MS: u64 = 25_000;
const PREQUEUE_MS: u64 = 15_000;

#[tokio::test]
async fn a_page_left_open_goes_from_the_countdown_into_the_line_and_inside() {
    let browser = Browser::start(Look::default()).await;
    let begins = time::wall().plus(COUNTDOWN_MS);
    let dates = format!(
        "prequeue_from = \"{}\"\nopens_at = \"{}\"",
        rfc3339(begins),
        rfc3339(begins.plus(PREQUEUE_MS))
    );
    let gate = hall::open(1, &dates).await;
    let link = gate.at("/seats?from=mail");
    browser.open(&link).await;
    let page = browser.shows("Not open yet").await;
    assert!(
        page.contains("You can join the line in") && page.contains("00:00:"),
        "{page}"
    );
    browser.screenshot("countdown").await;
    let page = browser.shows("You are in line").await;
    assert!(
        page.contains("You are next") && page.contains("Not open yet. Your place is safe"),
        "{page}"
    );
    browser.screenshot("prequeue").await;
    browser.shows("Choose your seats").await;
    assert_eq!(
        browser.address().await,
        link,
        "the page stands at the address asked for"
    );
}

#[tokio::test]
async fn a_countdown_of_days_runs_and_fits_a_phone() {
    let look = Look {
        language: "ko",
        phone: true,
        ..Look::default()
    };
    let browser = Browser::start(look).await;
    let begins = time::wall().plus(12 * 86_400_000 + 10_000_000);
    let gate = hall::open(1, &format!("opens_at = \"{}\"", rfc3339(begins))).await;
    browser.open(&gate.at("/seats")).await;
    browser.awaits("#countdown").await;
    let shown = async || {
        browser
            .run("return document.getElementById('countdown').textContent")
            .await
    };
    let first = shown().await;
    assert!(first.as_str().is_some_and(|text| text.starts_with("12일 ")), "{first}");
    eventually("another second", async || (shown().await != first).then_some(())).await;
    let width = browser.run("return document.documentElement.scrollWidth").await;
    assert_eq!(width, 360, "nothing hangs over");
    browser.screenshot("countdown-korean-phone").await;
}
