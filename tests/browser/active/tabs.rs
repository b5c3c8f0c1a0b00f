//! Two tabs of one browser, which are one visitor.

use super::{FIRST, Look, SHORT, STILL_LET_IN, Stage};
use crate::hall;

#[tokio::test]
async fn a_second_tab_comes_back_in_and_so_does_the_first() {
    let (stage, busy) = Stage::idle(Look::default(), SHORT).await;
    let browser = &stage.browser;
    let first = hall::hide(browser).await;
    browser.open(&stage.gate.at("/cart?tab=2")).await;
    let page = browser.shows(STILL_LET_IN).await;
    assert!(page.contains(FIRST), "{page}");
    browser.screenshot("active-second-tab").await;
    let second = browser.client.window().await.expect("the second tab");
    browser.client.switch_to_window(first).await.expect("the first tab");
    browser.shows("Choose your seats").await;
    browser.click("#cart").await;
    browser.shows(STILL_LET_IN).await;
    browser.screenshot("active-first-tab").await;
    for request in ["GET /cart?tab=2", "GET /cart?from=seats"] {
        assert!(stage.seen(request).is_empty(), "{request}");
    }
    busy.leaves().await;
    browser.shows("Your cart").await;
    browser.client.switch_to_window(second).await.expect("the second tab");
    browser.shows("Your cart").await;
    for request in ["GET /cart?tab=2", "GET /cart?from=seats"] {
        stage.once(request);
    }
    stage.room("rights", 1).await;
}
