//! Which shop a host reaches, in every spelling, and what reaches none.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::{BOOKS, MUSIC, Two, at};
use crate::PATIENCE;
use crate::gate::Gate;

/// The status of the answer to these bytes, and its word from the gate.
fn raw(gate: &Gate, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(gate.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let word = answer
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("ropeline-status: ").map(str::to_owned));
    (answer[9..12].parse().unwrap(), word.unwrap_or_default())
}

#[test]
fn each_host_reaches_its_shop_and_one_that_no_upstream_names_gets_421() {
    let two = Two::new("", "");
    let gate = two.start();
    assert!(at(&gate, MUSIC).goes_to("/one").is_the_shops());
    assert!(at(&gate, BOOKS).goes_to("/one").is_the_shops());
    assert_eq!(two.asked("/one"), (1, 1));
    let own = [
        "/.ropeline/rooms/shop/status",
        "/.ropeline/rooms/books/status",
        "/.ropeline/rooms/shop/events",
        "/.ropeline/rooms/shop/enter",
        "/.ropeline/proof.js",
        "/.ropeline/nothing",
    ];
    let spelled = [
        "other.test",
        "sub.music.test",
        "music.test:8080",
        "127.0.0.1",
        "[::1]:80",
    ];
    for host in spelled {
        for target in own.into_iter().chain(["/two", "/buy", "/robots.txt"]) {
            let answer = at(&gate, host).goes_to(target);
            assert_eq!((answer.status, answer.word()), (421, "unknown_host"), "{host}{target}");
        }
        let mut stranger = at(&gate, host);
        assert_eq!(stranger.joins_as_app().status, 421, "{host}");
        assert!(stranger.jar.is_empty(), "{host}: {:?}", stranger.jar);
        assert_eq!(
            stranger.goes_to("/.ropeline/health").status,
            200,
            "a load balancer asks by any host"
        );
    }
    assert_eq!((two.asked("/two"), two.asked("/robots.txt")), ((0, 0), (0, 0)));
}

/// The shop gets the host as browsers spell it.
#[test]
fn a_host_in_another_spelling_reaches_the_same_shop() {
    let two = Two::new("", "");
    let gate = two.start();
    for (at_all, host) in ["BOOKS.test", "books.test.", "Books.TEST.:80", "books.test:80"]
        .into_iter()
        .enumerate()
    {
        let answer = at(&gate, host).goes_to("/free");
        assert!(
            answer.is_the_shops() && answer.body.to_lowercase().contains("host: books.test\r\n"),
            "{host}: {answer:?}"
        );
        assert_eq!(two.asked("/free"), (0, at_all + 1), "{host}");
        let fields = "Accept: application/json\r\nSec-Fetch-Site: same-origin\r\n";
        let asks = |room: &str| {
            at(&gate, host)
                .asks(&format!("GET /.ropeline/rooms/{room}/status"), fields, "")
                .status
        };
        assert_eq!((asks("books"), asks("shop")), (200, 404), "{host}");
    }
}

#[test]
fn a_host_that_is_said_twice_or_in_another_place_is_refused() {
    let two = Two::new("", "");
    let gate = two.start();
    let end = "Connection: close\r\n\r\n";
    for (what, request) in [
        (
            "two fields",
            format!("GET /two HTTP/1.1\r\nHost: {MUSIC}\r\nHost: {BOOKS}\r\n{end}"),
        ),
        (
            "the same twice",
            format!("GET /two HTTP/1.1\r\nHost: {BOOKS}\r\nHost: {BOOKS}\r\n{end}"),
        ),
        (
            "a list",
            format!("GET /two HTTP/1.1\r\nHost: {MUSIC}, {BOOKS}\r\n{end}"),
        ),
        (
            "another target",
            format!("GET http://{BOOKS}/two HTTP/1.1\r\nHost: {MUSIC}\r\n{end}"),
        ),
        ("a user", format!("GET /two HTTP/1.1\r\nHost: books@{MUSIC}\r\n{end}")),
        (
            "a user in the target",
            format!("GET http://a@{BOOKS}/two HTTP/1.1\r\nHost: {BOOKS}\r\n{end}"),
        ),
        ("nothing", format!("GET /two HTTP/1.1\r\nHost:\r\n{end}")),
        ("no field", format!("GET /two HTTP/1.1\r\n{end}")),
        (
            "a space",
            format!("GET /two HTTP/1.1\r\nHost: {MUSIC} {BOOKS}\r\n{end}"),
        ),
    ] {
        let (status, _) = raw(&gate, &request);
        assert_eq!(status, 400, "{what}");
    }
    assert_eq!(two.asked("/two"), (0, 0));
    let whole = format!("GET http://{BOOKS}/three HTTP/1.1\r\nHost: {BOOKS}\r\n{end}");
    assert_eq!(raw(&gate, &whole), (200, String::new()));
    assert_eq!(two.asked("/three"), (0, 1));
}

/// SECURITY: many shops build links from such a field, and many proxies pass on a client's own.
#[test]
fn what_a_stranger_says_of_the_host_reaches_no_shop_and_a_trusted_proxy_must_agree() {
    let two = Two::new("", "");
    let gate = two.start();
    let fields = format!("X-Forwarded-Host: {BOOKS}\r\nForwarded: host={BOOKS}\r\nX-Host: {BOOKS}\r\n");
    let answer = at(&gate, MUSIC).asks("GET /one", &fields, "");
    assert!(answer.is_the_shops(), "{answer:?}");
    assert!(!answer.body.to_lowercase().contains(BOOKS), "{answer:?}");
    assert!(
        answer
            .body
            .to_lowercase()
            .contains(&format!("x-forwarded-host: {MUSIC}")),
        "{answer:?}"
    );
    assert_eq!(two.asked("/one"), (1, 0));
    gate.stop();
    two.site
        .edit("threads = 1", "threads = 1\ntrusted_proxies = [\"127.0.0.1/32\"]");
    let gate = two.start();
    for said in [BOOKS, "other.test"] {
        let field = format!("X-Forwarded-Host: {said}\r\n");
        assert_eq!(at(&gate, MUSIC).asks("GET /two", &field, "").status, 400, "{said}");
    }
    assert_eq!(two.asked("/two"), (0, 0));
}
