//! What a page says in the states in which no turn comes, or the shop does not answer: each from outside, at a real gate.

use ropeline::dates::rfc3339;
use ropeline::time::wall;
use ropeline_testkit::page;

use crate::commands::nobody_listens;
use crate::gate::{Gate, Site};
use crate::until;
use crate::visitor::{Answer, Visitor};

fn sets(site: &Site, gate: &Gate, arguments: &[&str]) {
    let admin = gate.admin.to_string();
    let ended = site.run(&[&["rooms", "set", "shop"], arguments, &["--admin", &admin]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

/// The page that a visitor sees next, when it is of this kind.
fn comes_to(visitor: &mut Visitor, word: &str) -> Answer {
    until(word, || {
        Some(visitor.goes_to("/")).filter(|answer| answer.word() == word)
    })
}

/// The page as its visitor reads it.
fn text(answer: &Answer) -> String {
    page::shown(&answer.body)
}

/// The reference as the page shows it, as a visitor reads it out.
fn reference(answer: &Answer) -> Option<String> {
    page::reference(&answer.body)
}

#[test]
fn a_room_that_an_operator_closed_keeps_places_and_says_so_to_those_who_have_one() {
    let site = Site::new("", "");
    let gate = site.start();
    let _inside = gate.insider();
    let (_first, mut second) = (gate.waits(1), gate.waits(2));
    let place = reference(&second.goes_to("/")).expect("a reference");
    sets(&site, &gate, &["--mode", "closed"]);

    let page = comes_to(&mut second, "closed");
    assert_eq!(page.status, 503);
    let said = text(&page);
    assert!(said.contains("You keep your place") && said.contains(">2<"), "{said}");
    assert!(
        !said.contains("Please wait") && !said.contains("Estimated wait"),
        "{said}"
    );
    assert_eq!(reference(&page).as_ref(), Some(&place));
    assert_eq!(page.header("retry-after"), "60", "for programs");
    assert_eq!(second.status()["state"], "closed");

    let newcomer = gate.visitor().goes_to("/");
    let said = text(&newcomer);
    assert!(
        said.contains("Nobody is let in") && !said.contains("You keep your place"),
        "{said}"
    );
    assert!(newcomer.headers("set-cookie").is_empty() && reference(&newcomer).is_none());

    sets(&site, &gate, &["--mode", "auto"]);
    let page = comes_to(&mut second, "waiting");
    assert_eq!(reference(&page), Some(place), "the place is the same");
    assert_eq!(second.position(), Some(2));
}

#[test]
fn a_sale_that_is_over_says_so_and_names_who_was_in_line() {
    let site = Site::new("opens_at = \"2020-12-01T13:00:00Z\"", "");
    let gate = site.start();
    let _inside = gate.insider();
    let mut waiting = gate.waits(1);
    let place = reference(&waiting.goes_to("/"));
    sets(&site, &gate, &["--closes-at", &rfc3339(wall().plus(3_000))]);

    let page = comes_to(&mut waiting, "over");
    let said = text(&page);
    assert_eq!(page.status, 503);
    assert!(said.contains("Entry has ended") && said.contains(">1<"), "{said}");
    for word in ["Please wait", "You are next", "keep your place", "Keep this page open"] {
        assert!(!said.contains(word), "{word}: {said}");
    }
    assert_eq!(reference(&page), place);
    assert_eq!(waiting.status()["state"], "over");
    let app = gate.visitor().joins_as_app();
    assert_eq!((app.json()["state"].as_str(), app.word()), (Some("over"), "over"));
    let newcomer = gate.visitor().goes_to("/");
    assert!(newcomer.word() == "over" && reference(&newcomer).is_none());
    // An operator who closes the room has the last word.
    sets(&site, &gate, &["--mode", "closed"]);
    assert!(text(&comes_to(&mut waiting, "closed")).contains("Closed for now"));
}

#[test]
fn while_the_shop_is_down_a_page_tries_again_and_a_form_is_not_sent_again() {
    let site = Site::new("", "");
    site.edit(&site.shop.url(), &format!("http://{}", nobody_listens()));
    let gate = site.start();
    gate.lives();
    let mut visitor = gate.visitor();
    let page = until("the turn", || {
        Some(visitor.goes_to("/")).filter(|page| page.status == 502)
    });
    assert!(
        page.header("refresh").parse::<u32>().is_ok_and(|secs| secs >= 20),
        "{page:?}"
    );
    assert!(text(&page).contains("This page tries again automatically."), "{page:?}");
    // WCAG 2.2, 2.2.1: what is stopped on the waiting page stands still here.
    visitor.goes_to("/.ropeline/rooms/shop/check?reload=off&ticket=any&to=%2F");
    let still = visitor.goes_to("/");
    assert_eq!((still.status, still.header("refresh")), (502, ""), "{still:?}");
    assert!(
        !text(&still).contains("automatically") && text(&still).contains("Try again"),
        "{still:?}"
    );
    visitor.goes_to("/.ropeline/rooms/shop/check?reload=on&ticket=any&to=%2F");
    assert_ne!(visitor.goes_to("/").header("refresh"), "");
    let form = visitor.sends("/order", "seat=7");
    assert_eq!((form.status, form.header("refresh")), (502, ""), "{form:?}");
    let said = text(&form);
    assert!(
        said.contains("whether your form or order has arrived") && !said.contains("automatically"),
        "{said}"
    );
    let script = visitor.asks("GET /", "Accept: application/json\r\n", "");
    assert_eq!((script.status, script.header("refresh")), (502, ""), "{script:?}");
}

#[test]
fn the_line_that_forms_before_the_opening_sees_the_time_run() {
    let site = Site::new(
        "prequeue_from = \"2020-12-01T13:00:00Z\"\nopens_at = \"2999-12-01T13:00:00Z\"",
        "",
    );
    let gate = site.start();
    gate.lives();
    let mut visitor = gate.visitor();
    let page = comes_to(&mut visitor, "waiting");
    assert!(
        text(&page).contains("Opens in<p") && text(&page).contains("id=\"countdown\""),
        "{page:?}"
    );
    assert_eq!(page::facts(&page.body)["opens"], "2999-12-01T13:00:00.000Z", "{page:?}");
    assert!(visitor.status()["let_in"].is_null(), "nobody can be called");
}

#[test]
fn how_often_it_was_somebodys_turn_lately_is_told() {
    let site = Site::new("", "");
    let gate = site.start();
    let _inside = gate.insider();
    let mut waiting = gate.waits(1);
    assert_eq!(waiting.status()["let_in"], 1, "who is inside was called");
    let page = waiting.goes_to("/");
    assert_eq!(page::facts(&page.body)["let_in"], 1, "{page:?}");
    sets(&site, &gate, &["--mode", "hold"]);
    until("the hold", || (waiting.status()["why"] == "held").then_some(()));
    assert!(waiting.status()["let_in"].is_null(), "nobody can be called");
    assert!(!text(&waiting.goes_to("/")).contains("Called in the last"));
}
