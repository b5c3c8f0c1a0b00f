//! Frames that break the rules of their kind, and beginnings that are none.

use crate::suite::http2::case::{Case, Expect, LESS_TELLING};
use crate::suite::http2::wire::{
    CANCEL, DATA, END_HEADERS, END_STREAM, FRAME_SIZE, GOAWAY, HEADERS, PADDED, PING, PREFACE, PRIORITY, PROTOCOL,
    PUSH_PROMISE, RST_STREAM, SETTINGS, WHOLE, WINDOW_UPDATE, block, continuation, data, frame, get, head, headers,
    priority, reset,
};

pub fn all() -> Vec<Case> {
    let mut cases = beginnings();
    cases.extend(sizes());
    cases.extend(kinds());
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

fn beginnings() -> Vec<Case> {
    vec![
        Case::new("the server speaks first, of settings", "9113, 3.4", "", Expect::Alive).listed("http2 3.5, 1"),
        connection(
            "a preface that is none",
            "9113, 3.4",
            b"INVALID CONNECTION PREFACE\r\n\r\n".to_vec(),
            &[PROTOCOL],
        )
        .bare()
        .listed("http2 3.5, 2"),
        connection(
            "a preface with its last byte changed",
            "9113, 3.4",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r\0\0\0\x04\0\0\0\0\0".to_vec(),
            &[PROTOCOL],
        )
        .bare(),
        connection(
            "a request before any settings",
            "9113, 3.4",
            [PREFACE, &get(1, "/", &[])].concat(),
            &[PROTOCOL],
        )
        .bare(),
        connection(
            "a PING before any settings",
            "9113, 3.4",
            [PREFACE, &frame(PING, 0, 0, &[0; 8])].concat(),
            &[PROTOCOL],
        )
        .bare(),
    ]
}

fn sizes() -> Vec<Case> {
    let larger = vec![0; 16_385];
    vec![
        stream(
            "DATA larger than a frame may be",
            "9113, 4.2",
            [open(), data(END_STREAM, 1, &larger)].concat(),
            &[FRAME_SIZE],
        )
        .listed("http2 4.2, 2"),
        connection(
            "HEADERS larger than a frame may be",
            "9113, 4.2",
            headers(
                WHOLE,
                1,
                &[head("GET", "/", &[]), block(&[("x-a", &"x".repeat(16_385))])].concat(),
            ),
            &[FRAME_SIZE],
        )
        .listed("http2 4.2, 3"),
        connection(
            "CONTINUATION larger than a frame may be",
            "9113, 4.2",
            [
                headers(END_STREAM, 1, &head("GET", "/", &[])),
                continuation(END_HEADERS, 1, &block(&[("x-a", &"x".repeat(16_385))])),
            ]
            .concat(),
            &[FRAME_SIZE],
        ),
        connection(
            "an unknown kind larger than a frame may be",
            "9113, 4.2",
            frame(0x16, 0, 0, &larger),
            &[FRAME_SIZE],
        ),
        stream(
            "PRIORITY of 4 bytes",
            "9113, 6.3",
            [open(), frame(PRIORITY, 0, 1, &[0x80, 0, 0, 1])].concat(),
            &[FRAME_SIZE],
        )
        .known(LESS_TELLING)
        .listed("http2 6.3, 2"),
        connection(
            "RST_STREAM of 3 bytes",
            "9113, 6.4",
            [open(), frame(RST_STREAM, 0, 1, &[0, 0, 0])].concat(),
            &[FRAME_SIZE],
        )
        .known(LESS_TELLING)
        .listed("http2 6.4, 3"),
        connection(
            "SETTINGS with ACK and more",
            "9113, 6.5",
            frame(SETTINGS, 1, 0, &[0]),
            &[FRAME_SIZE],
        )
        .known(LESS_TELLING)
        .listed("http2 6.5, 1"),
        connection(
            "SETTINGS of 3 bytes",
            "9113, 6.5",
            frame(SETTINGS, 0, 0, &[0, 3, 0]),
            &[FRAME_SIZE],
        )
        .known(LESS_TELLING)
        .listed("http2 6.5, 3"),
        connection(
            "PING of 6 bytes",
            "9113, 6.7",
            frame(PING, 0, 0, &[0; 6]),
            &[FRAME_SIZE],
        )
        .known(LESS_TELLING)
        .listed("http2 6.7, 4"),
        connection(
            "PING of 16 bytes",
            "9113, 6.7",
            frame(PING, 0, 0, &[0; 16]),
            &[FRAME_SIZE],
        )
        .known(LESS_TELLING),
        connection(
            "GOAWAY of 4 bytes",
            "9113, 6.8",
            frame(GOAWAY, 0, 0, &[0; 4]),
            &[FRAME_SIZE],
        )
        .known(LESS_TELLING),
        connection(
            "WINDOW_UPDATE of 3 bytes",
            "9113, 6.9",
            frame(WINDOW_UPDATE, 0, 0, &[0, 0, 1]),
            &[FRAME_SIZE],
        )
        .known(LESS_TELLING)
        .listed("http2 6.9, 3"),
    ]
}

fn kinds() -> Vec<Case> {
    let on_none = |kind, payload: &[u8]| frame(kind, END_HEADERS, 0, payload);
    let faulty_ping = || frame(PING, 0, 3, &[0; 8]);
    vec![
        connection(
            "a fault closes the connection",
            "9113, 5.4.1",
            faulty_ping(),
            &[PROTOCOL],
        )
        .listed("http2 5.4.1, 1"),
        connection("a fault is told by GOAWAY", "9113, 5.4.1", faulty_ping(), &[PROTOCOL]).listed("http2 5.4.1, 2"),
        connection("DATA on stream 0", "9113, 6.1", frame(DATA, 1, 0, b"test"), &[PROTOCOL]).listed("http2 6.1, 1"),
        connection(
            "DATA with more padding than there is",
            "9113, 6.1",
            [open(), frame(DATA, PADDED | END_STREAM, 1, b"\x06Test")].concat(),
            &[PROTOCOL],
        )
        .listed("http2 6.1, 3"),
        connection(
            "DATA of padding alone, one too many",
            "9113, 6.1",
            [open(), frame(DATA, PADDED | END_STREAM, 1, b"\x01")].concat(),
            &[PROTOCOL],
        ),
        connection(
            "padded DATA without a byte",
            "9113, 6.1",
            [open(), frame(DATA, PADDED | END_STREAM, 1, b"")].concat(),
            &[PROTOCOL, FRAME_SIZE],
        ),
        connection(
            "HEADERS on stream 0",
            "9113, 6.2",
            on_none(HEADERS, &head("GET", "/", &[])),
            &[PROTOCOL],
        )
        .listed("http2 6.2, 3"),
        connection(
            "HEADERS with more padding than there is",
            "9113, 6.2",
            headers(WHOLE | PADDED, 1, &[vec![255], head("GET", "/", &[])].concat()),
            &[PROTOCOL],
        )
        .listed("http2 6.2, 4"),
        connection("PRIORITY on stream 0", "9113, 6.3", priority(0, 0, 255), &[PROTOCOL]).listed("http2 6.3, 1"),
        connection("RST_STREAM on stream 0", "9113, 6.4", reset(0, CANCEL), &[PROTOCOL]).listed("http2 6.4, 1"),
        connection(
            "RST_STREAM on an idle stream",
            "9113, 6.4",
            reset(1, CANCEL),
            &[PROTOCOL],
        )
        .listed("http2 6.4, 2"),
        connection(
            "SETTINGS on a stream",
            "9113, 6.5",
            frame(SETTINGS, 0, 1, &[0, 3, 0, 0, 0, 100]),
            &[PROTOCOL],
        )
        .listed("http2 6.5, 2"),
        connection("PING on a stream", "9113, 6.7", frame(PING, 0, 1, &[0; 8]), &[PROTOCOL]).listed("http2 6.7, 3"),
        connection(
            "GOAWAY on a stream",
            "9113, 6.8",
            frame(GOAWAY, 0, 1, &[0; 8]),
            &[PROTOCOL],
        )
        .listed("http2 6.8, 1"),
        connection(
            "a promise from a client",
            "9113, 8.4",
            frame(
                PUSH_PROMISE,
                END_HEADERS,
                1,
                &[vec![0, 0, 0, 3], head("GET", "/", &[])].concat(),
            ),
            &[PROTOCOL],
        )
        .listed("http2 8.2, 1"),
        connection(
            "a promise on an open stream",
            "9113, 8.4",
            [
                open(),
                frame(
                    PUSH_PROMISE,
                    END_HEADERS,
                    1,
                    &[vec![0, 0, 0, 2], head("GET", "/", &[])].concat(),
                ),
            ]
            .concat(),
            &[PROTOCOL],
        ),
    ]
}
