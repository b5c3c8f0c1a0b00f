//! What a screen reader is told of the page's elements, as Chromium and Firefox compute it.

use crate::hall;
use crate::harness::browser::Browser;
use crate::harness::look::{Engine, Look};

/// An element, its role and its name. A `summary` has a role of each browser's own (HTML-AAM 1.0, section 3.5).
type Told<'a> = (&'a str, &'a str, &'a str);

const OWN: &str = "its own";

const WHOLE: [Told<'_>; 12] = [
    ("main", "main", ""),
    ("h1", "heading", "You are in line"),
    ("#progress", "progressbar", "Estimated wait"),
    ("#said", "status", ""),
    ("#updated ~ a", "link", "Check now"),
    ("#sound", "checkbox", "Play a sound when it is my turn"),
    ("#copy", "button", "Copy"),
    ("footer", "contentinfo", ""),
    ("summary", OWN, "Good to know"),
    ("summary.button", OWN, "Leave the line"),
    ("#stay", "link", "Keep my place"),
    ("#leave button", "button", "Yes, leave"),
];

const BARE: [Told<'_>; 5] = [
    ("main", "main", ""),
    ("h1", "heading", "You are in line"),
    ("a", "link", "Check now"),
    ("summary", OWN, "Leave the line"),
    ("details button", "button", "Yes, leave"),
];

#[tokio::test]
async fn every_element_has_its_role_and_name_in_chromium() {
    told(Engine::Chromium).await;
}

#[tokio::test]
async fn every_element_has_its_role_and_name_in_firefox() {
    told(Engine::Firefox).await;
}

async fn told(engine: Engine) {
    let gate = hall::open(1, "").await;
    let _inside = hall::insider(&gate).await;
    let browser = Browser::start(Look {
        engine,
        ..Look::default()
    })
    .await;
    browser.open(&gate.at("/seats")).await;
    browser.shows("You are next").await;
    browser.click("summary.button").await;
    compare(&browser, &WHOLE).await;
    let scripts = false;
    let simple = Browser::start(Look {
        engine,
        scripts,
        ..Look::default()
    })
    .await;
    simple.open(&gate.at("/seats")).await;
    simple.shows("Stop automatic reloading").await;
    simple.click("summary").await;
    compare(&simple, &BARE).await;
}

async fn compare(browser: &Browser, expected: &[Told<'_>]) {
    let mut told: Vec<(&str, String, String)> = Vec::new();
    for (css, ..) in expected {
        let (role, name) = browser.computed(css).await;
        let role = if css.starts_with("summary") {
            OWN.to_owned()
        } else {
            role
        };
        told.push((*css, role, name));
    }
    let told: Vec<Told<'_>> = told.iter().map(|(css, role, name)| (*css, &**role, &**name)).collect();
    assert_eq!(told, expected);
}
