//! The body of a request, with its limit and its patience, and what is done with one that nobody reads.
//!
//! hyper sends `100 Continue` when a body is first polled, so a body must be polled only by who wants it. A body that
//! drops unread leaves what is still to come behind, and the connection's loop drains it within bounds or closes.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderName;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until, timeout};

use super::error::Kind;
use super::hygiene;
use super::settings::ServerSettings;

/// Why a request's body ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// Longer than allowed.
    #[error("the request body is too large")]
    TooLarge,
    /// Nothing came for too long, or too little.
    #[error("the request body did not arrive in time")]
    TooSlow,
    /// The client is gone, or sent what is no chunk.
    #[error("the request body broke off")]
    Broken,
}

impl From<BodyError> for Kind {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => Self::BodyTooLarge,
            BodyError::TooSlow => Self::BodyTimeout,
            BodyError::Broken => Self::BodyBroken,
        }
    }
}

/// The body of a request. Reading it may fail with a [`BodyError`]; the connection is closed then.
pub struct RequestBody {
    incoming: Option<Incoming>,
    progress: Option<Arc<Progress>>,
    limit: u64,
    read: u64,
    patience: Patience,
    /// What the gate has read of it, to be read once more.
    ahead: VecDeque<Frame<Bytes>>,
    /// Fields that its trailers must not have.
    kept_out: Vec<HeaderName>,
}

impl RequestBody {
    pub(super) fn new(incoming: Incoming, settings: &ServerSettings) -> Self {
        let progress = (!incoming.is_end_stream()).then(Arc::default);
        let patience = Patience::new(settings.body_idle, settings.body_rate);
        Self {
            incoming: Some(incoming),
            progress,
            limit: settings.body_bytes,
            read: 0,
            patience,
            ahead: VecDeque::new(),
            kept_out: Vec::new(),
        }
    }

    /// Takes these fields, by whatever alias, out of the trailers.
    pub(super) fn keep_from_trailers(&mut self, names: &[HeaderName]) {
        // PERF: few requests have a body.
        if !self.is_end_stream() {
            self.kept_out = names.to_vec();
        }
    }

    /// The whole body, if it has no more than `most` bytes; whoever reads it afterwards has it as it came, whatever its
    /// length. No more than a piece beyond `most` is held, and its sender is waited for as ever.
    pub async fn look(&mut self, most: usize) -> Result<Option<Vec<u8>>, BodyError> {
        let (seen, whole) = self.glance(most).await?;
        Ok(whole.then_some(seen))
    }

    /// The first bytes of the body, `most` of them or a few more, and whether they are the whole.
    pub async fn glance(&mut self, most: usize) -> Result<(Vec<u8>, bool), BodyError> {
        let pieces = self.ahead.iter().filter_map(Frame::data_ref);
        let mut seen: Vec<u8> = pieces.flatten().copied().collect();
        if seen.len() > most {
            return Ok((seen, false));
        }
        while let Some(frame) = poll_fn(|cx| self.poll_incoming(cx, true)).await {
            let frame = frame?;
            seen.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
            self.ahead.push_back(frame);
            if seen.len() > most {
                return Ok((seen, false));
            }
        }
        Ok((seen, true))
    }

    /// Sets another limit for this request, in bytes.
    pub fn limit(&mut self, bytes: u64) {
        self.limit = bytes;
    }

    /// Whether the head already announces more than the limit.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        self.size_hint().lower() > self.limit
    }

    /// Whether its client has nothing more to send of it.
    #[must_use]
    pub fn is_here(&self) -> bool {
        let is_whole = |progress: &Arc<Progress>| progress.outcome() == Outcome::Whole;
        self.progress.as_ref().is_none_or(is_whole)
    }

    pub(super) fn progress(&self) -> Option<Arc<Progress>> {
        self.progress.clone()
    }

    fn take(&mut self, frame: Frame<Bytes>) -> Result<Frame<Bytes>, BodyError> {
        let bytes = frame.data_ref().map_or(0, Bytes::len);
        self.read = self.read.saturating_add(bytes as u64);
        self.patience.rewarded(self.read)?;
        if self.read > self.limit {
            return Err(BodyError::TooLarge);
        }
        if let Some(progress) = &self.progress {
            progress.moved();
            if frame.is_trailers() || self.incoming.as_ref().is_none_or(Body::is_end_stream) {
                progress.end(Outcome::Whole);
            }
        }
        Ok(frame)
    }

    /// The next piece. Where nobody waits for it, that it is not here yet says nothing of the client.
    pub(super) fn poll_piece(
        &mut self,
        cx: &mut Context<'_>,
        waits: bool,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = match self.ahead.pop_front() {
            Some(frame) => Poll::Ready(Some(Ok(frame))),
            None => self.poll_incoming(cx, waits),
        };
        frame.map_ok(|mut frame| {
            if let Some(trailers) = frame.trailers_mut() {
                hygiene::strip_said(trailers, &self.kept_out);
            }
            frame
        })
    }

    fn poll_incoming(&mut self, cx: &mut Context<'_>, waits: bool) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Some(incoming) = &mut self.incoming else {
            return Poll::Ready(None);
        };
        if let Some(progress) = &self.progress {
            progress.wanted.store(true, Ordering::Relaxed);
        }
        match Pin::new(incoming).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                let taken = self.take(frame).map_err(|error| self.fail(error));
                Poll::Ready(Some(taken))
            }
            Poll::Ready(Some(Err(_))) => Poll::Ready(Some(Err(self.fail(BodyError::Broken)))),
            Poll::Ready(None) => {
                if let Some(progress) = &self.progress {
                    progress.end(Outcome::Whole);
                }
                Poll::Ready(None)
            }
            Poll::Pending if waits && self.patience.is_lost(cx) => {
                Poll::Ready(Some(Err(self.fail(BodyError::TooSlow))))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn fail(&mut self, error: BodyError) -> BodyError {
        self.incoming = None;
        if let Some(progress) = &self.progress {
            progress.end(Outcome::Failed(error));
        }
        error
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.poll_piece(cx, true)
    }

    fn is_end_stream(&self) -> bool {
        self.ahead.is_empty() && self.incoming.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.incoming.as_ref();
        let rest = rest.map_or_else(|| SizeHint::with_exact(0), Body::size_hint);
        let ahead: usize = self.ahead.iter().filter_map(Frame::data_ref).map(Bytes::len).sum();
        let ahead = ahead as u64;
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(ahead));
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(ahead));
        }
        hint
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if let (Some(incoming), Some(progress)) = (self.incoming.take(), &self.progress)
            && progress.outcome() == Outcome::Coming
        {
            *progress.rest() = Some(incoming);
        }
    }
}

impl fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestBody")
            .field("read", &self.read)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// How far a body has come: shared by who reads it, who waits for an answer to it, and the connection's loop.
#[derive(Debug)]
pub(super) struct Progress {
    outcome: AtomicU8,
    wanted: AtomicBool,
    born: Instant,
    moved_ms: AtomicU64,
    rest: Mutex<Option<Incoming>>,
}

/// How a body ended, if it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Coming,
    Whole,
    Failed(BodyError),
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            outcome: AtomicU8::new(0),
            wanted: AtomicBool::new(false),
            born: Instant::now(),
            moved_ms: AtomicU64::new(0),
            rest: Mutex::new(None),
        }
    }
}

impl Progress {
    pub(super) fn outcome(&self) -> Outcome {
        match self.outcome.load(Ordering::Relaxed) {
            0 => Outcome::Coming,
            1 => Outcome::Whole,
            2 => Outcome::Failed(BodyError::TooLarge),
            3 => Outcome::Failed(BodyError::TooSlow),
            _ => Outcome::Failed(BodyError::Broken),
        }
    }

    /// Whether anybody has asked for the body's first byte.
    pub(super) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// When the body last came forward or ended.
    pub(super) fn last_moved(&self) -> Instant {
        self.born + Duration::from_millis(self.moved_ms.load(Ordering::Relaxed))
    }

    /// What nobody read of a body whose reader is gone.
    pub(super) fn take_rest(&self) -> Option<Incoming> {
        self.rest().take()
    }

    fn rest(&self) -> std::sync::MutexGuard<'_, Option<Incoming>> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn moved(&self) {
        let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.moved_ms.store(now, Ordering::Relaxed);
    }

    fn end(&self, outcome: Outcome) {
        self.moved();
        let code = match outcome {
            Outcome::Coming => 0,
            Outcome::Whole => 1,
            Outcome::Failed(BodyError::TooLarge) => 2,
            Outcome::Failed(BodyError::TooSlow) => 3,
            Outcome::Failed(BodyError::Broken) => 4,
        };
        self.outcome.store(code, Ordering::Relaxed);
    }
}

/// Reads and throws away; true when the body ended within the bounds.
pub(super) async fn drain(mut rest: Incoming, settings: &ServerSettings) -> bool {
    if rest.size_hint().lower() > settings.drain_bytes {
        return false;
    }
    let read = async {
        let mut seen = 0;
        while let Some(frame) = http_body_util::BodyExt::frame(&mut rest).await {
            let Ok(frame) = frame else { return false };
            seen += frame.data_ref().map_or(0, Bytes::len) as u64;
            if seen > settings.drain_bytes {
                return false;
            }
        }
        true
    };
    timeout(settings.drain, read).await.unwrap_or(false)
}

/// Patience with a client that is being waited for. Only waiting counts: while the shop is the slow one, none is lost.
struct Patience {
    idle: Duration,
    rate: u32,
    waited: Duration,
    since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    fn new(idle: Duration, rate: u32) -> Self {
        Self {
            idle,
            rate,
            waited: Duration::ZERO,
            since: None,
            timer: None,
        }
    }

    /// Nothing came: is that so for too long?
    fn is_lost(&mut self, cx: &mut Context<'_>) -> bool {
        if self.since.is_none() {
            let now = Instant::now();
            self.since = Some(now);
            match &mut self.timer {
                Some(timer) => timer.as_mut().reset(now + self.idle),
                None => self.timer = Some(Box::pin(sleep_until(now + self.idle))),
            }
        }
        self.timer
            .as_mut()
            .is_some_and(|timer| timer.as_mut().poll(cx).is_ready())
    }

    /// Something came: enough, for all the waiting so far?
    fn rewarded(&mut self, read: u64) -> Result<(), BodyError> {
        let Some(since) = self.since.take() else { return Ok(()) };
        self.waited += since.elapsed();
        let owed = u64::from(self.rate).saturating_mul(self.waited.as_secs());
        if self.waited > self.idle && read < owed {
            Err(BodyError::TooSlow)
        } else {
            Ok(())
        }
    }
}
