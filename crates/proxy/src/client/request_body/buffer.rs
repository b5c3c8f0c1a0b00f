//! The first bytes of a request's body, received ahead of the reader.

use bytes::Bytes;
use http::HeaderMap;
use http_body::Frame;

use crate::memory::Ration;

/// What was received of a body and not yet read. Its memory grows with the bytes that come, not with those announced.
pub(super) struct Buffer {
    data: Vec<u8>,
    /// So many bytes are received, and not many more.
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

    /// Takes so many bytes from now on.
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

    /// Charges what is here, and room for so many bytes more, where that needs no wait; else false.
    pub(super) fn charge_at_once(&mut self, more: usize) -> bool {
        let capacity = self.capacity(more);
        self.ration.as_mut().is_none_or(|ration| ration.grow_at_once(capacity))
    }

    /// Waits until what is here is charged, and room for so many bytes more.
    pub(super) async fn charge(&mut self, more: usize) {
        let capacity = self.capacity(more);
        if let Some(ration) = &mut self.ration {
            ration.grow(capacity).await;
        }
    }

    /// What room there will be with so many bytes more: twice what there was, so that a body is copied a few times, and no more
    /// than is asked for.
    fn capacity(&self, more: usize) -> usize {
        let (needed, now) = (self.data.len() + more, self.data.capacity());
        if needed <= now {
            return now;
        }
        needed.max((2 * now).min(self.most)).next_multiple_of(STEP)
    }

    /// Takes what came; `None` and `is_end` say that nothing more will.
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

    /// The next piece for the reader. What it takes is no longer charged.
    pub(super) fn give(&mut self) -> Option<Frame<Bytes>> {
        if self.data.is_empty() {
            let trailers = self.trailers.take().filter(|trailers| !trailers.is_empty());
            return trailers.map(Frame::trailers);
        }
        self.ration = None;
        Some(Frame::data(std::mem::take(&mut self.data).into()))
    }
}

/// What memory is asked for in.
const STEP: usize = 1024;
