//! A connection whose incoming bytes are inspected before hyper reads them; outgoing bytes pass.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Inspects incoming bytes.
pub(crate) trait Look {
    /// Inspects new bytes, which are passed on as it leaves them. An error ends the connection.
    fn look(&mut self, came: &mut [u8]) -> io::Result<()>;
}

/// Reads in place of hyper. A reader that only [looks](Look) passes all bytes on at once.
pub(crate) trait Reader {
    fn poll_read<IO: AsyncRead + Unpin>(
        &mut self,
        io: &mut IO,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>>;
}

impl<L: Look> Reader for L {
    fn poll_read<IO: AsyncRead + Unpin>(
        &mut self,
        io: &mut IO,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(io).poll_read(cx, buf))?;
        Poll::Ready(self.look(&mut buf.filled_mut()[before..]))
    }
}

/// A connection behind a reader.
pub(crate) struct Looked<IO, R> {
    io: IO,
    reader: R,
}

impl<IO, R> Looked<IO, R> {
    pub(crate) fn new(io: IO, reader: R) -> Self {
        Self { io, reader }
    }

    /// The connection alone: bytes that the reader held back are dropped.
    pub(crate) fn into_inner(self) -> IO {
        self.io
    }
}

impl<IO: AsyncRead + Unpin, R: Reader + Unpin> AsyncRead for Looked<IO, R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Self { io, reader } = &mut *self;
        reader.poll_read(io, cx, buf)
    }
}

impl<IO: AsyncWrite + Unpin, R: Unpin> AsyncWrite for Looked<IO, R> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
