//! Codes of visitors who have a place already, or whose code has no effect: what they keep, and what they are shown.

use crate::codes::single_use::{LANES, begun, follows, joins_as_app, next_second, refused, single, site, spent};
use crate::gate::Site;
use crate::harness::redis::{Options, Server};
use crate::until;
use crate::visitor::Visitor;

fn has_code(visitor: &Visitor) -> bool {
    visitor.jar.keys().any(|name| name.contains("code"))
}

#[test]
fn an_app_that_has_its_place_is_told_so_with_the_code_still_shown() {
    let site = site();
    let code = single(&site, "lane:press");
    let gate = site.start();
    let _inside = gate.insider();
    let mut app = gate.visitor();
    let first = joins_as_app(&mut app, &code);
    let before = app.jar.clone();
    let again = joins_as_app(&mut app, &code);
    assert_eq!((first.status, again.status), (200, 200), "{again:?}");
    assert_eq!(
        (&again.json()["state"], &again.json()["lane"]),
        (&"waiting".into(), &"press".into())
    );
    assert_eq!(app.jar, before, "the very place");
    let other = joins_as_app(&mut gate.visitor(), &code);
    assert_eq!((other.status, other.word()), (403, "code_spent"), "{other:?}");
    gate.stop();
}

/// The allowed number of bypass visitors are inside: no other is let past, and waiting visitors go on waiting.
#[test]
fn whoever_waits_sees_the_line_while_the_code_is_not_taken() {
    let site = site();
    let codes = [0, 1].map(|_| single(&site, "bypass"));
    let gate = site.start();
    let _inside = gate.insider();
    let mut past = gate.visitor();
    assert!(follows(&mut past, &codes[0]).is_the_shops());
    // The second request carries the pass, so the session is on record.
    assert!(past.goes_to("/").is_the_shops());
    let mut waits = gate.waits(1);
    // More often than the limit of joins allows.
    for _ in 0..12 {
        let page = follows(&mut waits, &codes[1]);
        assert_eq!((page.word(), waits.position()), ("waiting", Some(1)), "{page:?}");
    }
    assert_eq!(spent(&gate).len(), 1);
    past.leaves();
    until("room for one more", || {
        waits.goes_to("/sale").is_the_shops().then_some(())
    });
    assert!(!has_code(&waits), "{:?}", waits.jar);
    assert_eq!(spent(&gate).len(), 2);
    gate.stop();
}

/// An app that knows no other way than to join again, with its code, until that is taken.
#[test]
fn an_app_that_asks_with_its_code_is_there() {
    let site = begun(Site::new(
        "bypass_codes = 1\ngrace = \"12 s\"\nfirm_within = \"6 s\"\nclaim_deadline = \"5 min\"",
        LANES,
    ));
    site.edit("join = { requests = 10,", "join = { requests = 100,");
    let codes = [0, 1].map(|_| single(&site, "bypass"));
    let gate = site.start();
    let _inside = gate.insider();
    assert!(follows(&mut gate.visitor(), &codes[0]).is_the_shops());
    let _gone = gate.waits(1);
    let (mut app, mut behind) = (gate.waits(2), gate.waits(3));
    until("the end of who is gone", || {
        let asked = joins_as_app(&mut app, &codes[1]);
        assert_eq!((asked.status, asked.word()), (503, "code_not_now"), "{asked:?}");
        (behind.position() != Some(3)).then_some(())
    });
    assert_eq!(behind.position(), Some(2));
    assert_eq!(app.position(), Some(1));
    gate.stop();
}

#[test]
fn only_a_code_that_decides_about_the_join_spares_the_proof_of_work() {
    let work = "[room.proof_of_work]\nenabled = true\nprice = { least = 1600, most = 160000 }\n\
        joins_per_minute = { few = 100000, many = 200000 }\n";
    let site = begun(Site::new("bypass_codes = 1", &format!("{work}{LANES}")));
    let (lane, past) = (single(&site, "lane:press"), single(&site, "bypass"));
    let gate = site.start();
    let asked = |code: &str| {
        let answer = joins_as_app(&mut gate.visitor(), code);
        (answer.status, answer.word().to_owned())
    };
    assert_eq!(asked(&past), (428, "proof".to_owned()), "the room is open");
    assert_eq!(asked(&lane).0, 200);
    assert_eq!(
        asked(&lane),
        (403, "code_spent".to_owned()),
        "nobody works for a refusal"
    );
    gate.stop();
}

#[test]
fn a_code_that_was_not_used_is_kept() {
    let site = site();
    let code = single(&site, "bypass");
    let gate = site.start();
    let mut first = gate.visitor();
    assert!(follows(&mut first, &code).is_the_shops());
    assert!(spent(&gate).is_empty() && has_code(&first), "the room was open");
    assert!(first.goes_to("/").is_the_shops());
    first.leaves();
    until("a free slot", || {
        gate.visitor().goes_to("/").is_the_shops().then_some(())
    });
    assert!(first.goes_to("/sale").is_the_shops(), "past who is inside now");
    assert!(!has_code(&first), "{:?}", first.jar);
    assert_eq!(spent(&gate).len(), 1);
    gate.stop();
}

/// Another gate's file spoke last, and has no such lane.
#[test]
fn a_code_for_a_lane_that_the_rooms_lack_is_kept() {
    let store = Server::start(&Options::default());
    let lanes = "[[room.lane]]\nname = \"everybody\"\n[[room.lane]]\nname = \"press\"\ncode = true";
    let (site, other) = (
        Site::shared(&store.url(), lanes),
        Site::shared(&store.url(), "mode = \"auto\""),
    );
    let gate = site.start();
    gate.lives();
    next_second();
    let code = single(&site, "lane:press");
    let last = other.start();
    last.lives();
    let lanes = || gate.asks_admin("/api/v1/rooms/shop").json()["lanes"].clone();
    until("the other gate's lanes", || {
        let shown = lanes();
        let out = |lane: &serde_json::Value| lane["out"] == true;
        let gone = shown
            .as_array()
            .is_none_or(|lanes| lanes.iter().all(|lane| lane["name"] != "press" || out(lane)));
        gone.then_some(())
    });
    let _inside = gate.insider();
    let mut visitor = gate.visitor();
    refused(
        &follows(&mut visitor, &code),
        503,
        "code_not_now",
        "cannot be used right now",
    );
    assert!(spent(&gate).is_empty() && has_code(&visitor));
    gate.stop();
    last.stop();
}
