//! Codes that are good for one visitor, and codes that lead past the line, at gates before a shop.

use serde_json::Value;

use crate::codes::button;
use crate::gate::{Gate, Site};
use crate::visitor::{Answer, Visitor};

pub const LANES: &str = "[[room.lane]]\nname = \"everybody\"\n[[room.lane]]\nname = \"press\"\nweight = 2\ncode = true\n\
    [tokens]\nkeys = [{ id = \"k\", secret = \"a secret of the tests, long enough for any key ring\" }]\n";

pub fn site() -> Site {
    begun(Site::new("bypass_codes = 1", LANES))
}

/// Its log has begun before the second that codes are issued in.
pub fn begun(site: Site) -> Site {
    site.start().stop();
    next_second();
    site
}

/// Codes are issued in whole seconds: every log that has begun has begun before the next one.
pub fn next_second() {
    let second = || ropeline::time::wall().0 / 1_000;
    let begun = second();
    crate::until("the next second", || (second() > begun).then_some(()));
}

fn code(site: &Site, grants: &str, more: &[&str]) -> String {
    let base = [
        "code",
        "issue",
        "--room",
        "shop",
        "--grants",
        grants,
        "--expires",
        "2999-01-01T00:00:00Z",
    ];
    let made = site.run(&[&base, more].concat());
    assert_eq!(made.code, Some(0), "{made:?}");
    made.out.trim().to_owned()
}

pub fn single(site: &Site, grants: &str) -> String {
    code(site, grants, &["--single-use"])
}

pub fn follows(visitor: &mut Visitor, code: &str) -> Answer {
    let sent_on = visitor.goes_to(&format!("/sale?ropeline_code={code}"));
    if sent_on.status == 303 {
        assert_eq!(sent_on.header("location"), "/sale");
        return visitor.goes_to("/sale");
    }
    sent_on
}

pub fn refused(answer: &Answer, status: u16, word: &str, text: &str) {
    assert_eq!((answer.status, answer.word()), (status, word), "{answer:?}");
    assert!(answer.body.contains(text), "{}", answer.body);
    assert!(answer.body.contains("Continue without the code"), "{}", answer.body);
}

pub fn joins_as_app(visitor: &mut Visitor, code: &str) -> Answer {
    let fields = format!("Accept: application/json\r\nContent-Length: 0\r\nRopeline-Code: {code}\r\n");
    visitor.asks("POST /.ropeline/rooms/shop/join", &fields, "")
}

pub fn spent(gate: &Gate) -> Vec<Value> {
    let listed = gate.asks_admin("/api/v1/rooms/shop/codes").json();
    listed["spent"].as_array().unwrap().clone()
}

#[test]
fn a_single_use_code_is_good_for_one_visitor_who_may_ask_again() {
    let site = site();
    let code = single(&site, "lane:press");
    let gate = site.start();
    let _inside = gate.insider();
    let mut first = gate.visitor();
    let sent_on = first.goes_to(&format!("/sale?ropeline_code={code}"));
    assert_eq!((sent_on.status, sent_on.word()), (303, "code"));
    let before = first.clone();
    assert_eq!(first.goes_to("/sale").word(), "waiting");
    assert_eq!(first.status()["lane"], "press");
    assert!(
        !first.jar.keys().any(|name| name.contains("code")),
        "the cookie has done its work: {:?}",
        first.jar
    );
    let reference = |visitor: &mut Visitor| visitor.status()["reference"].clone();
    // The answer was lost: the browser has the code's cookie still, and nothing else.
    let mut again = before.clone();
    assert_eq!(again.goes_to("/sale").word(), "waiting");
    assert_eq!(reference(&mut again), reference(&mut first));
    // Others, whose browser has a cookie for it already, or is shown the link.
    let mut other = gate.visitor();
    refused(&follows(&mut other, &code), 403, "code_spent", "has already been used");
    assert!(other.jar.is_empty());
    assert_eq!(other.goes_to("/sale").word(), "waiting");
    assert_eq!(other.status()["lane"], Value::Null, "with everybody else");
    // The link again, by the visitor who has the number.
    assert_eq!(follows(&mut first, &code).word(), "waiting");
    let used = spent(&gate);
    assert_eq!(
        (used.len(), &used[0]["grants"], &used[0]["lane"]),
        (1, &"lane:press".into(), &"press".into())
    );
    let listed = site.run(&[
        "code",
        "list-spent",
        "--room",
        "shop",
        "--admin",
        &gate.admin.to_string(),
    ]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(listed.out.contains(used[0]["code"].as_str().unwrap()), "{listed:?}");
    assert_eq!(gate.figure("ropeline_codes_total{fate=\"code_used\"}"), 1);
    assert_eq!(gate.figure("ropeline_codes_total{fate=\"code_spent\"}"), 1);
    let said = gate.stop();
    assert!(
        said.err.contains("a code was used") && !said.err.contains(&code),
        "{said:?}"
    );
}

#[test]
fn two_who_hold_a_code_at_once_are_told_apart_by_the_log() {
    let site = site();
    let code = single(&site, "lane:press");
    let gate = site.start();
    let _inside = gate.insider();
    let mut both = [gate.visitor(), gate.visitor()];
    for visitor in &mut both {
        assert_eq!(visitor.goes_to(&format!("/sale?ropeline_code={code}")).status, 303);
    }
    assert_eq!(both[0].goes_to("/sale").word(), "waiting");
    refused(&both[1].goes_to("/sale"), 403, "code_spent", "ropeline_code=none");
    assert_eq!(both[1].goes_to("/sale").word(), "waiting", "on without it");
    assert_eq!(both[1].status()["lane"], Value::Null);
    gate.stop();
}

#[test]
fn what_was_spent_stays_so_over_a_restart_and_a_kill() {
    let site = site();
    let codes = [0, 1].map(|_| single(&site, "lane:press"));
    let gate = site.start();
    let _inside = gate.insider();
    assert_eq!(follows(&mut gate.visitor(), &codes[0]).word(), "waiting");
    gate.stop();
    let gate = site.start();
    assert_eq!(follows(&mut gate.visitor(), &codes[1]).word(), "waiting");
    drop(gate);
    let gate = site.start();
    for code in &codes {
        refused(
            &follows(&mut gate.visitor(), code),
            403,
            "code_spent",
            "has already been used",
        );
    }
    gate.stop();
}

/// A container without a volume, or a folder that was emptied.
#[test]
fn in_an_emptied_folder_no_code_from_before_is_good() {
    let site = Site::new("bypass_codes = 1", LANES);
    let issue = || {
        let expires = ["--expires", "2999-01-01T00:00:00Z", "--single-use"];
        site.run(
            &[
                &["code", "issue", "--room", "shop", "--grants", "lane:press"],
                &expires[..],
            ]
            .concat(),
        )
    };
    let early = issue();
    assert!(early.err.contains("no gate has run with"), "{early:?}");
    let site = begun(site);
    let gate = site.start();
    let _inside = gate.insider();
    let first = follows(&mut gate.visitor(), early.out.trim());
    refused(&first, 403, "code_in_doubt", "ropeline_code=none");
    let code = single(&site, "lane:press");
    assert_eq!(follows(&mut gate.visitor(), &code).word(), "waiting");
    gate.stop();
    std::fs::remove_dir_all(site.path("data")).unwrap();
    let gate = site.start();
    let _inside = gate.insider();
    let again = follows(&mut gate.visitor(), &code);
    refused(&again, 403, "code_in_doubt", "ropeline_code=none");
    gate.stop();
}

#[test]
fn whoever_waits_keeps_the_place_until_the_code_is_theirs() {
    let site = site();
    let codes = [0, 1].map(|_| single(&site, "lane:press"));
    let gate = site.start();
    let _inside = gate.insider();
    let (mut one, mut two) = (gate.waits(1), gate.waits(2));
    let asked = follows(&mut one, &codes[0]);
    assert_eq!((asked.word(), one.position()), ("code_use", Some(1)), "{asked:?}");
    assert_eq!(one.goes_to("/sale").word(), "waiting");
    assert!(spent(&gate).is_empty(), "a link uses nothing");
    let other = follows(&mut two, &codes[0]);
    assert_eq!(one.sends(&button(&asked), "").status, 303);
    assert_eq!(one.goes_to("/sale").word(), "waiting");
    assert_eq!(one.status()["lane"], "press");
    assert_eq!(two.position(), Some(1), "that place was given up");
    // A visitor who asked before it was used is informed when the button is pressed.
    refused(
        &two.sends(&button(&other), ""),
        403,
        "code_spent",
        "has already been used",
    );
    refused(
        &follows(&mut two, &codes[0]),
        403,
        "code_spent",
        "has already been used",
    );
    assert_eq!(two.position(), Some(1), "and this one was not");
    let app = joins_as_app(&mut two, &codes[1]);
    assert_eq!((app.status, &app.json()["lane"]), (200, &"press".into()), "{app:?}");
    gate.stop();
}

#[test]
fn an_app_that_says_the_same_mark_may_ask_again() {
    let site = site();
    let codes = [0, 1].map(|_| single(&site, "lane:press"));
    let gate = site.start();
    let _inside = gate.insider();
    let marked = format!("{}.0123456789abcdef", codes[0]);
    let first = joins_as_app(&mut gate.visitor(), &marked).json();
    let again = joins_as_app(&mut gate.visitor(), &marked).json();
    assert_eq!(
        (&first["lane"], &first["reference"]),
        (&"press".into(), &again["reference"])
    );
    for other in [codes[0].clone(), format!("{}.fedcba9876543210", codes[0])] {
        let denied = joins_as_app(&mut gate.visitor(), &other);
        assert_eq!((denied.status, denied.word()), (403, "code_spent"), "{denied:?}");
    }
    let odd = joins_as_app(&mut gate.visitor(), &format!("{}.short", codes[1]));
    assert_eq!((odd.status, odd.word()), (403, "code_unknown"), "{odd:?}");
    gate.stop();
}

#[test]
fn a_code_past_the_line_lets_in_at_once_so_many_as_the_room_bears() {
    let site = site();
    let codes = [0, 1, 2].map(|_| single(&site, "bypass"));
    let gate = site.start();
    let mut open = gate.visitor();
    assert!(follows(&mut open, &codes[0]).is_the_shops(), "nobody waits");
    assert!(spent(&gate).is_empty(), "where the room is open no code is needed");
    assert!(open.goes_to("/").is_the_shops());
    let mut waits = gate.waits(1);
    let mut past = gate.visitor();
    assert!(follows(&mut past, &codes[1]).is_the_shops());
    assert!(past.goes_to("/").is_the_shops(), "and stays inside");
    assert_eq!((waits.position(), spent(&gate).len()), (Some(1), 1));
    assert_eq!(spent(&gate)[0]["grants"], "bypass");
    crate::until("two inside where one was to be", || {
        let room = gate.asks_admin("/api/v1/rooms/shop").json();
        let counted = (&room["bypasses"], &room["sessions"]) == (&1.into(), &2.into());
        counted.then_some(())
    });
    // As many as are let past are inside.
    let mut third = gate.visitor();
    let full = follows(&mut third, &codes[2]);
    refused(&full, 503, "code_not_now", "cannot be used right now");
    assert_eq!(full.header("retry-after"), "10");
    let mut without = third.clone();
    assert_eq!(follows(&mut without, "none").word(), "waiting", "by the page's link");
    without.leaves();
    past.leaves();
    crate::until("room for one more", || {
        third.goes_to("/sale").is_the_shops().then_some(())
    });
    assert_eq!(spent(&gate).len(), 2);
    // A waiting visitor is called with their present place.
    third.leaves();
    let last = single(&site, "bypass");
    crate::until("room for one more", || {
        follows(&mut waits, &last).is_the_shops().then_some(())
    });
    gate.stop();
}

#[test]
fn a_room_that_lets_nobody_in_lets_nobody_in_by_a_code() {
    let site = site();
    let code = single(&site, "bypass");
    let gate = site.start();
    let set = |mode: &str| {
        let set = site.run(&[
            "rooms",
            "set",
            "shop",
            "--mode",
            mode,
            "--admin",
            &gate.admin.to_string(),
        ]);
        assert_eq!(set.code, Some(0), "{set:?}");
    };
    set("hold");
    let mut visitor = gate.visitor();
    refused(
        &follows(&mut visitor, &code),
        503,
        "code_not_now",
        "cannot be used right now",
    );
    set("closed");
    assert_eq!(visitor.goes_to("/sale").word(), "closed");
    assert!(spent(&gate).is_empty());
    set("auto");
    let _full = gate.insider();
    assert!(visitor.goes_to("/sale").is_the_shops(), "it was kept");
    assert_eq!(spent(&gate).len(), 1);
    gate.stop();
}

#[test]
fn a_code_for_past_the_line_is_refused_where_the_room_takes_none() {
    let site = site();
    let code = single(&site, "bypass");
    site.edit("bypass_codes = 1", "bypass_codes = 0");
    let made = site.run(&["code", "issue", "--room", "shop", "--grants", "bypass"]);
    assert_eq!(made.code, Some(1));
    assert!(made.err.contains("it has no bypass_codes"), "{made:?}");
    let checked = site.run(&["code", "check", &code]);
    assert_eq!(checked.code, Some(1), "{checked:?}");
    let gate = site.start();
    let _inside = gate.insider();
    refused(
        &follows(&mut gate.visitor(), &code),
        403,
        "code_no_bypass",
        "not accepted right now",
    );
    gate.stop();
    let unbounded = site.run(&[
        "code",
        "issue",
        "--room",
        "shop",
        "--grants",
        "lane:press",
        "--single-use",
    ]);
    assert_eq!(unbounded.code, Some(1));
    assert!(unbounded.err.contains("--single-use needs --expires"), "{unbounded:?}");
}
