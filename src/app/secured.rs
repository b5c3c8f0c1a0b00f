//! TLS for listeners, from its configuration.

use std::io;
use std::num::NonZeroU16;
use std::sync::Arc;

use crate::config::Tls as Config;
use crate::tls::{Certificates, INTERVAL, PairError, Tls, Watch};

use super::upgrade::Opened;

/// State that listeners with TLS share; empty if there are none.
#[derive(Default)]
pub struct Secured {
    pub tls: Option<Arc<Tls>>,
    /// The port of the first of them that has one.
    pub first_port: Option<u16>,
    pub watch: Option<Watch>,
}

/// Why there can be no TLS.
#[derive(Debug, thiserror::Error)]
pub enum SecuredError {
    #[error("certificates: {0}; what would be right: {right}", right = .0.right())]
    Pair(#[from] PairError),
    #[error("cannot be spoken: {0}")]
    Tls(#[from] rustls::Error),
    #[error("certificates cannot be looked after: {0}")]
    Watch(#[from] io::Error),
}

impl Secured {
    /// Reads the certificates for these listeners and begins to look after them.
    pub fn open(config: &Config, listeners: &[Opened]) -> Result<Self, SecuredError> {
        if listeners.is_empty() {
            return Ok(Self::default());
        }
        let certificates = Arc::new(Certificates::load(&config.certificates)?);
        let watch = Watch::start(Arc::clone(&certificates), INTERVAL)?;
        let tls = Arc::new(Tls::new(certificates, config.min_version, config.http2)?);
        Ok(Self {
            first_port: first_port(listeners),
            watch: Some(watch),
            tls: Some(tls),
        })
    }

    /// The port that requests in the clear are sent to, if they are.
    #[must_use]
    pub fn redirect(&self, config: &Config) -> Option<u16> {
        redirect(config, self.first_port)
    }
}

/// The port that requests in the clear are sent to, if they are; `first` is that of the first listener with TLS.
#[must_use]
pub fn redirect(config: &Config, first: Option<u16>) -> Option<u16> {
    let port = config.redirect_port.map(NonZeroU16::get).or(first);
    config.redirect.then(|| port.unwrap_or(USUAL_PORT))
}

fn first_port(listeners: &[Opened]) -> Option<u16> {
    let mut endpoints = listeners.iter().filter_map(|one| one.listener.endpoint().ok());
    endpoints.find_map(|endpoint| Some(endpoint.address()?.port()))
}

/// For a Unix socket, whose public port is unknown.
const USUAL_PORT: u16 = 443;
