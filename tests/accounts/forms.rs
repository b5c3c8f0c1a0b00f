//! The field of one form or JSON object; and the body that goes on to the shop as it came.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use super::guest::PAGE;
use super::house::Way as _;
use super::http::Pool;
use super::*;

const FIELD: &str = "[room.identity]\nfrom = \"field\"\nname = \"email\"\non = \"POST /enter\"\nmissing = \"refuse\"\nsign_in = \"/static/enter\"\n";

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";
const JSON: &str = "Content-Type: application/json\r\n";
const PARTS: &str = "Content-Type: multipart/form-data; boundary=x\r\n";

async fn enters(guest: &mut Guest, kind: &str, body: &str) -> Message {
    guest
        .send("POST", "/enter", &format!("{PAGE}{kind}"), body)
        .await
        .unwrap()
}

/// A room with one slot, held by a visitor who came by the form.
async fn by_form() -> (House, Guest) {
    let house = House::open(&format!("{ONE}{FIELD}"), house::OFTEN).await;
    let mut inside = house.guest();
    let answer = enters(&mut inside, FORM, "email=somebody&seat=7").await;
    assert!(answer.is_the_shops(), "{}", answer.head);
    assert!(inside.page("/").await.is_the_shops(), "the pass needs no form");
    (house, inside)
}

#[tokio::test]
async fn a_form_and_an_object_name_the_same_account_and_pages_need_neither_then() {
    let (house, _inside) = by_form().await;
    let (mut one, mut two) = (house.guest(), house.guest());
    let answer = enters(&mut one, FORM, "seat=7&email=ann%40shop.example").await;
    assert_eq!((answer.status(), answer.word()), (503, "waiting"), "{}", answer.head);
    let place = number(&one);
    let answer = enters(&mut two, JSON, r#"{"email":"ann@shop.example"}"#).await;
    assert_eq!((answer.word(), number(&two)), ("waiting", place), "{}", answer.head);
    assert_eq!(waits(&mut one).await, place, "without the form the ticket still counts");
    let mut bob = house.guest();
    bob.jar = one.jar.clone();
    assert_not_yours(&enters(&mut bob, FORM, "email=bob").await);
}

/// As a page's script sends it with `fetch`; from where is said behind it.
const SCRIPT: &str = "Accept: */*\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\nSec-Fetch-Site: ";

async fn by_script(guest: &mut Guest, site: &str, kind: &str, body: &str) -> Message {
    let fields = format!("{SCRIPT}{site}\r\n{kind}");
    guest.send("POST", "/enter", &fields, body).await.unwrap()
}

#[tokio::test]
async fn a_script_that_names_the_account_joins_its_visitor_and_is_told_in_json() {
    let house = House::open(&format!("{ONE}{FIELD}"), house::OFTEN).await;
    let mut inside = house.guest();
    let answer = by_script(&mut inside, "same-origin", JSON, r#"{"email":"somebody"}"#).await;
    assert!(answer.is_the_shops(), "{}", answer.head);
    assert!(inside.page("/").await.is_the_shops(), "the answer gave the pass");
    let (mut one, mut two) = (house.guest(), house.guest());
    for (guest, kind, body) in [(&mut one, FORM, "email=ann"), (&mut two, JSON, r#"{"email":"bob"}"#)] {
        let answer = by_script(guest, "same-origin", kind, body).await;
        assert_eq!((answer.status(), answer.word()), (503, "waiting"), "{}", answer.head);
        assert_eq!(
            answer.field("content-type"),
            Some("application/problem+json"),
            "{}",
            answer.head
        );
        assert!(answer.field("retry-after").is_some(), "{}", answer.head);
    }
    let place = waits(&mut one).await;
    assert_ne!(waits(&mut two).await, place, "pages go on from there");
    let mut third = house.guest();
    let answer = by_script(&mut third, "same-origin", JSON, r#"{"email":"ann"}"#).await;
    assert_eq!(
        (answer.word(), number(&third)),
        ("waiting", place),
        "one place for the account"
    );
}

#[tokio::test]
async fn who_signs_in_by_script_in_line_has_the_better_place_at_once() {
    let room = format!("{ONE}{}", FIELD.replace("\"refuse\"", "\"join\""));
    let house = House::open(&room, house::OFTEN).await;
    let (mut inside, mut ann, mut other) = (house.guest(), house.guest(), house.guest());
    assert!(inside.page("/").await.is_the_shops());
    assert_eq!(enters(&mut ann, FORM, "email=ann").await.word(), "waiting");
    assert_eq!(other.page("/").await.word(), "waiting");
    let (better, own) = (number(&ann), number(&other));
    assert_ne!(better, own);
    let answer = by_script(&mut other, "same-origin", JSON, r#"{"email":"ann"}"#).await;
    assert_eq!((answer.word(), number(&other)), ("waiting", better), "{}", answer.head);
    assert_eq!(waits(&mut other).await, better);
}

/// It would bind the place that the browser carries to an account that the other site chose.
#[tokio::test]
async fn another_site_names_nobodys_account() {
    let room = format!("{ONE}{}", FIELD.replace("\"refuse\"", "\"join\""));
    let house = House::open(&room, house::OFTEN).await;
    let (mut inside, mut waiting, mut newcomer) = (house.guest(), house.guest(), house.guest());
    assert!(inside.page("/").await.is_the_shops());
    assert_eq!(waiting.page("/").await.word(), "waiting");
    let before = house.shop.seen().len();
    for guest in [&mut inside, &mut waiting, &mut newcomer] {
        for site in ["Sec-Fetch-Site: cross-site\r\n", "Origin: https://evil.test\r\n"] {
            let form = format!("{PAGE}{site}{FORM}");
            let form = guest.send("POST", "/enter", &form, "email=mallory").await.unwrap();
            assert_eq!(form.word(), "same_site", "{}", form.head);
        }
        let script = by_script(guest, "cross-site", JSON, r#"{"email":"mallory"}"#).await;
        assert_eq!((script.status(), script.word()), (403, "cross_site"), "{}", script.head);
    }
    assert!(newcomer.jar.is_empty());
    assert_eq!(house.shop.seen().len(), before);
    let place = number(&waiting);
    let mut mallory = house.guest();
    assert_eq!(enters(&mut mallory, FORM, "email=mallory").await.word(), "waiting");
    assert_ne!(number(&mallory), place);
    assert_eq!(enters(&mut waiting, FORM, "email=ann").await.word(), "waiting");
    assert_eq!(number(&waiting), place, "the place is free for its visitor's account");
}

/// A page's script can set that field where the shop permits it.
#[tokio::test]
async fn which_host_a_visitor_asked_for_a_proxy_alone_can_say() {
    let house = House::open(&format!("{ONE}{FIELD}"), house::OFTEN).await;
    let mut inside = house.guest();
    assert!(enters(&mut inside, FORM, "email=somebody").await.is_the_shops());
    let fields =
        format!("{PAGE}{FORM}Origin: https://kept.test:8000\r\nX-Forwarded-Host: kept.test:8000, inner.test\r\n");
    let pool = Arc::new(Pool::from(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 9)), house.gate.address));
    let (mut stranger, mut behind) = (Guest::at(&pool, "127.0.0.9", 99), house.guest());
    let alone = stranger.send("POST", "/enter", &fields, "email=mallory").await.unwrap();
    assert_eq!(alone.word(), "same_site", "{}", alone.head);
    let proxied = behind.send("POST", "/enter", &fields, "email=ann").await.unwrap();
    assert_eq!(proxied.word(), "waiting", "{}", proxied.head);
    let preflight = |asked: &str| {
        format!(
            "OPTIONS /enter HTTP/1.1\r\nHost: shop.test\r\nOrigin: https://evil.test\r\nAccess-Control-Request-Method: POST\r\n\
             Access-Control-Request-Headers: content-type, {asked}\r\n\r\n"
        )
    };
    // In a room that is full, and in one that is open.
    let open = House::open("total_active_users = 9", house::OFTEN).await;
    for house in [&house, &open] {
        let pool = Pool::new(house.gate.address);
        for (asked, is_let_past) in [
            ("x-csrf-token", true),
            ("X-Forwarded-Host", false),
            ("forwarded", false),
        ] {
            let before = house.shop.seen().len();
            let answer = pool.ask(preflight(asked).as_bytes()).await.unwrap();
            assert_eq!(house.shop.seen().len() > before, is_let_past, "{asked}");
            assert!(is_let_past || answer.status() == 400, "{asked}: {}", answer.head);
        }
    }
}

/// Many stacks trim by Unicode: to the shop these are one account.
#[tokio::test]
async fn space_around_a_name_makes_no_second_account() {
    let (house, _inside) = by_form().await;
    let mut first = house.guest();
    let answer = enters(&mut first, JSON, r#"{"email":"7"}"#).await;
    assert_eq!(answer.word(), "waiting", "{}", answer.head);
    let place = number(&first);
    for (kind, body) in [
        (JSON, r#"{"email":7}"#),
        (JSON, r#"{"email":"7\u00a0"}"#),
        (JSON, r#"{"email":"\u30007"}"#),
        (JSON, r#"{"email":"7\u2003"}"#),
        (JSON, r#"{"email":"7\u2028 "}"#),
        (JSON, r#"{"email":"\ufeff7"}"#),
        (FORM, "email=%C2%A07"),
    ] {
        let mut again = house.guest();
        let answer = enters(&mut again, kind, body).await;
        assert_eq!((answer.word(), number(&again)), ("waiting", place), "{body}");
    }
}

/// A body that some stack reads one account in, and another stack another or none.
#[tokio::test]
async fn a_body_that_does_not_name_one_account_is_refused_and_never_reaches_the_shop() {
    let deep = format!("{{\"email\":\"ann\",\"a\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let long = format!("email=ann&rest={}", "x".repeat(20_000));
    let end = "--x--\r\n";
    let (own, other, list) = (part("email", "ann"), part("email", "bob"), part("email[]", "bob"));
    let charset = "Content-Type: application/x-www-form-urlencoded; charset=utf-16\r\n";
    let packed = format!("{FORM}Content-Encoding: gzip\r\n");
    let doubled = format!("{FORM}{JSON}");
    for missing in ["join", "refuse"] {
        let room = format!(
            "total_active_users = 100\n{}",
            FIELD.replace("\"refuse\"", &format!("\"{missing}\""))
        );
        let house = House::open(&room, house::OFTEN).await;
        let mut known = house.guest();
        assert!(enters(&mut known, FORM, "email=kim").await.is_the_shops());
        let before = house.shop.seen().len();
        for (status, kind, body) in [
            (400, FORM, ""),
            (400, FORM, "seat=7"),
            (400, FORM, "email=ann&email=bob"),
            (400, FORM, "email=ann&email=ann"),
            (400, FORM, "email=ann&%20email=bob"),
            (400, FORM, "email=ann&+email=bob"),
            (400, FORM, "email=ann&email%00=bob"),
            (400, FORM, "email=ann&email[]=bob"),
            (400, FORM, "email=ann&EMAIL=bob"),
            (400, FORM, "email=ann;email=bob"),
            (400, FORM, "[email]=ann"),
            (400, FORM, "%2565mail=ann"),
            (400, FORM, "\u{FEFF}email=ann"),
            (400, FORM, "email="),
            (400, FORM, "email=%zz"),
            (400, FORM, "email=ann&_charset_=utf-7"),
            (413, FORM, long.as_str()),
            (400, JSON, r#"{"email":"ann","email":"bob"}"#),
            (400, JSON, r#"{"email":"ann","\u0065mail":"bob"}"#),
            (400, JSON, r#"{"email":"ann","Email":"bob"}"#),
            (400, JSON, r#"{"email":"ann","ema\u0131l":"bob"}"#),
            (400, JSON, r#"{"email":["ann"]}"#),
            (400, JSON, r#"{"user":{"email":"ann"}}"#),
            (400, JSON, r#"[{"email":"ann"}]"#),
            (400, JSON, "\u{FEFF}{\"email\":\"ann\"}"),
            (400, JSON, "{'email':'ann'}"),
            (400, JSON, deep.as_str()),
            (400, JSON, "email=ann"),
            (400, PARTS, &format!("{own}{other}{end}")),
            (400, PARTS, &format!("{own}{list}{end}")),
            (400, PARTS, &format!("{own}{own}{end}")),
            (400, PARTS, &own),
            (400, PARTS, &format!("{own}{end}").replace("\r\n", "\n")),
            (415, "Content-Type: multipart/form-data\r\n", &format!("{own}{end}")),
            (
                415,
                "Content-Type: multipart/form-data; boundary=y; boundary=x\r\n",
                &format!("{own}{end}"),
            ),
            (415, &packed, "email=ann"),
            (415, &doubled, "email=ann"),
            (415, charset, "email=ann"),
            (415, "Content-Type: text/plain\r\n", "email=ann"),
            (415, "", "email=ann"),
        ] {
            for guest in [&mut house.guest(), &mut known] {
                let answer = enters(guest, kind, body).await;
                let shown: String = body.chars().take(60).collect();
                assert_eq!(answer.status(), status, "{missing} {kind}{shown}: {}", answer.head);
                assert_eq!(answer.field("set-cookie"), None, "{missing} {kind}{shown}");
            }
        }
        assert_eq!(house.shop.seen().len(), before);
    }
}

#[tokio::test]
async fn the_field_counts_in_any_letter_case_and_on_its_own_route_alone() {
    let (house, _inside) = by_form().await;
    let mut ann = house.guest();
    assert_eq!(enters(&mut ann, FORM, "email=ann").await.word(), "waiting");
    let place = number(&ann);
    let parts = format!("{}{}--x--\r\n", part("seat", "7"), part("email", "ann"));
    for (kind, body) in [
        (FORM, "EMail=ann"),
        (FORM, "%65mail=ann"),
        (JSON, r#"{"EMAIL":"ann","user":{"email":"bob"}}"#),
        (PARTS, &parts),
    ] {
        let mut guest = house.guest();
        let answer = enters(&mut guest, kind, body).await;
        assert_eq!(
            (answer.word(), number(&guest)),
            ("waiting", place),
            "{body}: {}",
            answer.head
        );
    }
    let mut elsewhere = house.guest();
    let answer = elsewhere
        .send("POST", "/other", &format!("{PAGE}{FORM}"), "email=ann")
        .await
        .unwrap();
    assert_eq!(answer.word(), "sign_in", "another route's form");
}

fn part(name: &str, value: &str) -> String {
    format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
}

#[tokio::test]
async fn the_shop_gets_the_body_byte_for_byte_whatever_its_length_and_form() {
    let house = House::open(&format!("total_active_users = 100\n{FIELD}"), house::OFTEN).await;
    let bodies = [
        "email=ann&seat=%37+%e4".to_owned(),
        "email=kim".to_owned(),
        format!("email=bob&rest={}", "0123456789".repeat(1_600)),
    ];
    for body in &bodies {
        let mut guest = house.guest();
        let answer = enters(&mut guest, FORM, body).await;
        assert!(answer.is_the_shops(), "{}", answer.head);
        let seen = house.shop.seen();
        let seen = &seen
            .iter()
            .rev()
            .find(|seen| seen.line().starts_with("POST /enter"))
            .unwrap()
            .request;
        assert!(
            seen.body == body.as_bytes(),
            "{} of {} bytes",
            seen.body.len(),
            body.len()
        );
        assert_eq!(
            seen.field("content-length").map(str::to_owned),
            Some(body.len().to_string())
        );
    }
    let chunked = format!("{PAGE}{FORM}Transfer-Encoding: chunked\r\n");
    let guest = house.guest();
    let head = guest
        .request("POST", "/enter", &chunked, "")
        .replace("Content-Length: 0\r\n", "");
    let body = "9\r\nemail=kim\r\n7\r\n&seat=7\r\n0\r\n\r\n";
    let answer = house
        .way
        .pool("")
        .ask(format!("{head}{body}").as_bytes())
        .await
        .unwrap();
    assert!(answer.is_the_shops(), "{}", answer.head);
    let seen = house.shop.seen();
    let seen = &seen
        .iter()
        .rev()
        .find(|seen| seen.line().starts_with("POST /enter"))
        .unwrap()
        .request;
    assert_eq!(seen.text(), "email=kim&seat=7");
}
