//! How a client reached us: in the clear or over TLS, and between which addresses.

use std::net::SocketAddr;

/// How the client reached us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proto {
    /// In the clear.
    Http,
    /// Over TLS.
    Https,
}

impl Proto {
    /// As in `X-Forwarded-Proto`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) peer: SocketAddr,
    pub(crate) local: SocketAddr,
}
