//! Settings, windows and PINGs.

use crate::suite::case::Shop;
use crate::suite::http2::case::{Case, Expect, LESS_TELLING, Sign, passes};
use crate::suite::http2::wire::{
    END_HEADERS, FLOW_CONTROL, FRAME, PROTOCOL, PUSH, STREAMS, TABLE, TOP, WINDOW, get, head, headers, ping, settings,
    update,
};

pub fn all() -> Vec<Case> {
    let mut cases = values();
    cases.extend(windows());
    cases
}

fn ended(name: &str, source: &'static str, bytes: Vec<u8>, codes: &'static [u32]) -> Case {
    Case::new(name, source, bytes, Expect::Connection(codes))
}

fn values() -> Vec<Case> {
    let set = |id, value| settings(&[(id, value)]);
    vec![
        ended("ENABLE_PUSH of 2", "9113, 6.5.2", set(PUSH, 2), &[PROTOCOL]).listed("http2 6.5.2, 1"),
        ended(
            "INITIAL_WINDOW_SIZE above the most",
            "9113, 6.5.2",
            set(WINDOW, TOP + 1),
            &[FLOW_CONTROL],
        )
        .known(LESS_TELLING)
        .listed("http2 6.5.2, 2"),
        ended(
            "MAX_FRAME_SIZE below the least",
            "9113, 6.5.2",
            set(FRAME, 16_383),
            &[PROTOCOL],
        )
        .listed("http2 6.5.2, 3"),
        ended(
            "MAX_FRAME_SIZE above the most",
            "9113, 6.5.2",
            set(FRAME, 0x0100_0000),
            &[PROTOCOL],
        )
        .listed("http2 6.5.2, 4"),
        Case::new(
            "MAX_CONCURRENT_STREAMS of 0",
            "9113, 6.5.2",
            set(STREAMS, 0),
            Expect::Alive,
        ),
        Case::new(
            "HEADER_TABLE_SIZE of 4 GiB",
            "9113, 6.5.2",
            set(TABLE, u32::MAX),
            passes(),
        )
        .hear(Sign::Acknowledged(2))
        .send(get(1, "/", &[])),
        Case::new(
            "MAX_FRAME_SIZE of 16 MiB",
            "9113, 6.5.2",
            set(FRAME, 0x00ff_ffff),
            passes(),
        )
        .send(get(1, "/", &[])),
        Case::new(
            "the last of two windows counts",
            "9113, 6.5.3",
            settings(&[(WINDOW, 100), (WINDOW, 1)]),
            Expect::Bytes(1),
        )
        .hear(Sign::Acknowledged(2))
        .send(get(1, "/", &[]))
        .listed("http2 6.5.3, 1"),
        Case::new("SETTINGS are acknowledged", "9113, 6.5.3", set(PUSH, 0), Expect::Alive)
            .hear(Sign::Acknowledged(2))
            .listed("http2 6.5.3, 2"),
        ended(
            "a bad setting behind a good one",
            "9113, 6.5.3",
            settings(&[(STREAMS, 100), (PUSH, 7)]),
            &[PROTOCOL],
        ),
        Case::new("PING is answered", "9113, 6.7", ping(*b"ropeline"), Expect::Alive).listed("http2 6.7, 1"),
    ]
}

fn windows() -> Vec<Case> {
    let hello = || get(1, "/", &[]);
    let open = || headers(END_HEADERS, 1, &head("POST", "/", &[]));
    vec![
        ended("WINDOW_UPDATE of 0", "9113, 6.9", update(0, 0), &[PROTOCOL]).listed("http2 6.9, 1"),
        Case::new(
            "WINDOW_UPDATE of 0 on a stream",
            "9113, 6.9",
            [open(), update(1, 0)].concat(),
            Expect::Stream(&[PROTOCOL]),
        )
        .listed("http2 6.9, 2"),
        Case::new(
            "WINDOW_UPDATE of 0 with the reserved bit",
            "9113, 6.9",
            [open(), update(1, 0x8000_0000)].concat(),
            Expect::Stream(&[PROTOCOL]),
        ),
        Case::new("a window of 1 byte", "9113, 6.9.1", hello(), Expect::Bytes(1))
            .opening(&[(WINDOW, 1)])
            .listed("http2 6.9.1, 1"),
        ended(
            "the connection's window above the most",
            "9113, 6.9.1",
            [update(0, TOP), update(0, TOP)].concat(),
            &[FLOW_CONTROL],
        )
        .listed("http2 6.9.1, 2"),
        Case::new(
            "a stream's window above the most",
            "9113, 6.9.1",
            [open(), update(1, TOP), update(1, TOP)].concat(),
            Expect::Stream(&[FLOW_CONTROL]),
        )
        .listed("http2 6.9.1, 3"),
        Case::new("a window opened by settings", "9113, 6.9.2", hello(), Expect::Bytes(1))
            .opening(&[(WINDOW, 0)])
            .send(settings(&[(WINDOW, 1)]))
            .listed("http2 6.9.2, 1"),
        Case::new("a window below nothing", "9113, 6.9.2", hello(), Expect::Bytes(4))
            .shop(Shop::Says("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nanswer"))
            .opening(&[(WINDOW, 3)])
            .hear(Sign::Data(1))
            .send(settings(&[(WINDOW, 2)]))
            .hear(Sign::Acknowledged(2))
            .send(update(1, 2))
            .listed("http2 6.9.2, 2"),
        ended(
            "settings that take a window above the most",
            "9113, 6.9.2",
            settings(&[(WINDOW, 0x8000_0000)]),
            &[FLOW_CONTROL],
        )
        .known(LESS_TELLING)
        .listed("http2 6.9.2, 3"),
        Case::new(
            "an open stream's window taken above the most",
            "9113, 6.9.2",
            [open(), update(1, TOP - 65_535), settings(&[(WINDOW, 65_536)])].concat(),
            Expect::Connection(&[FLOW_CONTROL]),
        ),
        Case::new(
            "a closed window holds one answer alone",
            "9113, 5.2",
            [hello(), get(3, "/", &[]), update(3, 10)].concat(),
            Expect::Bytes(2),
        )
        .opening(&[(WINDOW, 0)]),
    ]
}
