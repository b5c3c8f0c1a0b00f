//! A script of the shop's own page.

use super::{Look, SHORT, Stage};

#[tokio::test]
async fn a_fetch_is_told_when_to_try_again_and_reaches_the_shop_once() {
    let (stage, busy) = Stage::idle(Look::default(), SHORT).await;
    stage.browser.click("#add").await;
    let page = stage.browser.shows("/api/add 503 parked, again in ").await;
    assert!(page.contains("Choose your seats"), "the shop's page stays: {page}");
    stage.turned_away(2).await;
    stage.browser.screenshot("active-fetch").await;
    assert!(stage.seen("POST /api/add").is_empty(), "its sender was told so");
    busy.leaves().await;
    stage.browser.shows("/api/add 200").await;
    let seen = stage.once("POST /api/add");
    assert_eq!(seen.request.text(), format!("seat=7&name={}", "Ada ".repeat(9)));
}
