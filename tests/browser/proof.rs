//! A room that asks for a proof of work, as a visitor meets it: with a script, on a page of the operator's own, without one.

use std::fmt::Write as _;

use ropeline::time::uptime;

use crate::hall;
use crate::harness::browser::Browser;
use crate::harness::look::Look;

/// A price that holds at any rate of joins that a test reaches, in hashes.
fn asking(price: u32) -> String {
    format!(
        "[room.proof_of_work]\nenabled = true\nprice = {{ least = {price}, most = 50000000 }}\n\
         joins_per_minute = {{ few = 100000, many = 200000 }}\n"
    )
}

#[tokio::test]
async fn a_browser_does_the_work_and_joins_without_being_asked_anything() {
    let gate = hall::open(2, &asking(20_000)).await;
    let browser = Browser::start(Look::default()).await;
    let link = gate.at("/seats?from=mail");
    browser.open(&link).await;
    browser.shows("Choose your seats").await;
    assert_eq!(browser.address().await, link, "back at the address asked for");
    let second = Browser::start(Look::default()).await;
    second.open(&gate.at("/seats")).await;
    second.shows("Choose your seats").await;
    let third = Browser::start(Look::default()).await;
    third.open(&gate.at("/seats")).await;
    third.shows("You are in line").await;
    third.open(&gate.at("/seats")).await;
    third.shows("You are in line").await;
}

#[tokio::test]
async fn a_template_of_the_operators_own_does_the_work_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("page.html");
    let page = "<!doctype html><html lang=\"{{ lang }}\"><head><title>{{ title }}</title><style>h1 { color: teal }</style></head>\
        <body><h1>Ours: {{ heading }}</h1><p>{{ lead }}</p><p id=\"why\"></p>\
        {% if data %}<script type=\"application/json\" id=\"data\">{{ data }}</script><script>{{ script }}</script>{% endif %}\
        </body></html>";
    std::fs::write(&path, page).expect("written");
    let template = format!("[room.page]\ntemplate = \"{}\"\n", path.display());
    let gate = hall::open(1, &(asking(20_000) + &template)).await;
    let browser = Browser::start(Look::default()).await;
    browser.open(&gate.at("/seats")).await;
    browser.shows("Choose your seats").await;
}

#[tokio::test]
async fn without_a_script_the_page_waits_and_joins() {
    let gate = hall::open(1, &asking(20_000)).await;
    let look = Look {
        scripts: false,
        ..Look::default()
    };
    let browser = Browser::start(look).await;
    browser.open(&gate.at("/seats")).await;
    browser.shows("Without JavaScript this takes").await;
    browser.screenshot("proof-without-javascript").await;
    browser.shows("Choose your seats").await;
}

/// `cargo test --test browser price -- --ignored --nocapture`: the table of `docs/guides/bots.md`.
#[tokio::test]
#[ignore = "measures, and takes its time"]
async fn how_long_a_browser_works_by_price() {
    let mut table = String::new();
    for price in [200_000, 1_000_000, 4_000_000, 16_000_000] {
        let gate = hall::open(50, &asking(price)).await;
        let mut times = Vec::new();
        for _ in 0..5 {
            let browser = Browser::start(Look::default()).await;
            let begun = uptime();
            browser.open(&gate.at("/seats")).await;
            browser.shows("Choose your seats").await;
            times.push(uptime().saturating_sub(begun).as_millis());
        }
        times.sort_unstable();
        let _ = writeln!(table, "{price} hashes: {times:?} ms");
    }
    println!("{table}");
}
