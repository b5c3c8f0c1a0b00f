//! Other servers in place of those in force: the state that a refused reload must not touch, and the state that an accepted
//! one passes on. Two gates represent the one before and the one after, which a process has on each core.

use std::net::SocketAddr;
use std::slice::from_ref;
use std::time::Duration;

use ropeline::proxy::{ConnectionBound, HealthCheck, UpstreamHttp2, UpstreamServer, UpstreamServers, UpstreamSettings};

use crate::client::Client;
use crate::gate::Gate;
use crate::shop::{OK, Shop};
use crate::upstream::http2::frames::Framed;
use crate::upstream::servers::{over, place};
use crate::upstream::waiting::held;

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const SOON: Duration = Duration::from_millis(5);
const LONG: Duration = Duration::from_secs(3600);

fn settings(servers: &[SocketAddr]) -> UpstreamSettings {
    let server = |address: &SocketAddr| UpstreamServer {
        place: place(*address),
        weight: 1,
        tls: false,
    };
    let mut settings = UpstreamSettings::at(servers.iter().map(server).collect());
    settings.idle = LONG;
    settings
}

/// Asks often, and believes at once.
fn asking(path: &'static str) -> HealthCheck {
    HealthCheck {
        path: path.parse().unwrap(),
        host: None,
        interval: SOON,
        timeout: Duration::from_secs(20),
        statuses: 200..=299,
        out_after: 1,
        back_after: 1,
    }
}

/// A gate after `before`, as a reload puts it in force.
fn after(before: &Gate, settings: UpstreamSettings) -> Gate {
    let origins = UpstreamServers::prepare(settings.clone()).unwrap();
    UpstreamServers::replace(from_ref(&before.origins), from_ref(&origins));
    Gate::with(before.address, |setup| {
        setup.upstream = settings;
        setup.origins = Some(origins);
    })
}

/// A server that fails one of its two checks.
fn picky() -> Shop {
    Shop::new(|line| {
        while let Some(request) = line.request() {
            let refuses = request.starts_with("GET /wrong ");
            line.send(if refuses {
                "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
            } else {
                OK
            });
        }
    })
}

fn asks(gate: &Gate, path: &str) -> Client {
    let mut client = gate.client();
    client.send(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
    client
}

fn count(shop: &Shop, what: &str) -> usize {
    shop.seen().matches(what).count()
}

#[test]
fn servers_that_never_come_in_force_are_asked_nothing_and_nothing_is_said_of_them() {
    let (shop, control) = (picky(), picky());
    let before = over(&[shop.address], |_| {});
    let refused = UpstreamSettings {
        check: Some(asking("/wrong")),
        ..settings(&[shop.address])
    };
    let refused = UpstreamServers::prepare(refused).unwrap();
    // The server in force from the start is checked meanwhile, often.
    let other = over(&[control.address], |upstream| upstream.check = Some(asking("/wrong")));
    control.until(|seen| seen.matches("GET /wrong ").count() > 20);
    drop((other, refused));
    let server = &before.origins.standing()[0];
    assert!(server.healthy && server.failures == 0, "{server:?}");
    assert!(!shop.seen().contains("/wrong"));
}

#[test]
fn those_in_force_are_asked_by_their_own_checks_alone() {
    let shop = picky();
    let before = over(&[shop.address], |upstream| upstream.check = Some(asking("/wrong")));
    before.until("it is out", |gate| !gate.origins.standing()[0].healthy);
    let after = after(
        &before,
        UpstreamSettings {
            check: Some(asking("/right")),
            ..settings(&[shop.address])
        },
    );
    let wrong = count(&shop, "GET /wrong ");
    after.until("it is back", |gate| gate.origins.standing()[0].healthy);
    shop.until(|seen| seen.matches("GET /right ").count() > 20);
    assert!(count(&shop, "GET /wrong ") <= wrong + 1, "one may have been under way");
    assert!(after.origins.standing()[0].healthy);
}

#[test]
fn idle_connections_to_a_server_that_is_gone_are_closed_at_once() {
    for bound in [None, Some(1)] {
        let bound = bound.map(|connections| ConnectionBound {
            connections,
            waiting: 9,
            wait: LONG,
        });
        let (old, new) = (Shop::answering(OK), Shop::answering(OK));
        let before = over(&[old.address], |upstream| {
            upstream.bound = bound;
            upstream.idle = LONG;
        });
        assert_eq!(before.client().ask(GET).status, 200);
        let after = after(
            &before,
            UpstreamSettings {
                bound,
                ..settings(&[new.address])
            },
        );
        old.until_closed(1);
        assert_eq!(after.client().ask(GET).status, 200);
        // A request that was under way closes its own.
        assert_eq!(before.client().ask(GET).status, 200);
        old.until_closed(2);
    }
}

#[test]
fn shared_connections_to_a_server_that_is_gone_are_closed_at_once() {
    let old = Framed::new(crate::upstream::http2::frames::Line::serve);
    let new = Shop::answering(OK);
    let before = over(&[old.address], |upstream| {
        upstream.http2 = UpstreamHttp2::PriorKnowledge;
        upstream.idle = LONG;
    });
    assert_eq!(before.client().ask(GET).status, 200);
    let _after = after(&before, settings(&[new.address]));
    old.until_closed(1);
}

#[test]
fn requests_that_wait_for_a_server_that_is_gone_have_it_in_their_turn() {
    let ((shop, release), other) = (held(), Shop::answering(OK));
    let before = over(&[shop.address], |upstream| {
        upstream.bound = Some(ConnectionBound {
            connections: 1,
            waiting: 9,
            wait: LONG,
        });
    });
    let mut clients = vec![asks(&before, "/0")];
    shop.until(|seen| seen.contains("GET /0 "));
    for at in 1..4 {
        clients.push(asks(&before, &format!("/{at}")));
        before.until("it waits", |gate| gate.origins.standing()[0].waiting == at);
    }
    let _after = after(&before, settings(&[other.address]));
    for client in &mut clients {
        release.send(()).unwrap();
        assert_eq!(client.answer().status, 200);
    }
    assert_eq!((count(&shop, "GET "), count(&other, "GET ")), (4, 0));
}

#[test]
fn requests_under_way_count_under_another_bound_too() {
    let bound = |connections| {
        Some(ConnectionBound {
            connections,
            waiting: 9,
            wait: LONG,
        })
    };
    let (shop, release) = held();
    let before = over(&[shop.address], |upstream| upstream.bound = bound(2));
    let mut first = [asks(&before, "/first"), asks(&before, "/first")];
    shop.until(|seen| seen.matches("GET /first ").count() == 2);
    let after = after(
        &before,
        UpstreamSettings {
            bound: bound(1),
            ..settings(&[shop.address])
        },
    );
    let mut waiting = asks(&after, "/second");
    after.until("it waits", |gate| gate.origins.standing()[0].waiting == 1);
    release.send(()).unwrap();
    before.until("one is done", |gate| gate.origins.standing()[0].in_flight == 1);
    assert_eq!(
        (after.origins.standing()[0].waiting, count(&shop, "GET /second ")),
        (1, 0)
    );
    release.send(()).unwrap();
    shop.until(|seen| seen.contains("GET /second "));
    release.send(()).unwrap();
    assert_eq!(waiting.answer().status, 200);
    assert!(first.iter_mut().all(|client| client.answer().status == 200));
}
