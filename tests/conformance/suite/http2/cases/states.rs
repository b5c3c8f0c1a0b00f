//! Frames on streams in the wrong state, and between the parts of a head.

use crate::suite::http2::case::{Case, Expect, LESS_TELLING, Sign};
use crate::suite::http2::wire::{
    CANCEL, END_HEADERS, END_STREAM, PING, PROTOCOL, REFUSED, SETTINGS, STREAM_CLOSED, WHOLE, WINDOW, WITH_PRIORITY,
    block, continuation, data, frame, get, head, headers, priority, priority_fields, reset, update,
};

pub fn all() -> Vec<Case> {
    let mut cases = streams();
    cases.extend(blocks());
    cases
}

fn connection(name: &str, source: &'static str, bytes: Vec<u8>, codes: &'static [u32]) -> Case {
    Case::new(name, source, bytes, Expect::Connection(codes))
}

fn stream(name: &str, source: &'static str, bytes: Vec<u8>, codes: &'static [u32]) -> Case {
    Case::new(name, source, bytes, Expect::Stream(codes))
}

fn open() -> Vec<u8> {
    headers(END_HEADERS, 1, &head("POST", "/", &[]))
}

fn filler() -> Vec<u8> {
    block(&[("x-filler", "filled")])
}

fn streams() -> Vec<Case> {
    let hello = || get(1, "/", &[]);
    let over = |case: Case, bytes: Vec<u8>| case.hear(Sign::Over(1)).send(bytes);
    let closed =
        |name: &str, bytes: Vec<u8>, codes: &'static [u32]| over(connection(name, "9113, 5.1", hello(), codes), bytes);
    let called_off = |name: &str, bytes: Vec<u8>, codes: &'static [u32]| {
        stream(name, "9113, 5.1", [open(), reset(1, CANCEL), bytes].concat(), codes)
    };
    vec![
        stream(
            "idle: DATA",
            "9113, 5.1",
            data(END_STREAM, 1, b"test"),
            &[PROTOCOL, STREAM_CLOSED],
        )
        .listed("http2 5.1, 1"),
        connection("idle: RST_STREAM", "9113, 5.1", reset(1, CANCEL), &[PROTOCOL]).listed("http2 5.1, 2"),
        connection("idle: WINDOW_UPDATE", "9113, 5.1", update(1, 100), &[PROTOCOL]).listed("http2 5.1, 3"),
        connection(
            "idle: CONTINUATION",
            "9113, 5.1",
            continuation(END_HEADERS, 1, &head("GET", "/", &[])),
            &[PROTOCOL],
        )
        .listed("http2 5.1, 4"),
        stream(
            "half closed: DATA",
            "9113, 5.1",
            [hello(), data(END_STREAM, 1, b"test")].concat(),
            &[STREAM_CLOSED],
        )
        .varies()
        .known(LESS_TELLING)
        .listed("http2 5.1, 5"),
        stream(
            "half closed: HEADERS",
            "9113, 5.1",
            [hello(), hello()].concat(),
            &[STREAM_CLOSED],
        )
        .varies()
        .known(LESS_TELLING)
        .listed("http2 5.1, 6"),
        stream(
            "half closed: CONTINUATION",
            "9113, 5.1",
            [hello(), continuation(END_HEADERS, 1, &filler())].concat(),
            &[STREAM_CLOSED, PROTOCOL],
        )
        .varies()
        .listed("http2 5.1, 7"),
        called_off("called off: DATA", data(END_STREAM, 1, b"test"), &[STREAM_CLOSED]).listed("http2 5.1, 8"),
        called_off("called off: HEADERS", hello(), &[STREAM_CLOSED])
            .known(LESS_TELLING)
            .listed("http2 5.1, 9"),
        called_off(
            "called off: CONTINUATION",
            continuation(END_HEADERS, 1, &filler()),
            &[STREAM_CLOSED, PROTOCOL],
        )
        .listed("http2 5.1, 10"),
        over(
            stream("closed: DATA", "9113, 5.1", hello(), &[STREAM_CLOSED]),
            data(END_STREAM, 1, b"test"),
        )
        .listed("http2 5.1, 11"),
        closed("closed: HEADERS", hello(), &[STREAM_CLOSED])
            .known(LESS_TELLING)
            .listed("http2 5.1, 12"),
        closed(
            "closed: CONTINUATION",
            continuation(END_HEADERS, 1, &filler()),
            &[STREAM_CLOSED, PROTOCOL],
        )
        .listed("http2 5.1, 13"),
        connection(
            "a stream of an even number",
            "9113, 5.1.1",
            get(2, "/", &[]),
            &[PROTOCOL],
        )
        .listed("http2 5.1.1, 1"),
        connection(
            "a stream below the one before",
            "9113, 5.1.1",
            [get(5, "/", &[]), get(3, "/", &[])].concat(),
            &[PROTOCOL],
        )
        .varies()
        .listed("http2 5.1.1, 2"),
        stream(
            "more streams than are taken",
            "9113, 5.1.2",
            Vec::new(),
            &[PROTOCOL, REFUSED],
        )
        .opening(&[(WINDOW, 0)])
        .exceed()
        .varies()
        .listed("http2 5.1.2, 1"),
        stream(
            "HEADERS that depend on themselves",
            "7540, 5.3.1",
            headers(
                WHOLE | WITH_PRIORITY,
                1,
                &[priority_fields(1, 255), head("GET", "/", &[])].concat(),
            ),
            &[PROTOCOL],
        )
        .listed("http2 5.3.1, 1"),
        stream(
            "PRIORITY that depends on itself",
            "7540, 5.3.1",
            priority(1, 1, 255),
            &[PROTOCOL],
        )
        .listed("http2 5.3.1, 2"),
        stream(
            "DATA on a stream that is not open",
            "9113, 6.1",
            [hello(), data(END_STREAM, 1, b"test")].concat(),
            &[STREAM_CLOSED],
        )
        .varies()
        .known(LESS_TELLING)
        .listed("http2 6.1, 2"),
        Case::new(
            "a second HEADERS that ends nothing",
            "9113, 8.1",
            [
                open(),
                data(0, 1, b"test"),
                headers(END_HEADERS, 1, &block(&[("x-test", "ok")])),
            ]
            .concat(),
            Expect::Malformed,
        )
        .listed("http2 8.1, 1"),
    ]
}

fn blocks() -> Vec<Case> {
    let begun = || headers(END_STREAM, 1, &head("GET", "/", &[]));
    let rest = || continuation(END_HEADERS, 1, &filler());
    let between =
        |name: &str, source, bytes: Vec<u8>| connection(name, source, [begun(), bytes, rest()].concat(), &[PROTOCOL]);
    vec![
        between("PRIORITY within a head", "9113, 4.3", priority(1, 0, 255)).listed("http2 4.3, 2"),
        between("another stream's HEADERS within a head", "9113, 4.3", get(3, "/", &[])).listed("http2 4.3, 3"),
        between("an unknown kind within a head", "9113, 5.5", frame(0x16, 0, 0, &[0; 8])).listed("http2 5.5, 2"),
        between("PRIORITY behind an open HEADERS", "9113, 6.2", priority(1, 0, 255)).listed("http2 6.2, 1"),
        between(
            "another stream's HEADERS behind an open one",
            "9113, 6.2",
            get(3, "/", &[]),
        )
        .listed("http2 6.2, 2"),
        between(
            "DATA behind a CONTINUATION that is not the last",
            "9113, 6.10",
            [continuation(0, 1, &filler()), data(END_STREAM, 1, b"test")].concat(),
        )
        .listed("http2 6.10, 2"),
        between(
            "CONTINUATION on stream 0",
            "9113, 6.10",
            continuation(END_HEADERS, 0, &filler()),
        )
        .listed("http2 6.10, 3"),
        between(
            "CONTINUATION on another stream",
            "9113, 6.10",
            continuation(END_HEADERS, 3, &filler()),
        ),
        between("PING within a head", "9113, 4.3", frame(PING, 0, 0, &[0; 8])),
        between("SETTINGS within a head", "9113, 4.3", frame(SETTINGS, 0, 0, &[])),
        connection(
            "CONTINUATION behind the end of a head",
            "9113, 6.10",
            [get(1, "/", &[]), rest()].concat(),
            &[PROTOCOL],
        )
        .varies()
        .listed("http2 6.10, 4"),
        connection(
            "CONTINUATION behind the last CONTINUATION",
            "9113, 6.10",
            [begun(), rest(), rest()].concat(),
            &[PROTOCOL],
        )
        .varies()
        .listed("http2 6.10, 5"),
        connection(
            "CONTINUATION behind DATA",
            "9113, 6.10",
            [open(), data(0, 1, b"test"), rest()].concat(),
            &[PROTOCOL],
        )
        .listed("http2 6.10, 6"),
    ]
}
