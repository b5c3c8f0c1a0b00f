//! A listening socket, TCP or Unix, and the rules for clients that connect to it.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::client::proto::Proto;
use crate::listen::transport::{Stream, UNIX_PEER};
use crate::listen::unix::{Custody, SocketFile};
use crate::settings::ServerSettings;
use crate::tls::Tls;

/// A listener for [`serve`](crate::serve).
#[derive(Debug)]
pub struct Listener {
    pub(crate) socket: Socket,
    pub(crate) terms: Terms,
    /// Removed with the last of the listener's duplicates.
    file: Option<Arc<SocketFile>>,
}

/// The rules that all connections of a listener share.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) proto: Proto,
    pub(crate) tls: Option<Arc<Tls>>,
}

#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// Where a listener is, as an operator would write it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Endpoint {
    /// Over TCP.
    Tcp(SocketAddr),
    /// A Unix socket; without a path when it has none.
    Unix(Option<PathBuf>),
}

impl From<TcpListener> for Listener {
    /// In the clear.
    fn from(listener: TcpListener) -> Self {
        Self::new(Socket::Tcp(listener))
    }
}

impl From<UnixListener> for Listener {
    /// In the clear.
    fn from(listener: UnixListener) -> Self {
        Self::new(Socket::Unix(listener))
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Tcp(listener) => listener.as_fd(),
            Socket::Unix(listener) => listener.as_fd(),
        }
    }
}

impl Listener {
    fn new(socket: Socket) -> Self {
        let terms = Terms {
            proto: Proto::Http,
            tls: None,
        };
        let file = None;
        Self { socket, terms, file }
    }

    /// Removes its file with it.
    pub(crate) fn with_file(self, file: SocketFile) -> Self {
        let file = Some(Arc::new(file));
        Self { file, ..self }
    }

    /// The same listener, for clients that speak TLS.
    #[must_use]
    pub fn secured(mut self, tls: Arc<Tls>) -> Self {
        (self.terms.proto, self.terms.tls) = (Proto::Https, Some(tls));
        self
    }

    /// The same listener over a descriptor of its own; the socket stays open as long as one of them exists.
    pub fn duplicate(&self) -> io::Result<Self> {
        Ok(Self {
            socket: match &self.socket {
                Socket::Tcp(listener) => Socket::Tcp(listener.try_clone()?),
                Socket::Unix(listener) => Socket::Unix(listener.try_clone()?),
            },
            terms: self.terms.clone(),
            file: self.file.clone(),
        })
    }

    /// The guard that removes its file, if it has one.
    #[must_use]
    pub fn custody(&self) -> Option<&Custody> {
        self.file.as_ref().map(|file| &file.custody)
    }

    /// Where it is.
    pub fn endpoint(&self) -> io::Result<Endpoint> {
        match &self.socket {
            Socket::Tcp(listener) => listener.local_addr().map(Endpoint::Tcp),
            Socket::Unix(listener) => {
                let address = listener.local_addr()?;
                Ok(Endpoint::Unix(address.as_pathname().map(Path::to_owned)))
            }
        }
    }

    /// Registers the listener with the current runtime.
    pub(crate) fn open(self) -> io::Result<Door> {
        let socket = match self.socket {
            Socket::Tcp(listener) => {
                listener.set_nonblocking(true)?;
                AsyncSocket::Tcp(tokio::net::TcpListener::from_std(listener)?)
            }
            Socket::Unix(listener) => {
                listener.set_nonblocking(true)?;
                AsyncSocket::Unix(tokio::net::UnixListener::from_std(listener)?)
            }
        };
        let terms = Arc::new(self.terms);
        let file = self.file;
        Ok(Door {
            _file: file,
            socket,
            terms,
        })
    }
}

/// A listener at work.
pub(crate) struct Door {
    _file: Option<Arc<SocketFile>>,
    socket: AsyncSocket,
    pub(crate) terms: Arc<Terms>,
}

enum AsyncSocket {
    Tcp(tokio::net::TcpListener),
    Unix(tokio::net::UnixListener),
}

impl Door {
    /// The next connection and its peer, as a plain socket: its core's runtime is to poll it, not this one.
    pub(crate) async fn accept(&self) -> io::Result<(Stream, SocketAddr)> {
        match &self.socket {
            AsyncSocket::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                Ok((Stream::Tcp(stream.into_std()?), peer))
            }
            AsyncSocket::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok((Stream::Unix(stream.into_std()?), UNIX_PEER))
            }
        }
    }
}

impl Endpoint {
    /// Its address over TCP.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address) => Some(*address),
            Self::Unix(_) => None,
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(Some(path)) => write!(f, "unix:{}", path.display()),
            Self::Unix(None) => f.write_str("unix socket without a path"),
        }
    }
}

impl ServerSettings {
    /// Binds a listener with this backlog, ready for [`serve`](crate::serve). `SO_REUSEADDR` is set, so a restart finds its port free.
    pub fn bind(&self, address: SocketAddr) -> io::Result<TcpListener> {
        let domain = socket2::Domain::for_address(address);
        let socket = socket2::Socket::new(domain, socket2::Type::STREAM, Some(socket2::Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        socket.listen(i32::try_from(self.backlog).unwrap_or(i32::MAX))?;
        Ok(socket.into())
    }
}
