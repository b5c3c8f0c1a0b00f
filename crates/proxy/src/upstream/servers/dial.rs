//! Making a connection to one server: TCP, a Unix socket, or TLS over TCP; and which HTTP is spoken on it.

use std::io;

use tokio::net::{TcpStream, UnixStream};

use super::error::UpstreamError;
use super::protocol::Protocol;
use super::stream::UpstreamStream;
use super::target::{Address, Target};
use super::tls::Tls;
use crate::error::Kind;
use crate::settings::{UpstreamHttp2, UpstreamSettings};

/// How connections are made.
pub(crate) struct Dial {
    tls: Option<Tls>,
    http2: UpstreamHttp2,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DialError {
    #[error("no connection: {0}")]
    Connect(io::Error),
    #[error("TLS: {0}")]
    Tls(io::Error),
}

impl DialError {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Tls(_) => Kind::Untrusted,
            Self::Connect(error) => match error.kind() {
                io::ErrorKind::AddrNotAvailable | io::ErrorKind::OutOfMemory => Kind::Exhausted,
                _ if matches!(error.raw_os_error(), Some(EMFILE | ENFILE | ENOBUFS)) => Kind::Exhausted,
                _ => Kind::Unreachable,
            },
        }
    }
}

impl Dial {
    pub(super) fn new(settings: &UpstreamSettings) -> Result<Self, UpstreamError> {
        let tls = settings.servers.iter().any(|server| server.tls);
        let tls = tls
            .then(|| Tls::new(settings.tls.as_ref(), &settings.servers))
            .transpose()?;
        let http2 = settings.http2;
        Ok(Self { tls, http2 })
    }

    /// The most that may be spoken to a server.
    pub(crate) fn most(&self, target: &Target) -> Protocol {
        match (self.http2, target.server().tls) {
            (UpstreamHttp2::Off, _) | (UpstreamHttp2::Alpn, false) => Protocol::Http1,
            (UpstreamHttp2::Alpn, true) | (UpstreamHttp2::PriorKnowledge, _) => Protocol::Http2,
        }
    }

    /// A connection that HTTP can be spoken on, as long as it takes, and which: `most` or less.
    pub(crate) async fn connect(
        &self,
        target: &Target,
        most: Protocol,
    ) -> Result<(UpstreamStream, Protocol), DialError> {
        let address = match target.address() {
            Address::Tcp(address) => address,
            Address::Unix(path) => {
                let stream = UnixStream::connect(path).await.map_err(DialError::Connect)?;
                return Ok((UpstreamStream::Unix(stream), most));
            }
        };
        let stream = TcpStream::connect(address).await.map_err(DialError::Connect)?;
        // Without it a head and its body may wait for each other's acknowledgement; nothing is lost if it fails.
        let _ = stream.set_nodelay(true);
        match &self.tls {
            Some(tls) if target.server().tls => {
                let connected = tls.connect(target.server(), stream, most).await;
                let (stream, chosen) = connected.map_err(DialError::Tls)?;
                Ok((UpstreamStream::Tls(Box::new(stream)), chosen))
            }
            _ => Ok((UpstreamStream::Tcp(stream), most)),
        }
    }
}

const EMFILE: i32 = rustix::io::Errno::MFILE.raw_os_error();
const ENFILE: i32 = rustix::io::Errno::NFILE.raw_os_error();
const ENOBUFS: i32 = rustix::io::Errno::NOBUFS.raw_os_error();
