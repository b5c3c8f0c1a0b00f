//! The body of a request: its limit, its deadline, and the handling of a body that is never read.
//!
//! hyper sends `100 Continue` when a body is first polled, so a body must be polled only when its bytes are wanted. The first
//! bytes may be [received](RequestBody::receive) ahead of the reader and are buffered here until it takes them. If a body is
//! dropped unread, the connection's loop drains the rest within bounds, or closes.

mod buffer;
mod patience;
mod progress;

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Request, Version};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::timeout;

use self::buffer::Buffer;
use self::patience::Patience;
use crate::client::noted::Noted;
use crate::drop_guard::DropGuard;
use crate::error::BodyError;
use crate::hygiene;
use crate::memory::Ration;
use crate::settings::ServerSettings;

pub(crate) use self::progress::{Outcome, Progress};

/// The body of a request. Reading it may fail with a [`BodyError`]; the connection is closed then.
pub struct RequestBody {
    incoming: Option<Incoming>,
    noted: Noted,
    /// It comes over HTTP/2, where its end is a flag.
    is_flagged: bool,
    progress: Option<Arc<Progress>>,
    limit: u64,
    read: u64,
    patience: Patience,
    /// Bytes received ahead of the reader. PERF: boxed, because few requests have a body and every request has this field.
    buffer: Option<Box<Buffer>>,
    streamed: bool,
    /// The right to be streamed to the upstream, until the body has ended.
    streaming: Option<Box<dyn DropGuard>>,
    /// Fields that its trailers must not have.
    kept_out: Vec<HeaderName>,
}

impl RequestBody {
    pub(crate) fn of(request: Request<Incoming>, noted: Noted, settings: &ServerSettings) -> Request<Self> {
        let is_flagged = request.version() == Version::HTTP_2;
        request.map(|incoming| Self {
            progress: (!incoming.is_end_stream()).then(Arc::default),
            incoming: Some(incoming),
            noted,
            is_flagged,
            limit: settings.body_bytes,
            read: 0,
            patience: Patience::new(settings.body_idle, settings.body_rate),
            buffer: None,
            streamed: false,
            streaming: None,
            kept_out: Vec::new(),
        })
    }

    /// Which fields the request came with.
    #[must_use]
    pub fn noted(&self) -> Noted {
        self.noted
    }

    /// Removes these fields, and all aliases of them, from the trailers.
    pub(crate) fn keep_from_trailers(&mut self, names: &[HeaderName]) {
        // PERF: few requests have a body.
        if !self.is_end_stream() {
            self.kept_out = names.to_vec();
        }
    }

    /// Receives the body until it has ended or more than `most` bytes are buffered. They can be inspected
    /// ([`buffered`](Self::buffered)), and the reader reads them again. Their memory comes from `ration`; without free memory
    /// the bytes stay with the client until there is some.
    pub async fn receive(&mut self, most: usize, ration: Option<Ration>) -> Result<(), BodyError> {
        if self.is_complete() {
            return Ok(());
        }
        let buffer = self.buffer.get_or_insert_with(|| Box::new(Buffer::new(ration)));
        buffer.take(most);
        while !self.is_complete() && self.buffered().len() <= most {
            self.charge(1).await?;
            let frame = poll_fn(|cx| self.poll_incoming(cx, true)).await.transpose()?;
            let is_end = self.incoming.as_ref().is_none_or(Body::is_end_stream);
            if let Some(buffer) = &mut self.buffer {
                buffer.keep(frame, is_end);
            }
            self.charge(0).await?;
        }
        if self.is_end_stream() {
            self.end();
        }
        Ok(())
    }

    /// The bytes that were received ahead of the reader: the whole body if it [is complete](Self::is_complete).
    #[must_use]
    pub fn buffered(&self) -> &[u8] {
        self.buffer.as_ref().map_or(&[], |buffer| buffer.data())
    }

    /// The whole body has arrived from the client. A request without a body is complete.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.progress.is_none() || self.buffer.as_ref().is_some_and(|buffer| buffer.is_whole())
    }

    /// Has the body streamed to the upstream from its first byte.
    pub fn stream(&mut self) {
        self.streamed = true;
    }

    pub(crate) fn is_streamed(&self) -> bool {
        self.streamed
    }

    /// Something was received ahead of the reader.
    pub(crate) fn is_begun(&self) -> bool {
        self.buffer.is_some()
    }

    /// The trailers that were received, without fields that they must not have.
    pub(crate) fn trailers_mut(&mut self) -> Option<&mut HeaderMap> {
        let trailers = self.buffer.as_mut()?.trailers_mut()?;
        hygiene::strip_said(trailers, &self.kept_out);
        Some(trailers)
    }

    /// Keeps the right to stream until the body has ended.
    pub(crate) fn hold(&mut self, streaming: impl Send + 'static) {
        self.streaming = Some(Box::new(streaming));
    }

    /// Waits for memory for the buffered bytes and for `more` bytes.
    async fn charge(&mut self, more: usize) -> Result<(), BodyError> {
        let Some(buffer) = &mut self.buffer else { return Ok(()) };
        // PERF: there nearly always is, and a timer costs more than the rest.
        if buffer.charge_at_once(more) {
            return Ok(());
        }
        let charged = timeout(self.patience.idle, buffer.charge(more)).await;
        charged.map_err(|_| self.fail(BodyError::NoMemory))
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

    pub(crate) fn progress(&self) -> Option<Arc<Progress>> {
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
        }
        Ok(frame)
    }

    /// The next piece for the reader. If the reader does not wait for it, a missing piece does not count against the client.
    pub(crate) fn poll_piece(
        &mut self,
        cx: &mut Context<'_>,
        waits: bool,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let mut piece = match self.buffer.as_mut().and_then(|buffer| buffer.give()) {
            Some(frame) => Some(Ok(frame)),
            None if self.is_complete() => None,
            None => ready!(self.poll_incoming(cx, waits)),
        };
        if let Some(Ok(frame)) = &mut piece
            && let Some(trailers) = frame.trailers_mut()
        {
            hygiene::strip_said(trailers, &self.kept_out);
        }
        let is_last = match &piece {
            None => true,
            Some(Ok(frame)) => frame.is_trailers() || self.is_end_stream(),
            Some(Err(_)) => false,
        };
        if is_last {
            self.end();
        }
        Poll::Ready(piece)
    }

    fn poll_incoming(&mut self, cx: &mut Context<'_>, waits: bool) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Some(incoming) = &mut self.incoming else {
            return Poll::Ready(None);
        };
        if let Some(progress) = &self.progress {
            progress.wanted.store(true, Ordering::Relaxed);
        }
        match Pin::new(&mut *incoming).poll_frame(cx) {
            // SECURITY: hyper gives out a stream that was reset without an error as one that has ended. A server may say so when it has
            // answered (RFC 9113, section 8.1); of a client it leaves half a body.
            Poll::Ready(None) if self.is_flagged && !incoming.is_end_stream() => {
                Poll::Ready(Some(Err(self.fail(BodyError::Broken))))
            }
            Poll::Ready(Some(Ok(frame))) => {
                let taken = self.take(frame).map_err(|error| self.fail(error));
                Poll::Ready(Some(taken))
            }
            Poll::Ready(Some(Err(_))) => Poll::Ready(Some(Err(self.fail(BodyError::Broken)))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending if waits && self.patience.is_lost(cx) => {
                Poll::Ready(Some(Err(self.fail(BodyError::TooSlow))))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    /// The reader has read the whole body.
    fn end(&mut self) {
        self.streaming = None;
        if let Some(progress) = &self.progress
            && progress.outcome() == Outcome::Coming
        {
            progress.end(Outcome::Whole);
        }
    }

    fn fail(&mut self, error: BodyError) -> BodyError {
        self.incoming = None;
        self.buffer = None;
        self.streaming = None;
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
        match &self.buffer {
            Some(buffer) if buffer.has_more() => false,
            Some(buffer) if buffer.is_whole() => true,
            _ => self.incoming.as_ref().is_none_or(Body::is_end_stream),
        }
    }

    fn size_hint(&self) -> SizeHint {
        let held = self.buffered().len() as u64;
        if self.is_complete() {
            return SizeHint::with_exact(held);
        }
        let rest = self.incoming.as_ref();
        let rest = rest.map_or_else(|| SizeHint::with_exact(0), Body::size_hint);
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower().saturating_add(held));
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper.saturating_add(held));
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

/// Reads and throws away; true when the body ended within the bounds.
pub(crate) async fn drain(mut rest: Incoming, settings: &ServerSettings) -> bool {
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
