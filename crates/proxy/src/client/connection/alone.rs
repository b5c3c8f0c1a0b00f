//! A stream that may last for hours, served without hyper once its head is written.
//!
//! hyper keeps 16 KiB of buffers for a connection, and the memory of the request that it has answered. An event stream needs
//! neither: the body and the socket are taken back from hyper, and a loop that holds one frame writes the stream. The
//! connection ends with the stream, as its head has announced.

use std::io::{self, IoSlice, Write as _};
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use http_body::Body as _;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::End;
use crate::body::Body;
use crate::client::conn::{Conn, Flight};
use crate::lock::held;

/// Where an answer leaves a stream that its connection is to carry on.
#[derive(Default)]
pub(super) struct Slot {
    is_full: AtomicBool,
    stream: Mutex<Option<Stream>>,
}

/// A body of which nothing has been written, and whether it goes in chunks.
pub(super) struct Stream {
    pub(super) body: Body,
    /// The connection is at work for as long.
    pub(super) _flight: Flight,
    pub(super) chunked: bool,
}

impl Slot {
    pub(super) fn leave(&self, stream: Stream) {
        *held(&self.stream) = Some(stream);
        self.is_full.store(true, Ordering::Relaxed);
    }

    /// PERF: looked at with every turn of a connection, so the lock is only taken when there is something.
    pub(super) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    pub(super) fn take(&self) -> Option<Stream> {
        held(&self.stream).take()
    }
}

/// The socket and the data to be written to it.
pub(super) struct Alone<IO> {
    io: IO,
    stream: Stream,
    writing: Piece,
    /// Everything written has left the layers above the socket.
    flushed: bool,
    /// The body is over, and its end written or under way.
    over: bool,
    /// The client has sent bytes, which will never be read: it notices the end by the close.
    deaf: bool,
}

impl<IO: AsyncRead + AsyncWrite + Unpin> Alone<IO> {
    pub(super) fn new(io: IO, stream: Stream) -> Self {
        Self {
            io,
            stream,
            writing: Piece::default(),
            flushed: true,
            over: false,
            deaf: false,
        }
    }

    /// Ready when the stream is over, or the client gone.
    pub(super) fn poll(&mut self, conn: &Conn, cx: &mut Context<'_>) -> Poll<End> {
        match self.poll_stream(cx) {
            Poll::Ready(Ok(())) => return Poll::Ready(End::Closed),
            Poll::Pending if !self.is_gone(cx) => return Poll::Pending,
            _ => {}
        }
        // Also where the kernel gave up on a client that took nothing.
        let stalled = conn.is_stalled();
        Poll::Ready(if stalled { End::TimedOut } else { End::Broken })
    }

    fn poll_stream(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.writing.poll_write(&mut self.io, cx))?;
            if !self.flushed {
                ready!(Pin::new(&mut self.io).poll_flush(cx))?;
                self.flushed = true;
            }
            if self.over {
                return Pin::new(&mut self.io).poll_shutdown(cx);
            }
            let next = ready!(Pin::new(&mut self.stream.body).poll_frame(cx));
            let next = next.transpose().map_err(io::Error::other)?;
            let data = match next.map(http_body::Frame::into_data) {
                Some(Ok(data)) if data.is_empty() => continue,
                Some(Ok(data)) => Some(data),
                // Trailers, which no stream of the gate has.
                Some(Err(_)) => continue,
                None => None,
            };
            self.over = data.is_none();
            self.flushed = false;
            self.writing = match (data, self.stream.chunked) {
                (Some(data), true) => Piece::chunk(data, self.io.is_write_vectored()),
                (None, true) => Piece::whole(Bytes::from_static(LAST_CHUNK)),
                (data, false) => Piece::whole(data.unwrap_or_default()),
            };
        }
    }

    /// Whether the client has closed its side. Other bytes that it sends are left in the socket.
    fn is_gone(&mut self, cx: &mut Context<'_>) -> bool {
        let mut room = [0; 1];
        let mut buf = ReadBuf::new(&mut room);
        if self.deaf || Pin::new(&mut self.io).poll_read(cx, &mut buf).is_pending() {
            return false;
        }
        self.deaf = !buf.filled().is_empty();
        !self.deaf
    }
}

/// The piece that is being written: a chunk's size line, its data, and its end. The parts around the data are small; the data
/// is shared by all streams of a line.
#[derive(Default)]
struct Piece {
    before: Bytes,
    data: Bytes,
    after: &'static [u8],
}

impl Piece {
    fn whole(data: Bytes) -> Self {
        Self {
            data,
            ..Self::default()
        }
    }

    /// In one piece of memory where the socket would make a packet, or a record, of each part.
    fn chunk(data: Bytes, in_parts: bool) -> Self {
        let mut before = Vec::with_capacity(SIZE_BYTES);
        let _ = write!(before, "{:X}\r\n", data.len());
        if in_parts {
            return Self {
                before: before.into(),
                data,
                after: b"\r\n",
            };
        }
        before.extend_from_slice(&data);
        before.extend_from_slice(b"\r\n");
        Self::whole(before.into())
    }

    fn poll_write<IO: AsyncWrite + Unpin>(&mut self, io: &mut IO, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !(self.before.is_empty() && self.data.is_empty() && self.after.is_empty()) {
            let parts = [&self.before, &self.data, self.after].map(IoSlice::new);
            let written = ready!(Pin::new(&mut *io).poll_write_vectored(cx, &parts))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.advance(written);
        }
        // Releases the data that was written.
        *self = Self::default();
        Poll::Ready(Ok(()))
    }

    fn advance(&mut self, written: usize) {
        let before = written.min(self.before.len());
        self.before.advance(before);
        let data = (written - before).min(self.data.len());
        self.data.advance(data);
        self.after = &self.after[written - before - data..];
    }
}

/// Digits of a chunk's size and the end of their line.
const SIZE_BYTES: usize = 18;
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";
