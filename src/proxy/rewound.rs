//! A socket of which the first bytes have been read already, to see what is spoken on it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};

/// What was read, then the rest.
pub(super) struct Rewound<IO> {
    ahead: Vec<u8>,
    given: usize,
    io: IO,
}

impl<IO: AsyncRead + Unpin> Rewound<IO> {
    /// Reads as long as what comes begins like `opening`; true when all of it came. The end of the stream is no error.
    pub(super) async fn opens_with(mut io: IO, opening: &[u8]) -> io::Result<(bool, Self)> {
        let mut ahead = vec![0; opening.len()];
        let mut read = 0;
        while read < opening.len() && opening.starts_with(&ahead[..read]) {
            match io.read(&mut ahead[read..]).await? {
                0 => break,
                count => read += count,
            }
        }
        ahead.truncate(read);
        let opens = ahead == opening;
        Ok((opens, Self { ahead, given: 0, io }))
    }
}

impl<IO: AsyncRead + Unpin> AsyncRead for Rewound<IO> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let left = &this.ahead[this.given..];
        if left.is_empty() {
            return Pin::new(&mut this.io).poll_read(cx, buf);
        }
        let count = left.len().min(buf.remaining());
        buf.put_slice(&left[..count]);
        this.given += count;
        Poll::Ready(Ok(()))
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for Rewound<IO> {
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
