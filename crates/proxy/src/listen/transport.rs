//! A client's socket: a stream over TCP or over a Unix socket, split into a half that reads and one that writes.
//!
//! An enum and no trait object: one comparison for each call, and the halves stay as small as tokio's own. Reading goes
//! through tokio's own half, which knows from a short read that the socket is empty and saves the call that would say so.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::{tcp, unix};

/// A socket that has been accepted and belongs to no runtime.
pub(crate) enum Stream {
    Tcp(std::net::TcpStream),
    Unix(std::os::unix::net::UnixStream),
}

/// The half that reads.
pub(crate) enum ReadHalf {
    Tcp(tcp::OwnedReadHalf),
    Unix(unix::OwnedReadHalf),
}

/// The writing half; it keeps the descriptor, so calls that need no exclusive access can be made here too.
#[derive(Debug)]
pub(crate) enum WriteHalf {
    Tcp(tcp::OwnedWriteHalf),
    Unix(unix::OwnedWriteHalf),
}

/// The peer of a Unix socket: this machine. The port has no meaning.
pub(crate) const UNIX_PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Most bytes of an answer that the kernel may hold beyond the client's window. Bytes in flight do not count, so that a link
/// with a long delay is filled all the same (tcp(7), `TCP_NOTSENT_LOWAT`).
const UNSENT_BYTES: u32 = 64 * 1024;

impl Stream {
    pub(crate) fn is_unix(&self) -> bool {
        matches!(self, Self::Unix(_))
    }

    /// Our end, where it has an address.
    pub(crate) fn local(&self) -> Option<io::Result<SocketAddr>> {
        match self {
            Self::Tcp(stream) => Some(stream.local_addr()),
            Self::Unix(_) => None,
        }
    }

    /// Registers the socket with the current runtime. `write` is how long the peer may take no bytes.
    pub(crate) fn split(self, write: Duration) -> io::Result<(ReadHalf, WriteHalf)> {
        match self {
            Self::Tcp(stream) => {
                let socket = socket2::SockRef::from(&stream);
                // Either may fail on a socket that is already reset; reading will say so.
                let _ = socket.set_tcp_nodelay(true);
                let _ = socket.set_tcp_user_timeout(Some(write));
                // SECURITY: else the kernel takes megabytes for a client that reads none of them.
                let _ = socket.set_tcp_notsent_lowat(UNSENT_BYTES);
                let (read, write) = tokio::net::TcpStream::from_std(stream)?.into_split();
                Ok((ReadHalf::Tcp(read), WriteHalf::Tcp(write)))
            }
            Self::Unix(stream) => {
                let (read, write) = tokio::net::UnixStream::from_std(stream)?.into_split();
                Ok((ReadHalf::Unix(read), WriteHalf::Unix(write)))
            }
        }
    }
}

impl AsyncRead for ReadHalf {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(read) => Pin::new(read).poll_read(cx, buf),
            Self::Unix(read) => Pin::new(read).poll_read(cx, buf),
        }
    }
}

impl WriteHalf {
    pub(crate) fn poll_write(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_try(cx, || match self {
            Self::Tcp(stream) => stream.try_write(buf),
            Self::Unix(stream) => stream.try_write(buf),
        })
    }

    pub(crate) fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_try(cx, || match self {
            Self::Tcp(stream) => stream.try_write_vectored(bufs),
            Self::Unix(stream) => stream.try_write_vectored(bufs),
        })
    }

    /// Tries to write whenever the kernel says it may work.
    fn poll_try(&self, cx: &mut Context<'_>, mut write: impl FnMut() -> io::Result<usize>) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.poll_write_ready(cx))?;
            match write() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(stream) => stream.as_ref().poll_write_ready(cx),
            Self::Unix(stream) => stream.as_ref().poll_write_ready(cx),
        }
    }

    /// Waits until the other half may find something to read.
    pub(crate) async fn readable(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.as_ref().readable().await,
            Self::Unix(stream) => stream.as_ref().readable().await,
        }
    }

    /// Reads past the other half.
    pub(crate) fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.as_ref().try_read(buf),
            Self::Unix(stream) => stream.as_ref().try_read(buf),
        }
    }

    pub(crate) fn shutdown(&self, how: std::net::Shutdown) -> io::Result<()> {
        socket2::SockRef::from(self).shutdown(how)
    }
}

impl AsFd for WriteHalf {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_ref().as_fd(),
            Self::Unix(stream) => stream.as_ref().as_fd(),
        }
    }
}
