//! The time, cost and fault of one request's tries: the deadline over all of them, the retries' budget, cut answers.

use std::net::SocketAddr;
use std::time::Duration;

use ropeline::proxy::{Place, UpstreamServer, UpstreamSettings};

use crate::gate::Gate;
use crate::shop::{OK, Shop};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const SHORT: Duration = Duration::from_millis(100);
const LONG: Duration = Duration::from_secs(3600);

fn over(servers: &[SocketAddr], change: impl FnOnce(&mut UpstreamSettings)) -> Gate {
    let server = |address: &SocketAddr| UpstreamServer {
        place: Place::Host(address.ip().to_string(), address.port()),
        weight: 1,
        tls: false,
    };
    Gate::with(servers[0], |setup| {
        setup.upstream = UpstreamSettings::at(servers.iter().map(server).collect());
        change(&mut setup.upstream);
    })
}

fn status(gate: &Gate) -> u16 {
    gate.client().ask(GET).status
}

/// A server that reads all bytes and sends none.
fn silent() -> Shop {
    Shop::new(|line| while line.request().is_some() {})
}

fn failures(gate: &Gate) -> Vec<u64> {
    gate.origins.standing().iter().map(|server| server.failures).collect()
}

fn under_deadline(upstream: &mut UpstreamSettings) {
    upstream.total = Some(SHORT);
    upstream.response = LONG;
    upstream.connect = LONG;
}

#[test]
fn nothing_is_tried_after_the_deadline_and_nobody_else_is_blamed() {
    let shops = [silent(), silent(), silent()];
    let gate = over(&shops.each_ref().map(|shop| shop.address), under_deadline);
    let answer = gate.client().ask(GET);
    assert_eq!((answer.status, answer.body.as_str()), (504, "Upstream TotalTimeout"));
    let failures = failures(&gate);
    assert!(failures.iter().sum::<u64>() <= 1, "{failures:?}");
    assert!(shops.iter().map(Shop::connections).sum::<usize>() <= 1);
}

#[test]
fn server_that_had_the_request_for_most_of_the_deadline_is_blamed() {
    let (stuck, shop) = (silent(), Shop::answering(OK));
    let gate = over(&[stuck.address, shop.address], under_deadline);
    let is_out = |_| {
        status(&gate);
        !gate.origins.standing()[0].healthy
    };
    assert!((0..100).any(is_out));
    assert_eq!(gate.origins.standing()[1].failures, 0);
    assert!((0..20).all(|_| status(&gate) == 200));
}

#[test]
fn slow_upload_that_meets_the_deadline_is_not_the_servers_fault() {
    let shop = silent();
    let gate = over(&[shop.address], |upstream| {
        under_deadline(upstream);
        upstream.request_buffer = 0;
    });
    for _ in 0..3 {
        let mut client = gate.client();
        client.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nslow");
        assert_eq!(client.answer().status, 504);
    }
    let server = &gate.origins.standing()[0];
    assert!(server.healthy && server.failures == 0, "{server:?}");
}

/// Answers the first request of each connection, and dies of the second without a word.
fn forgetful() -> Shop {
    Shop::new(|line| {
        line.request();
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nforgetful");
        line.request();
    })
}

/// Requests that the first server had and the second answered, and those that the first had twice.
fn moved(gate: &Gate, forgetful: &Shop, requests: usize) -> (usize, usize) {
    let (mut moved, mut again) = (0, 0);
    for at in 0..requests {
        let line = format!("GET /{at} HTTP/1.1\r\n");
        let answer = gate.client().ask(&format!("{line}Host: a\r\n\r\n"));
        assert_eq!(answer.status, 200);
        let had = forgetful.seen().matches(&line).count();
        moved += usize::from(had > 0 && answer.body != "forgetful");
        again += usize::from(had > 1);
    }
    (moved, again)
}

#[test]
fn what_a_dead_connection_took_goes_elsewhere_within_the_budget_and_else_to_its_server() {
    let (shop, other) = (forgetful(), Shop::answering(OK));
    let gate = over(&[shop.address, other.address], |upstream| {
        upstream.retry_budget = 0;
        upstream.idle = LONG;
    });
    let (elsewhere, again) = moved(&gate, &shop, 40);
    assert!(elsewhere == 0 && again > 0, "{elsewhere} {again}");

    let (shop, other) = (forgetful(), Shop::answering(OK));
    let gate = over(&[shop.address, other.address], |upstream| {
        upstream.retry_budget = 1;
        upstream.idle = LONG;
    });
    // Ten to begin with, and one for each hundred.
    let (elsewhere, again) = moved(&gate, &shop, 200);
    assert!((1..=12).contains(&elsewhere) && again > 0, "{elsewhere} {again}");
}

#[test]
fn request_that_every_server_failed_ends_with_what_they_failed_of() {
    let shops = [(); 5].map(|()| silent());
    let gate = over(&shops.each_ref().map(|shop| shop.address), |upstream| {
        upstream.response = SHORT;
        upstream.retries = 5;
    });
    let answer = gate.client().ask(GET);
    assert_eq!((answer.status, answer.body.as_str()), (504, "Upstream ResponseTimeout"));
    assert_eq!(shops.iter().map(Shop::connections).sum::<usize>(), 3);
}

#[test]
fn server_that_cuts_its_answers_is_passed_over() {
    let cutting = Shop::new(|line| {
        line.request();
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
    });
    let shop = Shop::answering(OK);
    let gate = over(&[cutting.address, shop.address], |upstream| {
        upstream.failures.out = LONG;
        upstream.failures.out_at_most = LONG;
    });
    let fate = |_| {
        let mut client = gate.client();
        client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        client.rest().ends_with("\r\n\r\nhello")
    };
    assert_eq!((0..40).map(fate).filter(|cut| *cut).count(), 3);
    assert_eq!(cutting.connections(), 3);
    let server = &gate.origins.standing()[0];
    assert!(!server.healthy && server.failures == 3, "{server:?}");
}

#[test]
fn what_has_no_end_counts_as_a_success_when_it_begins() {
    let stream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\ndata: a\n\n";
    let socket = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";
    for begun in [stream, socket] {
        let shop = Shop::new(move |line| {
            line.request();
            if line.index == 2 {
                line.send(begun);
                line.drain();
            }
        });
        let gate = over(&[shop.address], |_| {});
        let mut held = None;
        for index in 0..6 {
            assert!(gate.origins.standing()[0].healthy, "{begun} {index}");
            let mut client = gate.client();
            client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
            let head = client.head();
            assert_eq!(head.starts_with("HTTP/1.1 502 "), index != 2, "{head}");
            if index == 2 {
                held = Some(client);
            }
        }
        assert!(!gate.origins.standing()[0].healthy, "three more in a row");
        drop(held);
    }
}
