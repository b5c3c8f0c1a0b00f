//! Compressed pages, as a browser reads them, and a script that fails.

use serde_json::{Value, json};

use crate::hall;
use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::look::Look;

/// The coding of the page that the browser shows, and its bytes as they came and as they are.
async fn sent(browser: &Browser) -> (Value, u64, u64) {
    const ENTRY: &str = "var n = performance.getEntriesByType('navigation')[0];\
                         return [n.contentEncoding, n.encodedBodySize, n.decodedBodySize]";
    let entry = browser.run(ENTRY).await;
    let bytes = |at: usize| entry[at].as_u64().unwrap_or_default();
    (entry[0].clone(), bytes(1), bytes(2))
}

/// Goes to the waiting page until its beginning is compressed; returns what it shows.
async fn compressed(browser: &Browser, address: &str, most: u64) -> String {
    eventually("a compressed page", async || {
        browser.open(address).await;
        browser.shows("You are next").await;
        let (coding, encoded, decoded) = sent(browser).await;
        println!("{coding}: {encoded} bytes for {decoded}");
        (encoded <= most && encoded * 2 < decoded).then_some(())
    })
    .await;
    browser.text().await
}

#[tokio::test]
async fn the_waiting_page_is_read_by_br_and_by_gzip_and_follows_its_line() {
    for (accepted, coding, most) in [(None, "br", 6_000), (Some("gzip"), "gzip", 7_000)] {
        let gate = hall::open(1, "message = \"Doors open at 14:00.\"").await;
        let mut inside = hall::insider(&gate).await;
        let browser = Browser::start(Look::default()).await;
        if let Some(accepted) = accepted {
            browser.devtools("Network.enable", json!({})).await;
            let headers = json!({ "headers": { "Accept-Encoding": accepted } });
            browser.devtools("Network.setExtraHTTPHeaders", headers).await;
        }
        let link = gate.at("/seats?from=mail&id=7");
        let page = compressed(&browser, &link, most).await;
        for part in ["You are next", "Doors open at 14:00.", "Last updated", "Your reference"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert_eq!(
            browser
                .run("return document.getElementById('position').textContent")
                .await,
            "1"
        );
        let host = "return document.getElementById('host').textContent === location.hostname";
        assert_eq!(browser.run(host).await, true);
        let (said, ..) = sent(&browser).await;
        assert!(said.is_null() || said == coding, "{said}");
        assert!(browser.title().await.starts_with("(1)"), "{}", browser.title().await);
        browser.screenshot(&format!("waiting-by-{coding}")).await;
        inside.leave(hall::ROOM).await;
        browser.shows("Choose your seats").await;
        assert_eq!(browser.address().await, link);
    }
}

/// The page has nothing to say without its script, and so leads to the one that needs none.
#[tokio::test]
async fn a_script_that_fails_leads_to_the_page_without_one() {
    let gate = hall::open(1, "").await;
    let mut inside = hall::insider(&gate).await;
    for broken in [
        "JSON.parse = null",
        "Math.max = null",
        "document.addEventListener = null",
    ] {
        let browser = Browser::start(Look::default()).await;
        let source = json!({ "source": broken });
        browser.devtools("Page.enable", json!({})).await;
        browser.devtools("Page.addScriptToEvaluateOnNewDocument", source).await;
        let link = gate.at("/seats?from=mail&id=7");
        browser.open(&link).await;
        let page = browser.shows("Stop automatic reloading").await;
        assert!(
            page.contains("Your reference") && page.contains("ahead of you") || page.contains("You are next"),
            "{page}"
        );
        assert_eq!(browser.address().await, link, "{broken}");
    }
    inside.leave(hall::ROOM).await;
}

/// Where no script runs, the `meta` at the page's end leads to the bare page, whatever the coding.
#[tokio::test]
async fn without_scripts_a_compressed_page_leads_to_the_bare_one() {
    let gate = hall::open(1, "").await;
    let mut inside = hall::insider(&gate).await;
    // So that the beginning of the page is compressed.
    let with_scripts = Browser::start(Look::default()).await;
    compressed(&with_scripts, &gate.at("/seats"), 6_000).await;
    let look = Look {
        scripts: false,
        ..Look::default()
    };
    let browser = Browser::start(look).await;
    let link = gate.at("/seats?from=mail&id=7");
    browser.open(&link).await;
    browser.shows("Stop automatic reloading").await;
    assert_eq!(browser.address().await, link);
    inside.leave(hall::ROOM).await;
}
