//! One HTTP/2 connection: many requests at once, each bounded as the one of an HTTP/1.1 connection is.
//!
//! hyper and h2 handle frames, windows and header lists. The rest is done here and in submodules: checks of requests
//! (`request`), streams whose client takes no data or resets them again and again (`streams`), and idle connections. A
//! browser's stream costs the gate no more than a connection of its own would.

mod guard;
mod request;
mod streams;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use http::header::{CONNECTION, CONTENT_LENGTH, SEC_WEBSOCKET_ACCEPT, UPGRADE};
use http::{Method, Request, Response, StatusCode};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until};

use self::guard::Frames;
use self::streams::{Reply, Run, Stream, Streams};
use crate::body::Body;
use crate::client::conn::Conn;
use crate::client::connection::{End, Shared, how};
use crate::client::request_body::RequestBody;
use crate::listen::address::is_trusted;
use crate::stats::up;
use crate::wire::alarm::poll_alarm;
use crate::wire::looked::Looked;

/// Serves requests on `io`, whose first bytes are those of HTTP/2, until the client or the server closes.
pub(crate) async fn run<IO, S, F>(io: IO, conn: &Arc<Conn>, shared: &Arc<Shared<S>>) -> End
where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Fn(Arc<Conn>, Request<RequestBody>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    conn.multiplex();
    let settings = &shared.settings;
    // A trusted proxy brings many visitors on one connection: one of them must not end the others' requests.
    let is_shared = is_trusted(conn.peer().ip(), &settings.trusted);
    let streams = Arc::new(Streams::new(settings.write, is_shared));
    let service = service_fn(|request| {
        let (conn, shared, stream) = (Arc::clone(conn), Arc::clone(shared), streams.begin());
        async move { answer(conn, &shared, request, stream).await }
    });
    let http = http2::Builder::new(Run(Arc::clone(&streams)))
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(u32::try_from(settings.head_bytes).unwrap_or(u32::MAX))
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(if is_shared { SHARED_WINDOW } else { CONNECTION_WINDOW })
        .max_send_buf_size(SEND_BYTES)
        .max_pending_accept_reset_streams(UNSEEN_RESETS)
        .max_local_error_reset_streams((!is_shared).then_some(OWN_RESETS))
        .enable_connect_protocol()
        .serve_connection(TokioIo::new(Looked::new(io, Frames::new())), service);
    let mut http = pin!(http);
    let mut closing = pin!(conn.closing().cancelled());
    let mut alarm = pin!(sleep_until(conn.due(settings).unwrap_or_else(Instant::now)));
    // Time of the GOAWAY to the client: requests that it sent before it knew of that are still answered.
    let mut told: Option<Instant> = None;
    poll_fn(|cx| {
        loop {
            if let Poll::Ready(ended) = http.as_mut().poll(cx) {
                return Poll::Ready(how(ended, conn));
            }
            if streams.are_called_off_too_often() {
                return Poll::Ready(End::Flood);
            }
            let due = match told {
                // The last answers that h2 still holds have as much time as any answer.
                Some(told) => conn
                    .idle_since()
                    .map(|since| (told + FAREWELL).max(since + settings.write)),
                None => conn.due(settings),
            };
            let is_due = poll_alarm(alarm.as_mut(), due, cx).is_ready();
            if is_due && told.is_some() {
                return Poll::Ready(End::TimedOut);
            }
            if !is_due && (told.is_some() || closing.as_mut().poll(cx).is_pending()) {
                return Poll::Pending;
            }
            told = Some(Instant::now());
            http.as_mut().graceful_shutdown();
        }
    })
    .await
}

async fn answer<S, F>(
    conn: Arc<Conn>,
    shared: &Shared<S>,
    mut request: Request<Incoming>,
    mut stream: Stream,
) -> Result<Response<Reply>, h2::Error>
where
    S: Fn(Arc<Conn>, Request<RequestBody>) -> F,
    F: Future<Output = Response<Body>>,
{
    let flight = conn.answering();
    let beside = (!flight.is_alone()).then(|| conn.permit().beside());
    let Ok(beside) = beside.transpose() else {
        up(&shared.stats.refused);
        stream.refuse();
        // RFC 9113, section 8.7: nothing was done for it, and it may be sent again.
        return Err(h2::Reason::REFUSED_STREAM.into());
    };
    let (is_head, is_connect) = (request.method() == Method::HEAD, request.method() == Method::CONNECT);
    let response = match request::check(&mut request) {
        Err(malformed) => {
            up(&shared.stats.malformed);
            shared.refusals.refuse(malformed)
        }
        Ok(noted) => {
            up(&shared.stats.requests);
            if is_connect {
                request.extensions_mut().insert(stream.pace());
            }
            let request = RequestBody::of(request, noted, &shared.settings);
            (shared.service)(Arc::clone(&conn), request).await
        }
    };
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        stream.go_on();
    }
    let response = if is_connect { opened(response) } else { response };
    let response = if is_head {
        bare(response)
    } else {
        without_content(response)
    };
    Ok(response.map(|body| stream.carry(body.hold((flight, beside)), conn)))
}

/// The answer to a `CONNECT` as RFC 8441, section 5, has it: HTTP/2 knows no 101, and any 2xx would open the tunnel.
fn opened(mut response: Response<Body>) -> Response<Body> {
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        *response.status_mut() = StatusCode::OK;
        for name in [CONNECTION, UPGRADE, SEC_WEBSOCKET_ACCEPT] {
            response.headers_mut().remove(name);
        }
    } else if response.status().is_success() {
        *response.status_mut() = StatusCode::BAD_GATEWAY;
    }
    response
}

/// An answer to `HEAD` says how long it would be and ends there: hyper sees to it over HTTP/1.1 only.
fn bare(response: Response<Body>) -> Response<Body> {
    let length = response.body().size_hint().exact().filter(|length| *length > 0);
    let mut bare = response.map(|_| Body::empty());
    if let (Some(length), false) = (length, bare.headers().contains_key(CONTENT_LENGTH)) {
        bare.headers_mut().insert(CONTENT_LENGTH, length.into());
    }
    bare
}

/// These have no content, even if the service added some (RFC 9110, section 6.4.1).
fn without_content(mut response: Response<Body>) -> Response<Body> {
    if !matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
        || response.body().is_end_stream()
    {
        return response;
    }
    response.headers_mut().remove(CONTENT_LENGTH);
    response.map(|_| Body::empty())
}

/// Simultaneous requests on one connection: the least that RFC 9113, section 6.5.2, recommends.
const STREAMS: u32 = 100;
/// Bytes that a client may send ahead, of one body and of all on a connection.
const STREAM_WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 1024 * 1024;
/// On a connection of many people's all streams' windows fit into it. h2 ends one on which too many small frames wait to be read,
/// and allows more of them the larger the window is.
const SHARED_WINDOW: u32 = 16 * CONNECTION_WINDOW;
/// Bytes of an answer that h2 buffers.
const SEND_BYTES: usize = 16 * 1024;
/// Number of streams reset before the service saw them (CVE-2023-44487), and of streams that the gate had to reset because of
/// invalid frames (CVE-2025-8671), after which h2 ends the connection.
const UNSEEN_RESETS: usize = 20;
const OWN_RESETS: usize = 100;
/// How long a client without a request under way may take to acknowledge that it is to go.
const FAREWELL: Duration = Duration::from_secs(2);
