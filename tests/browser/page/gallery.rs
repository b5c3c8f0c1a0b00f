//! Every state in every language on a phone and a desktop, in light and dark, looked at by a program: nothing is wider than the
//! screen, cut off, written over something else, or too pale to read.
//!
//! Each run looks at a fifth of them: every language and every state. `scripts/gallery` looks at all, and keeps pictures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;

use ropeline::pages::wording::Wording;
use ropeline::pages::{Brand, Languages, Page, Pages, preview, previews, states};

use super::served::serve;
use crate::harness::browser::Browser;
use crate::harness::look::Look;

/// Where pictures of all pages are to be kept.
const FOLDER: &str = "ROPELINE_GALLERY";

/// Width, height, and whether the fonts are a phone's. 320 px is also a wide window at 400 % (WCAG 2.2, 1.4.10).
const SCREENS: [(&str, u32, u32); 2] = [("phone", 320, 640), ("desktop", 1_280, 800)];
const COLOURS: [&str; 2] = ["light", "dark"];

/// A language made from English, longer than it, and one from right to left: what is not in square brackets is a text that no
/// catalogue has.
#[path = "../../../src/pages/catalogue/pseudo.rs"]
mod pseudo;

/// What is wrong with the page as it is shown now, in words.
const LOOK: &str = include_str!("gallery.js");

#[tokio::test]
async fn no_page_is_cut_off_or_pale_in_any_language() {
    let folder = folder();
    let pages = Pages::new(None).expect("the built-in page");
    let states = states();
    let mut bodies = BTreeMap::new();
    for (at, preview) in previews(&pages).into_iter().enumerate() {
        // All languages of one state come one after the other, so that a fifth of them moves on by one from state to state.
        let state = preview.name.split('.').next().unwrap_or_default();
        let row = states.iter().position(|name| *name == state).expect("a state");
        if folder.is_some() || (at + row) % 5 == 0 {
            bodies.insert(format!("/{}", preview.name), markup(&preview.page));
        }
    }
    look_at(bodies, folder.as_deref()).await;
}

#[tokio::test]
async fn every_sentence_is_a_catalogues_and_fits_where_it_is_two_fifths_longer() {
    let words = tempfile::tempdir().expect("a folder");
    let english = include_str!("../../../static/locales/en.toml");
    for (tag, right_to_left) in PSEUDO {
        let file = words.path().join(format!("{tag}.toml"));
        std::fs::write(file, pseudo::file(english, right_to_left)).expect("written");
    }
    let wording = Wording::read(words.path()).expect("two languages");
    let languages = Languages::with(&wording);
    let pages = Pages::in_languages(None, &Brand::default(), languages.clone()).expect("the built-in page");
    let folder = folder();
    let mut bodies = BTreeMap::new();
    for (row, state) in states().into_iter().enumerate() {
        for (at, (tag, _)) in PSEUDO.into_iter().enumerate() {
            if folder.is_some() || (row + at) % PSEUDO.len() == 0 {
                let language = languages.find(tag).expect("one of them");
                let page = preview(&pages, state, language).expect("a state");
                bodies.insert(format!("/{state}.{tag}"), markup(&page));
            }
        }
    }
    look_at(bodies, folder.as_deref()).await;
}

const PSEUDO: [(&str, bool); 2] = [("en-XA", false), ("ar-XB", true)];

fn markup(page: &Page) -> String {
    String::from_utf8(page.body.to_vec()).expect("markup")
}

/// Looks at these pages, by their addresses, on each screen in each theme.
async fn look_at(bodies: BTreeMap<String, String>, folder: Option<&Path>) {
    let names: Vec<String> = bodies.keys().cloned().collect();
    let address = serve(bodies).await;
    let browser = Browser::start(Look::default()).await;
    let mut found = Vec::new();
    for name in &names {
        browser.open(&format!("http://{address}{name}")).await;
        for (screen, width, height) in SCREENS {
            for colours in COLOURS {
                shown(&browser, width, height, colours).await;
                let wrong = browser.run(LOOK).await;
                if wrong != json!([]) {
                    found.push(format!("{name} on a {screen}, {colours}: {wrong:#}"));
                }
                if let Some(folder) = folder {
                    keep(&browser, width, &folder.join(format!("{screen}-{colours}")), name).await;
                }
            }
        }
    }
    println!("{} pages, each four times", names.len());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The program finds what it is there for.
#[tokio::test]
async fn a_page_with_faults_is_found_out() {
    let page = "<!doctype html><meta charset=utf-8><body style='margin:0;background:#fff'>\
        <p style='width:2000px'>wide</p><p style='color:#bbb'>pale</p>\
        <p style='width:2em;overflow:hidden;white-space:nowrap'>cut off at the edge</p>\
        <p style='margin:0'>under</p><p style='margin:-1em 0 0'>over it</p><button style='padding:0;border:0;font-size:9px'>small</button>";
    let address = serve(BTreeMap::from([("/".to_owned(), page.to_owned())])).await;
    let browser = Browser::start(Look::default()).await;
    browser.open(&format!("http://{address}/")).await;
    shown(&browser, 320, 640, "light").await;
    let found = browser.run(LOOK).await.to_string();
    for what in [
        "it is wider than the screen: ",
        "a contrast of 1.92: pale",
        "cut off: cut off at the edge",
        "one over the other: under / over it",
        "px high: small",
    ] {
        assert!(found.contains(what), "no {what}: {found}");
    }
}

#[expect(clippy::disallowed_methods, reason = "where pictures go is the caller's choice")]
fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// Shows the page on such a screen.
async fn shown(browser: &Browser, width: u32, height: u32, colours: &str) {
    sized(browser, width, u64::from(height)).await;
    let features = json!([{ "name": "prefers-color-scheme", "value": colours }]);
    browser
        .devtools("Emulation.setEmulatedMedia", json!({ "features": features }))
        .await;
}

async fn sized(browser: &Browser, width: u32, height: u64) {
    let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
    browser.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
}

/// Keeps a picture of the whole page, on a screen as high as it. One from beyond the screen would begin too far to the left where a
/// page goes from right to left.
async fn keep(browser: &Browser, width: u32, folder: &Path, name: &str) {
    std::fs::create_dir_all(folder).expect("a folder");
    let height = browser.run("return document.documentElement.scrollHeight").await;
    sized(browser, width, height.as_u64().expect("pixels")).await;
    let format = json!({ "format": "webp", "quality": 60 });
    let picture = browser.devtools("Page.captureScreenshot", format).await;
    let picture = picture["data"].as_str().map(decoded).expect("a picture");
    std::fs::write(folder.join(format!("{}.webp", &name[1..])), picture).expect("written");
}

fn decoded(picture: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD
        .decode(picture)
        .expect("base64")
}
