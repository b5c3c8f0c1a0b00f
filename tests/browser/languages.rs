//! Two visitors in the language that a browser is set to: one is inside, the other waits, is called in a hidden tab and comes in.
//! With a script and without, in Chromium and in Firefox.
//!
//! Each run takes some of the languages; `ROPELINE_LANGUAGES=all` takes every one.

use serde_json::json;

use ropeline::pages::TAGS;

use crate::hall::{self, ROOM};
use crate::harness::browser::Browser;
use crate::harness::look::{Engine, Look};

/// One of each script, of each direction and of each set of plural forms.
const SOME: [&str; 7] = ["ar", "hi", "ja", "ko", "ru", "th", "pt-BR"];

#[expect(clippy::disallowed_methods, reason = "how much to look at is the caller's choice")]
fn languages() -> Vec<&'static str> {
    let all = std::env::var("ROPELINE_LANGUAGES").is_ok_and(|wanted| wanted == "all");
    TAGS.into_iter().filter(|tag| all || SOME.contains(tag)).collect()
}

/// Words of a language's catalogue.
struct Words {
    /// Of the waiting page.
    heading: String,
    reload_stop: String,
    check_now: String,
}

impl Words {
    fn of(tag: &str) -> Self {
        let file = format!("{}/static/locales/{tag}.toml", env!("CARGO_MANIFEST_DIR"));
        let file: toml::Table = std::fs::read_to_string(file)
            .expect("a catalogue")
            .parse()
            .expect("TOML");
        let text = |value: &toml::Value| value.as_str().expect("a text").to_owned();
        Self {
            heading: text(&file["pages"]["waiting"]["heading"]),
            reload_stop: text(&file["words"]["reload_stop"]),
            check_now: text(&file["words"]["check_now"]),
        }
    }
}

#[tokio::test]
async fn a_visitor_comes_in_from_a_hidden_tab_in_chromium() {
    comes_in(Engine::Chromium).await;
}

#[tokio::test]
async fn a_visitor_comes_in_from_a_hidden_tab_in_firefox() {
    comes_in(Engine::Firefox).await;
}

async fn comes_in(engine: Engine) {
    for tag in languages() {
        let gate = hall::open(1, "claim_deadline = \"10 min\"\nlate_window = \"15 min\"").await;
        let mut inside = hall::insider(&gate).await;
        let browser = Browser::start(Look {
            engine,
            language: tag,
            ..Look::default()
        })
        .await;
        browser.open(&gate.at("/seats")).await;
        browser.shows(&Words::of(tag).heading).await;
        assert_eq!(browser.run("return document.documentElement.lang").await, json!(tag));
        let waiting = hall::hide(&browser).await;
        inside.leave(ROOM).await;
        hall::is(&gate, 1, 0).await;
        browser.client.switch_to_window(waiting).await.expect("the waiting tab");
        browser.shows("Choose your seats").await;
        hall::is(&gate, 0, 1).await;
    }
}

#[tokio::test]
async fn without_scripts_a_visitor_comes_in_in_chromium() {
    comes_in_without(Engine::Chromium).await;
}

#[tokio::test]
async fn without_scripts_a_visitor_comes_in_in_firefox() {
    comes_in_without(Engine::Firefox).await;
}

/// That the page also reloads by itself is looked at in English (`line.rs`, `firefox.rs`).
async fn comes_in_without(engine: Engine) {
    for tag in languages() {
        let gate = hall::open(1, "").await;
        let mut inside = hall::insider(&gate).await;
        let scripts = false;
        let browser = Browser::start(Look {
            engine,
            language: tag,
            scripts,
            ..Look::default()
        })
        .await;
        browser.open(&gate.at("/seats")).await;
        let words = Words::of(tag);
        let page = browser.shows(&words.reload_stop).await;
        assert!(page.contains(&words.heading), "{tag}: {page}");
        inside.leave(ROOM).await;
        browser.follows(&words.check_now, "Choose your seats").await;
    }
}
