//! Bounds on a server's connections: the waiting requests, their queues, their order, and how long they wait.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use ropeline::proxy::{ConnectionBound, UpstreamSettings};

use crate::gate::Gate;
use crate::shop::{OK, Shop};
use crate::upstream::servers::{over, place};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(3600);

fn status(gate: &Gate, request: &str) -> u16 {
    gate.client().ask(request).status
}

fn one_at_a_time(upstream: &mut UpstreamSettings, waiting: u32, wait: Duration) {
    upstream.bound = Some(ConnectionBound {
        connections: 1,
        waiting,
        wait,
    });
    upstream.idle = LONG;
}

fn bounded(shop: SocketAddr, waiting: u32, wait: Duration) -> Gate {
    over(&[shop], |upstream| one_at_a_time(upstream, waiting, wait))
}

fn until_waiting(gate: &Gate, count: u32) {
    gate.until("they wait", |gate| gate.origins.standing()[0].waiting == count);
}

#[test]
fn requests_wait_for_a_connection_in_order_and_who_goes_leaves_the_line() {
    let release = Arc::new(Barrier::new(2));
    let held = Arc::clone(&release);
    let shop = Shop::new(move |line| {
        while line.request().is_some() {
            held.wait();
            line.send(OK);
        }
    });
    let gate = bounded(shop.address, 3, LONG);
    let mut clients = Vec::new();
    for at in 0..4 {
        let mut client = gate.client_from(&format!("127.0.0.{}", at + 1));
        client.send(&format!("GET /{at} HTTP/1.1\r\nHost: a\r\n\r\n"));
        shop.until(|seen| seen.contains("GET /0"));
        until_waiting(&gate, at);
        clients.push(client);
    }
    let refused = gate.client().ask(GET);
    assert_eq!((refused.status, refused.body.as_str()), (503, "Ours Exhausted"));
    drop(clients.remove(2));
    until_waiting(&gate, 2);
    for client in &mut clients {
        release.wait();
        assert_eq!(client.answer().status, 200);
    }
    let seen = shop.seen();
    let order: Vec<usize> = ["GET /0", "GET /1", "GET /3"]
        .map(|line| seen.find(line).unwrap())
        .to_vec();
    assert!(order.is_sorted() && !seen.contains("GET /2"), "{seen}");
    assert_eq!(shop.connections(), 1);
}

#[test]
fn one_client_has_half_of_the_line() {
    let (shop, release) = held();
    let gate = bounded(shop.address, 4, LONG);
    let mut first = gate.client();
    first.send(GET);
    shop.until(|seen| seen.contains("GET"));
    let waits = |at: u32, own: &str| {
        let mut client = gate.client_from(own);
        client.send(GET);
        until_waiting(&gate, at);
        client
    };
    let mut clients = vec![waits(1, "127.0.0.1"), waits(2, "127.0.0.1")];
    let refused = gate.client_from("127.0.0.1").ask(GET);
    assert_eq!((refused.status, refused.body.as_str()), (503, "Ours Exhausted"));
    clients.extend([waits(3, "127.0.0.2"), waits(4, "127.0.0.3")]);
    clients.push(first);
    for _ in &clients {
        release.send(()).unwrap();
    }
    assert!(clients.iter_mut().all(|client| client.answer().status == 200));
}

#[test]
fn wait_for_a_connection_has_an_end() {
    let shop = Shop::new(|line| {
        line.request();
        line.drain();
    });
    let gate = bounded(shop.address, 3, SHORT);
    let mut first = gate.client();
    first.send(GET);
    shop.until(|seen| seen.contains("GET"));
    assert_eq!(status(&gate, GET), 503);
    assert_eq!(gate.origins.standing()[0].failures, 0, "it is not the shop's fault");
}

#[test]
fn tunnel_holds_its_connection() {
    let upgrade = "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";
    let shop = Shop::new(|line| {
        while let Some(request) = line.request() {
            if request.contains("/ws") {
                line.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
                line.drain();
                return;
            }
            line.send(OK);
        }
    });
    let gate = bounded(shop.address, 3, SHORT);
    let mut tunnel = gate.client();
    tunnel.send(upgrade);
    assert!(tunnel.head().starts_with("HTTP/1.1 101"));
    assert_eq!((gate.origins.standing()[0].in_flight, status(&gate, GET)), (1, 503));
    drop(tunnel);
    gate.until("the tunnel is gone", |gate| gate.origins.standing()[0].in_flight == 0);
    assert_eq!(status(&gate, GET), 200);
}

/// A server that answers each request on the test's signal.
pub fn held() -> (Shop, Sender<()>) {
    let (release, told): (_, Receiver<()>) = channel();
    let told = Mutex::new(told);
    let shop = Shop::new(move |line| {
        while line.request().is_some() && told.lock().unwrap().recv().is_ok() {
            line.send(OK);
        }
    });
    (shop, release)
}

/// Two servers, each with its one connection taken, and the requests that took them.
struct Full {
    gate: Gate,
    servers: [(Shop, Sender<()>); 2],
    holders: Vec<crate::client::Client>,
}

fn full(waiting: u32) -> Full {
    let servers = [held(), held()];
    let gate = over(&servers.each_ref().map(|(shop, _)| shop.address), |upstream| {
        one_at_a_time(upstream, waiting, LONG);
    });
    let mut holders = Vec::new();
    for _ in 0..2 {
        let mut client = gate.client();
        client.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n");
        holders.push(client);
    }
    for (shop, _) in &servers {
        shop.until(|seen| seen.contains("GET /first"));
    }
    Full { gate, servers, holders }
}

#[test]
fn request_goes_to_whichever_server_is_free_first_and_in_its_turn() {
    const WAITING: u32 = 10;
    for freed in [0, 1] {
        let Full { gate, servers, holders } = full(WAITING);
        let mut clients = Vec::new();
        for at in 0..WAITING {
            let mut client = gate.client_from(&format!("127.0.0.{}", at + 1));
            client.send(&format!("GET /{at} HTTP/1.1\r\nHost: a\r\n\r\n"));
            gate.until("it is in both lines", |gate| {
                gate.origins.standing().iter().all(|server| server.waiting == at + 1)
            });
            clients.push(client);
        }
        assert_eq!(status(&gate, GET), 503, "so many and no more");
        let (shop, release) = &servers[freed];
        (0..=WAITING).for_each(|_| release.send(()).unwrap());
        assert!(clients.iter_mut().all(|client| client.answer().status == 200));
        let seen = shop.seen();
        let order: Vec<_> = (0..WAITING).map(|at| seen.find(&format!("GET /{at} "))).collect();
        assert!(order[0].is_some() && order.is_sorted(), "{seen}");
        assert_eq!(servers[1 - freed].0.seen().matches("GET").count(), 1);
        gate.until("nobody waits", |gate| {
            gate.origins.standing().iter().all(|server| server.waiting == 0)
        });
        drop(holders);
    }
}

#[test]
fn request_that_waits_does_not_go_to_a_server_that_is_drained_meanwhile() {
    let Full {
        gate,
        servers: [(a, free_a), (b, free_b)],
        mut holders,
    } = full(9);
    let mut waiting = gate.client();
    waiting.send("GET /waits HTTP/1.1\r\nHost: a\r\n\r\n");
    gate.until("it is in both lines", |gate| {
        gate.origins.standing().iter().all(|server| server.waiting == 1)
    });
    gate.origins.weigh(&place(a.address), 0);
    free_a.send(()).unwrap();
    gate.until("the drained server is done", |gate| {
        gate.origins.standing()[0].in_flight == 0
    });
    free_b.send(()).unwrap();
    free_b.send(()).unwrap();
    assert_eq!(waiting.answer().status, 200);
    assert!(b.seen().contains("GET /waits") && !a.seen().contains("GET /waits"));
    assert!(holders.iter_mut().all(|client| client.answer().status == 200));
}

#[test]
fn server_with_room_is_chosen_even_when_all_are_out() {
    let failing = || {
        Shop::new(|line| {
            while let Some(request) = line.request() {
                if request.starts_with("GET /held") {
                    line.drain();
                    return;
                }
                line.send("HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno");
            }
        })
    };
    let shops = [failing(), failing(), failing()];
    let gate = over(&shops.each_ref().map(|shop| shop.address), |upstream| {
        one_at_a_time(upstream, 9, SHORT);
        upstream.failures.most = 1;
        upstream.failures.server_errors = true;
        upstream.failures.out = LONG;
        upstream.failures.out_at_most = LONG;
    });
    assert!((0..3).all(|_| status(&gate, GET) == 500));
    assert!(gate.origins.standing().iter().all(|server| !server.healthy));
    let weigh = |at: usize, weight| gate.origins.weigh(&place(shops[at].address), weight);
    (0..3).for_each(|at| weigh(at, 0));
    let mut holders = Vec::new();
    for (at, shop) in shops.iter().enumerate().take(2) {
        weigh(at, 1);
        let mut holder = gate.client();
        holder.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
        shop.until(|seen| seen.contains("GET /held"));
        holders.push(holder);
        weigh(at, 0);
    }
    (0..3).for_each(|at| weigh(at, 1));
    assert!((0..40).all(|_| status(&gate, GET) == 500));
}

#[test]
fn request_whose_time_is_over_while_it_waits_is_504() {
    let shop = Shop::new(|line| {
        line.request();
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
        line.drain();
    });
    let gate = over(&[shop.address], |upstream| {
        one_at_a_time(upstream, 3, LONG);
        upstream.total = Some(SHORT);
    });
    let holder = (0..100).find_map(|_| {
        let mut client = gate.client();
        client.send(GET);
        client.head().starts_with("HTTP/1.1 200").then_some(client)
    });
    let answer = gate.client().ask(GET);
    assert_eq!((answer.status, answer.body.as_str()), (504, "Upstream TotalTimeout"));
    drop(holder.unwrap());
}

#[test]
fn what_a_dead_connection_took_waits_for_its_server_alone() {
    let (a, told_a) = {
        let (tell, told) = channel::<()>();
        let told = Mutex::new(told);
        let shop = Shop::new(move |line| {
            while let Some(request) = line.request() {
                let is_first = request.contains("/warm");
                if !is_first && (told.lock().unwrap().recv().is_err() || line.index == 0) {
                    return;
                }
                line.send(OK);
            }
        });
        (shop, tell)
    };
    let (b, _told_b) = held();
    let gate = over(&[a.address, b.address], |upstream| {
        one_at_a_time(upstream, 9, LONG);
        upstream.retry_budget = 0;
    });
    let weigh = |shop: &Shop, weight| gate.origins.weigh(&place(shop.address), weight);
    let waiting = |at: usize| gate.origins.standing()[at].waiting;
    let ask = |target: &str| {
        let mut client = gate.client();
        client.send(&format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n"));
        client
    };
    weigh(&b, 0);
    assert_eq!(ask("/warm").answer().status, 200);
    let mut dying = ask("/dying");
    a.until(|seen| seen.contains("/dying"));
    weigh(&a, 0);
    weigh(&b, 1);
    let _held = ask("/held");
    b.until(|seen| seen.contains("/held"));
    weigh(&a, 1);
    let mut next = ask("/next");
    gate.until("it is in both lines", |_| waiting(0) == 1 && waiting(1) == 1);
    told_a.send(()).unwrap();
    a.until(|seen| seen.contains("/next"));
    gate.until("who was cut off waits", |_| waiting(0) == 1);
    assert_eq!(waiting(1), 0, "another server costs the budget");
    told_a.send(()).unwrap();
    assert_eq!(next.answer().status, 200);
    told_a.send(()).unwrap();
    assert_eq!(dying.answer().status, 200);
}
