//! From the line into the shop, as several visitors see it.

use fantoccini::Locator;

use crate::hall::{self, ROOM};
use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::guest::Guest;
use crate::harness::look::Look;

#[tokio::test]
async fn the_second_waits_for_the_firsts_order_and_lands_on_its_deep_link() {
    let gate = hall::open(1, "").await;
    let (first, second) = tokio::join!(Browser::start(Look::default()), Browser::start(Look::default()));
    first.open(&gate.at("/seats")).await;
    first.shows("Choose your seats").await;
    let link = gate.at("/seats?from=mail&id=7");
    second.open(&link).await;
    let page = second.shows("You are in line").await;
    assert!(
        page.contains("You are next") && page.contains("Your reference"),
        "{page}"
    );
    assert_eq!(
        second.address().await,
        link,
        "the waiting page stands at the address asked for"
    );
    assert!(second.title().await.starts_with("(1)"), "{}", second.title().await);
    second.screenshot("waiting").await;
    hall::buy(&first, &gate.address, 7).await;
    second.shows("Choose your seats").await;
    assert_eq!(second.address().await, link);
}

#[tokio::test]
async fn of_three_two_are_in_and_the_third_sees_its_position_and_gets_in() {
    let gate = hall::open(2, "").await;
    let mut insiders = (hall::insider(&gate).await, hall::insider(&gate).await);
    let mut ahead = Guest::new(&gate.address);
    assert_eq!(ahead.visit("/").await.gate.as_deref(), Some("waiting"));
    let third = Browser::start(Look::default()).await;
    third.open(&gate.at("/")).await;
    let page = third.shows("You are in line").await;
    assert!(page.contains("1 person ahead of you"), "{page}");
    third.screenshot("waiting-second").await;
    insiders.0.leave(ROOM).await;
    ahead.becomes(ROOM, "called").await;
    third.shows("You are next").await;
    insiders.1.leave(ROOM).await;
    third.shows("Lantern Quartet").await;
}

#[tokio::test]
async fn without_scripts_the_page_reloads_and_gets_in() {
    let gate = hall::open(1, "").await;
    let mut inside = hall::insider(&gate).await;
    let browser = Browser::start(Look {
        scripts: false,
        ..Look::default()
    })
    .await;
    let link = gate.at("/seats?from=mail");
    browser.open(&link).await;
    let page = browser.shows("You are in line").await;
    assert!(page.contains("Stop automatic reloading"), "{page}");
    browser.screenshot("waiting-without-scripts").await;
    inside.leave(ROOM).await;
    browser.shows("Choose your seats").await;
    assert_eq!(browser.address().await, link);
}

#[tokio::test]
async fn without_scripts_the_page_is_bare_and_leads_to_the_whole_one() {
    let gate = hall::open(1, "message = \"Doors open at 14:00.\"").await;
    let _inside = hall::insider(&gate).await;
    let browser = Browser::start(Look {
        scripts: false,
        phone: true,
        ..Look::default()
    })
    .await;
    let link = gate.at("/seats?from=mail");
    browser.open(&link).await;
    let page = browser.shows("Stop automatic reloading").await;
    assert_eq!(browser.address().await, link);
    for part in [
        "You are in line",
        "You are next",
        "Last updated",
        "Doors open",
        "Leave the line",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("Good to know"), "{page}");
    let size = "return getComputedStyle(document.querySelector('.n')).fontSize";
    assert_eq!(browser.run(size).await, "32px", "its style is allowed");
    browser.screenshot("waiting-bare-phone").await;
    browser.follows("Stop automatic reloading", "Good to know").await;
    assert_eq!(browser.address().await, link);
    // The first page, asked without a browser: on a busy machine that one may go on before it is read.
    let first = Guest::new(&gate.address).visit("/seats").await;
    assert!(first.body.contains("Good to know"), "{}", first.body);
}

#[tokio::test]
async fn without_scripts_a_long_address_survives_the_bare_pages_links() {
    let gate = hall::open(1, "").await;
    let _inside = hall::insider(&gate).await;
    let browser = Browser::start(Look {
        scripts: false,
        language: "ko-KR,ko",
        dark: true,
        phone: true,
        ..Look::default()
    })
    .await;
    let link = gate.at(&format!("/seats?from={}", "mail".repeat(100)));
    browser.open(&link).await;
    browser.shows("자동 새로 고침 끄기").await;
    browser.screenshot("waiting-bare-korean-phone-dark").await;
    browser.follows("자동 새로 고침 끄기", "자동 새로 고침 켜기").await;
    assert_eq!(browser.address().await, link);
}

#[tokio::test]
async fn an_hour_without_scripts_stays_small_on_the_wire() {
    let gate = hall::open(1, "message = \"Doors open at 14:00.\"").await;
    let _inside = hall::insider(&gate).await;
    let mut guest = Guest::new(&gate.address);
    let whole = guest.visit("/seats").await;
    let check = format!("/.ropeline/rooms/{ROOM}/check?to=%2Fseats&reload=bare");
    let marked = guest.visit(&check).await;
    assert_eq!((marked.status, marked.gate.as_deref()), (303, Some("check")));
    let bare = guest.visit("/seats").await;
    assert_eq!(bare.gate.as_deref(), Some("waiting"), "{}", bare.body);
    assert!(!bare.body.contains("http-equiv"), "{}", bare.body);
    let hour = whole.bytes + marked.bytes + 3_600 / 45 * bare.bytes;
    assert!(
        hour <= 200_000,
        "{hour} bytes, {} each time:\n{}",
        bare.bytes,
        bare.body
    );
}

#[tokio::test]
async fn without_scripts_reloading_can_be_switched_off_and_a_link_checks() {
    let gate = hall::open(1, "").await;
    let mut inside = hall::insider(&gate).await;
    let browser = Browser::start(Look {
        scripts: false,
        ..Look::default()
    })
    .await;
    browser.open(&gate.at("/seats")).await;
    browser
        .follows("Stop automatic reloading", "Reload automatically")
        .await;
    assert!(!browser.has("meta[http-equiv=refresh]").await);
    inside.leave(ROOM).await;
    browser.follows("Check now", "Choose your seats").await;
}

#[tokio::test]
async fn two_tabs_share_one_place() {
    let gate = hall::open(1, "").await;
    let mut inside = hall::insider(&gate).await;
    let browser = Browser::start(Look::default()).await;
    browser.open(&gate.at("/seats?tab=1")).await;
    let reference = reference(&browser).await;
    let first = browser.client.window().await.expect("a tab");
    let second = browser.client.new_window(true).await.expect("a second tab").handle;
    browser.client.switch_to_window(second).await.expect("the second tab");
    browser.open(&gate.at("/seats?tab=2")).await;
    assert_eq!(self::reference(&browser).await, reference);
    assert!(browser.text().await.contains("You are next"), "not behind itself");
    eventually("one stream for both tabs", async || {
        (gate.metric("ropeline_streams").await == 1).then_some(())
    })
    .await;
    inside.leave(ROOM).await;
    browser.shows("Choose your seats").await;
    assert!(browser.address().await.ends_with("/seats?tab=2"));
    browser.client.switch_to_window(first).await.expect("the first tab");
    browser.shows("Choose your seats").await;
    assert!(browser.address().await.ends_with("/seats?tab=1"));
}

#[tokio::test]
async fn who_leaves_gives_the_place_to_the_next() {
    let gate = hall::open(1, "").await;
    let _inside = hall::insider(&gate).await;
    let browser = Browser::start(Look::default()).await;
    browser.open(&gate.at("/seats")).await;
    browser.shows("You are next").await;
    let mut behind = Guest::new(&gate.address);
    behind.visit("/seats").await;
    assert_eq!(behind.status(ROOM).await["position"], 2);
    // In a second tab.
    let first = hall::hide(&browser).await;
    browser.open(&gate.at("/seats")).await;
    browser.shows("You are next").await;
    browser.click("details:has(#leave) summary").await;
    browser.screenshot("leaving").await;
    browser.click("#leave button").await;
    browser.shows("You left the line").await;
    browser.screenshot("left").await;
    assert_eq!(behind.status(ROOM).await["position"], 1);
    // The first one says the same, and no more that it lets in.
    browser.client.switch_to_window(first).await.expect("the first tab");
    browser.shows("You left the line").await;
    let left = browser
        .run("return [...document.querySelectorAll('main>:not(#said):not([hidden])')].map(one => one.innerText).join('').trim()")
        .await;
    let left = left.as_str().expect("its words");
    assert!(
        left.starts_with("You left the line") && !left.contains("lets you in"),
        "{left}"
    );
    assert_eq!(browser.client.title().await.expect("a title"), "You left the line");
}

#[tokio::test]
async fn back_and_forward_keep_the_place_and_back_inside_shows_the_shop() {
    let gate = hall::open(1, "").await;
    let mut inside = hall::insider(&gate).await;
    let browser = Browser::start(Look::default()).await;
    browser.open(&gate.at("/static/style.css")).await;
    browser.open(&gate.at("/seats")).await;
    let reference = reference(&browser).await;
    browser.client.back().await.expect("back");
    browser.at("/static/style.css").await;
    browser.client.forward().await.expect("forward");
    assert_eq!(self::reference(&browser).await, reference);
    inside.leave(ROOM).await;
    browser.shows("Choose your seats").await;
    browser.open(&gate.at("/upload")).await;
    browser.client.back().await.expect("back");
    browser.shows("Choose your seats").await;
    browser.client.back().await.expect("back");
    browser.at("/static/style.css").await;
}

/// The visitor's reference, as the waiting page shows it.
async fn reference(browser: &Browser) -> String {
    browser.shows("Your reference").await;
    let element = browser
        .client
        .find(Locator::Css("footer b"))
        .await
        .expect("the reference");
    element.text().await.expect("its text")
}
