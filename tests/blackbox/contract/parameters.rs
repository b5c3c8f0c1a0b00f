//! A parameter that distinguishes lines, and a method that a request names, in any position and spelling: requests that a
//! shop may read differently from the gate are refused.

use crate::guest::{Guest, PAGE, SCRIPT};
use crate::http::Message;

use super::House;

const EVENTS: &str = "total_active_users = 10\nroutes = [\"/event\"]\nper = \"?event_id\"";

/// A visitor inside the line `a`.
async fn in_line_a(house: &House) -> Guest {
    let mut guest = house.guest();
    for _ in 0..2 {
        assert!(guest.page("/event?event_id=a").await.is_the_shops());
    }
    guest
}

fn assert_malformed(answer: &Message, what: &str) {
    assert_eq!(
        (answer.status(), answer.word()),
        (400, "malformed"),
        "{what}: {}",
        answer.head
    );
}

#[tokio::test]
async fn another_spelling_of_the_parameter_is_refused_even_alone() {
    let house = House::open(EVENTS, "").await;
    let mut guest = in_line_a(&house).await;
    let before = house.shop.seen().len();
    for alias in [
        "[event_id]",
        "event_id[]",
        "event_id%5B0%5D",
        "event_id%00x",
        "%00event_id",
        "%20event_id",
        "+event_id",
        "event.id",
        "event%20id",
        "event[id",
        "event%5fid%00",
        "%2565vent_id",
        "%u0065vent_id",
        "event_id%0A",
        "?event_id",
        "%EF%BB%BFevent_id",
        "%EF%BD%85vent_id",
        "%C1%A5vent_id",
    ] {
        for query in [
            format!("{alias}=a"),
            format!("event_id=a&{alias}=b"),
            format!("{alias}=b&event_id=a"),
        ] {
            let answer = guest.page(&format!("/event?{query}")).await;
            assert_malformed(&answer, &query);
        }
    }
    for query in [
        "event_id=a&event_id=b",
        "event_id=a;x=1",
        "x;event_id=b&event_id=a",
        "event_id=a[x]=b",
        &format!("{}event_id=a", "x=1&".repeat(1_000)),
    ] {
        assert_malformed(&guest.page(&format!("/event?{query}")).await, query);
    }
    let charset = format!("{PAGE}Content-Type: text/plain; charset=utf-7\r\n");
    let answer = guest
        .send("GET", "/event?event_id=a&+AGUAdgBlAG4AdABfAGkAZA-=b", &charset, "")
        .await
        .unwrap();
    assert_malformed(&answer, "UTF-7");
    assert_eq!(house.shop.seen().len(), before);
    for query in [
        "EVENT_ID=a",
        "%65vent_id=a",
        "event_id=a&event_id=a&x[event_id]=b&id=c&eventid=d&_event_id=e",
    ] {
        assert!(guest.page(&format!("/event?{query}")).await.is_the_shops(), "{query}");
    }
}

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";
const PARTS: &str = "Content-Type: multipart/form-data; boundary=b0\r\n";

fn part(name: &str, value: &str) -> String {
    format!("--b0\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
}

#[tokio::test]
async fn a_form_that_says_another_value_than_the_query_is_refused() {
    let house = House::open(EVENTS, "").await;
    let mut guest = in_line_a(&house).await;
    let before = house.shop.seen().len();
    let end = "--b0--\r\n";
    let file = format!(
        "--b0\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\n{}\r\n",
        "x".repeat(50_000)
    );
    let gzip = format!("{FORM}Content-Encoding: gzip\r\n");
    let doubled = format!("{FORM}Content-Type: text/plain\r\n");
    for (fields, body) in [
        (FORM, "event_id=b".to_owned()),
        (FORM, "event_id=a&%20event_id=b".to_owned()),
        (FORM, "event.id=b".to_owned()),
        (FORM, "x=1;event_id=b".to_owned()),
        (FORM, format!("x={}&event_id=b&y=", "x".repeat(60_000))),
        (FORM, "event_id=a&_charset_=utf-7".to_owned()),
        ("", "event_id=b".to_owned()),
        (PARTS, format!("{}{end}", part("event_id", "b"))),
        (
            PARTS,
            format!("{}{}{end}", part("event_id", "a"), part("event_id[]", "b")),
        ),
        (PARTS, format!("{file}{}{end}", part("event_id", "b"))),
        (
            PARTS,
            format!("--b0\nContent-Disposition: form-data; name=\"event_id\"\n\nb\n{end}"),
        ),
        (&gzip, "event_id=b".to_owned()),
        (&doubled, "event_id=b".to_owned()),
        (
            "Content-Type: application/x-www-form-urlencoded, a/b\r\n",
            "event_id=b".to_owned(),
        ),
        (
            "Content-Type: application/x-www-form-urlencoded; charset=utf-16\r\n",
            "event_id=b".to_owned(),
        ),
        (
            "Content-Type: multipart/mixed; boundary=b0\r\n",
            format!("{}{end}", part("event_id", "b")),
        ),
    ] {
        let answer = guest
            .send("POST", "/event?event_id=a", &format!("{SCRIPT}{fields}"), &body)
            .await
            .unwrap();
        let shown: String = body.chars().take(80).collect();
        assert_malformed(&answer, &format!("{fields}{shown}"));
    }
    assert_eq!(house.shop.seen().len(), before);
    for (fields, body) in [
        (FORM, "event_id=a&seat=7".to_owned()),
        (FORM, "EVENT_ID=%61".to_owned()),
        (FORM, String::new()),
        (FORM, format!("seat=7&x={}", "x".repeat(200_000))),
        (
            PARTS,
            format!("{}{file}{}{file}{end}", part("event_id", "a"), part("seat", "7")),
        ),
        ("Content-Type: application/json\r\n", "{\"event_id\":\"b\"}".to_owned()),
        (
            "Content-Type: image/png\r\nContent-Encoding: gzip\r\n",
            "&event_ids=b".to_owned(),
        ),
    ] {
        let answer = guest
            .send("POST", "/event?event_id=a", &format!("{SCRIPT}{fields}"), &body)
            .await
            .unwrap();
        assert!(answer.is_the_shops(), "{fields}: {}", answer.head);
        let seen = house.shop.seen();
        let seen = &seen.last().expect("it reached the shop").request;
        assert!(
            seen.body == body.as_bytes(),
            "{fields}: {} of {} bytes",
            seen.body.len(),
            body.len()
        );
    }
}

/// Rack, Laravel, Symfony and Spring take a form that was posted for a request with the method that it names.
#[tokio::test]
async fn a_method_named_in_a_query_or_form_walks_round_no_rule() {
    let room = "total_active_users = 1\nroutes = [\"DELETE, PUT /seats/*\", \"/hall\"]\nexcept = [\"GET /hall\"]";
    let house = House::open(room, "").await;
    let mut guest = house.guest();
    for (method, target, body) in [
        ("POST", "/seats/1?_method=DELETE", ""),
        ("POST", "/seats/1?_METHOD=put", ""),
        ("POST", "/seats/1?_method[]=PUT", ""),
        ("POST", "/seats/1?.method=PUT", ""),
        ("POST", "/seats/1?_method=%zz", ""),
        ("GET", "/hall?_method=POST", ""),
        ("POST", "/seats/1", "_method=DELETE"),
        ("POST", "/seats/1", "a=1&_Method=put"),
        ("POST", "/seats/1", "_method=GET&+_method=PUT"),
        ("POST", "/seats/1", "X-HTTP-Method-Override=PUT"),
        // Hono and CakePHP.
        ("PATCH", "/seats/1", "_method=PUT"),
        ("QUERY", "/seats/1", "_method=DELETE"),
    ] {
        let answer = guest
            .send(method, target, &format!("{FORM}{SCRIPT}"), body)
            .await
            .unwrap();
        assert_malformed(&answer, &format!("{method} {target} {body}"));
    }
    let parts = format!("{}--b0--\r\n", part("_method", "PUT"));
    let answer = guest
        .send("POST", "/seats/1", &format!("{PARTS}{SCRIPT}"), &parts)
        .await
        .unwrap();
    assert_malformed(&answer, &parts);
    assert!(house.shop.seen().is_empty());
    for (method, target, body) in [
        ("POST", "/seats/1?_method=PATCH", ""),
        ("POST", "/seats/1", "_method=patch"),
        ("POST", "/seats/1", "method=PUT"),
        ("PATCH", "/seats/1", "_method=POST"),
    ] {
        let answer = guest
            .send(method, target, &format!("{FORM}{SCRIPT}"), body)
            .await
            .unwrap();
        assert!(answer.is_the_shops(), "{target} {body}: {}", answer.head);
    }
}

/// Each pair is looked at before any limit: what no browser writes is no reason to look on.
#[tokio::test]
async fn queries_and_forms_of_thousands_of_empty_pairs_are_refused_and_ordinary_ones_pass() {
    let room = "total_active_users = 1\nroutes = [\"DELETE, PUT /seats/*\", \"/hall\"]\nexcept = [\"GET /hall\"]";
    let house = House::open(room, "").await;
    let mut guest = house.guest();
    let query = |pairs: usize, pair: &str| format!("/seats/1?{}", vec![pair; pairs].join("&"));
    for (target, body) in [
        (query(1_001, ""), String::new()),
        (query(1_001, "_"), String::new()),
        ("/seats/1".to_owned(), "&".repeat(1_001)),
    ] {
        let fields = format!("{FORM}{SCRIPT}");
        let answer = guest.send("POST", &target, &fields, &body).await.unwrap();
        assert_malformed(&answer, &target);
    }
    assert!(house.shop.seen().is_empty());
    for (target, body) in [
        ("/seats/1?a=1&&b=2&".to_owned(), "&a=1&&b=2&".to_owned()),
        (query(1_000, "a=1"), "a=1&".repeat(2_000)),
    ] {
        let fields = format!("{FORM}{SCRIPT}");
        let answer = guest.send("POST", &target, &fields, &body).await.unwrap();
        assert!(answer.is_the_shops(), "{target}: {}", answer.head);
    }
}
