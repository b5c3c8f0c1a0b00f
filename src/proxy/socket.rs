//! The client's socket, with its write deadline; the shop's is in [`shop_socket`](super::shop_socket).
//!
//! The client's socket tells its [`Conn`] when bytes arrive. Whatever must see raw bytes before hyper does (TLS, a framing
//! guard) goes around [`ClientSocket`]: the connection's loop takes any `AsyncRead + AsyncWrite`.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::time::{Sleep, sleep};

use super::conn::Conn;

/// The client's end. `P` is whatever must live as long as the socket does, through a tunnel too.
pub(super) struct ClientSocket<P> {
    read: OwnedReadHalf,
    conn: Arc<Conn>,
    stall: Stall,
    _permit: P,
}

impl<P> ClientSocket<P> {
    pub(super) fn new(read: OwnedReadHalf, conn: Arc<Conn>, write: Duration, permit: P) -> Self {
        Self {
            read,
            conn,
            stall: Stall::new(write),
            _permit: permit,
        }
    }
}

impl<P: Unpin> AsyncRead for ClientSocket<P> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.read).poll_read(cx, buf))?;
        if buf.filled().len() > before {
            self.conn.bytes_in();
        }
        Poll::Ready(Ok(()))
    }
}

impl<P: Unpin> AsyncWrite for ClientSocket<P> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = poll_try(this.conn.stream(), cx, |stream| stream.try_write(buf));
        this.stall.watch(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = poll_try(this.conn.stream(), cx, |stream| stream.try_write_vectored(bufs));
        this.stall.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(socket2::SockRef::from(self.conn.stream()).shutdown(std::net::Shutdown::Write))
    }
}

/// Tries to write whenever the kernel says it may work.
fn poll_try(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    mut write: impl FnMut(&TcpStream) -> io::Result<usize>,
) -> Poll<io::Result<usize>> {
    loop {
        ready!(stream.poll_write_ready(cx))?;
        match write(stream) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            done => return Poll::Ready(done),
        }
    }
}

/// A write deadline: an error once the peer has taken nothing for `limit`. The kernel wakes a writer only when a good
/// part of its buffer is free again, so a reader that takes a byte now and then counts as one that takes nothing.
pub(super) struct Stall {
    limit: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Stall {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, timer: None }
    }

    pub(super) fn watch<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
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
