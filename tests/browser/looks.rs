//! The look of the waiting page, and its texts in browsers that refuse features.

use serde_json::json;

use crate::hall;
use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::guest::Guest;
use crate::harness::look::Look;

#[tokio::test]
async fn a_korean_browser_reads_korean_on_a_phone_in_the_dark() {
    let gate = hall::open(1, "message = \"개막 공연은 매진되었습니다\"").await;
    let _inside = hall::insider(&gate).await;
    let look = Look {
        language: "ko-KR,ko",
        dark: true,
        phone: true,
        ..Look::default()
    };
    let browser = Browser::start(look).await;
    browser.open(&gate.at("/seats")).await;
    browser.shows("개막 공연은 매진되었습니다").await;
    assert_eq!(browser.run("return document.documentElement.lang").await, json!("ko"));
    assert!(brightness(&browser, "main").await < 0.3, "a dark card");
    fits(&browser).await;
    browser.screenshot("waiting-korean-phone-dark").await;
}

/// Makes the picture of the README too: `docs/images/waiting.png` is its `waiting-phone.png`.
#[tokio::test]
async fn an_english_browser_in_light_colours_reads_the_estimate_on_a_phone() {
    let message = "Doors open at eight. There are seats for everyone in this line.";
    let pace = "new_users_per_minute = 12\ncall_every = \"5s\"\nfirm_within = \"2 min\"";
    let gate = hall::open(100, &format!("{pace}\nmessage = \"{message}\"")).await;
    for _ in 0..26 {
        Guest::new(&gate.address).visit("/seats").await;
    }
    let browser = Browser::start(Look {
        phone: true,
        ..Look::default()
    })
    .await;
    browser.open(&gate.at("/seats")).await;
    // Shown once calls have been seen for long enough.
    let page = browser.shows("Estimated wait\n1 to").await;
    assert!(page.contains("people ahead of you") && page.contains(message), "{page}");
    assert_eq!(browser.run("return document.documentElement.lang").await, json!("en"));
    assert!(brightness(&browser, "main").await > 0.9, "a light card");
    fits(&browser).await;
    eventually("a position that stands still", async || {
        let turning = browser.run("return document.querySelectorAll('.roll').length").await;
        (turning == json!(0)).then_some(())
    })
    .await;
    browser.screenshot("waiting-phone").await;
}

#[tokio::test]
async fn a_browser_that_refuses_cookies_is_told_so() {
    let gate = hall::open(1, "").await;
    let _inside = hall::insider(&gate).await;
    let browser = Browser::start(Look {
        cookies: false,
        ..Look::default()
    })
    .await;
    browser.open(&gate.at("/seats")).await;
    browser.shows("Your browser is blocking cookies").await;
    browser.screenshot("cookies-refused").await;
}

#[tokio::test]
async fn a_browser_without_cookies_and_scripts_is_told_so_too() {
    let gate = hall::open(1, "").await;
    let _inside = hall::insider(&gate).await;
    let browser = Browser::start(Look {
        cookies: false,
        scripts: false,
        ..Look::default()
    })
    .await;
    browser.open(&gate.at("/seats")).await;
    browser.shows("Your browser is blocking cookies").await;
}

/// Nothing overflows a window 360 px wide.
async fn fits(browser: &Browser) {
    let wide = browser.run("return document.documentElement.scrollWidth").await;
    assert_eq!(wide, json!(360));
}

/// How bright the background of what `css` selects is: 0 black, 1 white.
async fn brightness(browser: &Browser, css: &str) -> f64 {
    let script = format!(
        "const c = getComputedStyle(document.querySelector('{css}')).backgroundColor.match(/[0-9.]+/g); \
         return (+c[0] + +c[1] + +c[2]) / 765"
    );
    browser.run(&script).await.as_f64().expect("a number")
}
