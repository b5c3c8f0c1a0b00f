//! Valid frames and requests, which every server must accept.

use crate::suite::case::Check;
use crate::suite::http2::case::{Case, Expect, Sign, passes};
use crate::suite::http2::wire::{
    CANCEL, END_HEADERS, END_STREAM, NO_ERROR, PADDED, PUSH, SETTINGS, WHOLE, WINDOW, WITH_PRIORITY, block,
    continuation, frame, get, goaway, head, headers, ping, priority, priority_fields, reset, settings, update,
};

pub fn all() -> Vec<Case> {
    let mut cases = frames();
    cases.extend(requests());
    cases
}

fn alive(name: &str, source: &'static str, bytes: Vec<u8>) -> Case {
    Case::new(name, source, bytes, Expect::Alive)
}

fn frames() -> Vec<Case> {
    let hello = || get(1, "/", &[]);
    let sound = |name: &str, source, bytes: Vec<u8>| Case::new(name, source, bytes, passes());
    vec![
        sound("preface, settings and a request", "9113, 3.4", hello()).listed("generic 1, 1"),
        alive("PRIORITY on an idle stream", "9113, 5.1", priority(1, 0, 255)).listed("generic 2, 1"),
        sound(
            "WINDOW_UPDATE on a stream half closed",
            "9113, 5.1",
            [hello(), update(1, 10)].concat(),
        )
        .opening(&[(WINDOW, 0)])
        .listed("generic 2, 2"),
        sound(
            "PRIORITY on a stream half closed",
            "9113, 5.1",
            [hello(), priority(1, 0, 255), update(1, 10)].concat(),
        )
        .opening(&[(WINDOW, 0)])
        .listed("generic 2, 3"),
        Case::new(
            "RST_STREAM on a stream half closed",
            "9113, 5.1",
            [hello(), reset(1, CANCEL)].concat(),
            Expect::Harmless,
        )
        .varies()
        .listed("generic 2, 4"),
        sound("PRIORITY on a closed stream", "9113, 5.1", hello())
            .hear(Sign::Over(1))
            .send(priority(1, 0, 255))
            .listed("generic 2, 5"),
        sound(
            "PRIORITY with the least weight",
            "9113, 6.3",
            [priority(1, 0, 0), hello()].concat(),
        )
        .listed("generic 3.3, 1"),
        sound(
            "PRIORITY with the greatest weight",
            "9113, 6.3",
            [priority(1, 0, 255), hello()].concat(),
        )
        .listed("generic 3.3, 2"),
        sound(
            "PRIORITY with a dependency",
            "9113, 6.3",
            [priority(3, 1, 255), hello()].concat(),
        )
        .listed("generic 3.3, 3"),
        sound(
            "PRIORITY that is exclusive",
            "9113, 6.3",
            [priority(1, 0x8000_0000, 255), hello()].concat(),
        )
        .listed("generic 3.3, 4"),
        sound(
            "PRIORITY for a stream above the request's",
            "9113, 5.1.1",
            [priority(3, 0, 255), hello()].concat(),
        )
        .listed("generic 3.3, 5"),
        Case::new(
            "a request called off",
            "9113, 6.4",
            [headers(END_HEADERS, 1, &head("POST", "/", &[])), reset(1, CANCEL)].concat(),
            Expect::Harmless,
        )
        .varies()
        .listed("generic 3.4, 1"),
        sound("SETTINGS again", "9113, 6.5", settings(&[(PUSH, 0)]))
            .hear(Sign::Acknowledged(2))
            .send(hello())
            .listed("generic 3.5, 1"),
        alive("PING", "9113, 6.7", ping(*b"ropeline")).listed("generic 3.7, 1"),
        Case::new(
            "GOAWAY without an error",
            "9113, 6.8",
            goaway(0, NO_ERROR),
            Expect::Harmless,
        )
        .listed("generic 3.8, 1"),
        alive("WINDOW_UPDATE of the connection", "9113, 6.9", update(0, 1)).listed("generic 3.9, 1"),
        sound(
            "WINDOW_UPDATE of a stream",
            "9113, 6.9",
            [hello(), update(1, 1)].concat(),
        )
        .listed("generic 3.9, 2"),
        alive("a frame of an unknown kind", "9113, 4.1", frame(0x16, 0, 0, &[0; 8])).listed("http2 4.1, 1"),
        alive(
            "a flag that PING does not have",
            "9113, 4.1",
            frame(6, 0x16, 0, &[0; 8]),
        )
        .listed("http2 4.1, 2"),
        alive(
            "the reserved bit of a stream's number",
            "9113, 4.1",
            frame(6, 0x16, 0x8000_0000, &[0; 8]),
        )
        .listed("http2 4.1, 3"),
        alive(
            "a frame of an unknown kind, on a stream, with flags",
            "9113, 5.5",
            frame(0xfe, 0xff, 7, b"anything"),
        ),
        alive("an unknown extension", "9113, 5.5", frame(0x16, 0, 0, &[0; 8])).listed("http2 5.5, 1"),
        alive("PING with ACK", "9113, 6.7", frame(6, 1, 0, b"nobodys!")).listed("http2 6.7, 2"),
        alive("an unknown setting", "9113, 6.5.2", settings(&[(0xff, 1)])).listed("http2 6.5.2, 5"),
        alive("empty SETTINGS", "9113, 6.5", frame(SETTINGS, 0, 0, &[])),
        Case::new(
            "GOAWAY with an unknown code",
            "9113, 7",
            goaway(0, 0xff),
            Expect::Harmless,
        )
        .listed("http2 7, 1"),
        Case::new(
            "RST_STREAM with an unknown code",
            "9113, 7",
            [headers(END_HEADERS, 1, &head("POST", "/", &[])), reset(1, 0xff)].concat(),
            Expect::Harmless,
        )
        .varies()
        .listed("http2 7, 2"),
        sound(
            "two requests at once",
            "9113, 5",
            [get(1, "/one", &[]), get(3, "/two", &[])].concat(),
        )
        .streams(&[1, 3]),
        sound("numbers of streams left out", "9113, 5.1.1", get(101, "/", &[])).streams(&[101]),
    ]
}

fn requests() -> Vec<Case> {
    let sound =
        |name: &str, source, flags, block: Vec<u8>| Case::new(name, source, headers(flags, 1, &block), passes());
    let hello = || head("GET", "/", &[]);
    let start = |line| Expect::Passes(vec![Check::Start(line)]);
    vec![
        sound("a HEADERS frame", "9113, 6.2", WHOLE, hello()).listed("generic 3.2, 1"),
        sound(
            "HEADERS with padding",
            "9113, 6.2",
            WHOLE | PADDED,
            [vec![8], hello(), vec![0; 8]].concat(),
        )
        .listed("generic 3.2, 2"),
        sound(
            "HEADERS with priority",
            "9113, 6.2",
            WHOLE | WITH_PRIORITY,
            [priority_fields(0, 255), hello()].concat(),
        )
        .listed("generic 3.2, 3"),
        Case::new(
            "HEADERS and a CONTINUATION",
            "9113, 6.10",
            [
                headers(END_STREAM, 1, &hello()),
                continuation(END_HEADERS, 1, &block(&[("x-a", "b")])),
            ]
            .concat(),
            Expect::Passes(vec![Check::Field("x-a", "b")]),
        )
        .listed("generic 3.10, 1"),
        Case::new(
            "HEADERS and two CONTINUATIONs",
            "9113, 6.10",
            [
                headers(END_STREAM, 1, &hello()),
                continuation(0, 1, &block(&[("x-a", "b")])),
                continuation(END_HEADERS, 1, &block(&[("x-b", "c")])),
            ]
            .concat(),
            Expect::Passes(vec![Check::Field("x-a", "b"), Check::Field("x-b", "c")]),
        )
        .listed("generic 3.10, 2"),
        Case::new(
            "many CONTINUATIONs behind each other",
            "9113, 6.10",
            [
                headers(END_STREAM, 1, &hello()),
                continuation(0, 1, &block(&[("x-dummy", &"x".repeat(100))])),
                continuation(END_HEADERS, 1, &block(&[("x-dummy", &"y".repeat(100))])),
            ]
            .concat(),
            passes(),
        )
        .listed("http2 6.10, 1"),
        Case::new(
            "a field cut in two by a CONTINUATION",
            "9113, 4.3",
            {
                let whole = head("GET", "/", &[("x-a", "in two")]);
                let (first, rest) = whole.split_at(whole.len() - 3);
                [headers(END_STREAM, 1, first), continuation(END_HEADERS, 1, rest)].concat()
            },
            Expect::Passes(vec![Check::Field("x-a", "in two")]),
        ),
        Case::new(
            "an empty HEADERS, then a CONTINUATION with all",
            "9113, 6.10",
            [headers(END_STREAM, 1, &[]), continuation(END_HEADERS, 1, &hello())].concat(),
            passes(),
        ),
        sound("GET", "9113, 8.1", WHOLE, hello()).listed("generic 4, 1"),
        Case::new(
            "HEAD",
            "9113, 8.1",
            headers(WHOLE, 1, &head("HEAD", "/", &[])),
            start("HEAD / HTTP/1.1"),
        )
        .listed("generic 4, 2"),
        Case::new(
            "a query",
            "9113, 8.3.1",
            get(1, "/a?b=c&d=%2F", &[]),
            start("GET /a?b=c&d=%2F HTTP/1.1"),
        ),
        Case::new(
            "dot segments, untouched",
            "9113, 8.3.1",
            get(1, "/a/../b", &[]),
            start("GET /a/../b HTTP/1.1"),
        ),
        Case::new(
            "a method of one's own",
            "9110, 9.1",
            headers(WHOLE, 1, &head("PROPFIND", "/", &[])),
            start("PROPFIND / HTTP/1.1"),
        ),
        Case::new(
            "TE: trailers",
            "9113, 8.2.2",
            get(1, "/", &[("te", "trailers")]),
            passes(),
        ),
        Case::new(
            "a host alone, without :authority",
            "9113, 8.3.1",
            headers(
                WHOLE,
                1,
                &block(&[
                    (":method", "GET"),
                    (":scheme", "http"),
                    (":path", "/"),
                    ("host", "shop.test"),
                ]),
            ),
            Expect::Passes(vec![Check::Field("host", "shop.test")]),
        ),
        Case::new(
            "the same host twice",
            "9113, 8.3.1",
            get(1, "/", &[("host", "shop.test")]),
            Expect::Passes(vec![Check::Field("host", "shop.test")]),
        ),
        Case::new(
            "cookies in crumbs",
            "9113, 8.2.3",
            get(1, "/", &[("cookie", "a=1"), ("cookie", "b=2"), ("cookie", "c=3")]),
            Expect::Passes(vec![Check::Field("cookie", "a=1; b=2; c=3")]),
        ),
        Case::new(
            "crumbs with other fields between",
            "9113, 8.2.3",
            get(1, "/", &[("cookie", "a=1"), ("x-a", "b"), ("cookie", "b=2")]),
            Expect::Passes(vec![Check::Field("cookie", "a=1; b=2"), Check::Field("x-a", "b")]),
        ),
        Case::new(
            "pseudo-fields in another order",
            "9113, 8.3",
            headers(
                WHOLE,
                1,
                &block(&[
                    (":path", "/"),
                    (":authority", "shop.test"),
                    (":scheme", "http"),
                    (":method", "GET"),
                ]),
            ),
            start("GET / HTTP/1.1"),
        ),
    ]
}
