//! Codes: made offline, sent in links and by apps, and the treatment of unusable ones.

mod audience;
mod lanes;
mod shared;
pub mod single_use;
mod waits;

use serde_json::Value;

use crate::gate::{Gate, Site};
use crate::program::Ended;
use crate::visitor::{Answer, Visitor};

const ROOM: &str = "[[room.lane]]\nname = \"everybody\"\n[[room.lane]]\nname = \"press\"\nweight = 2\ncode = true\n\
    [tokens]\nkeys = [{ id = \"k\", secret = \"a secret of the tests, long enough for any key ring\" }]\n";

fn site() -> Site {
    Site::new("", ROOM)
}

fn issue(site: &Site, more: &[&str]) -> Ended {
    let base = ["code", "issue", "--room", "shop", "--grants", "lane:press"];
    site.run(&[&base, more].concat())
}

fn code(site: &Site, more: &[&str]) -> String {
    let made = issue(site, more);
    assert_eq!(made.code, Some(0), "{made:?}");
    made.out.trim().to_owned()
}

fn follows(visitor: &mut Visitor, code: &str) -> Answer {
    visitor.goes_to(&format!("/sale?a=%20&ropeline_code={code}&b"))
}

fn lane(visitor: &mut Visitor) -> Value {
    visitor.status()["lane"].clone()
}

fn joins_as_app(gate: &Gate, code: &str) -> Answer {
    let fields = format!("Accept: application/json\r\nContent-Length: 0\r\nRopeline-Code: {code}\r\n");
    gate.visitor().asks("POST /.ropeline/rooms/shop/join", &fields, "")
}

#[test]
fn a_link_with_a_code_leads_to_its_lane_and_the_shop_never_sees_it() {
    let site = site();
    let code = code(&site, &["--expires", "2999-01-01T00:00:00Z"]);
    let gate = site.start();
    let mut inside = gate.insider();
    let mut plain = gate.waits(1);
    let mut visitor = gate.visitor();
    let sent_on = follows(&mut visitor, &code);
    assert_eq!((sent_on.status, sent_on.word()), (303, "code"), "{sent_on:?}");
    assert_eq!(sent_on.header("location"), "/sale?a=%20&b");
    assert!(sent_on.header("set-cookie").contains("HttpOnly"), "{sent_on:?}");
    assert_eq!(visitor.goes_to("/sale?a=%20&b").word(), "waiting");
    assert_eq!((lane(&mut visitor), visitor.position()), ("press".into(), Some(1)));
    assert_eq!((lane(&mut plain), plain.position()), (Value::Null, Some(1)));
    let page = visitor.goes_to("/sale").body;
    assert!(page.contains("You are in the line “press”"), "{page}");
    // Another of the same code: as many as have it.
    let mut second = gate.visitor();
    assert_eq!(follows(&mut second, &code).status, 303);
    second.goes_to("/sale");
    assert_eq!(second.position(), Some(2));
    assert_eq!(gate.figure("ropeline_codes_total{fate=\"code_accepted\"}"), 2);
    // A visitor who only follows the link, however often, has no place.
    for _ in 0..3 {
        assert_eq!(follows(&mut gate.visitor(), &code).status, 303);
    }
    inside.leaves();
    crate::until("the turn of the code", || {
        (visitor.status()["state"] == "called").then_some(())
    });
    // The shop returns the request that it got.
    let shown = visitor.goes_to("/sale");
    assert!(
        shown.is_the_shops() && !shown.body.contains(&code) && !shown.body.contains("ropeline-code"),
        "{shown:?}"
    );
    let said = gate.stop();
    assert!(!said.err.contains(&code), "a code in the log");
    let accepted = said.err.matches("a code was accepted").count();
    assert_eq!(accepted, 2, "once for each who joined by it: {said:?}");
}

/// Any site can send a visitor to a link: only the page's own button gives up their present place.
#[test]
fn a_link_takes_nobodys_place_away_and_the_button_of_its_page_does() {
    let site = site();
    let code = code(&site, &[]);
    let gate = site.start();
    let _inside = gate.insider();
    let mut visitor = gate.waits(1);
    let before = visitor.jar.clone();
    for from in ["cross-site", "same-site", "same-origin", "none"] {
        let fields = format!(
            "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Site: {from}\r\n"
        );
        let asked = visitor.asks(&format!("GET /sale?a=%20&ropeline_code={code}&b"), &fields, "");
        assert_eq!((asked.status, asked.word()), (200, "code_use"), "{from}: {asked:?}");
        assert_eq!(visitor.jar, before, "{from}: neither place nor code");
        visitor.goes_to("/sale");
        assert_eq!(
            (lane(&mut visitor), visitor.position()),
            (Value::Null, Some(1)),
            "{from}"
        );
    }
    let asked = follows(&mut visitor, &code);
    assert!(
        asked.body.contains("Keep my place") && asked.body.contains("href=\"&#x2f;sale?a=%20&amp;b\""),
        "{}",
        asked.body
    );
    let action = button(&asked);
    // Another site's form, and a link, can do no more than the first link.
    let mut tricked = visitor.clone();
    let form = "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Site: cross-site\r\n\
        Content-Length: 0\r\n";
    assert_eq!(tricked.asks(&format!("POST {action}"), form, "").status, 403);
    assert_eq!(tricked.asks(&format!("GET {action}"), form, "").status, 405);
    assert_eq!(tricked.jar, before);
    assert_eq!(visitor.position(), Some(1));
    let used = visitor.sends(&action, "");
    assert_eq!(
        (used.status, used.header("location")),
        (303, "/sale?a=%20&b"),
        "{used:?}"
    );
    visitor.goes_to("/sale");
    assert_eq!((lane(&mut visitor), visitor.position()), ("press".into(), Some(1)));
    // Their present lane requires nothing.
    assert_eq!(follows(&mut visitor, &code).status, 303);
    assert_eq!((lane(&mut visitor), visitor.position()), ("press".into(), Some(1)));
    gate.stop();
}

/// Where the page's button posts to.
pub fn button(page: &Answer) -> String {
    let action = page.body.split_once("method=\"post\" action=\"").expect("a form").1;
    action
        .split_once('"')
        .expect("its end")
        .0
        .replace("&#x2f;", "/")
        .replace("&amp;", "&")
}

#[test]
fn a_link_leads_to_a_path_on_this_host_however_short_the_target_is() {
    let site = site();
    let code = code(&site, &[]);
    let gate = site.start();
    let _inside = gate.insider();
    for target in ["//", "//0", "//ab", "//evil.test", "/%2f", "/%5Cab", "/%2Fevil.test"] {
        let led = gate.visitor().goes_to(&format!("{target}?ropeline_code={code}"));
        let location = led.header("location");
        // A target that a shop may read in two ways is refused before.
        let on_this_host = location.starts_with('/') && !location.starts_with("//") && !location.starts_with("/%");
        assert!(led.status == 400 || on_this_host, "{target}: {led:?}");
        let mut visitor = gate.visitor();
        for asks in [
            format!("GET /.ropeline/rooms/shop/check?to={target}&ticket=any"),
            format!("POST /.ropeline/rooms/shop/afresh?to={target}"),
        ] {
            let fields =
                "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\nContent-Length: 0\r\n";
            let led = visitor.asks(&asks, fields, "");
            assert_eq!((led.status, led.header("location")), (303, "/"), "{asks}");
        }
    }
    gate.stop();
}

#[test]
fn a_code_that_cannot_be_used_is_told_so_with_a_way_to_go_on() {
    let site = site();
    let early = code(&site, &["--starts", "2999-01-01 13:00 Asia/Seoul"]);
    let good = code(&site, &[]);
    site.edit("name = \"press\"", "name = \"gold\"");
    let gold = site
        .run(&["code", "issue", "--room", "shop", "--grants", "lane:gold"])
        .out;
    site.edit("name = \"gold\"", "name = \"press\"");
    let mut forged = good.clone().into_bytes();
    forged[20] = if forged[20] == b'A' { b'B' } else { b'A' };
    let forged = String::from_utf8(forged).unwrap();
    let gate = site.start();
    let _inside = gate.insider();
    for (code, word, text) in [
        (early.as_str(), "code_not_yet", "cannot be used yet"),
        (&forged, "code_unknown", "do not know this code"),
        ("", "code_unknown", "do not know this code"),
        (gold.trim(), "code_no_lane", "no longer open"),
    ] {
        let mut visitor = gate.visitor();
        let refused = follows(&mut visitor, code);
        assert_eq!((refused.status, refused.word()), (403, word), "{refused:?}");
        assert!(refused.body.contains(text), "{}", refused.body);
        assert!(refused.body.contains("Continue without the code"), "{}", refused.body);
        assert!(
            !refused.body.contains("ropeline_code"),
            "the link is without it: {}",
            refused.body
        );
        assert!(visitor.jar.is_empty());
        let app = joins_as_app(&gate, code);
        assert_eq!((app.status, app.word()), (403, word), "{app:?}");
        assert_eq!(app.json()["reason"], word);
    }
    assert_eq!(
        gate.asks_admin("/api/v1/rooms/shop").json()["joins"],
        1,
        "nobody has joined by them"
    );
    let app = joins_as_app(&gate, &good);
    assert_eq!((app.status, &app.json()["lane"]), (200, &"press".into()), "{app:?}");
    gate.stop();
}

#[test]
fn a_code_of_another_room_is_told_from_a_wrong_one() {
    let other = "[[room.lane]]\nname = \"a\"\n[[room.lane]]\nname = \"press\"\ncode = true\n";
    let site = Site::new(
        "",
        &format!("{ROOM}[[room]]\nname = \"other\"\nroutes = [\"/other/*\"]\n{other}"),
    );
    site.edit(
        "name = \"shop\"",
        "name = \"shop\"\nroutes = [\"/*\"]\nexcept = [\"/other/*\"]",
    );
    let code = site
        .run(&["code", "issue", "--room", "other", "--grants", "lane:press"])
        .out;
    let gate = site.start();
    let refused = follows(&mut gate.visitor(), code.trim());
    assert_eq!(
        (refused.status, refused.word()),
        (403, "code_other_room"),
        "{refused:?}"
    );
    assert!(refused.body.contains("for another line"), "{}", refused.body);
    gate.stop();
}

#[test]
fn codes_are_made_as_text_csv_and_json_and_checked() {
    let site = site();
    let dates = ["--starts", "2020-01-01T00:00:00Z", "--expires", "2999-01-01T00:00:00Z"];
    let text = code(&site, &[&dates[..], &["--count", "3"]].concat());
    let codes: std::collections::BTreeSet<&str> = text.lines().collect();
    assert_eq!(codes.len(), 3);
    let csv = issue(&site, &[&dates[..], &["--format", "csv"]].concat()).out;
    let row: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(
        csv.lines().next(),
        Some("code,id,room,grants,single_use,starts,expires")
    );
    assert_eq!(
        row[2..],
        [
            "shop",
            "lane:press",
            "false",
            "2020-01-01T00:00:00.000Z",
            "2999-01-01T00:00:00.000Z"
        ]
    );
    let json = issue(&site, &["--format", "json"]).out;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json[0]["grants"], &json[0]["expires"]),
        (&"lane:press".into(), &Value::Null)
    );
    let checked = site.run(&["code", "check", row[0]]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(
        checked.out.contains(&format!("code      {}\nroom      shop\n", row[1])),
        "{checked:?}"
    );
    let early = code(&site, &["--starts", "2999-01-01T00:00:00Z"]);
    let checked = site.run(&["code", "check", &early]);
    assert_eq!(
        (checked.code, checked.out.contains("not yet good")),
        (Some(1), true),
        "{checked:?}"
    );
    assert_eq!(site.run(&["code", "check", "nonsense"]).code, Some(1));
}

#[test]
fn codes_that_would_be_worth_nothing_are_not_made() {
    let site = site();
    let refused = |arguments: &[&str], why: &str| {
        let ended = site.run(&[&["code", "issue"], arguments].concat());
        assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{ended:?}");
        assert!(ended.err.contains(why), "{ended:?}");
    };
    refused(
        &["--room", "nowhere", "--grants", "lane:press"],
        "there is no room \"nowhere\"",
    );
    refused(&["--room", "shop", "--grants", "press"], "right: lane:NAME, or bypass");
    refused(&["--room", "shop", "--grants", "lane:gold"], "has no lane \"gold\"");
    refused(&["--room", "shop", "--grants", "lane:everybody"], "takes no codes");
    let press = ["--room", "shop", "--grants", "lane:press"];
    refused(
        &[&press[..], &["--expires", "2020-01-01T00:00:00Z"]].concat(),
        "is worth nothing",
    );
    refused(
        &[&press[..], &["--expires", "daily 13:00 Asia/Seoul"]].concat(),
        "a code has one date",
    );
    refused(&[&press[..], &["--starts", "soon"]].concat(), "is no date");
    refused(&[&press[..], &["--line", "4711"]].concat(), "has one line");
}
