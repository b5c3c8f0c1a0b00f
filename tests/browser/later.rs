//! A wait that becomes longer than the page has said.

use std::process::Command;

use crate::hall::{self, ROOM};
use crate::harness::browser::Browser;
use crate::harness::eventually;
use crate::harness::gate::Gate;
use crate::harness::guest::Guest;
use crate::harness::look::Look;

/// Six are called a minute, and who runs no script reloads every four seconds.
const PACE: &str = "new_users_per_minute = 6\ncall_every = \"5s\"\ngrace = \"10 min\"\nfirm_within = \"5 min\"\nclaim_deadline = \"8s\"";

const SLOWER: &str = "it takes longer than we said";

/// A gate with a line of some minutes.
async fn line() -> Gate {
    let gate = hall::open(100, PACE).await;
    for _ in 0..20 {
        Guest::new(&gate.address).visit("/seats").await;
    }
    gate
}

/// The operator lets only one in a minute from now on.
fn slow_down(gate: &Gate) {
    let ended = Command::new(env!("CARGO_BIN_EXE_ropeline"))
        .args(["rooms", "set", ROOM, "--rate", "1", "--admin", &gate.admin])
        .output()
        .expect("the program runs");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[tokio::test]
async fn a_page_that_must_take_its_word_back_says_why_and_goes_on_saying_so() {
    let gate = line().await;
    let browser = Browser::start(Look::default()).await;
    browser.open(&gate.at("/seats")).await;
    let estimate = "return document.getElementById('estimate').textContent";
    let told = || async {
        let shown = browser.run(estimate).await;
        shown
            .as_str()
            .is_some_and(|text| text.contains("minutes"))
            .then_some(())
    };
    eventually("an estimate in minutes", told).await;
    assert!(!browser.text().await.contains(SLOWER));
    slow_down(&gate);
    browser.shows(SLOWER).await;
    browser.screenshot("waiting-slower").await;
    browser.open(&gate.at("/seats")).await;
    browser.shows(SLOWER).await;
}

#[tokio::test]
async fn so_does_a_page_without_a_script() {
    let gate = line().await;
    let browser = Browser::start(Look {
        scripts: false,
        phone: true,
        ..Look::default()
    })
    .await;
    browser.open(&gate.at("/seats")).await;
    let page = browser.shows("Stop automatic reloading").await;
    assert!(page.contains("minutes") && !page.contains(SLOWER), "{page}");
    slow_down(&gate);
    browser.shows(SLOWER).await;
    browser.screenshot("waiting-slower-bare-phone").await;
}
