//! Shops that mean harm, or do it: each answer is a 502 or visibly cut, and the next visitor is served.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use super::frames::{
    CANCEL, CONTINUATION, DATA, END_HEADERS, END_STREAM, Framed, HEADERS, INTERNAL_ERROR, Line, NO_ERROR, OK, PING,
    PUSH_PROMISE, SETTINGS, WINDOW_UPDATE, fields_of,
};
use super::{GET, POST, gate_with, until_idle};
use crate::gate::Gate;

type Fault = (&'static str, fn(&mut Line, u32));

/// A shop that commits this fault on its first connection's first request, and answers all others.
fn faulty(fault: impl Fn(&mut Line, u32) + Send + Sync + 'static) -> (Framed, Gate) {
    let shop = Framed::new(move |line| {
        let Some(stream) = line.request() else { return };
        if line.index == 0 {
            fault(line, stream);
        } else {
            line.hi(stream);
        }
        line.serve();
    });
    let gate = gate_with(shop.address, |upstream| upstream.retries = 0);
    (shop, gate)
}

const S: (&str, &str) = (":status", "200");

type Fields = &'static [(&'static str, &'static str)];

const MANY: [(&str, &str); 102] = {
    let mut fields = [("x", "y"); 102];
    fields[0] = S;
    fields
};

/// Heads, and whether h2 takes them for the fault of one stream.
const HEADS: [(&str, Fields, bool); 18] = [
    ("no status", &[("x", "y")], true),
    ("status that is none", &[(":status", "abc")], false),
    ("status of 99", &[(":status", "99")], false),
    ("two statuses", &[S, S], true),
    ("unknown pseudo-field", &[S, (":x", "y")], false),
    ("pseudo-field late", &[("x", "y"), S], true),
    ("name in capitals", &[S, ("X-Shop", "y")], false),
    ("nameless field", &[S, ("", "y")], false),
    ("NUL", &[S, ("x", "a\0b")], false),
    ("line end", &[S, ("x", "a\r\nset-cookie: b")], false),
    ("space before a value", &[S, ("x", " y")], true),
    ("space behind a value", &[S, ("x", "y\t")], true),
    ("Connection", &[S, ("connection", "close")], true),
    ("Transfer-Encoding", &[S, ("transfer-encoding", "chunked")], true),
    (
        "two equal lengths",
        &[S, ("content-length", "2"), ("content-length", "2")],
        true,
    ),
    (
        "two lengths",
        &[S, ("content-length", "2"), ("content-length", "3")],
        true,
    ),
    ("length that is none", &[S, ("content-length", "+2")], true),
    ("over 100 fields", &MANY, true),
];

/// Faults of a whole connection.
const CONNECTIONS: [Fault; 10] = [
    ("body before the head", |line, stream| {
        line.frame(DATA, END_STREAM, stream, b"hi");
    }),
    ("garbage", |line, _| {
        line.bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    }),
    ("frame that is too long", |line, stream| {
        line.frame(DATA, 0, stream, &[0; 17_000]);
    }),
    ("head on no stream", |line, _| {
        line.frame(HEADERS, END_HEADERS, 0, OK);
    }),
    ("answer to nobody", |line, stream| {
        line.frame(HEADERS, END_HEADERS, stream + 2, OK);
    }),
    ("push", |line, stream| {
        let promise = [
            &2_u32.to_be_bytes()[..],
            &fields_of(&[(":method", "GET"), (":path", "/")]),
        ]
        .concat();
        line.frame(PUSH_PROMISE, END_HEADERS, stream, &promise);
    }),
    ("head that is not gone on with", |line, stream| {
        line.frame(HEADERS, 0, stream, OK);
        line.frame(DATA, END_STREAM, stream, b"hi");
    }),
    ("window beyond all bounds", |line, _| {
        line.frame(WINDOW_UPDATE, 0, 0, &0x7fff_ffff_u32.to_be_bytes());
    }),
    ("index beyond the table", |line, stream| {
        line.frame(HEADERS, END_HEADERS, stream, &[0xff, 0xff, 0xff, 0x0f]);
    }),
    ("settings on a stream", |line, stream| {
        line.frame(SETTINGS, 0, stream, &[]);
    }),
];

#[test]
fn faulty_head_is_502_and_the_connection_goes_on_where_it_may() {
    for (name, fields, is_of_stream) in HEADS {
        let (shop, gate) = faulty(move |line, stream| {
            line.frame(HEADERS, END_HEADERS, stream, &fields_of(fields));
            line.frame(DATA, END_STREAM, stream, b"hi");
        });
        assert_eq!(gate.client().ask(POST).status, 502, "{name}");
        assert_eq!(gate.client().ask(GET).body, "hi", "{name}");
        assert_eq!(shop.connections() == 1, is_of_stream, "{name}");
        assert_eq!(gate.origins.standing()[0].failures, 1, "{name}");
        until_idle(&gate);
    }
}

#[test]
fn length_without_a_body_and_a_reset_are_502_and_the_connection_goes_on() {
    let no_body = |line: &mut Line, stream| {
        let fields = fields_of(&[S, ("content-length", "2")]);
        line.frame(HEADERS, END_HEADERS | END_STREAM, stream, &fields);
    };
    for fault in [no_body, |line: &mut Line, stream| line.reset(stream, INTERNAL_ERROR)] {
        let (shop, gate) = faulty(fault);
        assert_eq!(gate.client().ask(POST).status, 502);
        assert_eq!(gate.client().ask(GET).body, "hi");
        assert_eq!(shop.connections(), 1);
    }
}

#[test]
fn faulty_connection_is_502_and_the_next_visitor_is_served() {
    for (name, fault) in CONNECTIONS {
        let (_shop, gate) = faulty(fault);
        assert_eq!(gate.client().ask(POST).status, 502, "{name}");
        assert_eq!(gate.client().ask(GET).body, "hi", "{name}");
        until_idle(&gate);
    }
}

#[test]
fn head_without_end_is_502() {
    let (_shop, gate) = faulty(|line, stream| {
        let piece = fields_of(&[("x", "y".repeat(120).as_str()); 120]);
        line.frame(HEADERS, 0, stream, OK);
        while line.frame(CONTINUATION, 0, stream, &piece) {}
    });
    assert_eq!(gate.client().ask(POST).status, 502);
    assert_eq!(gate.client().ask(GET).body, "hi");
}

#[test]
fn head_that_is_too_long_is_502_and_the_connection_goes_on() {
    let (shop, gate) = faulty(|line, stream| {
        let piece = fields_of(&[("x", "y".repeat(120).as_str()); 120]);
        line.frame(HEADERS, 0, stream, OK);
        for _ in 0..4 {
            line.frame(CONTINUATION, 0, stream, &piece);
        }
        line.frame(CONTINUATION, END_HEADERS, stream, &piece);
        line.frame(DATA, END_STREAM, stream, b"hi");
    });
    assert_eq!(gate.client().ask(POST).status, 502);
    assert_eq!(gate.client().ask(GET).body, "hi");
    assert_eq!(shop.connections(), 1);
}

/// Faults behind a head and half a body.
const CUTS: [Fault; 5] = [
    ("called off", |line, stream| line.reset(stream, CANCEL)),
    ("reset for no reason", |line, stream| line.reset(stream, NO_ERROR)),
    ("reset", |line, stream| line.reset(stream, INTERNAL_ERROR)),
    ("trailers that do not end", |line, stream| {
        line.frame(HEADERS, END_HEADERS, stream, &fields_of(&[("x", "y")]));
        line.frame(DATA, END_STREAM, stream, b"more");
    }),
    ("garbage", |line, _| {
        line.bytes(&[0xff; 100]);
    }),
];

/// The visitor's part of an answer that begins with this head and `half`, and goes on with the fault once that has arrived;
/// and the gate.
fn broken_off(fields: &[(&str, &str)], fault: impl Fn(&mut Line, u32) + Send + Sync + 'static) -> (String, Gate) {
    let fields = fields_of(&[&[(":status", "200")], fields].concat());
    let half = Arc::new(Barrier::new(2));
    let read = Arc::clone(&half);
    let shop = Framed::new(move |line| {
        let Some(stream) = line.request() else { return };
        if line.index == 0 {
            line.frame(HEADERS, END_HEADERS, stream, &fields);
            line.frame(DATA, 0, stream, b"half");
            read.wait();
            fault(line, stream);
        } else {
            line.hi(stream);
        }
        line.serve();
    });
    let gate = gate_with(shop.address, |_| {});
    let mut client = gate.client();
    client.send(GET);
    client.through("half");
    half.wait();
    (client.rest(), gate)
}

#[test]
fn answer_that_breaks_off_is_cut() {
    for (name, fault) in CUTS {
        let (rest, gate) = broken_off(&[], fault);
        assert!(!rest.ends_with("0\r\n\r\n"), "{name} looks whole: {rest:?}");
        assert_eq!(gate.client().ask(GET).body, "hi", "{name}");
        gate.until("it is counted", |gate| gate.origins.standing()[0].failures == 1);
        until_idle(&gate);
    }
}

#[test]
fn body_that_is_not_as_long_as_announced_is_cut() {
    for more in ["", "longer"] {
        let (rest, gate) = broken_off(&[("content-length", "6")], move |line, stream| {
            line.frame(DATA, END_STREAM, stream, more.as_bytes());
        });
        assert!(rest.len() < 2, "{rest:?}");
        assert_eq!(gate.client().ask(GET).body, "hi");
        assert_eq!(gate.origins.stats().connects.load(Relaxed), 1);
    }
}

/// Frames without end that h2 takes one by one.
const FLOODS: [Fault; 5] = [
    ("interim answers", |line, stream| {
        let interim = fields_of(&[(":status", "103")]);
        while line.frame(HEADERS, END_HEADERS, stream, &interim) {}
    }),
    ("settings", |line, _| {
        while line.frame(SETTINGS, 0, 0, &[]) && line.next().is_some() {}
    }),
    ("pings", |line, _| {
        while line.frame(PING, 0, 0, &[0; 8]) && line.next().is_some() {}
    }),
    (
        "frames that nobody knows",
        |line, _| while line.frame(0xbe, 0, 0, &[]) {},
    ),
    (
        "priorities",
        |line, stream| while line.frame(2, 0, stream, &[0, 0, 0, 0, 1]) {},
    ),
];

#[test]
fn shop_that_floods_is_cut_off() {
    for (name, fault) in FLOODS {
        let (shop, gate) = faulty(fault);
        assert_eq!(gate.client().ask(POST).status, 502, "{name}");
        assert_eq!(gate.client().ask(GET).body, "hi", "{name}");
        shop.until_closed(1);
        until_idle(&gate);
    }
}

#[test]
fn interim_answers_are_swallowed() {
    let (shop, gate) = faulty(|line, stream| {
        for status in ["100", "103", "102"] {
            line.frame(HEADERS, END_HEADERS, stream, &fields_of(&[(":status", status)]));
        }
        line.hi(stream);
    });
    for _ in 0..3 {
        let answer = gate.client().ask(GET);
        assert_eq!((answer.status, answer.body.as_str()), (200, "hi"));
    }
    assert_eq!(shop.connections(), 1);
}

#[test]
fn no_settings_in_time_is_504() {
    let shop = crate::shop::Shop::new(|line| {
        line.drain();
    });
    let gate = gate_with(shop.address, |upstream| upstream.connect = Duration::from_millis(50));
    assert_eq!(gate.client().ask(POST).status, 504);
    let reason = gate.origins.standing()[0].reason.clone();
    assert_eq!(reason.as_deref(), Some("no HTTP/2 settings in time"));
}
