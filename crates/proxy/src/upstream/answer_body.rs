//! An answer's body on its way from the upstream to the client.

use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};

use crate::client::request_body::Progress;
use crate::error::{BoxError, ForwardError, Kind};
use crate::hygiene;
use crate::memory::Ration;
use crate::upstream::pool::Lease;

/// An answer's body from the upstream. Read whole, it gives its connection back; dropped before, it cancels the request.
pub(crate) struct UpstreamBody {
    incoming: Incoming,
    lease: Option<Lease>,
    /// How far the visitor has come with the request.
    upload: Option<Arc<Progress>>,
    idle: Duration,
    timer: Option<Pin<Box<Sleep>>>,
    /// The data that was read ahead. PERF: boxed, because it is rare.
    ahead: Option<Box<Ahead>>,
}

/// Data that was read before the client asked for it, in one piece.
struct Ahead {
    data: Bytes,
    trailers: Option<HeaderMap>,
    /// The memory for it.
    ration: Ration,
}

impl Ahead {
    /// False if there is no memory for the data read ahead. PERF: a small answer takes no memory that all clients share.
    fn take(&mut self, frame: Frame<Bytes>) -> bool {
        match frame.into_data() {
            Ok(more) if self.data.is_empty() => self.data = more,
            Ok(more) => {
                let mut both = BytesMut::from(mem::take(&mut self.data));
                both.extend_from_slice(&more);
                self.data = both.freeze();
            }
            Err(frame) => self.trailers = frame.into_trailers().ok(),
        }
        self.ration.grow_at_once(self.data.len())
    }

    fn next(&mut self) -> Option<Frame<Bytes>> {
        if !self.data.is_empty() {
            return Some(Frame::data(mem::take(&mut self.data)));
        }
        self.trailers.take().map(Frame::trailers)
    }

    fn is_empty(&self) -> bool {
        self.data.is_empty() && self.trailers.is_none()
    }
}

impl UpstreamBody {
    pub(crate) fn new(incoming: Incoming, lease: Lease, idle: Duration, upload: Option<Arc<Progress>>) -> Self {
        Self {
            incoming,
            lease: Some(lease),
            upload,
            idle,
            timer: None,
            ahead: None,
        }
    }

    /// Reads a short answer whose end comes soon, if there is memory for it, and gives its connection back. SECURITY: a
    /// client that does not read then holds the answer, but no connection that others wait for. An answer that breaks
    /// meanwhile is an error.
    pub(crate) async fn take_over(&mut self, mut ration: Ration) -> Result<(), Kind> {
        if self.incoming.size_hint().lower() > SHORT as u64 || !ration.grow_at_once(1) {
            return Ok(());
        }
        self.ahead = Some(Box::new(Ahead {
            data: Bytes::new(),
            trailers: None,
            ration,
        }));
        // PERF: nearly always the whole body came with the head, and no clock need be read.
        let mut goes_on = true;
        while goes_on && let Poll::Ready(next) = poll_fn(|cx| Poll::Ready(self.poll_shop(cx))).await {
            goes_on = self.take(next)?;
        }
        if goes_on {
            Box::pin(self.take_what_comes_soon()).await?;
        }
        Ok(())
    }

    async fn take_what_comes_soon(&mut self) -> Result<(), Kind> {
        let soon = Instant::now() + SOON;
        while let Ok(next) = timeout_at(soon, poll_fn(|cx| self.poll_shop(cx))).await {
            if !self.take(next)? {
                break;
            }
        }
        Ok(())
    }

    /// Whether there is more to take over.
    fn take(&mut self, next: Option<Result<Frame<Bytes>, BoxError>>) -> Result<bool, Kind> {
        let Some(frame) = next else { return Ok(false) };
        let frame = frame.map_err(|_| Kind::Broken)?;
        // Without memory for the data it keeps its connection.
        let has_room = self.ahead.as_mut().is_some_and(|ahead| ahead.take(frame));
        if has_room && self.incoming.is_end_stream() {
            self.end();
        }
        let is_short = self.ahead.as_ref().is_some_and(|ahead| ahead.data.len() < SHORT);
        Ok(has_room && is_short && self.lease.is_some())
    }

    /// The whole answer has been received, so the upstream is not involved any more.
    pub(crate) fn is_whole(&self) -> bool {
        self.lease.is_none()
    }

    fn end(&mut self) {
        if let Some(lease) = self.lease.take() {
            lease.give_back();
        }
    }

    fn is_reset(&self) -> bool {
        !self.incoming.is_end_stream() && self.lease.as_ref().is_some_and(|lease| lease.fate().is_some())
    }

    /// Closes the connection. A server that has not had the whole request is not to blame: the visitor may have cut it.
    fn fail(&mut self, kind: Kind) {
        let Some(lease) = self.lease.take() else { return };
        if self.upload.as_ref().is_none_or(|upload| upload.is_whole()) {
            lease.target().failed_with(kind);
        }
    }

    fn is_silent(&mut self, cx: &mut Context<'_>) -> bool {
        let idle = self.idle;
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + idle)));
        timer.as_mut().poll(cx).is_ready()
    }

    fn poll_shop(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match Pin::new(&mut self.incoming).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                self.timer = None;
                match frame.into_trailers() {
                    Ok(mut trailers) => {
                        self.end();
                        hygiene::clean_trailers(&mut trailers);
                        Poll::Ready(Some(Ok(Frame::trailers(trailers))))
                    }
                    Err(data) => Poll::Ready(Some(Ok(data))),
                }
            }
            Poll::Ready(Some(Err(error))) => {
                self.fail(Kind::Broken);
                Poll::Ready(Some(Err(error.into())))
            }
            // hyper takes a stream that was reset for no reason, or called off, for one that ended.
            Poll::Ready(None) if self.is_reset() => {
                self.fail(Kind::Broken);
                Poll::Ready(Some(Err(Box::new(ForwardError::from(Kind::Broken)))))
            }
            Poll::Ready(None) => {
                self.end();
                Poll::Ready(None)
            }
            Poll::Pending if self.is_silent(cx) => {
                self.fail(Kind::ResponseTimeout);
                Poll::Ready(Some(Err(Box::new(ForwardError::from(Kind::ResponseTimeout)))))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl http_body::Body for UpstreamBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.ahead.as_mut().and_then(|ahead| ahead.next()) {
            Some(frame) => Poll::Ready(Some(Ok(frame))),
            None => self.poll_shop(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.ahead.as_ref().is_none_or(|ahead| ahead.is_empty()) && self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let left = self.incoming.size_hint();
        let Some(ahead) = &self.ahead else { return left };
        let ahead = ahead.data.len() as u64;
        let mut hint = SizeHint::new();
        hint.set_lower(left.lower() + ahead);
        if let Some(upper) = left.upper() {
            hint.set_upper(upper + ahead);
        }
        hint
    }
}

impl Drop for UpstreamBody {
    fn drop(&mut self) {
        // hyper does not ask again once a body of known length has been read to its end.
        if self.incoming.is_end_stream() {
            self.end();
        }
    }
}

/// Longest answer that is taken over, but for its last frame.
const SHORT: usize = 16 * 1024;
/// How soon its end must come.
const SOON: Duration = Duration::from_millis(50);
