//! Sound bodies, trailers, and answers.

use crate::suite::case::{Check, Shop};
use crate::suite::http2::case::{Case, Expect, passes};
use crate::suite::http2::wire::{
    END_HEADERS, END_STREAM, HEADERS, PADDED, WHOLE, WITH_PRIORITY, block, data, frame, get, head, headers, post,
    priority_fields,
};

pub fn all() -> Vec<Case> {
    let opened = || headers(END_HEADERS, 1, &head("POST", "/", &[]));
    let body = |text| Expect::Passes(vec![Check::Body(text)]);
    vec![
        Case::new("a DATA frame", "9113, 6.1", post(&[], "test"), body("test")).listed("generic 3.1, 1"),
        Case::new(
            "two DATA frames",
            "9113, 6.1",
            [opened(), data(0, 1, b"test"), data(END_STREAM, 1, b"test")].concat(),
            body("testtest"),
        )
        .listed("generic 3.1, 2"),
        Case::new(
            "DATA with padding",
            "9113, 6.1",
            [opened(), data(END_STREAM | PADDED, 1, b"\x06test\0\0\0\0\0\0")].concat(),
            body("test"),
        )
        .listed("generic 3.1, 3"),
        Case::new("POST", "9113, 8.1", post(&[], "test"), body("test")).listed("generic 4, 3"),
        Case::new(
            "POST with a trailer",
            "9113, 8.1",
            [
                headers(END_HEADERS, 1, &head("POST", "/", &[("trailer", "x-test")])),
                data(0, 1, b"test"),
                headers(WHOLE, 1, &block(&[("x-test", "ok")])),
            ]
            .concat(),
            body("test"),
        )
        .listed("generic 4, 4"),
        Case::new(
            "a length that the body keeps",
            "9113, 8.1.1",
            post(&[("content-length", "5")], "hello"),
            body("hello"),
        ),
        Case::new(
            "a length of nothing, and no body",
            "9113, 8.1.1",
            headers(WHOLE, 1, &head("POST", "/", &[("content-length", "0")])),
            body(""),
        ),
        Case::new(
            "a length kept by two frames",
            "9113, 8.1.1",
            [
                headers(END_HEADERS, 1, &head("POST", "/", &[("content-length", "5")])),
                data(0, 1, b"he"),
                data(END_STREAM, 1, b"llo"),
            ]
            .concat(),
            body("hello"),
        ),
        Case::new(
            "a DATA frame of 16,384 bytes",
            "9113, 4.2",
            [opened(), data(END_STREAM, 1, &[b'x'; 16_384])].concat(),
            Expect::Passes(vec![Check::BodyBytes(16_384)]),
        )
        .listed("http2 4.2, 1"),
        Case::new(
            "a body with an empty DATA frame in it",
            "9113, 6.1",
            [
                opened(),
                data(0, 1, b"he"),
                data(0, 1, b""),
                data(END_STREAM, 1, b"llo"),
            ]
            .concat(),
            body("hello"),
        ),
        Case::new(
            "a body that looks like a request",
            "9113, 10.3",
            post(&[], "0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: shop.test\r\n\r\n"),
            Expect::Passes(vec![Check::Times(1), Check::Never("GET /hidden")]),
        ),
        Case::new(
            "the shop's trailer, from chunks",
            "9113, 8.1",
            get(1, "/", &[("te", "trailers")]),
            passes(),
        )
        .shop(Shop::Says(
            "HTTP/1.1 200 OK\r\nTrailer: x-sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n",
        )),
        Case::new(
            "the shop's Connection fields stay behind",
            "9113, 8.2.2",
            get(1, "/", &[]),
            passes(),
        )
        .shop(Shop::Says(
            "HTTP/1.1 200 OK\r\nConnection: keep-alive, x-a\r\nKeep-Alive: 5\r\nX-A: b\r\nContent-Length: 2\r\n\r\nhi",
        )),
        Case::new(
            "a head with priority and padding",
            "9113, 6.2",
            frame(
                HEADERS,
                WHOLE | PADDED | WITH_PRIORITY,
                1,
                &[vec![3], priority_fields(0, 15), head("GET", "/", &[]), vec![0; 3]].concat(),
            ),
            passes(),
        ),
    ]
}
