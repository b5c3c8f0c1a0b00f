//! The page that checks a draw, opened as a file: no gate, no server.

use std::path::Path;

use serde_json::{Value, json};

use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::look::Look;

const DOCS: &str = include_str!("../../../docs/reference/draw.md");

/// The figures in the documentation.
fn example() -> Value {
    let (_, rest) = DOCS.split_once("```json\n").expect("an example");
    let (figures, _) = rest.split_once("```").expect("an end");
    serde_json::from_str(figures).expect("JSON")
}

/// The rows of the table of places in the documentation.
fn places() -> Vec<(u64, u64)> {
    let (_, rows) = DOCS
        .split_once("| number | place |\n| --- | --- |\n")
        .expect("the table");
    let cells = |row: &str| {
        let mut cells = row.trim_matches('|').split('|').map(|cell| cell.trim().parse());
        Some((cells.next()?.ok()?, cells.next()?.ok()?))
    };
    rows.lines().map_while(cells).collect()
}

/// As English writes it.
fn grouped(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1_000), number % 1_000),
    }
}

async fn opened(look: Look) -> Browser {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("static/draw.html");
    let browser = Browser::start(look).await;
    browser.open(&format!("file://{}", page.display())).await;
    browser
}

/// Fills the form, clicks, and returns the page's answer, which contains `wanted`.
async fn says(browser: &Browser, figures: &Value, [number, place, kept]: [&str; 3], wanted: &str) -> String {
    let fill = "document.getElementById('figures').value = arguments[0]; \
                document.getElementById('verdict').textContent = ''";
    let pasted = vec![Value::from(figures.to_string())];
    browser.client.execute(fill, pasted).await.expect("a text field");
    for (field, text) in [("#number", number), ("#place", place), ("#kept", kept)] {
        browser.fill(field, text).await;
    }
    browser.click("#check").await;
    let verdict = "return document.getElementById('verdict').textContent";
    eventually("a verdict", async || (browser.run(verdict).await != "").then_some(())).await;
    let text = browser.text().await;
    assert!(text.contains(wanted), "{wanted:?} is not in:\n{text}");
    text
}

#[tokio::test]
async fn the_page_gives_the_places_of_the_documentation_and_of_the_program() {
    let browser = opened(Look::default()).await;
    let figures = example();
    let places = places();
    assert_eq!(places.len(), 6);
    for (number, place) in places {
        let wanted = format!("stands at place {}.", grouped(place));
        let shown = says(&browser, &figures, [&grouped(number), "", ""], &wanted).await;
        assert!(
            shown.contains("All fits") && shown.contains("drand quicknet round 22000000"),
            "{shown}"
        );
        assert!(
            shown.contains("382fd717c5fd25108653113db77c1ae4638d205b49f38264ab8a427e4c935ad3"),
            "{shown}"
        );
    }
    let late = says(
        &browser,
        &figures,
        ["1000004", "", ""],
        "joined behind the 1,000,003 who were drawn",
    )
    .await;
    assert!(late.contains("All fits"), "{late}");
    let seen = "return document.getElementById('verdict').getBoundingClientRect().bottom <= innerHeight";
    assert_eq!(browser.run(seen).await, json!(true), "the answer is in sight");
    browser.screenshot("draw").await;
    let asked = browser
        .run("return performance.getEntriesByType('resource').length")
        .await;
    assert_eq!(asked, json!(0), "it fetches nothing");
}

/// As `crates/room/src/draw/tests.rs` has them.
#[tokio::test]
async fn every_place_of_a_small_draw_without_a_beacon_is_the_programs() {
    let browser = opened(Look {
        phone: true,
        dark: true,
        ..Look::default()
    })
    .await;
    let figures = json!({
        "draw": 1, "room": "drop", "line": "été", "lane": 1, "edition": 0, "begins_ms": 5, "opens_ms": 7,
        "commitment": "c6c93422eeedb32d39b59112901c1da3e46adf611f984e7d2bd4227c3de8ef7d",
        "count": 14, "closed_ms": 9,
        "closing": "9ed0e578bc5cfc29d60ff262b3468e7a5d164ef36ec451f5ad1eb3d2616bc54f",
        "secret": "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "seal": "16f281f92bfd8ce270b58c9240b6fd409b77b92a756c2fb1077f687c2010efbe",
    });
    for (number, place) in (1..).zip([7, 3, 5, 11, 9, 12, 8, 6, 4, 13, 1, 14, 10, 2]) {
        let wanted = format!("Number {number} of 14 stands at place {place}.");
        let shown = says(&browser, &figures, [&number.to_string(), "", ""], &wanted).await;
        assert!(shown.contains("does not prove that the draw was impartial"), "{shown}");
    }
    let wide = browser.run("return document.documentElement.scrollWidth").await;
    assert_eq!(wide, json!(360), "nothing sticks out of a phone's screen");
    browser.screenshot("draw-phone-dark").await;
}

#[tokio::test]
async fn the_page_tells_each_change_in_a_sentence() {
    let browser = opened(Look::default()).await;
    let other = "d1".repeat(32);
    for (name, value, told) in [
        ("secret", json!(other), "The secret does not fit the commitment"),
        ("count", json!(999_999), "The count does not fit the closing"),
        (
            "beacon_value",
            json!("7d".repeat(32)),
            "The beacon's value does not fit the seal",
        ),
    ] {
        let mut figures = example();
        figures[name] = value;
        let shown = says(&browser, &figures, ["1", "", ""], told).await;
        assert!(
            shown.contains("These are not the figures of an honest draw."),
            "{shown}"
        );
        assert_eq!(shown.matches("does not fit").count(), 1, "{shown}");
    }
    let figures = example();
    says(
        &browser,
        &figures,
        ["4711", "542078", ""],
        "You were shown place 542,078, and these figures give 542,077.",
    )
    .await;
    says(&browser, &figures, ["", "", &other], "none of this draw's fingerprints").await;
    let commitment = figures["commitment"].as_str().expect("a commitment").to_uppercase();
    let good = says(&browser, &figures, ["4711", "542077", &commitment], "All fits").await;
    assert!(!good.contains("honest"), "{good}");
    let mut early = example();
    early.as_object_mut().expect("an object").remove("secret");
    says(&browser, &early, ["1", "", ""], "The draw has not been made").await;
    says(
        &browser,
        &json!("hello"),
        ["1", "", ""],
        "These are not the figures of a draw",
    )
    .await;
    says(
        &browser,
        &figures,
        ["one", "", ""],
        "Your number is a whole number from 1 on.",
    )
    .await;
}
