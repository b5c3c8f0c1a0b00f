//! A browser that sleeps: no script and no timer runs, and nothing is read.

use std::time::Duration;

use super::{LONG, Look, SHORT, Stage};
use crate::harness::eventually;

#[tokio::test]
async fn what_a_page_sends_again_after_sleep_reaches_the_shop_once_each() {
    let stage = Stage::open(Look::default(), SHORT).await;
    stage.browser.click("#tick").await;
    stage.browser.shows("/api/keep?n=2 200").await;
    stage.browser.sleep();
    let busy = stage.taken().await;
    stage.browser.wake();
    let page = stage.browser.shows(" 503 parked, again in ").await;
    assert!(page.contains("Choose your seats"), "the shop's page stays: {page}");
    stage.browser.screenshot("active-woken").await;
    busy.leaves().await;
    let at = stage.browser.run("return ticks").await.as_u64().expect("a number");
    stage.browser.shows(&format!("/api/keep?n={} 200", at + 1)).await;
    stage.browser.run("stops = true").await;
    let page = stage.browser.shows("stopped").await;
    assert!(!page.contains("lost"), "{page}");
    let last = stage.browser.run("return ticks").await.as_u64().expect("a number");
    for at in 1..=last {
        stage.once(&format!("POST /api/keep?n={at}"));
    }
    assert_eq!(stage.shop.seen_of("/api/keep?").len() as u64, last);
}

#[tokio::test]
async fn who_clicks_after_sleep_comes_back_in() {
    let stage = Stage::open(
        Look {
            phone: true,
            ..Look::default()
        },
        SHORT,
    )
    .await;
    stage.browser.sleep();
    let busy = stage.taken().await;
    stage.browser.wake();
    stage.browser.click("#cart").await;
    stage.browser.shows(super::STILL_LET_IN).await;
    stage.browser.screenshot("active-woken-phone").await;
    // It sleeps again while the page waits, and longer than a slot is kept for it.
    stage.browser.sleep();
    busy.leaves().await;
    let other = super::Busy::enter(&stage.gate).await;
    stage.browser.wake();
    other.leaves().await;
    stage.browser.shows("Your cart").await;
    stage.once("GET /cart?from=seats");
}

#[tokio::test]
async fn who_falls_asleep_while_a_click_waits_finds_the_page_there() {
    let (stage, busy) = Stage::idle(Look::default(), LONG).await;
    let sleeps = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        stage.browser.sleep();
        busy.leaves().await;
        eventually("the click's request", async || {
            (!stage.seen("GET /cart?from=seats").is_empty()).then_some(())
        })
        .await;
        stage.browser.wake();
    };
    tokio::join!(stage.browser.click("#cart"), sleeps);
    stage.browser.shows("Your cart").await;
    stage.once("GET /cart?from=seats");
}
