//! A click on a link.

use std::time::Duration;

use super::{FIRST, LONG, Look, SHORT, STILL_LET_IN, Stage};

const CART: &str = "GET /cart?from=seats";

#[tokio::test]
async fn a_click_that_waits_for_a_slot_shows_the_next_page_and_no_other() {
    let (stage, busy) = Stage::idle(Look::default(), LONG).await;
    let leaves = async {
        // The click has begun: nothing tells of a request that is held.
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(stage.seen(CART).is_empty(), "the shop saw nothing of it yet");
        busy.leaves().await;
    };
    let (page, ()) = tokio::join!(
        async {
            stage.browser.click("#cart").await;
            stage.browser.text().await
        },
        leaves
    );
    assert!(page.contains("Your cart"), "the first page that came: {page}");
    stage.browser.screenshot("active-click-held").await;
    stage.once(CART);
}

#[tokio::test]
async fn a_click_in_a_room_that_stays_full_shows_that_the_visitor_is_first_and_goes_on_by_itself() {
    let (stage, busy) = Stage::idle(Look::default(), SHORT).await;
    stage.browser.click("#cart").await;
    let page = stage.browser.shows(STILL_LET_IN).await;
    assert!(page.contains(FIRST) && !page.contains("did not go through"), "{page}");
    assert!(!page.contains("Please wait"), "nobody knows for how long: {page}");
    assert_eq!(stage.browser.address().await, stage.gate.at("/cart?from=seats"));
    stage.browser.screenshot("active-returning").await;
    // The page has tried again by itself and says the same.
    stage.turned_away(3).await;
    stage.browser.shows(STILL_LET_IN).await;
    assert!(stage.seen(CART).is_empty(), "the shop saw nothing of it");
    busy.leaves().await;
    stage.browser.shows("Your cart").await;
    assert_eq!(stage.browser.address().await, stage.gate.at("/cart?from=seats"));
    stage.browser.screenshot("active-returned").await;
    stage.once(CART);
    stage.browser.client.back().await.expect("the page before");
    stage.browser.shows("Choose your seats").await;
}

#[tokio::test]
async fn without_scripts_the_page_goes_on_by_itself_too() {
    let look = Look {
        scripts: false,
        phone: true,
        dark: true,
        language: "ko-KR,ko",
        ..Look::default()
    };
    let (stage, busy) = Stage::idle(look, SHORT).await;
    stage.browser.open(&stage.gate.at("/cart?from=seats")).await;
    stage.browser.shows("입장 상태가 그대로 유지됩니다").await;
    stage
        .browser
        .screenshot("active-returning-korean-phone-dark-without-scripts")
        .await;
    assert!(stage.seen(CART).is_empty(), "the shop saw nothing of it");
    busy.leaves().await;
    stage.browser.shows("Your cart").await;
    stage.once(CART);
}
