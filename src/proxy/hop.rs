//! A connection's part in the requests that come over it: what the shop is told of it.

use std::net::SocketAddr;

use http::HeaderValue;

use super::conn::Proto;

/// One hop on a request's way. PERF: put into words once for all requests of a connection.
#[derive(Debug)]
pub struct Hop {
    /// Joins `X-Forwarded-For`.
    pub(super) peer: HeaderValue,
    pub(super) port: HeaderValue,
    pub(super) proto: Proto,
}

impl Hop {
    /// Of a connection from `peer` to `local`.
    ///
    /// # Panics
    /// Never: an address is plain text.
    #[must_use]
    pub fn of(peer: SocketAddr, local: SocketAddr, proto: Proto) -> Self {
        Self {
            peer: HeaderValue::try_from(peer.ip().to_string()).expect("an address is plain text"),
            port: local.port().into(),
            proto,
        }
    }
}
