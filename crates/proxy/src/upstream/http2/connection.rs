//! One connection that requests share, and one request's stream on it.
//!
//! Streams end alone: a dropped stream is reset, its upload with it, and the others go on. The connection closes by itself
//! when no stream may begin on it and the last one has ended.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::fate::Fate;
use super::message;
use super::run::{Carried, Driven, Run, drive};
use super::watch::{Signs, Watch};
use crate::error::Kind;
use crate::lock::held;
use crate::settings::UpstreamSettings;
use crate::upstream::request_body::Sent;
use crate::upstream::servers::Target;
use crate::upstream::socket::UpstreamSocket;
use crate::wire::looked::Looked;

/// A connection, for as many requests at once as the upstream takes.
pub(super) struct Connection {
    target: Arc<Target>,
    sender: SendRequest<Carried>,
    driven: Arc<Driven>,
    signs: Arc<Signs>,
    run: Run,
    streams: AtomicUsize,
    /// A request has been answered on it.
    served: AtomicBool,
    idle_since: Mutex<Instant>,
}

impl Connection {
    /// Speaks first, and waits for the upstream's settings; none where they do not come.
    pub(super) async fn open(
        socket: UpstreamSocket,
        target: &Arc<Target>,
        settings: &UpstreamSettings,
    ) -> Option<Arc<Self>> {
        let (signs, run) = (Arc::new(Signs::default()), Run::default());
        let watched = TokioIo::new(Looked::new(socket, Watch::new(Arc::clone(&signs))));
        let (sender, connection) = builder(run.clone(), settings).handshake(watched).await.ok()?;
        let driven = drive(connection);
        signs.settled().await.then(|| {
            Arc::new(Self {
                target: Arc::clone(target),
                sender,
                driven,
                signs,
                run,
                streams: AtomicUsize::new(0),
                served: AtomicBool::new(false),
                idle_since: Mutex::new(Instant::now()),
            })
        })
    }

    pub(super) fn is_to(&self, target: &Arc<Target>) -> bool {
        Arc::ptr_eq(&self.target, target)
    }

    /// Whether it may be begun on at all: not when it ends, its address is gone, or it stood idle for too long.
    pub(super) fn is_good(&self, oldest: Duration) -> bool {
        let is_idle = || self.streams.load(Ordering::Relaxed) == 0 && self.idle_for() >= oldest;
        !self.signs.is_leaving() && !self.sender.is_closed() && !self.target.is_gone() && !is_idle()
    }

    fn idle_for(&self) -> Duration {
        held(&self.idle_since).elapsed()
    }

    /// Requests at once that it takes.
    pub(super) fn most_streams(&self) -> usize {
        self.driven.most_streams().min(STREAMS)
    }

    /// A stream, if the upstream takes one more now.
    pub(super) fn begin(self: &Arc<Self>) -> Option<Stream> {
        if self.streams.load(Ordering::Relaxed) >= self.most_streams() {
            return None;
        }
        self.streams.fetch_add(1, Ordering::Relaxed);
        Some(Stream {
            reused: self.served.load(Ordering::Relaxed),
            connection: Arc::clone(self),
            fate: Fate::Open,
            upload: None,
        })
    }
}

fn builder(run: Run, settings: &UpstreamSettings) -> Builder<Run> {
    let mut builder = Builder::new(run);
    builder
        .timer(TokioTimer::new())
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_header_list_size(u32::try_from(settings.head_bytes).unwrap_or(u32::MAX))
        .max_send_buf_size(SEND_BYTES)
        .keep_alive_interval(settings.ping)
        .keep_alive_timeout(settings.ping)
        .max_concurrent_reset_streams(REMEMBERED_RESETS)
        // Late frames for a stream that a visitor cancelled are no error: the number of frames is bounded in `watch`.
        .max_local_error_reset_streams(None);
    builder
}

/// One request's use of a connection.
pub(crate) struct Stream {
    connection: Arc<Connection>,
    /// On drop it ends the upload, in a tunnel too.
    upload: Option<DropGuard>,
    reused: bool,
    fate: Fate,
}

impl Stream {
    /// Sends the request and waits for the head of its answer. `patience` is how long the upstream may take nothing of the body.
    pub(crate) async fn send(
        &mut self,
        mut request: Request<Sent>,
        patience: Duration,
    ) -> Result<Response<Incoming>, Kind> {
        let connection = Arc::clone(&self.connection);
        let accept = message::outgoing(&mut request, connection.target.scheme()).ok_or(Kind::Broken)?;
        if accept.is_some() && !connection.driven.takes_tunnels() {
            connection.target.note("it takes no WebSocket over HTTP/2 (RFC 8441)");
            return Err(Kind::NoTunnel);
        }
        let upload = request.body().upload();
        let request = request.map(|body| self.carry(body, accept.is_some()));
        connection.signs.request();
        let answer = connection.sender.clone().try_send_request(request);
        let answer = tokio::select! {
            answer = answer => answer,
            () = async { match &upload {
                Some(upload) => upload.stalled(patience).await,
                None => std::future::pending().await,
            } } => return Err(self.fail(Fate::Failed)),
        };
        let mut answer = answer.map_err(|error| self.fail(Fate::of(&error)))?;
        connection.served.store(true, Ordering::Relaxed);
        self.fate = Fate::Answered;
        if let Some(upload) = upload {
            upload.forget();
        }
        if message::incoming(&mut answer, accept) {
            Ok(answer)
        } else {
            Err(Kind::Broken)
        }
    }

    fn carry(&mut self, mut body: Sent, is_tunnel: bool) -> Carried {
        body.release();
        let upload = CancellationToken::new();
        self.upload = Some(upload.clone().drop_guard());
        Carried::new(body, self.connection.run.clone(), upload, is_tunnel)
    }

    fn fail(&mut self, fate: Fate) -> Kind {
        self.fate = fate;
        Kind::Broken
    }

    pub(crate) fn fate(&self) -> Fate {
        self.fate
    }

    /// Whether the connection has served a request before.
    pub(crate) fn is_reused(&self) -> bool {
        self.reused
    }

    /// No answer came in time: the upstream may be slow, or the connection dead, and nothing new is trusted to it.
    pub(crate) fn distrust(&self) {
        self.connection.signs.leave();
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.upload = None;
        let now = Instant::now();
        *held(&self.connection.idle_since) = now;
        self.connection.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Simultaneous requests on a connection, if the upstream allows as many; beyond that another is opened.
pub(super) const STREAMS: usize = 100;
/// Bytes that the upstream may send ahead of one answer.
const STREAM_WINDOW: u32 = 64 * 1024;
/// All streams' windows fit into it, so that a visitor who reads slowly does not delay other visitors' answers. It is ten
/// times as large because h2 ends a connection on which too many small frames wait to be read, and allows more of them the
/// larger the window is.
const CONNECTION_WINDOW: u32 = 64 * 1024 * 1024;
/// Bytes of a request's body that h2 takes ahead of the upstream.
const SEND_BYTES: usize = 64 * 1024;
/// Streams that were called off, for which frames are still expected.
const REMEMBERED_RESETS: usize = 256;
