//! The messages: to the shop, and to the visitor after it.

use std::net::SocketAddr;
use std::os::unix::net::UnixListener as Unix;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::server::Builder;
use http::{HeaderMap, HeaderValue, Response};
use ropeline::proxy::{HealthCheck, Place};
use tokio::net::UnixListener;

use super::{GET, Record, Shop, connects, gate, gate_by_alpn, gate_with, hi, secured, speak};
use crate::shop::OK;

#[test]
fn a_request_is_said_as_http2_says_it() {
    let shop = Shop::new();
    let gate = gate_with(shop.address, |upstream| upstream.request_buffer = 0);
    let answer = gate.client().ask(
        "POST /a%20b?c=d HTTP/1.1\r\nHost: shop.example:8080\r\nConnection: x-own, TE\r\nX-Own: 1\r\nKeep-Alive: 5\r\n\
         TE: trailers, deflate\r\nCookie: one=1; two=2\r\nAuthorization: Basic abc\r\nExpect: 100-continue\r\n\
         Transfer-Encoding: chunked\r\nTrailer: x-sum\r\n\r\n5\r\nhello\r\n0\r\nx-sum: 7\r\n\r\n",
    );
    assert_eq!(answer.status, 100, "the body is asked for at once");
    shop.seen(1, |seen| {
        let seen = &seen[0];
        assert_eq!(seen.head.method, "POST");
        assert_eq!(seen.head.uri, "http://shop.example:8080/a%20b?c=d");
        let headers = &seen.head.headers;
        for gone in [
            "host",
            "connection",
            "x-own",
            "keep-alive",
            "transfer-encoding",
            "upgrade",
            "content-length",
        ] {
            assert!(!headers.contains_key(gone), "{gone}: {headers:?}");
        }
        assert_eq!(headers["te"], "trailers");
        assert_eq!(headers.get_all("cookie").iter().collect::<Vec<_>>(), ["one=1; two=2"]);
        assert_eq!(headers["via"], "1.1 ropeline");
        assert_eq!(headers["x-forwarded-host"], "shop.example:8080");
        assert_eq!(headers["x-forwarded-for"], "127.0.0.1");
        assert_eq!(headers["ropeline-session"], "opaque");
        assert_eq!(headers["expect"], "100-continue");
        assert_eq!(seen.body, "hello");
        assert_eq!(seen.trailers.as_ref().unwrap()["x-sum"], "7");
    });
}

#[test]
fn an_answer_comes_as_http11_whole_with_its_trailers() {
    let shop = Shop::with(None, Builder::new(), |mut asked| {
        Box::pin(async move {
            asked.read().await?;
            let answer = Response::builder().status(201).header("x-shop", "yes");
            let answer = answer.header("trailer", "x-sum").header("ropeline-session", "end");
            let mut body = asked.reply.send_response(answer.body(()).unwrap(), false).ok()?;
            body.send_data(Bytes::from_static(b"hi"), false).ok()?;
            let trailers =
                HeaderMap::from_iter([(http::HeaderName::from_static("x-sum"), HeaderValue::from_static("7"))]);
            body.send_trailers(trailers).ok()
        })
    });
    let gate = gate(shop.address);
    let answer = gate
        .client()
        .ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: TE\r\nTE: trailers\r\n\r\n");
    assert_eq!((answer.status, answer.body.as_str()), (201, "hi"));
    assert_eq!(answer.header("x-shop").unwrap(), "yes");
    assert_eq!(
        answer.header("x-heard").unwrap(),
        "end",
        "the shop's word on the session"
    );
    assert!(answer.head.starts_with("HTTP/1.1 201"), "{}", answer.head);
    assert!(
        answer.trailers.to_ascii_lowercase().contains("x-sum: 7"),
        "{}",
        answer.trailers
    );
}

#[test]
fn heads_without_bodies_keep_their_lengths() {
    let shop = Shop::with(None, Builder::new(), |mut asked| {
        Box::pin(async move {
            asked.read().await?;
            let status = if asked.path() == "/204" { 204 } else { 200 };
            let mut answer = Response::builder().status(status);
            if status == 200 {
                answer = answer.header("content-length", "2");
            }
            asked.say(answer.body(()).unwrap(), "")
        })
    });
    let gate = gate(shop.address);
    let mut client = gate.client();
    client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    let head = client.head().to_ascii_lowercase();
    assert!(
        head.starts_with("http/1.1 200 ") && head.contains("content-length: 2\r\n"),
        "{head}"
    );
    assert_eq!(client.ask("GET /204 HTTP/1.1\r\nHost: a\r\n\r\n").status, 204);
}

#[test]
fn large_bodies_pass_both_ways() {
    let shop = Shop::with(None, Builder::new(), |mut asked| {
        Box::pin(async move {
            asked.read().await?;
            asked.say(Response::new(()), &"y".repeat(3_000_000))
        })
    });
    let gate = gate(shop.address);
    let length = 2_000_000;
    let mut client = gate.client();
    let body = "x".repeat(length);
    let answer = client.ask(&format!(
        "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{body}"
    ));
    assert_eq!((answer.status, answer.body.len()), (200, 3_000_000));
    shop.seen(1, |seen| assert_eq!(seen[0].body.len(), length));
}

#[test]
fn server_that_chooses_http2_within_tls_is_spoken_to_so() {
    let (config, tls) = secured(&["h2", "http/1.1"]);
    let shop = Shop::with(Some(config), Builder::new(), |asked| Box::pin(hi(asked)));
    let gate = gate_by_alpn(shop.address, tls);
    assert_eq!(gate.origins.standing()[0].protocol, None);
    for _ in 0..3 {
        assert_eq!(gate.client().ask(GET).body, "hi");
    }
    assert_eq!(
        (connects(&gate), gate.origins.standing()[0].protocol),
        (1, Some("HTTP/2"))
    );
    shop.seen(3, |seen| assert_eq!(seen[2].head.uri, "https://shop.example/a"));
}

#[test]
fn server_that_chooses_http11_within_tls_is_spoken_to_so() {
    let (config, tls) = secured(&["http/1.1"]);
    let shop = Shop::with(Some(config), Builder::new(), |asked| Box::pin(hi(asked)));
    let gate = gate_by_alpn(shop.address, tls);
    for _ in 0..3 {
        assert_eq!(gate.client().ask(GET).body, "hi");
    }
    assert_eq!(
        (connects(&gate), gate.origins.standing()[0].protocol),
        (1, Some("HTTP/1.1"))
    );
}

#[test]
fn nothing_but_tls_is_asked_by_alpn() {
    let shop = crate::shop::Shop::answering(OK);
    let gate = gate_with(shop.address, |upstream| {
        upstream.http2 = ropeline::proxy::UpstreamHttp2::Alpn;
    });
    assert_eq!(gate.client().ask(GET).body, "hi");
    assert!(shop.seen().starts_with("GET /a HTTP/1.1\r\n"));
}

#[test]
fn shop_that_does_not_know_http2_is_told_so() {
    let shop = crate::shop::Shop::new(|line| {
        line.take(24);
        line.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    });
    let gate = gate(shop.address);
    assert_eq!(gate.client().ask(super::POST).status, 502);
    let server = &gate.origins.standing()[0];
    assert_eq!(server.reason.as_deref(), Some("it does not speak HTTP/2"));
}

#[test]
fn shop_on_a_unix_socket_is_spoken_to_in_http2() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.sock");
    let listener = Unix::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let listener = UnixListener::from_std(listener).unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            let script = Arc::new(|asked| -> super::Answering { Box::pin(hi(asked)) });
            speak(stream, Builder::new(), script, Arc::new(Record::default())).await
        })
    });
    let gate = gate_with(SocketAddr::from(([127, 0, 0, 1], 1)), |upstream| {
        upstream.servers[0].place = Place::Unix(path);
    });
    for _ in 0..2 {
        assert_eq!(gate.client().ask(GET).body, "hi");
    }
}

#[test]
fn checks_speak_what_requests_do() {
    let shop = Shop::with(None, Builder::new(), |mut asked| {
        Box::pin(async move {
            asked.read().await?;
            let status = if asked.path() == "/health" { 503 } else { 200 };
            asked.say(Response::builder().status(status).body(()).unwrap(), "hi")
        })
    });
    let gate = gate_with(shop.address, |upstream| {
        upstream.check = Some(HealthCheck {
            path: "/health".parse().unwrap(),
            host: Some("shop.internal".parse().unwrap()),
            interval: Duration::from_millis(5),
            timeout: Duration::from_secs(10),
            statuses: 200..=299,
            out_after: 2,
            back_after: 2,
        });
    });
    gate.until("it is out", |gate| !gate.origins.standing()[0].healthy);
    shop.seen(2, |seen| assert_eq!(seen[0].head.uri, "http://shop.internal/health"));
    let reason = gate.origins.standing()[0].reason.clone().unwrap();
    assert!(reason.contains("503"), "{reason}");
}

#[test]
fn host_is_set_where_it_is_to_be() {
    let shop = Shop::new();
    let gate = gate_with(shop.address, |upstream| {
        upstream.host = Some("shop.internal".parse().unwrap());
    });
    assert_eq!(gate.client().ask(GET).status, 200);
    shop.seen(1, |seen| {
        assert_eq!(seen[0].head.uri, "http://shop.internal/a");
        assert_eq!(seen[0].head.headers["x-forwarded-host"], "shop.example");
    });
}
