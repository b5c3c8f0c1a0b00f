//! The socket towards the upstream: it counts the bytes that arrive ahead of an answer, and has a write deadline.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf, Take};

use crate::client::socket::{FEW_BYTES, Stall, in_one_piece};
use crate::settings::UpstreamSettings;
use crate::stats::{UpstreamStats, down, up};
use crate::upstream::heard::Heard;
use crate::upstream::servers::UpstreamStream;

/// The upstream's end.
pub(crate) struct UpstreamSocket {
    stream: Take<UpstreamStream>,
    stall: Stall,
    heard: Arc<Heard>,
    most_ahead: usize,
    stats: Arc<UpstreamStats>,
}

/// Bytes that are read at once. Between the upstream and a client that takes no data there are two pieces of that size: one
/// that is offered, and one behind it. Less than a power of two, because a read that fills hyper's buffer doubles it; by so
/// much that a piece with its framing (a chunk's size or a frame's head) fits in one record of TLS.
const READ_BYTES: u64 = 16 * 1024 - 32;

impl UpstreamSocket {
    pub(crate) fn new(
        stream: UpstreamStream,
        settings: &UpstreamSettings,
        heard: Arc<Heard>,
        stats: Arc<UpstreamStats>,
    ) -> Self {
        up(&stats.open);
        up(&stats.connects);
        Self {
            stream: stream.take(READ_BYTES),
            stall: Stall::new(settings.write),
            heard,
            // Reads come in pieces of a buffer at most, so that a head of the allowed size is never refused here.
            most_ahead: settings.head_bytes.saturating_mul(4),
            stats,
        }
    }
}

impl Drop for UpstreamSocket {
    fn drop(&mut self) {
        down(&self.stats.open);
    }
}

impl AsyncRead for UpstreamSocket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        self.stream.set_limit(READ_BYTES);
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        Poll::Ready(self.heard.count(buf.filled().len() - before, self.most_ahead))
    }
}

impl AsyncWrite for UpstreamSocket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(self.stream.get_mut()).poll_write(cx, buf);
        self.stall.watch(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let stream = Pin::new(self.stream.get_mut());
        let written = match in_one_piece(bufs, &mut [0; FEW_BYTES]) {
            Some(piece) => stream.poll_write(cx, piece),
            None => stream.poll_write_vectored(cx, bufs),
        };
        self.stall.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(self.stream.get_mut()).poll_flush(cx);
        self.stall.watch(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.stream.get_mut()).poll_shutdown(cx)
    }
}
