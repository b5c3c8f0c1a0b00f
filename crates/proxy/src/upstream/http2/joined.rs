//! A visitor's small pieces of a body, put together before they go over a connection that others share.
//!
//! Without this each piece would be a frame, and servers end connections on which many small frames arrive, with all requests
//! on them.

use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Body as _, Frame, SizeHint};

use crate::client::request_body::RequestBody;
use crate::error::BodyError;

/// A body whose small pieces are joined as far as they are available.
pub(super) struct Joined {
    body: RequestBody,
    /// Small pieces.
    ahead: BytesMut,
    /// The frame behind them.
    next: Option<Frame<Bytes>>,
    /// The task that reads from the visitor has had a turn since the last piece.
    has_waited: bool,
    is_over: bool,
}

type Piece = Option<Result<Frame<Bytes>, BodyError>>;

impl Joined {
    pub(super) fn new(body: RequestBody) -> Self {
        Self {
            body,
            ahead: BytesMut::new(),
            next: None,
            has_waited: false,
            is_over: false,
        }
    }

    pub(super) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Piece> {
        while self.next.is_none() && self.ahead.len() < PIECE_BYTES && !self.is_over {
            match self.body.poll_piece(cx, self.ahead.is_empty()) {
                Poll::Ready(Some(Ok(frame))) => self.take(frame),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(None) => self.is_over = true,
                Poll::Pending if self.ahead.is_empty() => return Poll::Pending,
                Poll::Pending if self.has_waited => break,
                Poll::Pending => {
                    // The next piece may be available, and be passed on in a turn that was woken before this one.
                    self.has_waited = true;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(self.give().map(Ok))
    }

    fn take(&mut self, frame: Frame<Bytes>) {
        self.has_waited = false;
        self.is_over = self.body.is_end_stream();
        match frame.data_ref() {
            Some(data) if is_small(data) => self.ahead.extend_from_slice(data),
            _ => self.next = Some(frame),
        }
    }

    fn give(&mut self) -> Option<Frame<Bytes>> {
        if self.ahead.is_empty() {
            return self.next.take();
        }
        Some(Frame::data(self.ahead.split().freeze()))
    }

    pub(super) fn is_end_stream(&self) -> bool {
        self.ahead.is_empty() && self.next.is_none() && (self.is_over || self.body.is_end_stream())
    }

    pub(super) fn size_hint(&self) -> SizeHint {
        let next = self.next.as_ref().and_then(Frame::data_ref).map_or(0, Bytes::len);
        longer(&self.body.size_hint(), self.ahead.len() + next)
    }
}

/// Whether a piece is joined with others; larger ones are passed on unchanged.
pub(super) fn is_small(data: &[u8]) -> bool {
    data.len() < SMALL_BYTES
}

/// The hint for a body with this many bytes ahead of it.
pub(super) fn longer(rest: &SizeHint, ahead: usize) -> SizeHint {
    let mut hint = SizeHint::new();
    hint.set_lower(rest.lower() + ahead as u64);
    if let Some(upper) = rest.upper() {
        hint.set_upper(upper + ahead as u64);
    }
    hint
}

const SMALL_BYTES: usize = 4 * 1024;
/// Most bytes that are joined, before one more piece: a frame of the size that every server accepts (RFC 9113, section 4.2).
pub(super) const PIECE_BYTES: usize = 16 * 1024 - SMALL_BYTES;
