//! The framing guard: between a client's socket and hyper, it lets pass only bytes that can be read in one way.
//!
//! hyper follows RFC 9112 where that lets a recipient be lenient: it ignores a length beside `chunked`, merges equal
//! lengths, takes a bare LF for the end of a line, skips chunk extensions. An upstream's parser may do otherwise, and the
//! difference is how requests are smuggled. A refused head is replaced by an empty request that the connection's loop
//! answers with the reason, so that answers stay in order.

mod head;
mod machine;
mod target;

#[cfg(any(test, fuzzing, feature = "testing"))]
mod fuzzing;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use self::machine::{Machine, Refused};
use crate::client::conn::Conn;
use crate::wire::looked::Reader;

#[cfg(any(test, fuzzing, feature = "testing"))]
pub use self::fuzzing::{guard_passes, split_matters};
pub(crate) use self::head::MAX_FIELDS;

/// Reads a client's socket for hyper.
pub(crate) struct Guard {
    conn: Arc<Conn>,
    machine: Machine,
    /// Came, and waits for more before it may pass. No more than a head.
    waiting: Vec<u8>,
    /// May pass, and found no room yet.
    passing: Vec<u8>,
}

impl Guard {
    pub(crate) fn new(conn: Arc<Conn>, head_bytes: usize) -> Self {
        Self {
            conn,
            machine: Machine::new(head_bytes),
            waiting: Vec::new(),
            passing: Vec::new(),
        }
    }

    /// Checks the new bytes behind `before` in the buffer, and keeps those that pass.
    fn judge(&mut self, buf: &mut ReadBuf<'_>, before: usize) {
        let came = &buf.filled()[before..];
        if self.waiting.is_empty() {
            // PERF: nearly all bytes pass in place.
            let taken = self.machine.take(came);
            self.waiting.extend_from_slice(&came[taken.pass..]);
            self.refuse(taken.refused);
            buf.set_filled(before + taken.pass);
            return;
        }
        self.waiting.extend_from_slice(came);
        buf.set_filled(before);
        self.judge_waiting();
    }

    fn judge_waiting(&mut self) {
        let taken = self.machine.take(&self.waiting);
        if taken.pass > 0 {
            let rest = self.waiting.split_off(taken.pass);
            self.passing = std::mem::replace(&mut self.waiting, rest);
        }
        self.refuse(taken.refused);
    }

    fn refuse(&mut self, refused: Option<Refused>) {
        match refused {
            None => return,
            Some(Refused::Head(malformed)) => {
                self.conn.refuse(self.machine.heads(), malformed);
                self.passing.extend_from_slice(EMPTY_REQUEST);
            }
            Some(Refused::Body) => self.passing.extend_from_slice(NO_CHUNK),
        }
        self.machine.refuse();
        self.waiting = Vec::new();
    }

    /// Whether another protocol was granted. Any other answer closes the connection.
    fn is_upgraded(&mut self) -> bool {
        let granted = self.conn.is_tunnel();
        if granted {
            self.machine.upgraded();
            self.judge_waiting();
        }
        granted
    }
}

impl Reader for Guard {
    fn poll_read<IO: AsyncRead + Unpin>(
        &mut self,
        io: &mut IO,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let waits = self.machine.waits_for_upgrade() && !self.is_upgraded();
            if !self.passing.is_empty() {
                let count = self.passing.len().min(buf.remaining());
                buf.put_slice(&self.passing[..count]);
                self.passing = self.passing.split_off(count);
                return Poll::Ready(Ok(()));
            }
            if waits && self.waiting.len() >= EARLY_BYTES {
                // Its answer ends the connection or brings the tunnel back here.
                return Poll::Pending;
            }
            let before = buf.filled().len();
            ready!(Pin::new(&mut *io).poll_read(cx, buf))?;
            if buf.filled().len() == before || self.machine.is_tunnel() {
                return Poll::Ready(Ok(()));
            }
            self.conn.bytes_in();
            if self.machine.is_refused() {
                buf.set_filled(before);
                continue;
            }
            self.judge(buf, before);
            if buf.filled().len() > before {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

/// Replaces a refused head.
const EMPTY_REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
/// Ends a body whose chunks are refused: no parser accepts it as a chunk, at any position.
const NO_CHUNK: &[u8] = b"\0\r\n\r\n";
/// Most bytes that are kept of data sent before another protocol is granted.
const EARLY_BYTES: usize = 16 * 1024;
