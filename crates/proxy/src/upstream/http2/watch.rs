//! Facts in an upstream's frames that h2 does not expose or does not bound.
//!
//! Interim answers wait in memory until the final answer is read, and settings and pings cost processing time each: an
//! upstream that sends them without end is cut off. A GOAWAY is seen here first, so that no new stream is sent after it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::upstream::socket::UpstreamSocket;
use crate::wire::bucket::Bucket;
use crate::wire::frame::{
    ACK, CONTINUATION, DATA, GOAWAY, HEAD, HEADERS, RST_STREAM, SETTINGS, WINDOW_UPDATE, payload,
};
use crate::wire::looked::{Look, Looked};

/// The state of a connection as known from its frames.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// The upstream's settings have arrived: it speaks HTTP/2.
    settled: AtomicBool,
    /// The connection is over.
    over: AtomicBool,
    changed: Notify,
    /// The upstream ends the connection.
    leaving: AtomicBool,
    /// Heads that the upstream may still send.
    heads: AtomicU32,
}

impl Signs {
    /// Waits for the upstream's settings; false where the connection ends before.
    pub(super) async fn settled(&self) -> bool {
        loop {
            let changed = self.changed.notified();
            if self.over.load(Ordering::Relaxed) {
                return false;
            }
            if self.settled.load(Ordering::Relaxed) {
                return true;
            }
            changed.await;
        }
    }

    fn mark(&self, sign: &AtomicBool) {
        sign.store(true, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    pub(super) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Relaxed)
    }

    /// No new stream may use this connection.
    pub(super) fn leave(&self) {
        self.leaving.store(true, Ordering::Relaxed);
    }

    /// A request goes out: it may be answered, with some interim answers and trailers.
    pub(super) fn request(&self) {
        let heads = self.heads.load(Ordering::Relaxed);
        self.heads
            .store((heads + HEADS_PER_REQUEST).min(MOST_HEADS), Ordering::Relaxed);
    }

    fn head(&self) -> bool {
        let left = self.heads.load(Ordering::Relaxed).checked_sub(1);
        self.heads.store(left.unwrap_or_default(), Ordering::Relaxed);
        left.is_some()
    }
}

/// The upstream's socket, its frames watched as they come.
pub(super) type Watched = Looked<UpstreamSocket, Watch>;

/// The state of the frame that is arriving.
pub(super) struct Watch {
    signs: Arc<Signs>,
    /// The head of the arriving frame, as far as it is received.
    head: [u8; HEAD],
    filled: usize,
    /// Remaining bytes of the frame's payload.
    rest: usize,
    /// The arriving frame is SETTINGS.
    settles: bool,
    /// Frames that the upstream may still send unasked.
    odd: Bucket,
}

impl Look for Watch {
    fn look(&mut self, came: &mut [u8]) -> io::Result<()> {
        let mut bytes = &*came;
        while !bytes.is_empty() {
            if self.rest > 0 {
                let passed = self.rest.min(bytes.len());
                self.rest -= passed;
                bytes = &bytes[passed..];
                self.settle();
                continue;
            }
            let taken = (HEAD - self.filled).min(bytes.len());
            self.head[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
            self.filled += taken;
            bytes = &bytes[taken..];
            if self.filled == HEAD {
                self.filled = 0;
                self.frame()?;
                self.settle();
            }
        }
        Ok(())
    }
}

impl Watch {
    pub(super) fn new(signs: Arc<Signs>) -> Self {
        Self {
            signs,
            head: [0; HEAD],
            filled: 0,
            rest: 0,
            settles: false,
            odd: Bucket::full(ODD_AT_ONCE, ODD_PER_SECOND),
        }
    }

    fn settle(&mut self) {
        if self.rest == 0 && std::mem::take(&mut self.settles) {
            self.signs.mark(&self.signs.settled);
        }
    }

    /// A frame's head has arrived (RFC 9113, section 4.1).
    fn frame(&mut self) -> io::Result<()> {
        let [_, _, _, kind, flags, ..] = self.head;
        self.rest = payload(&self.head);
        let is_bounded = match kind {
            HEADERS => self.signs.head(),
            // h2 bounds the frames after a head, and empty ones; the number of window updates depends on the data sent.
            CONTINUATION | DATA | RST_STREAM | WINDOW_UPDATE => true,
            GOAWAY => {
                self.signs.leave();
                self.odd.take(Instant::now())
            }
            SETTINGS if flags & ACK == 0 => {
                self.settles = true;
                self.odd.take(Instant::now())
            }
            _ => self.odd.take(Instant::now()),
        };
        if is_bounded {
            Ok(())
        } else {
            Err(io::Error::other("more frames than a server has reason for"))
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.signs.leave();
        self.signs.mark(&self.signs.over);
    }
}

/// An answer, its trailers, and eight interim answers.
const HEADS_PER_REQUEST: u32 = 10;
/// As many as the requests of one connection may have at once.
const MOST_HEADS: u32 = 1_000;
/// Allowed frames of settings, pings, priorities and unknown types: at once, and again each second.
const ODD_AT_ONCE: f64 = 1_000.0;
const ODD_PER_SECOND: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_as_many_as_requests_have_reason_for() {
        let signs = Signs::default();
        assert!(!signs.head());
        signs.request();
        assert_eq!((0..100).filter(|_| signs.head()).count(), 10);
        (0..1_000).for_each(|_| signs.request());
        assert_eq!((0..10_000).filter(|_| signs.head()).count(), 1_000);
    }
}
