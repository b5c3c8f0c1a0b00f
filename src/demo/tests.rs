//! The shop over real sockets.

use std::net::SocketAddr;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt, stream};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Body, Frame, Incoming};
use hyper::header::{ACCEPT, ALLOW, CONTENT_TYPE, COOKIE, HOST, SET_COOKIE};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;

use super::{form, serve};

/// A shop and its provider, open until dropped or closed.
struct Site {
    shop: SocketAddr,
    provider: SocketAddr,
    close: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

impl Site {
    async fn open() -> Self {
        let listen = || TcpListener::bind("127.0.0.1:0");
        let (shop, provider) = (listen().await.expect("a port"), listen().await.expect("a port"));
        let addresses = [&shop, &provider].map(|listener| listener.local_addr().expect("an address"));
        let (close, closed) = oneshot::channel();
        let served = tokio::spawn(async move {
            let shutdown = async { drop(closed.await) };
            serve(shop, provider, shutdown).await.expect("served");
        });
        Self {
            shop: addresses[0],
            provider: addresses[1],
            close,
            served,
        }
    }

    async fn get(&self, path: &str) -> Answer {
        read(send(self.shop, request(Method::GET, path, "", ""), "shop.test").await).await
    }

    async fn post(&self, path: &str, cookie: &str, body: &str) -> Answer {
        read(send(self.shop, request(Method::POST, path, cookie, body), "shop.test").await).await
    }

    /// Takes seats as a new customer, whose cookie is returned.
    async fn choose(&self, seats: &[u32]) -> String {
        let mut cookie = String::new();
        for seat in seats {
            let answer = self.post(&format!("/seats/{seat}"), &cookie, "").await;
            assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
            if let Some(set) = answer.header("set-cookie") {
                set.split(';').next().expect("a pair").clone_into(&mut cookie);
            }
        }
        cookie
    }
}

struct Answer {
    status: StatusCode,
    headers: hyper::HeaderMap,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

fn request(method: Method, path: &str, cookie: &str, body: &str) -> Request<Full<Bytes>> {
    let request = Request::builder().method(method).uri(path).header(COOKIE, cookie);
    request
        .body(Full::new(Bytes::copy_from_slice(body.as_bytes())))
        .expect("a request")
}

async fn send<B>(to: SocketAddr, mut request: Request<B>, host: &'static str) -> Response<Incoming>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync,
{
    request.headers_mut().insert(HOST, host.parse().expect("a host"));
    let socket = TcpStream::connect(to).await.expect("connected");
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(socket))
        .await
        .expect("a connection");
    tokio::spawn(connection);
    sender.send_request(request).await.expect("an answer")
}

async fn read(response: Response<Incoming>) -> Answer {
    let (head, body) = response.into_parts();
    let body = body.collect().await.expect("a whole body").to_bytes();
    Answer {
        status: head.status,
        headers: head.headers,
        body: String::from_utf8(body.to_vec()).expect("text"),
    }
}

/// The value of a hidden field of a page.
fn field(page: &str, name: &str) -> String {
    let marker = format!("name=\"{name}\" value=\"");
    let start = page.find(&marker).expect("the field") + marker.len();
    page[start..].split('"').next().expect("a value").to_owned()
}

/// From the basket to the form that the provider's page posts back: its body.
async fn pay(site: &Site, cookie: &str, pay: &str) -> String {
    let ordered = site.post("/checkout", cookie, "").await;
    let location = ordered.header("location").expect("to the provider").to_owned();
    let on_another_site = format!("http://localhost:{}", site.provider.port());
    let path = location
        .strip_prefix(&on_another_site)
        .expect("the provider is another site")
        .to_owned();
    let page = read(send(site.provider, request(Method::GET, &path, "", ""), "localhost").await).await;
    assert_eq!((page.status, page.body.contains("Pay now")), (StatusCode::OK, true));
    let back = read(
        send(
            site.provider,
            request(Method::POST, &path, "", &format!("pay={pay}")),
            "localhost",
        )
        .await,
    )
    .await;
    assert!(
        back.body.contains("action=\"http://shop.test/checkout/return\""),
        "{}",
        back.body
    );
    ["order", "outcome", "sign"]
        .map(|name| format!("{name}={}", form::encode(&field(&back.body, name))))
        .join("&")
}

#[tokio::test]
async fn a_customer_buys_two_seats_and_comes_back_by_cross_site_post() {
    let site = Site::open().await;
    let cookie = site.choose(&[1, 120]).await;
    let basket = read(send(site.shop, request(Method::GET, "/basket", &cookie, ""), "shop.test").await).await;
    assert!(basket.body.contains("Seat A1") && basket.body.contains("Seat J12") && basket.body.contains("€100"));
    let form = pay(&site, &cookie, "yes").await;
    // A browser holds SameSite=Lax cookies back here, so none is sent.
    let back = site.post("/checkout/return", "", &form).await;
    assert_eq!(back.status, StatusCode::SEE_OTHER, "{}", back.body);
    let receipt = site.get(back.header("location").expect("to the receipt")).await;
    assert_eq!(receipt.status, StatusCode::OK);
    assert!(receipt.body.contains("€100"), "{}", receipt.body);
    let again = site.post("/checkout/return", "", &form).await;
    assert_eq!(again.status, StatusCode::SEE_OTHER, "a reload pays nothing twice");
    assert!(
        site.get("/api/stock")
            .await
            .body
            .contains(r#""free":118,"held":0,"sold":2"#)
    );
}

#[tokio::test]
async fn a_receipt_is_shown_for_a_paid_order_only() {
    let site = Site::open().await;
    let cookie = site.choose(&[7]).await;
    let form = pay(&site, &cookie, "no").await;
    let receipt = format!(
        "/checkout/complete?order={}",
        form::value(&form, "order").expect("an order")
    );
    assert_eq!(site.get(&receipt).await.status, StatusCode::NOT_FOUND);
    let claimed = form.replace("outcome=cancelled", "outcome=paid");
    assert_eq!(
        site.post("/checkout/return", "", &claimed).await.status,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(
        site.post("/checkout/return", "", "").await.status,
        StatusCode::BAD_REQUEST
    );
    let cancelled = site.post("/checkout/return", "", &form).await;
    assert_eq!(cancelled.header("location"), Some("/basket"));
    assert_eq!(site.get(&receipt).await.status, StatusCode::NOT_FOUND);
    assert_eq!(site.get("/checkout/complete").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_provider_posts_to_nobody_but_who_asked() {
    let site = Site::open().await;
    let cookie = site.choose(&[7]).await;
    let ordered = site.post("/checkout", &cookie, "").await;
    let location = ordered.header("location").expect("to the provider");
    let path = &location[location.find("/pay").expect("a path")..];
    let elsewhere = path.replace("shop.test", "evil.test");
    assert_ne!(path, elsewhere);
    for path in [elsewhere.as_str(), "/pay", "/pay?sign=00"] {
        let answer = read(send(site.provider, request(Method::POST, path, "", "pay=yes"), "localhost").await).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{path}");
    }
}

#[tokio::test]
async fn a_seat_is_sold_to_one_of_two_customers() {
    let site = Site::open().await;
    let first = site.choose(&[7]).await;
    assert_eq!(site.post("/seats/7", "", "").await.status, StatusCode::CONFLICT);
    assert_eq!(
        site.post("/basket/clear", &first, "").await.status,
        StatusCode::SEE_OTHER
    );
    assert_eq!(site.post("/seats/7", "", "").await.status, StatusCode::SEE_OTHER);
    let mut app = request(Method::POST, "/seats/7", &first, "");
    app.headers_mut()
        .insert(ACCEPT, "application/json".parse().expect("a type"));
    let told = read(send(site.shop, app, "shop.test").await).await;
    assert_eq!(
        (told.status, told.header("content-type")),
        (StatusCode::CONFLICT, Some("application/json"))
    );
}

#[tokio::test]
async fn every_route_answers_as_the_module_says() {
    let site = Site::open().await;
    for path in [
        "/",
        "/seats",
        "/basket",
        "/checkout",
        "/upload",
        "/ticker",
        "/slow?ms=1",
    ] {
        let answer = site.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert_eq!(
            answer.header("content-type"),
            Some("text/html; charset=utf-8"),
            "{path}"
        );
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        assert!(!answer.headers.contains_key(SET_COOKIE), "{path} is only read");
    }
    let style = site.get("/static/style.css").await;
    assert_eq!(style.header("cache-control"), Some("public, max-age=3600"));
    assert_eq!(site.get("/nothing").await.status, StatusCode::NOT_FOUND);
    assert_eq!(site.post("/webhook", "", "{}").await.body, r#"{"received":2}"#);
    for (method, path, allowed) in [
        (Method::GET, "/seats/7", "POST"),
        (Method::GET, "/checkout/return", "POST"),
        (Method::GET, "/webhook", "POST"),
        (Method::DELETE, "/upload", "GET, HEAD, POST"),
        (Method::POST, "/seats", "GET, HEAD"),
    ] {
        let answer = read(send(site.shop, request(method, path, "", ""), "shop.test").await).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
        assert_eq!(
            answer.headers.get(ALLOW).map(hyper::header::HeaderValue::as_bytes),
            Some(allowed.as_bytes()),
            "{path}"
        );
    }
    let head = read(send(site.shop, request(Method::HEAD, "/seats", "", ""), "shop.test").await).await;
    assert_eq!((head.status, head.body.as_str()), (StatusCode::OK, ""));
}

#[tokio::test]
async fn echo_tells_the_request_as_it_came() {
    let site = Site::open().await;
    let answer = site.post("/echo?a=%20b", "x=1", "four").await;
    assert!(
        answer.body.starts_with("POST /echo?a=%20b HTTP/1.1\n"),
        "{}",
        answer.body
    );
    assert!(
        answer.body.contains("\ncookie: x=1\n") && answer.body.ends_with("\n4 bytes of body\n"),
        "{}",
        answer.body
    );
}

#[tokio::test]
async fn an_upload_in_pieces_is_counted() {
    let site = Site::open().await;
    let pieces = stream::iter((0..300).map(|_| Ok::<_, std::io::Error>(Frame::data(Bytes::from(vec![7; 10_000])))));
    let upload = Request::post("/upload")
        .header(ACCEPT, "application/json")
        .header(CONTENT_TYPE, "multipart/form-data");
    let answer = read(
        send(
            site.shop,
            upload.body(StreamBody::new(pieces)).expect("a request"),
            "shop.test",
        )
        .await,
    )
    .await;
    assert_eq!(answer.body, r#"{"received":3000000}"#);
}

#[tokio::test]
async fn a_form_that_is_too_large_is_refused() {
    let site = Site::open().await;
    let large = "x".repeat(70_000);
    assert_eq!(
        site.post("/webhook", "", &large).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
}

/// Reads a stream up to the end of its next `seats` event.
async fn next_seats(body: &mut Incoming) -> String {
    let mut text = String::new();
    while !(text.contains("event: seats") && text.ends_with("\n\n")) {
        let frame = body.frame().await.expect("more to come").expect("a frame");
        text.push_str(std::str::from_utf8(frame.data_ref().expect("data")).expect("text"));
    }
    text
}

#[tokio::test]
async fn the_seat_stream_tells_changes_and_ends_with_the_shop() {
    let site = Site::open().await;
    let response = send(site.shop, request(Method::GET, "/seats/events", "", ""), "shop.test").await;
    assert_eq!(response.headers()[CONTENT_TYPE], "text/event-stream");
    let mut body = response.into_body();
    assert!(next_seats(&mut body).await.contains(r#""free":120"#));
    site.choose(&[2]).await;
    let event = next_seats(&mut body).await;
    assert!(
        event.contains(r#""free":119,"held":1"#) && event.contains(r#""chart":"fhff"#),
        "{event}"
    );
    site.close.send(()).expect("still open");
    while let Some(frame) = body.frame().await {
        frame.expect("an orderly end");
    }
    site.served.await.expect("served to the end");
}

#[tokio::test]
async fn the_ticker_ticks_echoes_and_closes_with_the_shop() {
    let site = Site::open().await;
    let socket = TcpStream::connect(site.shop).await.expect("connected");
    let (mut ticker, response) = tokio_tungstenite::client_async("ws://shop.test/ticker", socket)
        .await
        .expect("a WebSocket");
    assert_eq!(response.status(), StatusCode::SWITCHING_PROTOCOLS);
    let tick = ticker.next().await.expect("a message").expect("in order");
    assert!(tick.to_text().expect("text").contains(r#""free":120"#));
    ticker.send(Message::text("hello")).await.expect("sent");
    while ticker.next().await.expect("a message").expect("in order") != Message::text("hello") {}
    site.close.send(()).expect("still open");
    while !matches!(ticker.next().await, Some(Ok(Message::Close(_))) | None) {}
    site.served.await.expect("served to the end");
}

#[tokio::test]
async fn an_upgrade_without_a_key_is_refused() {
    let site = Site::open().await;
    let upgrade = Request::get("/ticker")
        .header("upgrade", "websocket")
        .header("connection", "upgrade");
    let answer = read(
        send(
            site.shop,
            upgrade.body(Full::<Bytes>::default()).expect("a request"),
            "shop.test",
        )
        .await,
    )
    .await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
}
