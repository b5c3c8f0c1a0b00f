//! Requests that are refused before they reach the service, and the new framing of those that pass.

use crate::client::header;
use crate::gate::Gate;
use crate::shop::{OK, Shop};

/// Asserts that a request is refused so, that the connection ends, and that nothing reached the shop.
#[track_caller]
fn refused(request: &str, status: u16) {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send(request);
    let answer = client.answer();
    assert_eq!(answer.status, status, "{request:?}");
    assert_eq!(client.rest(), "", "{request:?}");
    assert_eq!(shop.connections(), 0, "{request:?}");
}

#[test]
fn absolute_target_becomes_a_path() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    for (target, host, forwarded) in [
        ("http://real.test:8080/p?q", "real.test:8080", "/p?q"),
        ("http://real.test", "real.test", "/"),
        ("HTTP://Real.test:80/p", "real.test", "/p"),
        ("https://real.test/p", "real.test:443", "/p"),
        ("http://real.test?q", "real.test", "/?q"),
    ] {
        let answer = client.ask(&format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!(answer.status, 200, "{target}");
        let seen = shop.seen();
        let last = &seen[seen.rfind("GET ").unwrap()..];
        assert!(last.starts_with(&format!("GET {forwarded} HTTP/1.1\r\n")), "{last}");
        assert_eq!(header(last, "host").unwrap(), host.trim_end_matches(":443"));
    }
}

#[test]
fn absolute_target_against_host_is_refused() {
    for (target, host) in [
        ("http://real.test/", "other.test"),
        ("http://real.test:81/", "real.test"),
        ("http://real.test:443/", "real.test"),
        ("https://real.test:80/", "real.test"),
        ("http://real.test/", "real.test."),
    ] {
        refused(&format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n"), 400);
    }
}

#[test]
fn connect_is_refused() {
    refused("CONNECT shop.test:443 HTTP/1.1\r\nHost: shop.test:443\r\n\r\n", 405);
}

#[test]
fn odd_targets_are_refused() {
    for target in [
        "*",
        "shop.test:80",
        "ftp://shop.test/",
        "http://user@shop.test/",
        "gopher:x",
        "a/b",
        "?a",
        "http:///a",
        "/a#b",
        "/a?b#c",
        "http://a/#b",
        "/a<b",
        "/a`b",
        "/a?b>c",
    ] {
        refused(&format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
    }
}

#[test]
fn transfer_encoding_other_than_one_chunked_is_refused() {
    let lines = [
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: identity, chunked",
        "Transfer-Encoding: , chunked",
    ];
    for line in lines {
        refused(&format!("POST / HTTP/1.1\r\nHost: a\r\n{line}\r\n\r\n0\r\n\r\n"), 400);
    }
}

#[test]
fn transfer_encoding_without_a_final_chunked_is_refused() {
    for coding in ["identity", "gzip", "xchunked", "chunked, gzip", "\"chunked\"", ""] {
        refused(
            &format!("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: {coding}\r\n\r\n0\r\n\r\n"),
            400,
        );
    }
}

#[test]
fn http_1_0_with_transfer_encoding_is_refused() {
    refused(
        "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
    );
}

#[test]
fn missing_repeated_or_malformed_host_is_refused() {
    refused("GET / HTTP/1.1\r\n\r\n", 400);
    refused("GET / HTTP/1.0\r\n\r\n", 400);
    refused("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400);
    for host in [
        "", "a b", "a/b", "a@b", "a,b", "a:b", "a:", ":80", "a:123456", "a:0", "a:080", "a:65536", "[::1", "[x]",
        "a\\b", "a?b", "a#b", "ü",
    ] {
        refused(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), 400);
    }
}

/// A server that compares hosts as they are spelled knows that of browsers.
#[test]
fn a_host_is_forwarded_as_browsers_spell_it() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    for (host, spelled) in [
        ("shop.test", "shop.test"),
        ("Shop.TEST", "shop.test"),
        ("shop.test.", "shop.test"),
        ("shop.test.:80", "shop.test"),
        ("shop.test:443", "shop.test"),
        ("SHOP.test.:8443", "shop.test:8443"),
        ("[2001:DB8::1]:80", "[2001:db8::1]"),
        ("[::1]:81", "[::1]:81"),
    ] {
        client.ask(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        let seen = shop.seen();
        let last = &seen[seen.rfind("GET ").unwrap()..];
        assert_eq!(header(last, "host").unwrap(), spelled);
        assert_eq!(header(last, "x-forwarded-host").unwrap(), spelled);
    }
}

#[test]
fn usual_hosts_pass() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    for host in [
        "a",
        "shop_1.test",
        "a.test:8080",
        "127.0.0.1:80",
        "[::1]",
        "[2001:db8::1]:443",
        "xn--bcher-kva.test.",
    ] {
        assert_eq!(
            client.ask(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")).status,
            200,
            "{host}"
        );
    }
}

#[test]
fn bad_lengths_are_refused() {
    for length in ["-1", "+2", "2, 3", "0x2", "2 2", "18446744073709551616", ""] {
        refused(
            &format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\nok"),
            400,
        );
    }
    refused(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
        400,
    );
    refused(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
        400,
    );
}

#[test]
fn unparsable_heads_are_refused() {
    let lines = [
        "Folded: a\r\n b",
        "Space : a",
        "No colon",
        "Nul: a\0b",
        "Bare\rcr: a",
        "(x): y",
        ": empty",
    ];
    for line in lines {
        refused(&format!("GET / HTTP/1.1\r\nHost: a\r\n{line}\r\n\r\n"), 400);
    }
    for start in [
        "GET /",
        "GET  / HTTP/1.1",
        "GET / HTTP/1.1 x",
        "G@T / HTTP/1.1",
        "GET /a b HTTP/1.1",
    ] {
        refused(&format!("{start}\r\nHost: a\r\n\r\n"), 400);
    }
    refused("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505);
    for text in ["GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\r\nHost: a\n\r\n"] {
        refused(text, 400);
    }
}

#[test]
fn length_beside_chunked_is_refused() {
    for lines in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 4",
    ] {
        refused(
            &format!("POST / HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"),
            400,
        );
    }
}

#[test]
fn a_request_before_a_refused_one_has_its_answer() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /second HTTP/1.1\r\nHost : a\r\n\r\n");
    assert_eq!((client.answer().status, client.answer().status), (200, 400));
    assert_eq!(client.rest(), "");
    let seen = shop.seen();
    assert!(seen.contains("/first") && !seen.contains("/second"), "{seen}");
}

#[test]
fn what_the_proxy_refuses_carries_the_gates_word_for_it() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    for (request, status) in [
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET ftp://shop.test/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET a/b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET /a<b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            400,
        ),
        ("GET /\r\n\r\n", 400),
        ("GET / HTTP/3.0\r\n\r\n", 505),
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", 400),
        ("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", 405),
        ("GET / HTTP/1.1\r\nHost: a\r\nExpect: gold\r\n\r\n", 417),
    ] {
        let answer = gate.client().ask(request);
        assert_eq!(answer.status, status, "{request:?}");
        assert_eq!(
            answer.header("ropeline-status").as_deref(),
            Some("malformed"),
            "{request:?}"
        );
    }
}

#[test]
fn bytes_behind_a_refused_request_are_never_read_as_a_request() {
    let body = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
    refused(
        &format!("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n{body}"),
        400,
    );
    refused(&format!("GET / HTTP/1.1\r\n\r\n{body}"), 400);
}

#[test]
fn over_long_heads_are_431_and_readable() {
    let long = "a".repeat(40 * 1024);
    refused(&format!("GET / HTTP/1.1\r\nHost: a\r\nX: {long}\r\n\r\n"), 431);
    refused(&format!("GET /{long} HTTP/1.1\r\nHost: a\r\n\r\n"), 431);
    refused(
        &format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(101)),
        431,
    );
}

#[test]
fn heads_within_the_limit_pass() {
    let shop = Shop::answering(OK);
    let long = "a".repeat(30 * 1024);
    assert_eq!(
        Gate::new(&shop)
            .client()
            .ask(&format!("GET / HTTP/1.1\r\nHost: a\r\nCookie: {long}\r\n\r\n"))
            .status,
        200
    );
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let shop = Shop::new(|line| {
        while let Some(request) = line.request() {
            let path = request.split(' ').nth(1).unwrap().to_owned();
            line.send(&format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{path}",
                path.len()
            ));
        }
    });
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send(
        &["/1", "/own", "/3"]
            .map(|path| format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"))
            .concat(),
    );
    let bodies = [client.answer().body, client.answer().body, client.answer().body];
    assert_eq!(bodies, ["/1", "own", "/3"]);
}

#[test]
fn target_is_forwarded_byte_for_byte() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    for target in [
        "//x/../y",
        "/%2e%2E/%2F",
        "/a;b=c?d=%zz&e",
        "/?",
        "/a|b{c}\"",
        "/a[b]^c\\d?e=[f]{g}|`h",
        "/공연?날=1",
        "/~!$&'()*+,;=:@",
    ] {
        assert_eq!(
            client.ask(&format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n")).status,
            200,
            "{target}"
        );
        assert!(shop.seen().contains(&format!("GET {target} HTTP/1.1\r\n")), "{target}");
    }
}

#[test]
fn http_1_0_client_gets_no_chunks() {
    let shop = Shop::answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n");
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
    let head = client.head();
    assert!(!head.to_ascii_lowercase().contains("chunked"), "{head}");
    assert_eq!(client.rest(), "hi");
}
