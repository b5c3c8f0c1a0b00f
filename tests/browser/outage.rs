//! The visitor's view when the shared store goes away, and while the line is restored.

use serde_json::Value;

use crate::hall::{self, ROOM};
use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::gate::Gate;
use crate::harness::guest::Guest;
use crate::harness::look::{Engine, Look};
use crate::harness::redis::{Options, Server};

const KOREAN_PHONE_IN_THE_DARK: Look = Look {
    engine: Engine::Chromium,
    language: "ko-KR,ko",
    dark: true,
    scripts: true,
    cookies: true,
    phone: true,
};

/// A gate on the store before a room for one, where who joins counts as there for as long as a test lasts.
async fn open(store: &Server) -> Gate {
    let gate = hall::open_on(&store.url(), 1, "firm_within = \"2 min\"").await;
    calls(&gate).await;
    gate
}

/// How the gate stands to the log.
async fn standing(gate: &Gate) -> Value {
    let mut operator = Guest::new(&format!("http://{}", gate.admin));
    let answer = operator.visit("/api/v1/gates").await;
    let shown: Value = serde_json::from_str(&answer.body).expect("JSON");
    shown["gate"].clone()
}

async fn calls(gate: &Gate) {
    eventually("calls", async || {
        let standing = standing(gate).await;
        (standing["condition"] == "live" && standing["healing_secs"].is_null()).then_some(())
    })
    .await;
}

/// Waits until the page does not show `text` any more, and returns all it shows.
async fn shows_no_more(browser: &Browser, text: &str) -> String {
    let gone = async || Some(browser.text().await).filter(|page| !page.is_empty() && !page.contains(text));
    eventually(&format!("a page without {text:?}"), gone).await
}

#[tokio::test]
async fn while_the_store_is_away_places_stand_and_newcomers_are_taken_in_when_it_is_back() {
    let store = Server::start(&Options::default());
    let gate = open(&store).await;
    let mut inside = hall::insider(&gate).await;
    let mut ahead = Guest::new(&gate.address);
    assert_eq!(ahead.visit("/seats").await.gate.as_deref(), Some("waiting"));
    let (browser, newcomer) = tokio::join!(
        Browser::start(Look::default()),
        Browser::start(KOREAN_PHONE_IN_THE_DARK)
    );
    browser.open(&gate.at("/seats")).await;
    browser.shows("1 person ahead of you").await;

    store.pause();
    let link = gate.at("/seats?from=mail");
    newcomer.open(&link).await;
    // Shown at once, or by the next question if the gate did not know yet.
    let page = newcomer.shows("장애로 대기열이 잠시 멈췄습니다").await;
    assert!(page.contains("도착한 시각이 기록되었습니다"), "{page}");
    assert!(!page.contains("문의 번호"), "there is no number yet: {page}");
    // The script shows seconds: it has asked, and still says why.
    eventually("the page's first question", async || {
        let updated = newcomer
            .run("return document.getElementById('updated').textContent")
            .await;
        updated.as_str()?.contains('초').then_some(())
    })
    .await;
    assert!(newcomer.text().await.contains("장애로 대기열이 잠시 멈췄습니다"));
    newcomer.screenshot("cut-off-joining-korean-phone-dark").await;
    let page = browser
        .shows("The line has paused because of a fault. The order is kept.")
        .await;
    assert!(page.contains("1 person ahead of you"), "{page}");
    browser.screenshot("cut-off").await;

    store.resume();
    newcomer.shows("앞에 2명이 있습니다").await;
    shows_no_more(&newcomer, "장애").await;
    assert_eq!(newcomer.address().await, link);
    let page = shows_no_more(&browser, "fault").await;
    assert!(page.contains("1 person ahead of you"), "{page}");
    inside.leave(ROOM).await;
    ahead.becomes(ROOM, "called").await;
    browser.shows("You are next").await;
    ahead.leave(ROOM).await;
    browser.shows("Choose your seats").await;
}

#[tokio::test]
async fn while_a_gate_that_died_with_the_store_is_waited_for_the_page_says_so_and_then_goes_on() {
    let mut store = Server::start(&Options::default());
    let gate = open(&store).await;
    let other = open(&store).await;
    let mut inside = hall::insider(&gate).await;
    let (browser, simple) = tokio::join!(
        Browser::start(Look::default()),
        Browser::start(Look {
            scripts: false,
            ..KOREAN_PHONE_IN_THE_DARK
        })
    );
    browser.open(&gate.at("/seats")).await;
    browser.shows("You are next").await;
    store.kill();
    drop(other);
    store.restart();
    eventually("healing", async || {
        (standing(&gate).await["condition"] == "healing").then_some(())
    })
    .await;
    // A page opened now goes on saying so although the stream has the line as it was.
    browser.open(&gate.at("/seats")).await;
    let page = browser.shows("being restored after a fault").await;
    assert!(page.contains("This takes less than a minute."), "{page}");
    assert!(page.contains("You are next"), "{page}");
    browser.screenshot("healing").await;
    simple.open(&gate.at("/seats")).await;
    simple.shows("1분 이내 남았습니다.").await;
    simple
        .screenshot("healing-joining-korean-phone-dark-without-scripts")
        .await;
    calls(&gate).await;
    shows_no_more(&browser, "fault").await;
    inside.leave(ROOM).await;
    browser.shows("Choose your seats").await;
}

#[tokio::test]
async fn after_everything_was_lost_the_place_from_before_stands_while_people_come_back() {
    let mut store = Server::start(&Options::default());
    let gate = open(&store).await;
    hall::insider(&gate).await;
    let mut ahead = Guest::new(&gate.address);
    assert_eq!(ahead.visit("/seats").await.gate.as_deref(), Some("waiting"));
    let (browser, phone) = tokio::join!(
        Browser::start(Look::default()),
        Browser::start(KOREAN_PHONE_IN_THE_DARK)
    );
    browser.open(&gate.at("/seats")).await;
    browser.shows("1 person ahead of you").await;
    phone.open(&gate.at("/seats")).await;
    phone.shows("앞에 2명이 있습니다").await;

    store.kill();
    let dead = gate.kill();
    store.restart();
    let gate = dead.start();
    // The visitors ahead are not back yet.
    let page = browser.shows("This takes up to ").await;
    assert!(page.contains("being restored after a fault"), "{page}");
    assert!(page.contains("1 person ahead of you"), "{page}");
    assert_eq!(browser.run("return document.getElementById('progress').value").await, 0);
    browser.screenshot("healing-all-lost").await;
    let page = phone.shows("최대").await;
    assert!(page.contains("앞에 2명이 있습니다"), "{page}");
    phone.screenshot("healing-all-lost-korean-phone-dark").await;
    assert_eq!(ahead.visit("/seats").await.gate.as_deref(), Some("waiting"));
    assert_eq!(ahead.status(ROOM).await["position"], 1);
    assert!(browser.text().await.contains("1 person ahead of you"));
    drop(gate);
}
