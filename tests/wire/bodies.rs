//! Bodies and trailers both ways, `Expect`, and backpressure.

use std::io::{ErrorKind, Read, Write};
use std::sync::mpsc;
use std::time::Duration;

use crate::client::header;
use crate::gate::Gate;
use crate::shop::{OK, Shop};

const CHUNKED: &str = "Host: a\r\nTransfer-Encoding: chunked\r\n";

#[test]
fn body_of_known_length_passes() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    assert_eq!(
        gate.client()
            .ask("POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
            .status,
        200
    );
    let seen = shop.seen();
    assert_eq!(header(&seen, "content-length").unwrap(), "5");
    assert!(seen.ends_with("\r\n\r\nhello"), "{seen}");
}

#[test]
fn empty_post_keeps_its_length() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    assert_eq!(
        gate.client()
            .ask("POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
            .status,
        200
    );
    assert_eq!(header(&shop.seen(), "content-length").unwrap(), "0");
}

#[test]
fn chunks_are_made_anew() {
    for method in ["POST", "GET", "DELETE"] {
        let shop = Shop::answering(OK);
        let gate = Gate::streaming(&shop);
        let request = format!("{method} /up HTTP/1.1\r\n{CHUNKED}\r\n03\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
        assert_eq!(gate.client().ask(&request).status, 200, "{method}");
        let seen = shop.seen();
        assert_eq!(header(&seen, "transfer-encoding").unwrap(), "chunked");
        // A port in the head may end so too.
        let (_, body) = seen.split_once("\r\n\r\n").unwrap();
        assert!(
            !body.contains("03\r\n") && body.contains("abc") && body.ends_with("0\r\n\r\n"),
            "{seen}"
        );
    }
}

#[test]
fn request_trailers_pass_but_none_that_speaks_for_the_gate() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let request = format!(
        "POST / HTTP/1.1\r\n{CHUNKED}Trailer: X-Sum, X-Forwarded-For, Ropeline-Session, Cookie, Range, Origin, \
         If-None-Match, Sec-Fetch-Site, Cache-Control\r\n\r\n1\r\na\r\n0\r\n\
         X-Sum: 7\r\nX-Forwarded-For: 6.6.6.6\r\nRopeline-Session: 6\r\nCookie: c=6\r\nRange: bytes=0-1\r\nOrigin: null\r\n\
         If-None-Match: *\r\nSec-Fetch-Site: none\r\nCache-Control: no-store\r\n\r\n"
    );
    assert_eq!(gate.client().ask(&request).status, 200);
    let seen = shop.seen();
    assert!(seen.contains("0\r\nx-sum: 7\r\n\r\n"), "{seen}");
    assert!(
        !seen.contains("6.6.6.6") && !seen.contains("session: 6") && !seen.contains("c=6"),
        "{seen}"
    );
}

const WITH_TRAILER: &str =
    "HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n";

#[test]
fn answer_trailers_pass_to_who_takes_them() {
    let shop = Shop::answering(WITH_TRAILER);
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    let answer = client.ask("GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: TE\r\n\r\n");
    assert_eq!((answer.body.as_str(), answer.trailers.as_str()), ("hi", "x-sum: 7\r\n"));
    let seen = shop.seen();
    assert_eq!(header(&seen, "te").unwrap(), "trailers");
    assert_eq!(header(&seen, "connection").unwrap(), "te");
    assert_eq!(client.ask("GET /own HTTP/1.1\r\nHost: a\r\n\r\n").body, "own");
}

#[test]
fn answer_trailers_stay_here_otherwise() {
    let shop = Shop::answering(WITH_TRAILER);
    let gate = Gate::new(&shop);
    let answer = gate.client().ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!((answer.body.as_str(), answer.trailers.as_str()), ("hi", ""));
    assert_eq!(header(&shop.seen(), "te"), None);
}

#[test]
fn head_has_the_length_and_no_body() {
    let shop = Shop::answering("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n");
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    for _ in 0..2 {
        client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(
            header(&client.head().to_ascii_lowercase(), "content-length").unwrap(),
            "1234"
        );
    }
    client.finish();
    assert_eq!(client.rest(), "");
    assert_eq!(shop.connections(), 1);
}

#[test]
fn answers_without_body_by_status_pass() {
    for (status, line) in [(204, "204 No Content"), (304, "304 Not Modified\r\nETag: \"x\"")] {
        let shop = Shop::new(move |shop| {
            while shop.request().is_some() {
                shop.send(&format!("HTTP/1.1 {line}\r\n\r\n"));
            }
        });
        let gate = Gate::new(&shop);
        let mut client = gate.client();
        for _ in 0..2 {
            assert_eq!(client.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status, status);
        }
        assert_eq!(shop.connections(), 1);
    }
}

#[test]
fn continue_comes_from_the_shop() {
    let (go, wait) = mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let shop = Shop::new(move |line| {
        let head = line.head().unwrap();
        assert_eq!(header(&head.to_ascii_lowercase(), "expect").unwrap(), "100-continue");
        wait.lock().unwrap().recv().unwrap();
        line.send("HTTP/1.1 100 Continue\r\n\r\n");
        assert_eq!(line.take(2).unwrap(), "ok");
        line.send(OK);
    });
    let gate = Gate::with(shop.address, |setup| {
        setup.upstream.request_buffer = 0;
        setup.upstream.continue_wait = Duration::from_secs(3600);
    });
    let mut client = gate.client();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    shop.until(|seen| seen.contains("expect"));
    client.stream.set_nonblocking(true).unwrap();
    assert_eq!(
        client.stream.read(&mut [0; 1]).unwrap_err().kind(),
        ErrorKind::WouldBlock
    );
    client.stream.set_nonblocking(false).unwrap();
    go.send(()).unwrap();
    assert_eq!(client.head(), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("ok");
    assert_eq!(client.answer().body, "hi");
}

#[test]
fn continue_is_said_once_when_the_shop_keeps_silent() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        setup.upstream.request_buffer = 0;
        setup.upstream.continue_wait = Duration::from_millis(1);
    });
    let mut client = gate.client();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(client.head(), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("ok");
    assert_eq!(client.answer().status, 200);
}

#[test]
fn body_announced_and_refused_is_never_asked_for() {
    let shop = Shop::new(|line| {
        line.head().unwrap();
        line.send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno");
        assert!(line.take(1).is_none(), "the body came all the same");
    });
    let gate = Gate::with(shop.address, |setup| {
        setup.upstream.request_buffer = 0;
        setup.upstream.continue_wait = Duration::from_secs(3600);
    });
    for path in ["/", "/own"] {
        let mut client = gate.client();
        client.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        ));
        let answer = client.answer();
        assert_ne!(answer.status, 100);
        assert_eq!(answer.header("connection").unwrap(), "close");
        assert_eq!(client.rest(), "");
    }
    shop.until_closed(1);
}

#[test]
fn unknown_expectation_is_417() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    for expect in ["200-ok", "100-continue, x", "100-continue\r\nExpect: 100-continue"] {
        let request = format!("POST / HTTP/1.1\r\nHost: a\r\nExpect: {expect}\r\nContent-Length: 2\r\n\r\n");
        assert_eq!(gate.client().ask(&request).status, 417, "{expect}");
    }
    assert_eq!(shop.connections(), 0);
}

#[test]
fn expectation_without_a_body_is_nobody_s_business() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    assert_eq!(
        gate.client()
            .ask("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n")
            .status,
        200
    );
    assert_eq!(header(&shop.seen(), "expect"), None);
}

#[test]
fn http_1_0_client_s_expectation_is_ignored() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        setup.upstream.continue_wait = Duration::from_secs(3600);
    });
    let request = "POST / HTTP/1.0\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok";
    assert_eq!(gate.client().ask(request).status, 200);
    assert_eq!(header(&shop.seen(), "expect"), None);
}

#[test]
fn both_ways_stream() {
    let shop = Shop::new(|line| {
        line.head().unwrap();
        assert_eq!(line.take(6).unwrap(), "1\r\na\r\n");
        line.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nA\r\n");
        assert_eq!(line.take(6).unwrap(), "1\r\nb\r\n");
        line.send("1\r\nB\r\n0\r\n\r\n");
        line.drain();
    });
    let gate = Gate::streaming(&shop);
    let mut client = gate.client();
    client.send(&format!("POST / HTTP/1.1\r\n{CHUNKED}\r\n1\r\na\r\n"));
    client.head();
    assert_eq!(client.take(6), "1\r\nA\r\n");
    client.send("1\r\nb\r\n");
    assert_eq!(client.take(11), "1\r\nB\r\n0\r\n\r\n");
}

/// More than all buffers of two kernels' sockets and ours together.
const MUCH: usize = 64 * 1024 * 1024;

/// Writes until nothing is taken any more; how much was.
fn pour(stream: &mut std::net::TcpStream) -> usize {
    stream.set_write_timeout(Some(Duration::from_millis(700))).unwrap();
    let (block, mut written) = (vec![b'x'; 64 * 1024], 0);
    while written < MUCH {
        match stream.write(&block) {
            Ok(count) => written += count,
            Err(_) => break,
        }
    }
    written
}

#[test]
fn upload_waits_for_a_shop_that_does_not_read() {
    let (done, wait) = mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let shop = Shop::new(move |line| {
        line.head().unwrap();
        let _ = wait.lock().unwrap().recv();
    });
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send(&format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {MUCH}\r\n\r\n"));
    assert!(pour(&mut client.stream) < MUCH);
    drop(done);
}

#[test]
fn download_waits_for_a_client_that_does_not_read() {
    let (tell, told) = mpsc::channel();
    let shop = Shop::new(move |line| {
        line.head().unwrap();
        line.send(&format!("HTTP/1.1 200 OK\r\nContent-Length: {MUCH}\r\n\r\n"));
        tell.send(pour(&mut line.stream)).unwrap();
    });
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(told.recv().unwrap() < MUCH);
}
