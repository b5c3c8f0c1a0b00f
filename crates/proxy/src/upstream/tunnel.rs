//! Upgrades: which are asked for well enough to be passed on, and the tunnel behind a 101 that was asked for.
//!
//! `h2c` and TLS upgrades are never passed on: a tunnel of HTTP would carry requests past the gate. Bytes a client sends
//! before the 101 stay with us until then, and are dropped with the connection when it does not come.

use std::convert::identity;
use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, Version};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_util::sync::CancellationToken;

use crate::client::request_body::RequestBody;
use crate::drop_guard::DropGuard;
use crate::lock::held;
use crate::stats::{Stats, down, up};
use crate::wire::pace::{Pace, piece_of};

/// An upgrade a client asked for.
pub(crate) struct Asked {
    protocol: HeaderValue,
    client: OnUpgrade,
    /// The required answer to the key that the gate made for a client that has none.
    accept: Option<String>,
    /// Over HTTP/2 a stream's write deadline; over HTTP/1.1 the socket has its own.
    pace: Option<Arc<Pace>>,
}

/// Guards that live as long as a tunnel.
#[derive(Clone, Default)]
pub(crate) struct Strings(Arc<Mutex<Vec<Box<dyn DropGuard>>>>);

impl Strings {
    pub(crate) fn tie(&self, guard: Box<dyn DropGuard>) {
        held(&self.0).push(guard);
    }
}

/// The upgrade a request asks for, if it may be passed on; other requests are forwarded without one, as a server that
/// does not know the protocol would take them (RFC 9110, section 7.8).
pub(crate) fn asked(request: &mut Request<RequestBody>) -> Option<Asked> {
    if !request.body().noted().upgrade || !request.headers().contains_key(UPGRADE) {
        return None;
    }
    let headers = request.headers();
    let protocol = is_well_formed(request).then(|| headers[UPGRADE].clone())?;
    let key = headers
        .get(SEC_WEBSOCKET_KEY)
        .filter(|_| request.version() == Version::HTTP_2);
    let accept = key.map(|key| derive_accept_key(key.as_bytes()));
    Some(Asked {
        pace: request.extensions_mut().remove::<Arc<Pace>>(),
        protocol,
        client: hyper::upgrade::on(request),
        accept,
    })
}

fn is_well_formed<B: http_body::Body>(request: &Request<B>) -> bool {
    let headers = request.headers();
    let Some(protocol) = single(headers, UPGRADE).map(HeaderValue::as_bytes) else {
        return false;
    };
    let is_token = !protocol.is_empty() && !protocol.iter().any(|byte| b", \t".contains(byte));
    let listed = headers.get_all(CONNECTION).iter().any(|line| lists(line, b"upgrade"));
    // In HTTP/2 there is no such field: it is one that the gate made of a CONNECT.
    let fits = matches!(request.version(), Version::HTTP_11 | Version::HTTP_2);
    let plain = fits && request.body().is_end_stream();
    let sound = !protocol.eq_ignore_ascii_case(b"websocket") || is_websocket(request.method(), headers);
    plain && listed && is_token && !tunnels_http(protocol) && sound
}

fn tunnels_http(protocol: &[u8]) -> bool {
    let known = [b"h2c".as_slice(), b"h2", b"tls", b"http"];
    known.iter().any(|known| starts_with(protocol, known))
}

/// Whether the fields ask for a tunnel that may be opened, as a WebSocket may.
pub fn is_asked_for(headers: &HeaderMap) -> bool {
    let protocol = headers.get(UPGRADE);
    protocol.is_some_and(|protocol| !tunnels_http(protocol.as_bytes()))
}

/// RFC 6455, section 4.1.
fn is_websocket(method: &Method, headers: &HeaderMap) -> bool {
    let key = single(headers, SEC_WEBSOCKET_KEY).is_some_and(|key| key.len() == 24);
    let version = single(headers, SEC_WEBSOCKET_VERSION).is_some_and(|version| version == "13");
    method == Method::GET && key && version
}

fn single(headers: &HeaderMap, name: http::HeaderName) -> Option<&HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

fn lists(line: &HeaderValue, token: &[u8]) -> bool {
    line.as_bytes()
        .split(|byte| *byte == b',')
        .any(|one| one.trim_ascii().eq_ignore_ascii_case(token))
}

fn starts_with(value: &[u8], prefix: &[u8]) -> bool {
    value
        .get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

impl Asked {
    /// Puts the request for an upgrade back after the hop-by-hop fields are gone.
    pub(crate) fn ask(&self, headers: &mut HeaderMap) {
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, self.protocol.clone());
    }

    /// Whether a 101 switches to the requested protocol.
    pub(crate) fn is_granted<B>(&self, answer: &Response<B>) -> bool {
        let headers = answer.headers();
        let accepted = |accept: &String| single(headers, SEC_WEBSOCKET_ACCEPT).is_some_and(|said| said == accept);
        single(headers, UPGRADE)
            .is_some_and(|protocol| protocol.as_bytes().eq_ignore_ascii_case(self.protocol.as_bytes()))
            && self.accept.as_ref().is_none_or(accepted)
    }

    /// Starts the tunnel; it opens when the client has been sent its 101. The upstream comes with how long it may take nothing, where
    /// its socket does not see to that.
    pub(crate) fn open(
        self,
        shop: (OnUpgrade, Option<Duration>),
        idle: Duration,
        cancel: Option<CancellationToken>,
        stats: Arc<Stats>,
    ) -> Strings {
        let cancel = cancel.unwrap_or_default();
        let strings = Strings::default();
        let ties = strings.clone();
        tokio::spawn(async move {
            let _ties = ties;
            let _open = Open::new(stats);
            tokio::select! {
                () = cancel.cancelled() => {}
                () = run((self.client, self.pace), shop, idle) => {}
            }
        });
        strings
    }
}

/// Counts a tunnel while it lives.
struct Open(Arc<Stats>);

impl Open {
    fn new(stats: Arc<Stats>) -> Self {
        up(&stats.tunnels_open);
        Self(stats)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        down(&self.0.tunnels_open);
    }
}

/// Copies both ways until both ends have closed, either fails, or neither has sent anything for `idle`.
async fn run(
    (client, pace): (OnUpgrade, Option<Arc<Pace>>),
    (shop, patience): (OnUpgrade, Option<Duration>),
    idle: Duration,
) {
    let both = async { tokio::try_join!(client, shop) };
    let Ok(Ok((client, shop))) = timeout(HANDOVER, both).await else {
        return;
    };
    let activity = Arc::new(Activity::new());
    let mut client = Watched {
        io: TokioIo::new(client),
        activity: Arc::clone(&activity),
        pace,
        piece: piece_of,
    };
    let shop_pace = patience.map(|_| Arc::new(Pace::new()));
    let mut shop = Watched {
        io: TokioIo::new(shop),
        activity: Arc::clone(&activity),
        pace: shop_pace.clone(),
        piece: identity,
    };
    tokio::select! {
        // Either end may fail at any time; the other is closed by the drop of both.
        _ = copy_bidirectional(&mut client, &mut shop) => {}
        () = activity.silence(idle) => {}
        () = stalled(shop_pace, patience) => {}
    }
}

async fn stalled(pace: Option<Arc<Pace>>, patience: Option<Duration>) {
    match pace.zip(patience) {
        Some((pace, patience)) => pace.stalled(|| patience).await,
        None => pending().await,
    }
}

/// When a byte last came from either end.
struct Activity {
    born: Instant,
    last_ms: AtomicU64,
}

impl Activity {
    fn new() -> Self {
        Self {
            born: Instant::now(),
            last_ms: AtomicU64::new(0),
        }
    }

    fn mark(&self) {
        let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_ms.store(now, Ordering::Relaxed);
    }

    async fn silence(&self, idle: Duration) {
        loop {
            let due = self.born + Duration::from_millis(self.last_ms.load(Ordering::Relaxed)) + idle;
            if Instant::now() >= due {
                return;
            }
            sleep_until(due).await;
        }
    }
}

/// One end of a tunnel, watched for signs of life, and for how long it takes nothing.
struct Watched {
    io: TokioIo<Upgraded>,
    activity: Arc<Activity>,
    pace: Option<Arc<Pace>>,
    /// Size of the next piece for a number of available bytes, where there is a pace.
    piece: fn(usize) -> usize,
}

impl Watched {
    /// Data that is not taken now counts as waiting from now on.
    fn note<T>(&self, polled: Poll<T>) -> Poll<T> {
        match &self.pace {
            Some(pace) if polled.is_pending() => pace.offer(),
            Some(pace) => pace.taken(),
            None => {}
        }
        polled
    }
}

impl Drop for Watched {
    /// Data still on its way has that time and no more.
    fn drop(&mut self) {
        if let Some(pace) = &self.pace {
            pace.offer();
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = ready!(Pin::new(&mut self.io).poll_read(cx, buf));
        self.activity.mark();
        Poll::Ready(read)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let most = self.pace.as_ref().map_or(buf.len(), |_| (self.piece)(buf.len()));
        let written = Pin::new(&mut self.io).poll_write(cx, &buf[..most]);
        self.note(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.io).poll_shutdown(cx);
        self.note(shut)
    }
}

/// How long the client's 101 may take to be written.
const HANDOVER: Duration = Duration::from_secs(30);
