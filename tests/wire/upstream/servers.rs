//! A shop of several servers: the choice among them, servers out of rotation, and retries.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use ropeline::proxy::{HealthCheck, Place, UpstreamServer, UpstreamSettings};

use crate::gate::Gate;
use crate::shop::{OK, Shop};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const POST: &str = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok";
const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(3600);

fn server(address: SocketAddr) -> UpstreamServer {
    UpstreamServer {
        place: place(address),
        weight: 1,
        tls: false,
    }
}

pub fn place(address: SocketAddr) -> Place {
    Place::Host(address.ip().to_string(), address.port())
}

pub fn over(servers: &[SocketAddr], change: impl FnOnce(&mut UpstreamSettings)) -> Gate {
    Gate::with(servers[0], |setup| {
        setup.upstream = UpstreamSettings::at(servers.iter().map(|address| server(*address)).collect());
        change(&mut setup.upstream);
    })
}

fn status(gate: &Gate, request: &str) -> u16 {
    gate.client().ask(request).status
}

fn closed_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// A server that takes requests and closes without a word, or after these.
fn mute(words: &'static str) -> Shop {
    Shop::new(move |line| {
        line.request();
        line.send(words);
    })
}

fn is_well(gate: &Gate, at: usize) -> bool {
    gate.origins.standing()[at].healthy
}

#[test]
fn requests_go_to_all_servers() {
    let (a, b) = (Shop::answering(OK), Shop::answering(OK));
    let gate = over(&[a.address, b.address], |_| {});
    assert!((0..40).all(|_| status(&gate, GET) == 200));
    assert!(a.connections() > 0 && b.connections() > 0);
    let servers = gate.origins.standing();
    assert!(servers.iter().all(|server| server.healthy && server.failures == 0));
    gate.until("nothing is in flight", |gate| {
        gate.origins.standing().iter().all(|server| server.in_flight == 0)
    });
}

#[test]
fn drained_server_finishes_what_it_has_and_gets_nothing_new() {
    let release = Arc::new(Barrier::new(2));
    let held = Arc::clone(&release);
    let a = Shop::new(move |line| {
        while line.request().is_some() {
            held.wait();
            line.send(OK);
        }
    });
    let b = Shop::answering(OK);
    let gate = over(&[a.address, b.address], |upstream| upstream.servers[1].weight = 0);
    let mut first = gate.client();
    first.send(GET);
    a.until(|seen| seen.contains("GET"));
    gate.origins.weigh(&place(b.address), 1);
    gate.origins.weigh(&place(a.address), 0);
    assert!((0..20).all(|_| status(&gate, GET) == 200));
    assert_eq!(gate.origins.standing()[0].in_flight, 1);
    release.wait();
    assert_eq!(first.answer().status, 200);
    assert_eq!(a.seen().matches("GET").count(), 1);
}

#[test]
fn server_that_is_down_is_passed_over_and_nobody_notices() {
    let shop = Shop::answering(OK);
    let gate = over(&[closed_port(), shop.address], |_| {});
    for _ in 0..40 {
        assert_eq!((status(&gate, GET), status(&gate, POST)), (200, 200));
    }
    assert!(!is_well(&gate, 0) && is_well(&gate, 1));
    let down = &gate.origins.standing()[0];
    assert_eq!(down.failures, 3, "it was left alone then");
    assert!(down.reason.as_deref().unwrap().contains("refused"), "{down:?}");
}

#[test]
fn server_that_dies_on_requests_is_passed_over_and_nobody_notices() {
    let (dying, shop) = (mute(""), Shop::answering(OK));
    let gate = over(&[dying.address, shop.address], |_| {});
    assert!((0..40).all(|_| status(&gate, GET) == 200));
    assert_eq!(dying.connections(), 3);
    assert!(!is_well(&gate, 0));
}

#[test]
fn silent_server_is_given_up_for_another() {
    let silent = Shop::new(|line| {
        line.drain();
    });
    let shop = Shop::answering(OK);
    let gate = over(&[silent.address, shop.address], |upstream| upstream.response = SHORT);
    assert!((0..20).all(|_| status(&gate, GET) == 200));
    assert_eq!(silent.connections(), 3);
}

/// How requests fared that met the first of two servers.
fn fates(request: &str, bad: &Shop, change: impl FnOnce(&mut UpstreamSettings)) -> Vec<u16> {
    let shop = Shop::answering(OK);
    let gate = over(&[bad.address, shop.address], |upstream| {
        upstream.failures.most = 0;
        change(upstream);
    });
    let ask = |_| {
        let before = bad.connections();
        let status = status(&gate, request);
        (bad.connections() > before).then_some(status)
    };
    (0..60).filter_map(ask).collect()
}

#[test]
fn what_may_have_been_read_is_sent_again_only_if_it_is_safe() {
    let put = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok";
    let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
    for request in [POST, put, post] {
        let fates = fates(request, &mute(""), |_| {});
        assert!(
            !fates.is_empty() && fates.iter().all(|status| *status == 502),
            "{fates:?}"
        );
    }
    let begun = fates(GET, &mute("HTTP/1.1 "), |_| {});
    assert!(
        !begun.is_empty() && begun.iter().all(|status| *status == 502),
        "{begun:?}"
    );
    let none = fates(GET, &mute(""), |upstream| upstream.retries = 0);
    assert!(!none.is_empty() && none.iter().all(|status| *status == 502), "{none:?}");
}

#[test]
fn retries_are_a_share_of_requests() {
    let fates = fates(GET, &mute(""), |upstream| upstream.retry_budget = 10);
    let again = fates.iter().filter(|status| **status == 200).count();
    // Ten to begin with, and one for every ten of sixty requests.
    assert!((10..=16).contains(&again) && again < fates.len(), "{fates:?}");
}

#[test]
fn when_all_are_out_all_are_tried() {
    let recovering = || {
        Shop::new(|line| {
            if line.index < 4 {
                line.request();
                return;
            }
            while line.request().is_some() {
                line.send(OK);
            }
        })
    };
    let (a, b) = (recovering(), recovering());
    let gate = over(&[a.address, b.address], |upstream| {
        upstream.failures.out = LONG;
        upstream.failures.out_at_most = LONG;
    });
    let came_back = (0..50).find(|_| status(&gate, GET) == 200);
    assert!(came_back.is_some(), "{:?}", gate.origins.standing());
    assert!(is_well(&gate, 0) || is_well(&gate, 1));
}

#[test]
fn answers_of_500_count_where_they_are_to() {
    let broken = Shop::answering("HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno");
    let shop = Shop::answering(OK);
    let gate = over(&[broken.address, shop.address], |upstream| {
        upstream.failures.server_errors = true;
    });
    let bad = (0..40).filter(|_| status(&gate, GET) == 500).count();
    assert_eq!(bad, 3);
    assert!(!is_well(&gate, 0));
}

/// A visitor cuts the upload that a shop answers as it comes: the answer goes with it, and whether that server is well is
/// another question.
#[test]
fn an_upload_that_its_visitor_cuts_is_no_failure_of_the_server() {
    let early = || {
        Shop::new(|line| {
            line.head().unwrap();
            line.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
            line.drain();
        })
    };
    let (a, b) = (early(), early());
    let gate = over(&[a.address, b.address], |upstream| upstream.request_buffer = 0);
    for _ in 0..12 {
        let mut client = gate.client();
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
        client.head();
        client.send("no chunk\r\n");
        client.rest();
    }
    gate.until("none is under way", |gate| {
        gate.origins.standing().iter().all(|server| server.in_flight == 0)
    });
    assert!(is_well(&gate, 0) && is_well(&gate, 1));
}

#[test]
fn every_try_together_has_an_end() {
    let silent = Shop::new(|line| {
        line.drain();
    });
    let gate = over(&[silent.address], |upstream| {
        upstream.total = Some(SHORT);
        upstream.response = LONG;
    });
    assert_eq!(status(&gate, GET), 504);
}

#[test]
fn name_with_an_address_that_is_down_is_served_by_the_other() {
    let shop = Shop::answering(OK);
    let gate = Gate::with(shop.address, |setup| {
        setup.upstream = UpstreamSettings::new("localhost", shop.address.port());
    });
    assert!((0..10).all(|_| status(&gate, POST) == 200));
    let names: Vec<String> = gate
        .origins
        .standing()
        .into_iter()
        .map(|standing| standing.server)
        .collect();
    let own = format!("localhost:{} (127.0.0.1)", shop.address.port());
    assert!(names.contains(&own), "{names:?}");
}

#[test]
fn name_that_does_not_resolve_is_502() {
    let gate = Gate::with(closed_port(), |setup| {
        setup.upstream = UpstreamSettings::new("no-such-name.invalid", 80);
        setup.upstream.connect = Duration::from_secs(10);
    });
    assert_eq!(status(&gate, GET), 502);
}

#[test]
fn checks_take_a_server_out_and_bring_it_back() {
    let well = Arc::new(AtomicBool::new(false));
    let state = Arc::clone(&well);
    let a = Shop::new(move |line| {
        while let Some(request) = line.request() {
            let is_check = request.starts_with("GET /health?deep=1 HTTP/1.1\r\n");
            let refuses = is_check && !state.load(Ordering::SeqCst);
            line.send(if refuses {
                "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"
            } else {
                OK
            });
        }
    });
    let b = Shop::answering(OK);
    let gate = over(&[a.address, b.address], |upstream| {
        upstream.check = Some(HealthCheck {
            path: "/health?deep=1".parse().unwrap(),
            host: Some("shop.example".parse().unwrap()),
            interval: Duration::from_millis(5),
            timeout: Duration::from_secs(10),
            statuses: 200..=299,
            out_after: 2,
            back_after: 2,
        });
    });
    gate.until("it is out", |gate| !is_well(gate, 0));
    assert!((0..30).all(|_| status(&gate, GET) == 200));
    assert!(!a.seen().contains("GET / "), "{}", a.seen());
    assert!(a.seen().contains("host: shop.example\r\n"), "{}", a.seen());
    well.store(true, Ordering::SeqCst);
    gate.until("it is back", |gate| is_well(gate, 0));
    assert!((0..40).all(|_| status(&gate, GET) == 200));
    assert!(a.seen().contains("GET / "));
}

#[test]
fn server_whose_check_is_never_answered_keeps_no_other_from_its_own() {
    let silent = Shop::new(|line| while line.request().is_some() {});
    let well = Arc::new(AtomicBool::new(true));
    let state = Arc::clone(&well);
    let other = Shop::new(move |line| {
        while line.request().is_some() {
            line.send(if state.load(Ordering::SeqCst) {
                OK
            } else {
                "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"
            });
        }
    });
    let gate = over(&[silent.address, other.address], |upstream| {
        upstream.check = Some(HealthCheck {
            path: "/health".parse().unwrap(),
            host: None,
            interval: Duration::from_millis(5),
            timeout: LONG,
            statuses: 200..=299,
            out_after: 1,
            back_after: 1,
        });
    });
    silent.until(|seen| seen.contains("/health"));
    other.until(|seen| seen.matches("/health").count() > 3);
    well.store(false, Ordering::SeqCst);
    gate.until("it is out", |gate| !is_well(gate, 1));
}

#[test]
fn check_that_is_not_answered_in_time_or_reaches_nobody_takes_a_server_out() {
    let silent = Shop::new(|line| while line.request().is_some() {});
    let gate = over(&[silent.address, closed_port()], |upstream| {
        upstream.check = Some(HealthCheck {
            path: "/health".parse().unwrap(),
            host: None,
            interval: Duration::from_millis(5),
            timeout: SHORT,
            statuses: 200..=299,
            out_after: 2,
            back_after: 1,
        });
    });
    gate.until("both are out", |gate| !is_well(gate, 0) && !is_well(gate, 1));
    let reasons = gate.origins.standing();
    assert_eq!(reasons[0].reason.as_deref(), Some("the check took too long"));
    assert!(reasons[1].reason.as_deref().unwrap().contains("refused"), "{reasons:?}");
}

#[test]
fn server_that_was_out_is_back_after_its_trial() {
    let well = Arc::new(AtomicBool::new(false));
    let state = Arc::clone(&well);
    let a = Shop::new(move |line| {
        while line.request().is_some() && state.load(Ordering::SeqCst) {
            line.send(OK);
        }
    });
    let b = Shop::answering(OK);
    let gate = over(&[a.address, b.address], |upstream| {
        upstream.failures.out = SHORT;
        upstream.failures.out_at_most = SHORT;
    });
    gate.until("it is out", |gate| status(gate, GET) == 200 && !is_well(gate, 0));
    well.store(true, Ordering::SeqCst);
    gate.until("it is back", |gate| status(gate, GET) == 200 && is_well(gate, 0));
}

#[test]
fn requests_are_shared_by_weight_and_go_to_the_less_busy() {
    let release = Arc::new(Barrier::new(4));
    let held = Arc::clone(&release);
    let heavy = Shop::new(move |line| {
        while let Some(request) = line.request() {
            if request.starts_with("GET /held ") {
                held.wait();
            }
            line.send(OK);
        }
    });
    let light = Shop::answering(OK);
    let gate = over(&[heavy.address, light.address], |upstream| {
        upstream.servers[0].weight = 4;
    });
    let asked = |shop: &Shop| shop.seen().matches("GET / ").count();
    assert!((0..400).all(|_| status(&gate, GET) == 200));
    // 320 on average; a bound that chance does not reach.
    assert!(
        asked(&heavy) > 240 && asked(&light) > 20,
        "{} {}",
        asked(&heavy),
        asked(&light)
    );
    gate.origins.weigh(&place(light.address), 0);
    gate.origins.weigh(&place(heavy.address), 1);
    let mut clients = [(); 3].map(|()| gate.client());
    for client in &mut clients {
        client.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    heavy.until(|seen| seen.matches("GET /held ").count() == 3);
    gate.origins.weigh(&place(light.address), 1);
    let before = asked(&heavy);
    assert!((0..40).all(|_| status(&gate, GET) == 200));
    assert_eq!(asked(&heavy), before, "three are under way there");
    release.wait();
    assert!(clients.iter_mut().all(|client| client.answer().status == 200));
}

#[test]
fn host_is_passed_or_set() {
    let shop = Shop::answering(OK);
    let gate = over(&[shop.address], |upstream| {
        upstream.host = Some("shop.internal".parse().unwrap());
    });
    assert_eq!(status(&gate, "GET / HTTP/1.1\r\nHost: visitor.example\r\n\r\n"), 200);
    let seen = shop.seen().to_lowercase();
    assert!(seen.contains("\r\nhost: shop.internal\r\n"), "{seen}");
    assert!(seen.contains("\r\nx-forwarded-host: visitor.example\r\n"), "{seen}");
    assert_eq!(seen.matches("\r\nhost:").count(), 1);
}
