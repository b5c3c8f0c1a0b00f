//! One client connection from its first byte to its last: hyper, with the deadlines it does not have.
//!
//! hyper's own header timer is off: it starts again with every wait for a head and so cannot tell a silent connection, a
//! slow head and an idle one apart. Here one lazily set alarm per connection follows the phase its [`Conn`] is in. A stream of
//! the gate's own goes on [`alone`] when hyper has written its head.

mod alone;

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::Shutdown;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH};
use http::{HeaderValue, Request, Response, StatusCode, Version};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until, timeout};

use self::alone::{Alone, Slot, Stream};
use crate::body::Body;
use crate::client::conn::{Conn, Flight};
use crate::client::framing;
use crate::client::guard::Guard;
use crate::client::http2;
use crate::client::refusals::Refusals;
use crate::client::request_body::{self, Progress, RequestBody};
use crate::error::BoxError;
use crate::listen::transport::WriteHalf;
use crate::settings::ServerSettings;
use crate::stats::{Stats, up};
use crate::wire::alarm::poll_alarm;
use crate::wire::looked::Looked;

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With a clean close.
    Closed,
    /// With hyper's answer to a request that could not be parsed.
    Refused,
    /// With an answer cut off, or the client gone.
    Broken,
    /// A deadline passed.
    TimedOut,
    /// The client called off one request after the other.
    Flood,
}

/// State that the connections of one core share.
pub(crate) struct Shared<S> {
    pub(crate) service: S,
    pub(crate) settings: Arc<ServerSettings>,
    pub(crate) stats: Arc<Stats>,
    /// Set before the connections' token is cancelled.
    pub(crate) draining: Arc<AtomicBool>,
    pub(crate) refusals: Refusals,
}

/// The protocol spoken on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// HTTP/1.1, and 1.0.
    Http1,
    /// HTTP/2.
    Http2,
}

/// Serves requests on `io` until the client or the server closes; [`ServerSettings`] has the limits.
pub(crate) async fn serve_connection<IO, S, F>(io: IO, conn: Arc<Conn>, shared: Arc<Shared<S>>, speaks: Speaks)
where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Fn(Arc<Conn>, Request<RequestBody>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let end = match speaks {
        Speaks::Http1 => run(io, &conn, &shared).await,
        // PERF: kept apart, so that a connection of the first kind is no larger for it.
        Speaks::Http2 => Box::pin(http2::run(io, &conn, &shared)).await,
    };
    if end == End::Refused {
        up(&shared.stats.malformed);
    }
    if conn.is_tunnel() {
        return;
    }
    // It stays counted until its descriptor is closed, but nothing is under way any more.
    conn.permit().rest();
    match end {
        // A close with bytes unread resets the connection, and the last answer may be lost with it.
        End::Closed | End::Refused => Box::pin(linger(conn.stream())).await,
        End::TimedOut => up(&shared.stats.timed_out),
        End::Flood => up(&shared.stats.flooded),
        End::Broken => {}
    }
    // The descriptor lives as long as any holder of the Conn; the connection does not.
    let _ = conn.stream().shutdown(Shutdown::Both);
}

async fn run<IO, S, F>(io: IO, conn: &Arc<Conn>, shared: &Arc<Shared<S>>) -> End
where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Fn(Arc<Conn>, Request<RequestBody>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    match run_http(io, conn, shared).await {
        Then::Ended(end) => end,
        Then::Streams(io, stream) => {
            let mut alone = Alone::new(io, stream);
            poll_fn(|cx| alone.poll(conn, cx)).await
        }
    }
}

/// The continuation after hyper.
enum Then<IO> {
    Ended(End),
    /// It has written the head of a stream.
    Streams(IO, Stream),
}

async fn run_http<IO, S, F>(io: IO, conn: &Arc<Conn>, shared: &Arc<Shared<S>>) -> Then<IO>
where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Fn(Arc<Conn>, Request<RequestBody>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let settings = &shared.settings;
    let slot = Arc::<Slot>::default();
    let service = service_fn(|request| {
        let conn = Arc::clone(conn);
        let shared = Arc::clone(shared);
        let slot = Arc::clone(&slot);
        async move { Ok::<_, Infallible>(answer(conn, &shared, slot, request).await) }
    });
    let mut http = http1::Builder::new()
        .header_read_timeout(None)
        .max_header_size(settings.head_bytes)
        .max_buf_size(settings.head_bytes.max(BUFFER_BYTES))
        .serve_connection(
            TokioIo::new(Looked::new(io, Guard::new(Arc::clone(conn), settings.head_bytes))),
            service,
        )
        .with_upgrades();
    let mut closing = pin!(conn.closing().cancelled());
    let mut alarm = pin!(sleep_until(conn.due(settings).unwrap_or_else(Instant::now)));
    let (mut begun, mut told) = (false, false);
    let ended = poll_fn(|cx| {
        // The drain is checked first, so that an answer after its beginning says `close`, but never before the data that a
        // new connection has already sent has been read. PERF: the token only wakes; a flag is cheaper to check every time.
        let draining = begun && !told && shared.draining.load(Ordering::Relaxed);
        // hyper has seen nothing of a head that is half here, and would close on it.
        if draining && conn.is_in_head() {
            told = true;
            conn.close();
        } else if draining && conn.is_between() {
            told = true;
            // A request may be on its way: closing now would be no answer to it.
            conn.part();
        } else if draining && !conn.has_unread() {
            told = true;
            Pin::new(&mut http).graceful_shutdown();
        }
        if let Poll::Ready(ended) = Pin::new(&mut http).poll(cx) {
            return Poll::Ready(Some(how(ended, conn)));
        }
        // hyper has nothing left to write while the socket has room.
        if slot.is_full() && conn.has_room() {
            return Poll::Ready(None);
        }
        // The bytes in the socket were no head, or the reactor has not reported them yet: look again.
        if draining && !told && !conn.has_unread() {
            cx.waker().wake_by_ref();
        }
        if !begun {
            begun = true;
            if closing.as_mut().poll(cx).is_ready() {
                cx.waker().wake_by_ref();
            }
        }
        ready!(poll_alarm(alarm.as_mut(), conn.due(settings), cx));
        // No request is under way, so the end is a clean one: over TLS it is announced (RFC 8446, section 6.1).
        Pin::new(&mut http).graceful_shutdown();
        let _ = Pin::new(&mut http).poll(cx);
        Poll::Ready(Some(if conn.has_parted() { End::Closed } else { End::TimedOut }))
    })
    .await;
    if let Some(ended) = ended {
        return Then::Ended(ended);
    }
    match (slot.take(), http.into_parts()) {
        (Some(stream), Some(parts)) => Then::Streams(parts.io.into_inner().into_inner(), stream),
        _ => Then::Ended(End::Broken),
    }
}

pub(crate) fn how(ended: hyper::Result<()>, conn: &Conn) -> End {
    match ended {
        Ok(()) => End::Closed,
        Err(error) if error.is_parse() => End::Refused,
        Err(_) if conn.is_stalled() => End::TimedOut,
        Err(_) => End::Broken,
    }
}

async fn answer<S, F>(
    conn: Arc<Conn>,
    shared: &Shared<S>,
    slot: Arc<Slot>,
    mut request: Request<Incoming>,
) -> Response<Answer>
where
    S: Fn(Arc<Conn>, Request<RequestBody>) -> F,
    F: Future<Output = Response<Body>>,
{
    let flight = conn.answering();
    let noted = match conn.refused().map_or_else(|| framing::check(&mut request), Err) {
        Ok(noted) => noted,
        Err(malformed) => {
            up(&shared.stats.malformed);
            conn.close();
            return finish(&conn, flight, shared.refusals.refuse(malformed), None);
        }
    };
    up(&shared.stats.requests);
    let settings = &shared.settings;
    let chunked = request.version() == Version::HTTP_11;
    let request = RequestBody::of(request, noted, settings);
    let progress = request.body().progress();
    // PERF: hyper keeps the room of this future for the connection's life, so the service's should be a box.
    let response = (shared.service)(Arc::clone(&conn), request).await;
    if let Some(progress) = progress
        && !settle(&progress, noted.expect, settings).await
    {
        conn.close();
    }
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        conn.tunnel();
    } else if noted.upgrade {
        // Bytes behind it wait for the other protocol.
        conn.close();
    }
    let alone = goes_on_alone(&response);
    if alone {
        conn.close();
    }
    finish(&conn, flight, response, alone.then_some((slot, chunked)))
}

/// A stream of unknown length, of the gate's own.
fn goes_on_alone(response: &Response<Body>) -> bool {
    response.body().is_stream() && !response.headers().contains_key(CONTENT_LENGTH)
}

/// Whether nothing of the request is left on the connection when its answer is sent.
async fn settle(progress: &Progress, announced: bool, settings: &ServerSettings) -> bool {
    if progress.is_whole() {
        return true;
    }
    // A client that waits for `100 Continue` has not sent its body, and reading would ask for it.
    let is_withheld = announced && !progress.is_wanted();
    match progress.take_rest() {
        Some(rest) if !is_withheld => Box::pin(request_body::drain(rest, settings)).await,
        _ => false,
    }
}

fn finish(
    conn: &Conn,
    flight: Flight,
    mut response: Response<Body>,
    slot: Option<(Arc<Slot>, bool)>,
) -> Response<Answer> {
    if conn.closes() && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response
            .headers_mut()
            .insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response.map(|body| match slot {
        None => Answer::Whole { body, flight },
        Some((slot, chunked)) => {
            let stream = Stream {
                body,
                _flight: flight,
                chunked,
            };
            Answer::Alone(slot, Some(stream))
        }
    })
}

/// Reads and drops the client's further bytes, so that it can read its last answer before the close (RFC 9112, section 9.6).
async fn linger(stream: &WriteHalf) {
    let read = async {
        let mut left = LINGER_BYTES;
        while left > 0 && stream.readable().await.is_ok() {
            let mut scratch = [0; LINGER_STEP]; // Not held while nothing comes.
            match stream.try_read(&mut scratch) {
                Ok(0) => return,
                Ok(n) => left = left.saturating_sub(n),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    };
    let _ = timeout(LINGER, read).await;
}

/// An answer on its way to the client: while it lives the connection is at work.
enum Answer {
    Whole {
        body: Body,
        flight: Flight,
    },
    /// Left in the slot once hyper asks for it, which is behind the head.
    Alone(Arc<Slot>, Option<Stream>),
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.get_mut() {
            Self::Whole { body, flight } => {
                ready!(flight.poll_room(cx));
                Pin::new(body).poll_frame(cx)
            }
            Self::Alone(slot, stream) => {
                if let Some(stream) = stream.take() {
                    slot.leave(stream);
                }
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole { body, .. } => body.is_end_stream(),
            Self::Alone(..) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole { body, .. } => body.size_hint(),
            Self::Alone(..) => SizeHint::default(),
        }
    }
}

/// How long, and for how many bytes, a closed connection is read from.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 1024 * 1024;
const LINGER_STEP: usize = 16 * 1024;
/// hyper's buffer for an answer that comes faster than its task runs. At least as large as a head may be.
const BUFFER_BYTES: usize = 16 * 1024;

#[cfg(test)]
mod tests;
