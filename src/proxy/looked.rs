//! A connection whose bytes are looked at as they are read, before hyper has them; what is written passes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Looks at what is read.
pub(super) trait Look {
    /// This has just come, and is passed on as it is left here. An error ends the connection.
    fn look(&mut self, came: &mut [u8]) -> io::Result<()>;
}

/// A connection that is looked at.
pub(super) struct Looked<IO, L> {
    io: IO,
    look: L,
}

impl<IO, L> Looked<IO, L> {
    pub(super) fn new(io: IO, look: L) -> Self {
        Self { io, look }
    }
}

impl<IO: AsyncRead + Unpin, L: Look + Unpin> AsyncRead for Looked<IO, L> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(cx, buf))?;
        Poll::Ready(self.look.look(&mut buf.filled_mut()[before..]))
    }
}

impl<IO: AsyncWrite + Unpin, L: Unpin> AsyncWrite for Looked<IO, L> {
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
