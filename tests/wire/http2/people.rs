//! Clients that mean well.

use bytes::Bytes;
use h2::client::Builder;
use h2::ext::Protocol;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};

use super::{Client, SOON, gate, gate_with, get, read, soon, text};
use crate::client::header;
use crate::gate::Gate;
use crate::shop::{OK, PATIENCE, Shop};

#[tokio::test]
async fn a_request_reaches_the_shop_as_http11_and_its_answer_comes_back() {
    let shop = Shop::answering(
        "HTTP/1.1 201 Made\r\nX-Shop: yes\r\nKeep-Alive: 5\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\n\r\n\
         2\r\nhi\r\n0\r\nx-sum: 7\r\n\r\n",
    );
    let gate = gate(&shop);
    let mut client = Client::new(&gate).await;
    let request = Request::post("http://shop.example:8080/a%20b?c=d")
        .header("cookie", "one=1")
        .header("cookie", "two=2; three=3")
        .header("cookie", "four=4")
        .header("te", "trailers")
        .header("expect", "100-continue");
    let (answer, mut body) = client.open(request.body(()).unwrap()).await;
    body.send_data(Bytes::from_static(b"hello"), true).unwrap();
    let answer = soon(answer).await.unwrap();
    assert_eq!(answer.status(), StatusCode::CREATED);
    assert_eq!(answer.headers()["x-shop"], "yes");
    assert!(!answer.headers().contains_key("keep-alive"));
    let mut incoming = answer.into_body();
    assert_eq!(soon(incoming.data()).await.unwrap().unwrap(), "hi");
    assert!(soon(incoming.data()).await.is_none());
    assert_eq!(soon(incoming.trailers()).await.unwrap().unwrap()["x-sum"], "7");
    let seen = shop.seen().to_ascii_lowercase();
    assert!(seen.starts_with("post /a%20b?c=d http/1.1\r\n"), "{seen}");
    assert_eq!(header(&seen, "host").unwrap(), "shop.example:8080");
    assert_eq!(header(&seen, "cookie").unwrap(), "one=1; two=2; three=3; four=4");
    assert_eq!(header(&seen, "via").unwrap(), "2.0 ropeline");
    assert_eq!(header(&seen, "x-forwarded-host").unwrap(), "shop.example:8080");
    assert_eq!(seen.matches("\r\nhost:").count(), 1);
    assert!(!seen.contains("expect:") && !seen.contains(":authority"), "{seen}");
    assert_eq!(header(&seen, "content-length").unwrap(), "5");
    assert!(seen.ends_with("\r\n\r\nhello"), "{seen}");
}

#[tokio::test]
async fn requests_are_answered_side_by_side() {
    let shop = Shop::new(|line| {
        let asked = line.request().unwrap();
        if asked.starts_with("GET /late ") {
            line.drain();
        } else {
            line.send(OK);
        }
    });
    let gate = gate(&shop);
    let mut client = Client::new(&gate).await;
    let late = client.send(get("/late")).await;
    let mut soon_answered = Vec::new();
    for _ in 0..40 {
        soon_answered.push(client.send(get("/")).await);
    }
    for answer in soon_answered {
        assert_eq!(read(answer).await, (StatusCode::OK, "hi".into()));
    }
    drop(late);
}

#[tokio::test]
async fn a_large_answer_comes_whole() {
    let shop = Shop::new(|line| {
        line.request();
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n");
        line.send(&"x".repeat(3_000_000));
    });
    let gate = gate(&shop);
    let (status, body) = Client::new(&gate).await.ask(get("/")).await;
    assert_eq!((status, body.len()), (StatusCode::OK, 3_000_000));
}

#[tokio::test]
async fn what_says_two_things_of_its_host_is_refused_and_the_connection_goes_on() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop);
    let mut client = Client::new(&gate).await;
    for host in ["other.example", "shop.example:81", "shop.example, shop.example"] {
        let mut request = get("/");
        request.headers_mut().insert("host", HeaderValue::from_static(host));
        assert_eq!(client.ask(request).await.0, StatusCode::BAD_REQUEST, "{host}");
    }
    for second in ["other.example", "shop.example"] {
        let mut twice = get("/");
        for host in ["shop.example", second] {
            twice.headers_mut().append("host", HeaderValue::from_static(host));
        }
        assert_eq!(client.ask(twice).await.0, StatusCode::BAD_REQUEST, "{second}");
    }
    let spaced = Request::get("http://shop.example/").header("x-a", " a");
    assert_eq!(client.ask(spaced.body(()).unwrap()).await.0, StatusCode::BAD_REQUEST);
    let user = Request::get("http://me@shop.example/").body(()).unwrap();
    assert_eq!(client.ask(user).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(shop.seen(), "");
    let mut same = get("/");
    same.headers_mut()
        .insert("host", HeaderValue::from_static("SHOP.example"));
    assert_eq!(client.ask(same).await.0, StatusCode::OK);
    assert!(shop.seen().contains("host: shop.example\r\n"));
}

#[tokio::test]
async fn connect_is_refused() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop);
    let mut client = Client::new(&gate).await;
    let connect = Request::connect("shop.example:443").body(()).unwrap();
    assert_eq!(client.ask(connect).await.0, StatusCode::METHOD_NOT_ALLOWED);
    let other = tunnel_to("connect-udp");
    assert_eq!(client.ask(other).await.0, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(shop.seen(), "");
}

pub fn tunnel_to(protocol: &'static str) -> Request<()> {
    let mut request = Request::new(());
    *request.method_mut() = Method::CONNECT;
    *request.uri_mut() = "http://shop.example/ws".parse().unwrap();
    request
        .headers_mut()
        .insert("sec-websocket-version", HeaderValue::from_static("13"));
    request.extensions_mut().insert(Protocol::from_static(protocol));
    request
}

pub fn accept(key: &str) -> String {
    tokio_tungstenite::tungstenite::handshake::derive_accept_key(key.as_bytes())
}

#[tokio::test]
async fn a_websocket_opens_on_a_stream() {
    let shop = Shop::new(|line| {
        let head = line.head().unwrap();
        assert!(head.starts_with("GET /ws HTTP/1.1\r\n"), "{head}");
        let key = head
            .lines()
            .find_map(|line| line.strip_prefix("sec-websocket-key: "))
            .unwrap();
        line.send(&format!(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Accept: {}\r\nSec-WebSocket-Protocol: chat\r\n\r\n",
            accept(key)
        ));
        while let Some(bytes) = line.take(4) {
            line.send(&bytes.to_ascii_uppercase());
        }
        line.send("DONE");
    });
    let gate = gate_with(&shop, |setup| setup.server.keep_alive = SOON);
    let mut client = Client::new(&gate).await;
    // The client gets the support of tunnels with the gate's settings.
    assert_eq!(client.ask(get("/own")).await.0, StatusCode::OK);
    let (answer, mut up) = client.open(tunnel_to("websocket")).await;
    let answer = soon(answer).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["sec-websocket-protocol"], "chat");
    for name in ["upgrade", "connection", "sec-websocket-accept"] {
        assert!(!answer.headers().contains_key(name), "{name}");
    }
    let mut down = answer.into_body();
    // Another, on which nothing is asked, has come to its end meanwhile: the tunnel keeps this one.
    let mut other = Client::new(&gate).await;
    assert_eq!(other.ask(get("/own")).await.0, StatusCode::OK);
    assert!(other.closed().await.is_ok());
    assert_eq!(client.ask(get("/own")).await.0, StatusCode::OK);
    up.send_data(Bytes::from_static(b"ping"), false).unwrap();
    assert_eq!(soon(down.data()).await.unwrap().unwrap(), "PING");
    up.send_data(Bytes::new(), true).unwrap();
    assert_eq!(soon(down.data()).await.unwrap().unwrap(), "DONE");
    gate.until("no tunnel", |gate| {
        gate.stats.tunnels_open.load(std::sync::atomic::Ordering::Relaxed) == 0 && gate.guards() == 0
    });
}

#[tokio::test]
async fn a_shop_that_does_not_prove_the_key_opens_no_tunnel() {
    let shop = Shop::new(|line| {
        line.head();
        line.send(&format!(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Accept: {}\r\n\r\n",
            accept("another key")
        ));
        line.drain();
    });
    let gate = gate(&shop);
    let mut client = Client::new(&gate).await;
    assert_eq!(client.ask(get("/own")).await.0, StatusCode::OK);
    assert_eq!(client.ask(tunnel_to("websocket")).await.0, StatusCode::BAD_GATEWAY);
}

#[tokio::test]
async fn a_drain_lets_answers_finish_and_takes_nothing_new() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop);
    let mut client = Client::new(&gate).await;
    let answer = soon(client.send(get("/own/stream")).await).await.unwrap();
    let mut body = answer.into_body();
    assert_eq!(soon(body.data()).await.unwrap().unwrap(), "hello");
    let drained = tokio::task::spawn_blocking(|| gate.drain(PATIENCE));
    assert_eq!(text(body).await.unwrap(), "bye");
    assert_eq!(soon(drained).await.unwrap().cut, 0);
    assert!(client.closed().await.is_ok(), "with a word, not cut");
}

#[tokio::test]
async fn a_connection_on_which_nothing_is_asked_is_closed_with_a_word() {
    let shop = Shop::answering(OK);
    let gate = gate_with(&shop, |setup| setup.server.keep_alive = SOON);
    let mut asked = Client::new(&gate).await;
    assert_eq!(asked.ask(get("/")).await.0, StatusCode::OK);
    assert!(asked.closed().await.is_ok());
    let gate = gate_with(&shop, |setup| setup.server.first_byte = SOON);
    assert!(Client::new(&gate).await.closed().await.is_ok());
}

#[tokio::test]
async fn an_answer_to_head_says_its_length_and_has_no_body() {
    let shop = Shop::answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    let gate = gate(&shop);
    let mut client = Client::new(&gate).await;
    for (target, length) in [("/own", "3"), ("/", "5")] {
        let request = Request::head(format!("http://shop.example{target}")).body(()).unwrap();
        let answer = soon(client.send(request).await).await.unwrap();
        assert_eq!(answer.headers()["content-length"], length, "{target}");
        assert!(answer.body().is_end_stream(), "{target}");
    }
}

#[tokio::test]
async fn a_shop_that_answers_instead_of_switching_opens_no_tunnel() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop);
    let mut client = Client::new(&gate).await;
    assert_eq!(client.ask(get("/own")).await.0, StatusCode::OK);
    assert_eq!(
        client.ask(tunnel_to("websocket")).await,
        (StatusCode::BAD_GATEWAY, "hi".into())
    );
}

#[tokio::test]
async fn a_proxy_s_connection_outlives_its_visitors_whims() {
    let shop = Shop::new(|line| {
        line.request();
        line.drain();
    });
    let gate = gate_with(&shop, |setup| {
        setup.server.trusted = vec!["127.0.0.0/8".parse().unwrap()];
    });
    let mut client = Client::new(&gate).await;
    // Twice what one visitor may call off.
    for _ in 0..400 {
        let before = requests(&gate);
        let answer = client.send(get("/")).await;
        soon(until_seen(&gate, before + 1)).await;
        drop(answer);
    }
    assert_eq!(client.ask(get("/own")).await.0, StatusCode::OK);
}

#[tokio::test]
async fn http2_in_the_clear_is_taken_only_where_it_is_asked_for() {
    let shop = Shop::answering(OK);
    let gate = Gate::new(&shop);
    let stream = tokio::net::TcpStream::connect(gate.address).await.unwrap();
    let (mut sender, connection) = Builder::new().handshake::<_, Bytes>(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let refused = sender.send_request(get("/"), true);
    let failed = match refused {
        Ok((answer, _)) => soon(answer).await.is_err(),
        Err(_) => true,
    };
    assert!(failed && soon(connection).await.unwrap().is_err());
    assert_eq!(shop.seen(), "");
}

#[tokio::test]
async fn http11_goes_on_beside_it() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop);
    // Begins like the other's preface.
    let mut client = gate.client();
    let answer = client.ask("PROPFIND / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!((answer.status, answer.body.as_str()), (200, "hi"));
    assert!(shop.seen().starts_with("PROPFIND / HTTP/1.1\r\n"));
    let mut upgrading = gate.client();
    upgrading.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n");
    assert_eq!(upgrading.answer().status, 200, "never by an upgrade");
}

#[tokio::test]
async fn trailers_of_a_request_pass_as_over_http11() {
    let shop = Shop::answering(OK);
    let gate = gate(&shop);
    let mut client = Client::new(&gate).await;
    let request = Request::post("http://shop.example/").header("trailer", "x-sum");
    let (answer, mut body) = client.open(request.body(()).unwrap()).await;
    body.send_data(Bytes::from_static(b"hello"), false).unwrap();
    let mut trailers = HeaderMap::new();
    trailers.insert("x-sum", HeaderValue::from_static("7"));
    trailers.insert("ropeline-session", HeaderValue::from_static("forged"));
    body.send_trailers(trailers).unwrap();
    assert_eq!(read(answer).await.0, StatusCode::OK);
    let seen = shop.seen();
    assert!(seen.ends_with("0\r\nx-sum: 7\r\n\r\n"), "{seen}");
}

#[tokio::test]
async fn whoever_leaves_a_page_may_call_its_requests_off() {
    let shop = Shop::new(|line| {
        line.request();
        line.drain();
    });
    let gate = gate(&shop);
    let mut client = Client::new(&gate).await;
    for _ in 0..2 {
        let (before, mut all) = (requests(&gate), Vec::new());
        for _ in 0..80 {
            all.push(client.send(get("/")).await);
        }
        soon(until_seen(&gate, before + 80)).await;
        drop(all);
        // The client may say that it begins another before it says that it called these off.
        while let Err(refused) = soon(client.send(get("/own")).await).await {
            assert_eq!(refused.reason(), Some(h2::Reason::REFUSED_STREAM));
        }
    }
}

fn requests(gate: &Gate) -> u64 {
    gate.stats.requests.load(std::sync::atomic::Ordering::Relaxed)
}

/// Waits until the gate has had so many requests.
async fn until_seen(gate: &Gate, count: u64) {
    while requests(gate) < count {
        tokio::task::yield_now().await;
    }
}
