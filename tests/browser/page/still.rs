//! What comes and goes on the waiting page moves nothing, and its number turns.

use std::process::Command;

use serde_json::{Value, json};

use crate::hall::{self, ROOM};
use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::gate::Gate;
use crate::harness::guest::Guest;
use crate::harness::look::Look;

fn rooms(gate: &Gate, arguments: &[&str]) {
    let ended = Command::new(env!("CARGO_BIN_EXE_ropeline"))
        .arg("rooms")
        .args(arguments)
        .args(["--admin", &gate.admin])
        .output()
        .expect("the program runs");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

/// Where everything above the footer stands.
async fn places(browser: &Browser) -> Value {
    let script = "return [...document.querySelectorAll('h1, .place, .place p, .why, #updated, label, summary')]\
                  .filter(one => !one.closest('footer')).map(one => Math.round(one.getBoundingClientRect().top))";
    browser.run(script).await
}

#[tokio::test]
async fn a_reason_and_a_message_move_nothing() {
    let gate = hall::open(1, "").await;
    let _inside = hall::insider(&gate).await;
    let phone = Look {
        phone: true,
        ..Look::default()
    };
    let (desk, hand) = tokio::join!(Browser::start(Look::default()), Browser::start(phone));
    for browser in [&desk, &hand] {
        browser.open(&gate.at("/seats")).await;
        browser.shows("You are in line").await;
    }
    let before = [places(&desk).await, places(&hand).await];
    rooms(&gate, &["set", ROOM, "--mode", "hold"]);
    for (browser, before) in [&desk, &hand].into_iter().zip(&before) {
        browser.shows("paused the line").await;
        assert_eq!(places(browser).await, *before);
    }
    rooms(
        &gate,
        &["set", ROOM, "--message", "Doors open at eight.\nBring your ticket."],
    );
    for (browser, before) in [&desk, &hand].into_iter().zip(&before) {
        browser.shows("Doors open at eight.").await;
        assert_eq!(places(browser).await, *before);
    }
    // Now the page has the message from the beginning, and it goes.
    hand.open(&gate.at("/seats")).await;
    hand.shows("Doors open at eight.").await;
    let before = places(&hand).await;
    rooms(&gate, &["set", ROOM, "--no-message"]);
    eventually("no message", async || {
        (!hand.text().await.contains("Doors open at eight.")).then_some(())
    })
    .await;
    assert_eq!(places(&hand).await, before);
    hand.screenshot("held-phone").await;
}

/// Six are called a minute: so there is an estimate soon, and a wait of 80 visitors is long enough for times of day.
const PACE: &str = "new_users_per_minute = 6\ncall_every = \"5s\"\nfirm_within = \"2 min\"";

#[tokio::test]
async fn times_of_day_come_and_go_with_their_estimate_and_move_nothing() {
    let gate = hall::open(100, PACE).await;
    for _ in 0..80 {
        Guest::new(&gate.address).visit("/seats").await;
    }
    let phone = Browser::start(Look {
        phone: true,
        ..Look::default()
    })
    .await;
    let zone = json!({ "timezoneId": "Asia/Kolkata" });
    phone.devtools("Emulation.setTimezoneOverride", zone).await;
    phone.open(&gate.at("/seats")).await;
    let times = async || {
        let text = phone.run("return document.getElementById('times').textContent").await;
        text.as_str().expect("a text").to_owned()
    };
    let told = async || Some(times().await).filter(|text| !text.is_empty());
    let text = eventually("times of day", told).await;
    assert!(
        text.starts_with('(') && text.contains("M – ") && text.ends_with("M)"),
        "{text}"
    );
    let before = places(&phone).await;
    phone.screenshot("times-phone").await;
    rooms(&gate, &["set", ROOM, "--mode", "hold"]);
    phone.shows("not known yet").await;
    assert_eq!(times().await, "");
    assert_eq!(places(&phone).await, before);
    phone.screenshot("times-unknown-phone").await;
    rooms(&gate, &["set", ROOM, "--mode", "auto"]);
    eventually("times of day again", told).await;
    assert_eq!(places(&phone).await, before);
}

#[tokio::test]
async fn the_digits_that_change_turn_and_then_the_number_is_text_again() {
    let gate = hall::open(1, "").await;
    let _inside = hall::insider(&gate).await;
    let mut ahead = Guest::new(&gate.address);
    ahead.visit("/seats").await;
    let browser = Browser::start(Look::default()).await;
    browser.open(&gate.at("/seats")).await;
    browser.shows("1 person ahead of you").await;
    let watch = "window.turned = []; new MutationObserver(all => all.forEach(one => one.addedNodes.forEach(node => {\
                 if (node.className === 'roll') turned.push(node.getAttribute('data-was') + node.textContent); })))\
                 .observe(document.getElementById('position'), { childList: true })";
    browser.run(watch).await;
    ahead.leave(ROOM).await;
    browser.shows("You are next").await;
    assert_eq!(browser.run("return turned").await, json!(["21"]));
    eventually("plain text", async || {
        let html = browser
            .run("return document.getElementById('position').innerHTML")
            .await;
        (html == "1").then_some(())
    })
    .await;
}
