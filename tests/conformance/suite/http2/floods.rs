//! Floods: frames that a client can send without end, or that make others keep state. A correct server stays within bounds
//! and serves others.

use std::fs;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::client::{Heard, Wire};
use super::judge::named;
use super::wire::{
    CANCEL, DATA, END_HEADERS, END_STREAM, PADDED, PING, SETTINGS, TOP, WHOLE, WINDOW, block, continuation, data,
    frame, get, head, headers, indexed, integer, priority, reset, settings, update,
};
use crate::suite::case::{OK, SERVED, Shop as Manner};
use crate::suite::client::Delivery;
use crate::suite::judge::{Outcome, Verdict};
use crate::suite::message;
use crate::suite::run::{Contestant, Played, SETTLED};
use crate::suite::shop::{Seen, Shop};

/// One flood.
pub struct Flood {
    pub name: &'static str,
    /// An advisory or a section.
    pub source: &'static str,
    window: u32,
    first: Vec<u8>,
    /// The repeated part, by its number.
    part: Box<dyn Fn(u32) -> Vec<u8> + Sync>,
    parts: u32,
    /// Answers are read meanwhile.
    reads: bool,
    /// The shop's answer, if any.
    answer: &'static str,
    /// Requests that may reach the shop.
    requests: usize,
}

/// Most memory that any flood may cost.
pub const KIB: u64 = 16 * 1024;
/// How long a proxy may take no byte before it counts as holding the client back, and how long a flood lasts at most.
const STUCK: Duration = Duration::from_millis(700);
const LASTS: Duration = Duration::from_secs(4);

fn flood(
    name: &'static str,
    source: &'static str,
    parts: u32,
    part: impl Fn(u32) -> Vec<u8> + Sync + 'static,
) -> Flood {
    Flood {
        name,
        source,
        window: 65_535,
        first: Vec::new(),
        part: Box::new(part),
        parts,
        reads: true,
        answer: OK,
        requests: 0,
    }
}

#[allow(clippy::too_many_lines, reason = "a table")]
pub fn all() -> Vec<Flood> {
    let stream = |at: u32| 2 * at + 1;
    let open = |stream| headers(END_HEADERS, stream, &head("POST", "/", &[]));
    let many = |one: Vec<u8>| move |_| one.repeat(500);
    let large: &'static str = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{}",
        "x".repeat(1_000_000)
    )
    .leak();
    let begun = || headers(END_STREAM, 1, &head("GET", "/", &[]));
    vec![
        Flood {
            requests: 1_000,
            answer: "",
            ..flood("requests called off at once", "CVE-2023-44487", 20_000, move |at| {
                [get(stream(at), "/", &[]), reset(stream(at), CANCEL)].concat()
            })
        },
        Flood {
            requests: 1_000,
            answer: "",
            ..flood(
                "streams that the server must reset: a window too large",
                "CVE-2025-8671",
                20_000,
                move |at| [get(stream(at), "/", &[]), update(stream(at), TOP)].concat(),
            )
        },
        Flood {
            requests: 1_000,
            answer: "",
            ..flood(
                "streams that the server must reset: a window of 0 more",
                "CVE-2025-8671",
                20_000,
                move |at| [get(stream(at), "/", &[]), update(stream(at), 0)].concat(),
            )
        },
        Flood {
            requests: 1_000,
            answer: "",
            ..flood(
                "streams that the server must reset: DATA behind the end",
                "CVE-2025-8671",
                20_000,
                move |at| [get(stream(at), "/", &[]), data(END_STREAM, stream(at), b"x")].concat(),
            )
        },
        Flood {
            first: begun(),
            ..flood("CONTINUATION without end", "CVE-2024-27316", 20_000, |_| {
                continuation(0, 1, &block(&[("x-filler", &"y".repeat(1_000))]))
            })
        },
        Flood {
            first: begun(),
            ..flood(
                "empty CONTINUATIONs without end",
                "CVE-2019-9518",
                1_000,
                many(continuation(0, 1, &[])),
            )
        },
        flood("heads of 12 MB in 5 KB", "CVE-2016-6581", 500, move |at| {
            let first = indexed("x-filler", "y".repeat(3_000));
            let again = integer(0x80, 7, 62).repeat(4_000);
            headers(WHOLE, stream(at), &[head("GET", "/", &[]), first, again].concat())
        }),
        Flood {
            reads: false,
            ..flood(
                "SETTINGS, their acknowledgements unread",
                "CVE-2019-9515",
                4_000,
                many(frame(SETTINGS, 0, 0, &[])),
            )
        },
        Flood {
            reads: false,
            ..flood(
                "PING, its answers unread",
                "CVE-2019-9512",
                4_000,
                many(frame(PING, 0, 0, &[0; 8])),
            )
        },
        Flood {
            first: open(1),
            requests: 1,
            ..flood(
                "empty DATA without end",
                "CVE-2019-9518",
                1_000,
                many(frame(DATA, 0, 1, &[])),
            )
        },
        Flood {
            first: open(1),
            requests: 1,
            ..flood("DATA of padding alone", "9113, 10.5", 1_000, |_| {
                frame(DATA, PADDED, 1, &[1, 0]).repeat(100)
            })
        },
        flood("PRIORITY of other streams", "CVE-2019-9513", 1_000, |at| {
            (0..200)
                .flat_map(|other| priority(2 * (at * 200 + other) + 1, 0, 1))
                .collect()
        }),
        flood(
            "frames of an unknown kind",
            "9113, 5.5",
            1_000,
            many(frame(0x42, 0, 0, &[0; 16])),
        ),
        flood("settings that go to and fro", "9113, 10.5", 1_000, |_| {
            [settings(&[(WINDOW, 0)]), settings(&[(WINDOW, 65_535)])]
                .concat()
                .repeat(20)
        }),
        Flood {
            window: 0,
            requests: 400,
            answer: large,
            ..flood(
                "100 answers of 1 MB that nobody takes",
                "CVE-2019-9517",
                100,
                move |at| get(stream(at), "/", &[]),
            )
        },
        Flood {
            requests: 400,
            ..flood("100 bodies that never end", "9113, 10.5", 100, move |at| {
                open(stream(at))
            })
        },
    ]
}

/// Plays every flood, one after another, so that memory is one flood's.
pub fn play_all(floods: &[&Flood], contestant: &Contestant) -> Vec<Played> {
    let ((address, shop), pid) = (&contestant.lanes[0], contestant.pids[0]);
    floods
        .iter()
        .map(|flood| Played {
            outcome: play(flood, *address, shop, pid, contestant.patience),
            gist: String::new(),
            keeps_list: true,
        })
        .collect()
}

fn play(flood: &Flood, address: SocketAddr, shop: &Shop, pid: u32, patience: Duration) -> Outcome {
    shop.begin(Manner::Serves(flood.answer));
    let before = kib(pid);
    let mut most = before;
    let mut wire = Wire::new(address, Delivery::AtOnce, STUCK).expect("the proxy takes connections");
    wire.open(&[(WINDOW, flood.window)], patience);
    let (mut sent, mut at, began) = (flood.first.len(), 0, Instant::now());
    let mut is_stuck = !wire.send(&flood.first);
    while at < flood.parts && !is_stuck && !wire.heard.is_failed() && began.elapsed() < LASTS {
        let part = (flood.part)(at);
        is_stuck = !wire.send(&part);
        sent += part.len();
        at += 1;
        if flood.reads && (at % 64 == 0 || is_stuck) {
            wire.listen(Duration::from_millis(1), Heard::is_failed);
        }
        if at % 256 == 0 {
            most = most.max(kib(pid));
        }
    }
    let is_served = is_served(address, patience);
    if flood.reads {
        wire.listen(STUCK, Heard::is_failed);
    }
    most = most.max(kib(pid));
    let end = end(&wire.heard, is_stuck, sent);
    drop(wire);
    let requests = requests(&shop.end(SETTLED));
    outcome(flood, most.saturating_sub(before), requests, is_served, &end)
}

fn end(heard: &Heard, is_stuck: bool, sent: usize) -> String {
    let how = match heard.goaway {
        Some(code) if code != 0 => format!("GOAWAY {}", named(code)),
        _ if heard.closed => "closed".into(),
        _ if is_stuck => "held back".into(),
        _ => "took all".into(),
    };
    format!("{how}, {} KB sent", sent / 1_000)
}

fn outcome(flood: &Flood, grown: u64, requests: usize, is_served: bool, end: &str) -> Outcome {
    let fault = match () {
        () if !is_served => Some("others are not served".to_owned()),
        () if requests > flood.requests => Some(format!("{requests} requests reached the shop")),
        () if grown > KIB => Some(format!("{grown} KiB of memory")),
        () => None,
    };
    let told = if requests > 0 {
        format!(", {requests} requests")
    } else {
        String::new()
    };
    let others = if is_served { "" } else { ", others not served" };
    Outcome {
        verdict: if fault.is_none() {
            Verdict::Right
        } else {
            Verdict::Wrong
        },
        tells: format!("{end}{told}, {grown} KiB{others}"),
        fault,
    }
}

/// Another visitor has an answer.
fn is_served(address: SocketAddr, patience: Duration) -> bool {
    let Ok(mut wire) = Wire::new(address, Delivery::AtOnce, patience) else {
        return false;
    };
    wire.open(&[], patience);
    wire.send(&get(1, SERVED, &[]));
    wire.listen(patience, |heard| heard.is_over(1) || heard.is_failed());
    wire.heard.streams.get(&1).is_some_and(|told| told.status == Some(200))
}

/// Requests that the shop has seen, whole or begun, but the other visitor's.
fn requests(seen: &[Seen]) -> usize {
    let of = |seen: &Seen| {
        let (messages, rest) = message::read(&seen.bytes);
        let own = messages
            .iter()
            .filter(|message| !message.start.contains(SERVED))
            .count();
        own + usize::from(rest != message::Rest::Nothing)
    };
    seen.iter().map(of).sum()
}

/// Memory that a process holds.
fn kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or_default()
}
