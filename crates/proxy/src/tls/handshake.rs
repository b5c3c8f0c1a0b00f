//! The handshake: rustls configured for visitors, around any socket.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use rustls::crypto::aws_lc_rs;
use rustls::server::{NoServerSessionStorage, ProducesTickets, ResolvesServerCert};
use rustls::version::{TLS12, TLS13};
use rustls::{Error, ServerConfig, SupportedProtocolVersion};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::certificates::{CHALLENGE, Certificates};

/// The decrypted side of a visitor's socket.
pub type Secured<IO> = TlsStream<IO>;

/// The oldest version that is spoken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    Tls12,
    Tls13,
}

/// The state of a listener that speaks TLS.
pub struct Tls {
    config: ArcSwap<ServerConfig>,
    /// One per process, independent of the configuration: returning clients resume their sessions.
    ticketer: Arc<dyn ProducesTickets>,
    certificates: Arc<Certificates>,
    done: AtomicU64,
    failed: AtomicU64,
}

impl Tls {
    /// # Errors
    /// When the system gives no randomness for the tickets' keys.
    pub fn new(certificates: Arc<Certificates>, least: Version, http2: bool) -> Result<Self, Error> {
        // Tickets are sealed with keys of this process, renewed every six hours: nothing is kept for each visitor.
        let ticketer = aws_lc_rs::Ticketer::new()?;
        let config = config(&certificates, &ticketer, least, http2)?;
        Ok(Self {
            config: ArcSwap::from_pointee(config),
            ticketer,
            certificates,
            done: AtomicU64::default(),
            failed: AtomicU64::default(),
        })
    }

    /// The configuration by these settings; [`Tls::speak`] puts it in force.
    pub fn prepare(&self, least: Version, http2: bool) -> Result<ServerConfig, Error> {
        config(&self.certificates, &self.ticketer, least, http2)
    }

    /// Speaks so from the next handshake on.
    pub fn speak(&self, config: ServerConfig) {
        self.config.store(Arc::new(config));
    }

    /// Performs the handshake on `io`. It has no deadline of its own; a handshake that is dropped half way is reported with
    /// [`Tls::gave_up`].
    pub async fn accept<IO>(&self, io: IO) -> io::Result<Secured<IO>>
    where
        IO: AsyncRead + AsyncWrite + Unpin,
    {
        let shaken = TlsAcceptor::from(self.config.load_full())
            .accept_with(io, |session| session.set_buffer_limit(Some(UNSENT_BYTES)))
            .await;
        match &shaken {
            Ok(_) => self.done.fetch_add(1, Ordering::Relaxed),
            Err(error) => {
                tracing::debug!(%error, "a handshake failed");
                self.failed.fetch_add(1, Ordering::Relaxed)
            }
        };
        shaken
    }

    /// Counts a handshake that took too long.
    pub fn gave_up(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    /// Its certificates.
    pub fn certificates(&self) -> &Arc<Certificates> {
        &self.certificates
    }

    /// Completed handshakes, resumed ones included.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Handshakes that failed or took too long.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

fn config(
    certificates: &Arc<Certificates>,
    ticketer: &Arc<dyn ProducesTickets>,
    least: Version,
    http2: bool,
) -> Result<ServerConfig, Error> {
    let versions: &[&SupportedProtocolVersion] = match least {
        Version::Tls12 => &[&TLS13, &TLS12],
        Version::Tls13 => &[&TLS13],
    };
    let builder = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let mut config = builder
        .with_protocol_versions(versions)?
        .with_no_client_auth()
        .with_cert_resolver(Arc::clone(certificates) as Arc<dyn ResolvesServerCert>);
    config.ticketer = Arc::clone(ticketer);
    config.session_storage = Arc::new(NoServerSessionStorage {});
    let spoken = http2.then_some(HTTP2).into_iter().chain([HTTP1]);
    config.alpn_protocols = spoken.chain([CHALLENGE]).map(<[u8]>::to_vec).collect();
    Ok(config)
}

/// Whether HTTP/2 was agreed upon.
pub fn is_http2<IO>(stream: &Secured<IO>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(HTTP2)
}

/// Whether the other end is an authority that has seen what it wanted.
pub fn is_challenge<IO>(stream: &Secured<IO>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(CHALLENGE)
}

/// The protocols on the decrypted side (RFC 7301), in order of preference.
const HTTP2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";
/// Most encrypted bytes that are kept for a visitor whose socket is full: a record (RFC 8446, section 5.1).
const UNSENT_BYTES: usize = 16 * 1024;
