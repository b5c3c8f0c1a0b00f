//! One account in two browsers, and two accounts in one.

use crate::hall;
use crate::harness::browser::Browser;
use crate::harness::guest::Guest;
use crate::harness::look::Look;

const ROOM: &str = "[room.identity]\nfrom = \"cookie\"\nname = \"account\"";

/// Says who this browser's visitor is from now on.
async fn signs_in(browser: &Browser, name: &str) {
    let script = format!("document.cookie = 'account={name}; path=/'");
    browser.run(&script).await;
}

#[tokio::test]
async fn two_browsers_of_one_account_see_the_same_position_and_another_accounts_place_can_be_put_away() {
    let gate = hall::open(1, ROOM).await;
    let _inside = hall::insider(&gate).await;
    // Comes twice, and so stays for longer than browsers take to start.
    let mut ahead = Guest::new(&gate.address);
    for _ in 0..2 {
        assert_eq!(ahead.visit("/").await.gate.as_deref(), Some("waiting"));
    }
    let without = Look {
        scripts: false,
        ..Look::default()
    };
    let (laptop, phone) = tokio::join!(Browser::start(Look::default()), Browser::start(without));
    for browser in [&laptop, &phone] {
        // A page outside the line, where the visitor signs in.
        browser.open(&gate.at("/static/sign-in")).await;
        signs_in(browser, "ann").await;
        browser.open(&gate.at("/seats")).await;
        let page = browser.shows("You are in line").await;
        assert!(page.contains("1 person ahead of you"), "{page}");
    }
    let mut behind = Guest::new(&gate.address);
    for _ in 0..2 {
        assert_eq!(behind.visit("/").await.gate.as_deref(), Some("waiting"));
    }
    signs_in(&phone, "bob").await;
    phone.open(&gate.at("/seats")).await;
    phone.shows("This place belongs to another account").await;
    phone.screenshot("ticket-owner").await;
    phone.click("form button").await;
    let page = phone.shows("You are in line").await;
    assert!(page.contains("3 people ahead of you"), "{page}");
    assert_eq!(phone.address().await, gate.at("/seats"));
    laptop.shows("1 person ahead of you").await;
}
