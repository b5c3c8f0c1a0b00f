//! A shop that is down, slow or speaks badly; and which of its connections are used again.

use std::net::{SocketAddr, TcpListener};
use std::sync::Barrier;
use std::time::Duration;

use crate::gate::Gate;
use crate::shop::{OK, Shop};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const POST: &str = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
const SHORT: Duration = Duration::from_millis(50);

fn outcome(gate: &Gate, request: &str) -> (u16, String) {
    let answer = gate.client().ask(request);
    (answer.status, answer.body)
}

/// The client's answer from a shop that answers its first request so.
fn of_answer(answer: &'static str) -> (u16, String) {
    let shop = Shop::new(move |line| {
        line.request();
        line.send(answer);
    });
    outcome(&Gate::new(&shop), GET)
}

fn closed_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[test]
fn shop_that_is_down_is_502() {
    let gate = Gate::with(closed_port(), |_| {});
    assert_eq!(outcome(&gate, GET), (502, "Upstream Unreachable".to_owned()));
}

#[test]
fn shop_that_does_not_accept_is_504() {
    // A listener whose queue is full leaves further SYNs unanswered.
    let listener = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    listener
        .bind(&"127.0.0.1:0".parse::<SocketAddr>().unwrap().into())
        .unwrap();
    listener.listen(0).unwrap();
    let address = listener.local_addr().unwrap().as_socket().unwrap();
    let mut waiting = Vec::new();
    while let Ok(stream) = std::net::TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
        waiting.push(stream);
    }
    let gate = Gate::with(address, |setup| setup.upstream.connect = SHORT);
    assert_eq!(outcome(&gate, GET), (504, "Upstream ConnectTimeout".to_owned()));
}

#[test]
fn shop_that_does_not_answer_is_504_and_hung_up_on() {
    let shop = Shop::new(|line| {
        line.drain();
    });
    let gate = Gate::with(shop.address, |setup| setup.upstream.response = SHORT);
    assert_eq!(outcome(&gate, GET), (504, "Upstream ResponseTimeout".to_owned()));
    let upload = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok";
    assert_eq!(outcome(&gate, upload), (504, "Upstream ResponseTimeout".to_owned()));
    shop.until_closed(2);
}

#[test]
fn slow_upload_does_not_count_as_a_slow_shop() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        setup.upstream.request_buffer = 0;
        setup.upstream.response = Duration::from_millis(1500);
    });
    let mut client = gate.client();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n");
    for byte in ["1", "2", "3", "4", "5", "6"] {
        std::thread::park_timeout(Duration::from_millis(400));
        client.send(byte);
    }
    assert_eq!(client.answer().status, 200);
}

#[test]
fn answer_that_pauses_too_long_is_cut() {
    let shop = Shop::new(|line| {
        line.head();
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nsome");
        line.drain();
    });
    let gate = Gate::with(shop.address, |setup| setup.upstream.body_idle = SHORT);
    let mut client = gate.client();
    client.send(GET);
    client.head();
    assert!("some".starts_with(&client.rest()));
    shop.until_closed(1);
}

#[test]
fn shop_that_closes_without_an_answer_is_502() {
    assert_eq!(of_answer(""), (502, "Upstream Broken".to_owned()));
    assert_eq!(
        of_answer("HTTP/1.1 200 OK\r\nContent-Le"),
        (502, "Upstream Broken".to_owned())
    );
}

#[test]
fn answer_that_is_no_http_is_502() {
    for answer in [
        "SSH-2.0-x\r\n\r\n",
        "HTTP/1.1 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nNo colon\r\n\r\n",
        "HTTP/2 200\r\n\r\n",
    ] {
        assert_eq!(of_answer(answer).0, 502, "{answer:?}");
    }
}

#[test]
fn answer_that_can_be_framed_in_two_ways_is_502() {
    let lines = [
        "Content-Length: 2\r\nContent-Length: 3",
        "Content-Length: 2\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Content-Length: +2",
    ];
    for line in lines {
        let answer = format!("HTTP/1.1 200 OK\r\n{line}\r\n\r\n0\r\n\r\n");
        assert_eq!(of_answer(answer.leak()).0, 502, "{line}");
    }
    assert_eq!(
        of_answer("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").0,
        502
    );
}

#[test]
fn over_long_answer_head_is_502() {
    let answer = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(100_000));
    assert_eq!(of_answer(answer.leak()).0, 502);
}

#[test]
fn interim_answers_are_swallowed() {
    let interim =
        "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n";
    let shop = Shop::new(move |line| {
        line.head();
        line.send(interim);
        line.send(OK);
    });
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    client.send(GET);
    assert!(client.head().starts_with("HTTP/1.1 200 OK\r\n"));
}

#[test]
fn body_that_ends_with_the_connection_passes() {
    let shop = Shop::new(|line| {
        line.head();
        line.send("HTTP/1.1 200 OK\r\n\r\nto the end");
    });
    let gate = Gate::new(&shop);
    let mut client = gate.client();
    assert_eq!(client.ask(GET).body, "to the end");
    assert_eq!(client.ask(GET).body, "to the end");
}

#[test]
fn connection_is_used_again() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let body = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok";
    let chunks = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    let mut client = gate.client();
    for request in [GET, POST, body, chunks, GET] {
        assert_eq!(client.ask(request).status, 200);
        assert_eq!(outcome(&gate, request).0, 200);
    }
    assert_eq!(shop.connections(), 1);
}

#[test]
fn connection_that_stood_idle_too_long_is_not_used_again() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| setup.upstream.idle = SHORT);
    assert_eq!(outcome(&gate, GET).0, 200);
    shop.until_closed(1);
    assert_eq!(outcome(&gate, GET).0, 200);
    assert_eq!(shop.connections(), 2);
}

#[test]
fn no_more_connections_are_kept_than_allowed() {
    let both = Barrier::new(2);
    let shop = Shop::new(move |line| {
        line.request();
        both.wait();
        line.send(OK);
        line.request();
    });
    let gate = Gate::with(shop.address, |setup| {
        setup.upstream.idle = Duration::from_secs(3600);
        setup.upstream.idle_connections = 1;
    });
    let (mut first, mut second) = (gate.client(), gate.client());
    first.send(GET);
    second.send(GET);
    assert_eq!((first.answer().status, second.answer().status), (200, 200));
    assert_eq!(shop.connections(), 2);
    shop.until_closed(1);
}

#[test]
fn connection_is_not_used_again_after_an_early_answer() {
    let shop = Shop::new(|line| {
        line.head();
        line.send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
        line.drain();
    });
    let gate = Gate::with(shop.address, |setup| {
        setup.upstream.idle = Duration::from_secs(3600);
        setup.upstream.request_buffer = 0;
    });
    let mut client = gate.client();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n123");
    let answer = client.answer();
    assert_eq!(
        (answer.status, answer.header("connection").as_deref()),
        (413, Some("close"))
    );
    shop.until_closed(1);
    assert_eq!(outcome(&gate, GET).0, 413);
    assert_eq!(shop.connections(), 2);
}

#[test]
fn connection_of_an_http_1_0_shop_is_not_used_again() {
    let shop = Shop::new(|line| {
        while line.request().is_some() {
            line.send("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi");
        }
    });
    let gate = Gate::streaming(&shop);
    assert_eq!(outcome(&gate, GET).1, "hi");
    let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n";
    assert_eq!(outcome(&gate, chunked).1, "hi");
    assert_eq!(shop.connections(), 2);
    assert!(shop.seen().ends_with("1\r\na\r\n0\r\n\r\n"), "{}", shop.seen());
}

#[test]
fn leftover_answer_is_nobody_s() {
    let shop = Shop::new(|line| {
        while line.request().is_some() {
            line.send(&format!("{OK}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstale"));
        }
    });
    let gate = Gate::new(&shop);
    for _ in 0..5 {
        assert_eq!(outcome(&gate, GET).1, "hi");
    }
}

/// A shop whose kept connections die at their second request.
fn dying(after: &'static str) -> Shop {
    Shop::new(move |line| {
        line.request();
        line.send(OK);
        if line.index == 0 {
            line.request();
            line.send(after);
            return;
        }
        while line.request().is_some() {
            line.send(OK);
        }
    })
}

#[test]
fn idempotent_request_is_sent_again_when_a_kept_connection_died() {
    for method in ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"] {
        let shop = dying("");
        let gate = Gate::new(&shop);
        assert_eq!(outcome(&gate, GET).0, 200);
        let mut client = gate.client();
        client.send(&format!("{method} / HTTP/1.1\r\nHost: a\r\n\r\n"));
        assert!(client.head().starts_with("HTTP/1.1 200"), "{method}");
        assert_eq!(shop.connections(), 2, "{method}");
        assert_eq!(
            gate.origins.stats().retries.load(std::sync::atomic::Ordering::Relaxed),
            1
        );
    }
}

#[test]
fn other_requests_are_never_sent_again() {
    let with_body = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na";
    // A shop that obeys such a field or parameter takes them for POST.
    let named = "PUT / HTTP/1.1\r\nHost: a\r\nX_HTTP_Method: POST\r\n\r\n";
    let in_query = "GET /?_Method=post HTTP/1.1\r\nHost: a\r\n\r\n";
    for request in [POST, with_body, named, in_query] {
        let shop = dying("");
        let gate = Gate::new(&shop);
        assert_eq!(outcome(&gate, GET).0, 200);
        assert_eq!(outcome(&gate, request), (502, "Upstream Broken".to_owned()));
        assert_eq!(shop.connections(), 1);
    }
}

#[test]
fn request_is_not_sent_again_once_an_answer_has_begun() {
    let shop = dying("HTTP/1.1 ");
    let gate = Gate::new(&shop);
    assert_eq!(outcome(&gate, GET).0, 200);
    assert_eq!(outcome(&gate, GET).0, 502);
    assert_eq!(shop.connections(), 1);
}

#[test]
fn request_is_sent_again_once_at_most() {
    let shop = Shop::new(|line| {
        line.request();
        if line.index == 0 {
            line.send(OK);
            line.request();
        }
    });
    let gate = Gate::new(&shop);
    assert_eq!(outcome(&gate, GET).0, 200);
    assert_eq!(outcome(&gate, GET).0, 502);
    assert_eq!(shop.connections(), 2);
}
