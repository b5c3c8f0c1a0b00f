//! Streams of the shop: the seat stream and the ticker's socket.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt, stream};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE,
};
use hyper::upgrade::Upgraded;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Message, Role, WebSocketConfig};

use super::answer::{Body, TEXT, whole};
use super::shop::Shop;

/// The hall now, then at every change, with a comment between so that no proxy takes the connection for dead.
pub(super) fn seat_stream(shop: Arc<Shop>) -> Response<Body> {
    let changes = shop.changes();
    let events = stream::unfold((shop, changes, true), |(shop, mut changes, first)| async move {
        let event = if first {
            Some(seats_event(&shop, &mut changes))
        } else {
            next_event(&shop, &mut changes).await
        };
        let frame = Frame::data(Bytes::from(event?));
        Some((Ok::<_, Infallible>(frame), (shop, changes, false)))
    });
    let mut response = Response::new(BodyExt::boxed(StreamBody::new(Box::pin(events))));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// `None` when the shop stops.
async fn next_event(shop: &Shop, changes: &mut watch::Receiver<u64>) -> Option<String> {
    tokio::select! {
        () = shop.stopped() => None,
        news = changes.changed() => news.is_ok().then(|| seats_event(shop, changes)),
        () = tokio::time::sleep(HEARTBEAT) => Some(": still here\n\n".to_owned()),
    }
}

fn seats_event(shop: &Shop, changes: &mut watch::Receiver<u64>) -> String {
    let revision = *changes.borrow_and_update();
    format!(
        "event: seats\nid: {revision}\nretry: 2000\ndata: {}\n\n",
        shop.stock_json()
    )
}

pub(super) fn asks_for_socket(headers: &HeaderMap) -> bool {
    headers
        .get(UPGRADE)
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// Switches to WebSocket (RFC 6455, section 4.2) and ticks until either side closes.
pub(super) fn ticker(shop: Arc<Shop>, request: Request<Incoming>) -> Response<Body> {
    let Some(key) = request.headers().get(SEC_WEBSOCKET_KEY) else {
        return whole(StatusCode::BAD_REQUEST, TEXT, "a WebSocket needs a key\n");
    };
    let Some(place) = shop.ticker_place() else {
        return whole(StatusCode::SERVICE_UNAVAILABLE, TEXT, "too many tickers\n");
    };
    let Ok(accept) = HeaderValue::from_str(&derive_accept_key(key.as_bytes())) else {
        return whole(StatusCode::BAD_REQUEST, TEXT, "a WebSocket needs a key\n");
    };
    tokio::spawn(async move {
        if let Ok(upgraded) = hyper::upgrade::on(request).await {
            tick(shop, upgraded, place).await;
        }
    });
    let mut response = Response::new(Body::default());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    response
        .headers_mut()
        .insert(UPGRADE, HeaderValue::from_static("websocket"));
    response
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("upgrade"));
    response.headers_mut().insert(SEC_WEBSOCKET_ACCEPT, accept);
    response
}

async fn tick(shop: Arc<Shop>, upgraded: Upgraded, _place: OwnedSemaphorePermit) {
    let limits = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE));
    let mut socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(limits)).await;
    let mut seconds = tokio::time::interval(Duration::from_secs(1));
    loop {
        let message = tokio::select! {
            () = shop.stopped() => break,
            _ = seconds.tick() => Message::text(shop.stock_json()),
            said = socket.next() => match said {
                Some(Ok(Message::Text(text))) => Message::Text(text),
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                Some(Ok(_)) => continue,
            },
        };
        // A reader that has stopped reading must not hold a task and its socket for ever.
        if !matches!(
            tokio::time::timeout(WRITE_DEADLINE, socket.send(message)).await,
            Ok(Ok(()))
        ) {
            return;
        }
    }
    let _gone = tokio::time::timeout(WRITE_DEADLINE, socket.close(None)).await;
}

const HEARTBEAT: Duration = Duration::from_secs(15);
const WRITE_DEADLINE: Duration = Duration::from_secs(10);

/// Largest message that is echoed, in bytes.
const MAX_MESSAGE: usize = 4_096;
