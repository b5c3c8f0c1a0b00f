//! The first bytes of a request's body, received ahead of the reader.

use bytes::Bytes;
use http::HeaderMap;
use http_body::Frame;

use crate::memory::Ration;

/// The part of a body that is received and not yet read. Its memory grows with the bytes that arrive, not with the announced
/// length.
pub(super) struct Buffer {
    data: Vec<u8>,
    /// About this many bytes are received, and not many more.
    most: usize,
    trailers: Option<HeaderMap>,
    is_whole: bool,
    ration: Option<Ration>,
}

impl Buffer {
    /// An empty one, charged to `ration`.
    pub(super) fn new(ration: Option<Ration>) -> Self {
        Self {
            data: Vec::new(),
            most: 0,
            trailers: None,
            is_whole: false,
            ration,
        }
    }

    /// Sets the number of bytes to receive.
    pub(super) fn take(&mut self, most: usize) {
        self.most = most;
    }

    pub(super) fn data(&self) -> &[u8] {
        &self.data
    }

    /// The body has no more than was received.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Something is left for the reader.
    pub(super) fn has_more(&self) -> bool {
        !self.data.is_empty() || self.trailers.as_ref().is_some_and(|trailers| !trailers.is_empty())
    }

    pub(super) fn trailers_mut(&mut self) -> Option<&mut HeaderMap> {
        self.trailers.as_mut()
    }

    /// Charges the buffered bytes and room for `more` bytes, if that needs no wait; false otherwise.
    pub(super) fn charge_at_once(&mut self, more: usize) -> bool {
        let capacity = self.capacity(more);
        self.ration.as_mut().is_none_or(|ration| ration.grow_at_once(capacity))
    }

    /// Waits until the buffered bytes and room for `more` bytes are charged.
    pub(super) async fn charge(&mut self, more: usize) {
        let capacity = self.capacity(more);
        if let Some(ration) = &mut self.ration {
            ration.grow(capacity).await;
        }
    }

    /// The capacity for `more` further bytes: twice the present one, so that a body is copied only a few times, but no more
    /// than is needed.
    fn capacity(&self, more: usize) -> usize {
        let (needed, now) = (self.data.len() + more, self.data.capacity());
        if needed <= now {
            return now;
        }
        needed.max((2 * now).min(self.most)).next_multiple_of(STEP)
    }

    /// Takes a received frame; `None` and `is_end` mean that no more will come.
    pub(super) fn keep(&mut self, frame: Option<Frame<Bytes>>, is_end: bool) {
        self.is_whole = is_end || frame.as_ref().is_none_or(Frame::is_trailers);
        match frame.map(Frame::into_data) {
            Some(Ok(data)) => {
                self.data.reserve_exact(self.capacity(data.len()) - self.data.len());
                self.data.extend_from_slice(&data);
            }
            Some(Err(frame)) => self.trailers = frame.into_trailers().ok(),
            None => {}
        }
    }

    /// The next piece for the reader. Its memory is no longer charged.
    pub(super) fn give(&mut self) -> Option<Frame<Bytes>> {
        if self.data.is_empty() {
            let trailers = self.trailers.take().filter(|trailers| !trailers.is_empty());
            return trailers.map(Frame::trailers);
        }
        self.ration = None;
        Some(Frame::data(std::mem::take(&mut self.data).into()))
    }
}

/// Unit in which memory is requested.
const STEP: usize = 1024;
