//! The listeners that speak TLS, from their configuration.

use std::io;
use std::num::NonZeroU16;
use std::sync::Arc;

use crate::config::Tls as Config;
use crate::proxy::Listener;
use crate::tls::{Certificates, INTERVAL, PairError, Tls, Watch};

/// Listeners with TLS, and what belongs to them; empty where there are none.
#[derive(Default)]
pub struct Secured {
    pub listeners: Vec<Listener>,
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
    /// Reads the certificates, begins to look after them, and has these listeners speak TLS.
    pub fn open(config: &Config, listeners: Vec<Listener>) -> Result<Self, SecuredError> {
        if listeners.is_empty() {
            return Ok(Self::default());
        }
        let certificates = Arc::new(Certificates::load(&config.certificates)?);
        let watch = Watch::start(Arc::clone(&certificates), INTERVAL)?;
        let tls = Arc::new(Tls::new(certificates, config.min_version, config.http2)?);
        let first_port = first_port(&listeners);
        let secured = listeners.into_iter().map(|listener| listener.secured(Arc::clone(&tls)));
        Ok(Self {
            listeners: secured.collect(),
            first_port,
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

fn first_port(listeners: &[Listener]) -> Option<u16> {
    let endpoints = listeners.iter().filter_map(|listener| listener.endpoint().ok());
    endpoints
        .into_iter()
        .find_map(|endpoint| Some(endpoint.address()?.port()))
}

/// Of a Unix socket nobody knows where visitors reach it.
const USUAL_PORT: u16 = 443;
