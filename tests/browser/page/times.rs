//! The estimate as times of day, by the visitor's clock.

use std::collections::BTreeMap;

use serde_json::json;

use ropeline::pages::{Pages, previews};

use super::served::serve;
use crate::harness::browser::Browser;
use crate::harness::look::Look;

/// 28 October 2026, 13:07 UTC, as long as the page is looked at.
const NOW: &str = "Date.now = function () { return 1793192820000; }";

/// The samples' waits are 260 to 410 seconds, which may end soon, and 7,300 to 12,000.
const CASES: [(&str, &str, &str); 7] = [
    ("waiting.en", "Asia/Kolkata", ""),
    ("waiting-hours.en", "Asia/Kolkata", "(8:35 PM – 10:00 PM)"),
    ("waiting-hours.uk", "Asia/Kolkata", "(20:35 – 22:00)"),
    ("waiting-hours.ja", "Asia/Kolkata", "(20:35 – 22:00)"),
    ("waiting-hours.ar", "Asia/Kolkata", "(8:35 م – 10:00 م)"),
    // Over midnight, without a date.
    ("waiting-hours.en", "Asia/Singapore", "(11:05 PM – 12:30 AM)"),
    ("waiting-unknown.en", "Asia/Kolkata", ""),
];

#[tokio::test]
async fn an_estimate_has_its_times_of_day_in_the_visitors_zone_and_language() {
    let pages = Pages::new(None).expect("the built-in page");
    let bodies: BTreeMap<String, String> = previews(&pages)
        .into_iter()
        .filter(|preview| CASES.iter().any(|(name, ..)| *name == preview.name))
        .map(|preview| {
            let body = String::from_utf8(preview.page.body.to_vec()).expect("markup");
            (format!("/{}", preview.name), body)
        })
        .collect();
    let address = serve(bodies).await;
    let browser = Browser::start(Look::default()).await;
    browser.devtools("Page.enable", json!({})).await;
    browser
        .devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": NOW }))
        .await;
    for (name, zone, expected) in CASES {
        browser
            .devtools("Emulation.setTimezoneOverride", json!({ "timezoneId": zone }))
            .await;
        browser.open(&format!("http://{address}/{name}")).await;
        // Browsers differ in the space before AM and PM.
        let times = "sessionStorage.clear(); return document.getElementById('times').textContent.replace(/\\s/g, ' ')";
        assert_eq!(browser.run(times).await, expected, "{name} in {zone}");
        browser.screenshot(&format!("{name}-times")).await;
    }
}
