//! An empty room costs nothing: a request that is not a visit passes as if the gate were not there, byte for byte except for
//! the fields that every proxy adds, and leaves no trace in the room. A page of a room is also private: these tests' pages
//! already declare that themselves.

use crate::http::Wire;
use crate::shop::Reply;

use super::{House, ONE};

/// The fields that, by `docs/reference/proxy.md`, are added or made anew on the way to the shop, and back.
const ADDED: &[&str] = &[
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-request-id",
    "via",
    "connection",
    "transfer-encoding",
];

const REPLIES: &[Reply] = &[
    Reply::new(
        "/hooks",
        "HTTP/1.1 202 Accepted\r\nX-Shop: 1\r\nX-Receipt: 7\r\n",
        "taken",
    ),
    Reply::new(
        "/api",
        "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nSet-Cookie: sid=1; Path=/\r\nContent-Type: application/json\r\n",
        "{\"a\":1}",
    ),
    Reply::new(
        "/logo",
        "HTTP/1.1 200 OK\r\nX-Shop: 1\r\nContent-Type: image/svg+xml\r\nCache-Control: public, max-age=600\r\nETag: \"x\"\r\n",
        "<svg/>",
    ),
    Reply::new(
        "/gone",
        "HTTP/1.1 404 Nothing here\r\nX-Shop: 1\r\nCache-Control: private\r\n",
        "no",
    ),
];

/// Sends the same bytes to the shop itself and through the gate. An answer that is received whole has a length.
const FRAMING: [&str; 2] = ["content-length", "transfer-encoding"];

async fn passes_untouched(request: &str) {
    let house = House::scripted(REPLIES, ONE, "").await;
    let direct = Wire::open(house.shop.address)
        .await
        .unwrap()
        .ask(request.as_bytes())
        .await
        .unwrap();
    let through = Wire::open(house.gate.address)
        .await
        .unwrap()
        .ask(request.as_bytes())
        .await
        .unwrap();
    let seen = house.shop.seen();
    let [first, second] = seen.as_slice() else {
        panic!("the shop saw {} requests", seen.len())
    };

    assert_eq!(first.line(), second.line());
    let other = [ADDED, &FRAMING].concat();
    assert_eq!(
        first.request.but(&other),
        second.request.but(&other),
        "{}",
        second.request.head
    );
    assert_eq!(first.request.body, second.request.body);
    let length = second.request.body.len().to_string();
    let length = Some(length.as_str()).filter(|length| *length != "0");
    assert_eq!(FRAMING.map(|name| second.request.field(name)), [length, None]);
    assert_eq!(second.session(), None);

    let line = |head: &str| head.lines().next().unwrap().to_owned();
    assert_eq!(line(&direct.head), line(&through.head));
    assert_eq!(
        direct.but(ADDED),
        through.but(&[ADDED, &["date"]].concat()),
        "{}",
        through.head
    );
    assert_eq!(direct.body, through.body);

    let room = house.gate.room().await;
    for figure in ["joins", "calls", "called", "sessions", "waiting"] {
        assert_eq!(room[figure], 0, "{figure}");
    }
}

#[tokio::test]
async fn a_webhook_with_a_body_passes_untouched() {
    let body = "{\"paid\":true,\"text\":\"\u{d55c}\"}";
    passes_untouched(&format!(
        "POST /hooks/payment?id=7&x=%2F HTTP/1.1\r\nHost: shop.test\r\nContent-Type: application/json\r\n\
         X-Signature: t=1,v1=abc\r\nUser-Agent: Provider/1.0\r\nAccept: */*\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    ))
    .await;
}

#[tokio::test]
async fn a_webhook_in_chunks_passes_untouched() {
    passes_untouched(
        "POST /hooks/stream HTTP/1.1\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\nX-Signature: 1\r\n\r\n\
         5\r\nfirst\r\n6\r\nsecond\r\n0\r\n\r\n",
    )
    .await;
}

#[tokio::test]
async fn a_preflight_passes_untouched() {
    passes_untouched(
        "OPTIONS /api/seats HTTP/1.1\r\nHost: shop.test\r\nOrigin: https://app.test\r\n\
         Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n\r\n",
    )
    .await;
}

#[tokio::test]
async fn an_app_call_with_the_shops_own_cookies_passes_untouched() {
    passes_untouched(
        "GET /api/basket HTTP/1.1\r\nHost: shop.test\r\nAccept: application/json\r\nAuthorization: Bearer x\r\n\
         Cookie: sid=\"1\"; lang=ko\r\nCookie: other=2\r\nRange: bytes=0-3\r\n\r\n",
    )
    .await;
}

#[tokio::test]
async fn a_put_of_a_script_passes_untouched() {
    passes_untouched(
        "PUT /api/seat/7 HTTP/1.1\r\nHost: shop.test\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n\
         Origin: https://shop.test\r\nIf-Match: \"a\"\r\nContent-Length: 2\r\n\r\n{}",
    )
    .await;
}

#[tokio::test]
async fn a_head_passes_untouched() {
    passes_untouched("HEAD /logo.svg HTTP/1.1\r\nHost: shop.test\r\nAccept: text/html\r\n\r\n").await;
}

#[tokio::test]
async fn an_asset_passes_untouched_and_stays_cacheable() {
    passes_untouched(
        "GET /logo.svg?v=3 HTTP/1.1\r\nHost: shop.test\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n\
         Accept: image/avif,image/webp,*/*;q=0.8\r\nIf-None-Match: \"y\"\r\n\r\n",
    )
    .await;
}

#[tokio::test]
async fn a_prefetch_and_a_crawler_pass_untouched() {
    passes_untouched("GET /gone HTTP/1.1\r\nHost: shop.test\r\nSec-Purpose: prefetch\r\nAccept: text/html\r\n\r\n")
        .await;
    passes_untouched(
        "GET /gone HTTP/1.1\r\nHost: shop.test\r\nAccept: text/html\r\nUser-Agent: Mozilla/5.0 (compatible; Googlebot/2.1)\r\n\r\n",
    )
    .await;
}
