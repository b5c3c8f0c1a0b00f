//! The two sockets: towards the client and towards the shop, each with its write deadline.
//!
//! Whatever must see raw bytes before hyper does (TLS, a framing guard) goes around [`ClientSocket`]: the connection's loop
//! takes any `AsyncRead + AsyncWrite`.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::conn::Conn;
use super::stats::{Stats, down, up};
use super::transport::ReadHalf;

/// The client's end. `P` is whatever must live as long as the socket does, through a tunnel too.
pub(super) struct ClientSocket<P> {
    read: ReadHalf,
    /// Came before the connection was one of HTTP, and is the first to be read.
    ahead: Vec<u8>,
    conn: Arc<Conn>,
    stall: Stall,
    _permit: P,
}

impl<P> ClientSocket<P> {
    pub(super) fn new((read, ahead): (ReadHalf, Vec<u8>), conn: Arc<Conn>, write: Duration, permit: P) -> Self {
        Self {
            read,
            ahead,
            conn,
            stall: Stall::new(write),
            _permit: permit,
        }
    }

    /// Whether there is something to read that the socket itself does not have any more.
    pub(super) fn is_ahead(&self) -> bool {
        !self.ahead.is_empty()
    }
}

impl<P: Unpin> AsyncRead for ClientSocket<P> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            return Pin::new(&mut self.read).poll_read(cx, buf);
        }
        let count = self.ahead.len().min(buf.remaining());
        buf.put_slice(&self.ahead[..count]);
        self.ahead = self.ahead.split_off(count);
        Poll::Ready(Ok(()))
    }
}

impl<P: Unpin> AsyncWrite for ClientSocket<P> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = this.conn.stream().poll_write(cx, buf);
        this.stall.watch(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = this.conn.stream().poll_write_vectored(cx, bufs);
        this.stall.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.conn.stream().shutdown(std::net::Shutdown::Write))
    }
}

/// The shop's end.
pub(super) struct ShopSocket {
    stream: TcpStream,
    stall: Stall,
    heard: Arc<Heard>,
    stats: Arc<Stats>,
}

/// Whether a byte came from the shop since the flag was last lowered: what decides if a request may be sent again.
#[derive(Debug, Default)]
pub(super) struct Heard(AtomicBool);

impl Heard {
    pub(super) fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    pub(super) fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl ShopSocket {
    pub(super) fn new(stream: TcpStream, write: Duration, heard: Arc<Heard>, stats: Arc<Stats>) -> Self {
        up(&stats.upstream_open);
        up(&stats.upstream_connects);
        Self {
            stream,
            stall: Stall::new(write),
            heard,
            stats,
        }
    }
}

impl Drop for ShopSocket {
    fn drop(&mut self) {
        down(&self.stats.upstream_open);
    }
}

impl AsyncRead for ShopSocket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        if buf.filled().len() > before {
            self.heard.0.store(true, Ordering::Relaxed);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ShopSocket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.stall.watch(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.stall.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// A write deadline: an error once the peer has taken nothing for `limit`. The kernel wakes a writer only when a good
/// part of its buffer is free again, so a reader that takes a byte now and then counts as one that takes nothing.
struct Stall {
    limit: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Stall {
    fn new(limit: Duration) -> Self {
        Self { limit, timer: None }
    }

    fn watch(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.timer = None;
            return written;
        }
        let limit = self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}
