//! The operator's page while load control limits the calls of a room.

use crate::hall::{self, ROOM};
use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::look::Look;

const ADAPTIVE: &str = "[room.load_control]\nby = \"adaptive\"";

/// The notes of the room's card, a line each.
async fn notes(browser: &Browser) -> String {
    let notes = format!(
        "return [...document.querySelector('#room-{ROOM}').closest('section').querySelectorAll('p.note')]\
         .map(one => one.textContent).join('\\n')"
    );
    browser.run(&notes).await.as_str().unwrap_or_default().to_owned()
}

/// Waits until one of them begins so, or, for `None`, until none is of the admission; the notes then.
async fn says(browser: &Browser, begins: Option<&str>) -> String {
    eventually(begins.unwrap_or("nothing of the admission"), async || {
        let notes = notes(browser).await;
        let is = match begins {
            Some(begins) => notes.lines().any(|note| note.starts_with(begins)),
            None => !notes.to_lowercase().contains("admission"),
        };
        is.then_some(notes)
    })
    .await
}

/// Figures of the shop, as its monitoring gives them.
async fn given(browser: &Browser, p95_ms: u32, errors: &str) {
    let body = format!("{{ requests_per_second: 80, p95_ms: {p95_ms}, error_share: {errors}, ttl_secs: 300 }}");
    browser
        .run(&format!("return ask('rooms/{ROOM}/load', 'POST', {body})"))
        .await;
}

#[tokio::test]
async fn the_page_says_that_admission_is_slowed_and_by_which_figures_and_only_then() {
    let gate = hall::open(10, ADAPTIVE).await;
    let browser = Browser::start(Look::default()).await;
    browser.open(&format!("http://{}/", gate.admin)).await;
    browser.awaits(&format!("#room-{ROOM}")).await;
    // The gate has reported, and nothing is amiss.
    says(&browser, None).await;
    // Near the bound of 1,500 ms, then beyond it.
    given(&browser, 1_300, "0.003").await;
    let slowed = says(&browser, Some("admission slowed to ")).await;
    let figures = ": latency; 80 requests a second, 95 of 100 within 1300 ms, 3 of 1000 fail";
    assert!(slowed.lines().any(|note| note.ends_with(figures)), "{slowed}");
    given(&browser, 9_000, "0.003").await;
    let stopped = says(&browser, Some("ADMISSION STOPPED since ")).await;
    assert!(
        stopped.contains(": latency; 80 requests a second, 95 of 100 within 9000 ms"),
        "{stopped}"
    );
    browser.screenshot("operator-slowed").await;
    given(&browser, 100, "0.9").await;
    browser
        .shows(": errors; 80 requests a second, 95 of 100 within 100 ms, 900 of 1000 fail")
        .await;
    given(&browser, 100, "0").await;
    says(&browser, None).await;
}
