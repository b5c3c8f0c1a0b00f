//! The client's socket, with its write deadline; the upstream's is in [`socket`](crate::upstream::socket).
//!
//! A layer that must see raw bytes before hyper (TLS, a framing guard) goes around [`ClientSocket`]: the connection's loop
//! accepts any `AsyncRead + AsyncWrite`.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::client::conn::Conn;
use crate::listen::transport::ReadHalf;

/// The client's end.
pub(crate) struct ClientSocket {
    read: ReadHalf,
    /// Came before the connection was one of HTTP, and is the first to be read.
    ahead: Vec<u8>,
    conn: Arc<Conn>,
    stall: Stall,
}

impl ClientSocket {
    pub(crate) fn new((read, ahead): (ReadHalf, Vec<u8>), conn: Arc<Conn>, write: Duration) -> Self {
        Self {
            read,
            ahead,
            conn,
            stall: Stall::new(write),
        }
    }

    /// Whether the first bytes are `opening`. Reads no further than needed, and the bytes read can be read again.
    pub(crate) async fn opens_with(&mut self, opening: &[u8]) -> io::Result<bool> {
        while self.ahead.len() < opening.len() && opening.starts_with(&self.ahead) {
            if self.read.read_buf(&mut self.ahead).await? == 0 {
                break;
            }
        }
        Ok(self.ahead.starts_with(opening))
    }

    /// Notes that a deadline passed, here or in the kernel, because the error that upper layers return does not show it.
    fn told<T>(&self, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if matches!(&done, Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::TimedOut) {
            self.conn.stalled();
        }
        done
    }

    /// Watches a write: for its deadline, and for the answer, which gives nothing more while there is no room.
    fn watch(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        let written = self.stall.watch(cx, written);
        self.conn.found_room(written.is_ready());
        self.told(written)
    }

    /// Whether there is something to read that the socket itself does not have any more.
    pub(crate) fn is_ahead(&self) -> bool {
        !self.ahead.is_empty()
    }
}

impl AsyncRead for ClientSocket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            let read = Pin::new(&mut self.read).poll_read(cx, buf);
            return self.told(read);
        }
        let count = self.ahead.len().min(buf.remaining());
        buf.put_slice(&self.ahead[..count]);
        self.ahead = self.ahead.split_off(count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ClientSocket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = this.conn.stream().poll_write(cx, buf);
        this.watch(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let stream = this.conn.stream();
        let written = match in_one_piece(bufs, &mut [0; FEW_BYTES]) {
            Some(piece) => stream.poll_write(cx, piece),
            None => stream.poll_write_vectored(cx, bufs),
        };
        this.watch(cx, written)
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

/// The bytes to be written, if they are one piece, or few enough to be copied to `room` as one.
// PERF: `writev` goes the way of files through the kernel, and takes 0.1 to 0.3 us more than `send` does.
pub(crate) fn in_one_piece<'a>(bufs: &'a [io::IoSlice<'_>], room: &'a mut [u8; FEW_BYTES]) -> Option<&'a [u8]> {
    if let [piece] = bufs {
        return Some(piece);
    }
    let mut filled = 0;
    for piece in bufs {
        let end = filled + piece.len();
        room.get_mut(filled..end)?.copy_from_slice(piece);
        filled = end;
    }
    Some(&room[..filled])
}

/// A head of usual size with a small answer.
pub(crate) const FEW_BYTES: usize = 1024;

/// A write deadline: an error once the peer has taken nothing for `limit`. The kernel wakes a writer only when a good
/// part of its buffer is free again, so a reader that takes a byte now and then counts as one that takes nothing.
pub(crate) struct Stall {
    limit: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Stall {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, timer: None }
    }

    pub(crate) fn watch<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
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

#[cfg(test)]
mod tests {
    use std::io::IoSlice;

    use super::*;

    #[test]
    fn little_goes_in_one_piece_and_much_does_not() {
        let (half, rest) = ([1; FEW_BYTES / 2], [2; FEW_BYTES - FEW_BYTES / 2]);
        let pieces = |bufs: &[&[u8]]| {
            let bufs: Vec<IoSlice<'_>> = bufs.iter().map(|buf| IoSlice::new(buf)).collect();
            in_one_piece(&bufs, &mut [0; FEW_BYTES]).map(<[u8]>::to_vec)
        };
        assert_eq!(pieces(&[]), Some(Vec::new()));
        assert_eq!(pieces(&[b"head", b"", b"body"]), Some(b"headbody".to_vec()));
        assert_eq!(pieces(&[&half, &rest]), Some([&half[..], &rest].concat()));
        assert_eq!(pieces(&[&half, &rest, b"!"]), None);
        let long = [3; 4 * FEW_BYTES];
        assert_eq!(pieces(&[&long]), Some(long.to_vec()), "one piece is not copied");
    }
}
