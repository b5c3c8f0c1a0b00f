//! A sale by stock as visitors see it: waiting for a piece, having bought, having been inside without buying, and never
//! having come in.

use std::process::Command;

use ropeline::dates::rfc3339;
use ropeline::time;

use crate::hall::{self, ROOM};
use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::gate::Gate;
use crate::harness::guest::Guest;
use crate::harness::look::Look;

const COMPLETES: &str = "completes_on = [{ route = \"/checkout/complete\", status = 200 }]";

/// Texts that must not be shown to a visitor who has not come in, or before it is time.
const RESULTS: [&str; 2] = ["You got one", "You did not get one"];

async fn browsers<const N: usize>() -> Vec<Browser> {
    let mut all = Vec::new();
    for _ in 0..N {
        all.push(Browser::start(Look::default()).await);
    }
    all
}

/// The operator sets something of the room.
fn set(gate: &Gate, key: &str, value: &str) {
    let ended = Command::new(env!("CARGO_BIN_EXE_ropeline"))
        .args(["rooms", "set", ROOM, key, value, "--admin", &gate.admin])
        .output()
        .expect("the program runs");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

/// Waits until no visitor is called or inside.
async fn emptied(gate: &Gate) {
    let operator = format!("http://{}", gate.admin);
    let path = format!("/api/v1/rooms/{ROOM}");
    eventually("an empty room", async || {
        let room = Guest::new(&operator).visit(&path).await.body;
        room.contains("\"sessions\":0").then_some(())
    })
    .await;
}

/// Comes back to the shop's address, where the page says this.
async fn reads(browser: &Browser, gate: &Gate, words: &str) -> String {
    browser.open(&gate.at("/seats")).await;
    browser.shows(words).await
}

fn tells_no_results(page: &str) {
    // Waiting changes nothing either.
    for words in [RESULTS[0], RESULTS[1], "Please wait"] {
        assert!(!page.contains(words), "{words}: {page}");
    }
}

#[tokio::test]
async fn who_has_bought_reads_it_and_nobody_else_reads_that_they_took_part() {
    let room = format!("stock = 2\nsession_duration = \"20s\"\n{COMPLETES}");
    let gate = hall::open(10, &room).await;
    let all = browsers::<4>().await;
    let [wins, idles, waits, late] = &all[..] else {
        unreachable!("four of them")
    };
    for browser in [wins, idles] {
        browser.open(&gate.at("/seats")).await;
        browser.shows("Choose your seats").await;
    }
    waits.open(&gate.at("/seats")).await;
    waits
        .shows("You get one only if enough people ahead of you do not buy")
        .await;
    waits.screenshot("stock-beyond").await;

    hall::buy(wins, &gate.address, 7).await;
    set(&gate, "--stock", "1");
    // The page that was left open turns by itself.
    let page = waits.shows("Sold out").await;
    tells_no_results(&page);
    waits.screenshot("sold-out").await;
    late.open(&gate.at("/seats")).await;
    let page = late.shows("Sold out").await;
    tells_no_results(&page);

    // The shop's own page has a stream, which is use of the session.
    idles.open("about:blank").await;
    emptied(&gate).await;
    reads(wins, &gate, "You got one").await;
    wins.screenshot("sold-out-won").await;
    reads(idles, &gate, "You did not get one this time").await;
    idles.screenshot("sold-out-lost").await;
    for browser in [waits, late] {
        tells_no_results(&reads(browser, &gate, "Sold out").await);
    }
}

#[tokio::test]
async fn nobody_reads_who_has_won_before_the_results_are_out() {
    let begins = time::wall().plus(2_000);
    let dates = format!(
        "opens_at = \"{}\"\nresults_at = \"{}\"",
        rfc3339(begins),
        rfc3339(begins.plus(HOUR_MS))
    );
    let gate = hall::open(10, &format!("stock = 1\n{dates}\n{COMPLETES}")).await;
    let all = browsers::<2>().await;
    let [wins, late] = &all[..] else {
        unreachable!("two of them")
    };
    wins.open(&gate.at("/seats")).await;
    wins.shows("Choose your seats").await;
    hall::buy(wins, &gate.address, 3).await;
    wins.open("about:blank").await;
    emptied(&gate).await;
    for browser in [wins, late] {
        let page = reads(browser, &gate, "this page shows whether you got one").await;
        assert!(page.contains("Sold out"), "{page}");
        tells_no_results(&page);
    }
    wins.screenshot("results-later").await;

    set(&gate, "--results-at", "now");
    let page = reads(wins, &gate, "You got one").await;
    assert!(page.contains("Everything has been sold"), "{page}");
    tells_no_results(&reads(late, &gate, "Sold out").await);
}

/// Far behind the test's end.
const HOUR_MS: u64 = 3_600_000;
