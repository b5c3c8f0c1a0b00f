//! The sender of a request: the address, and the operator by the name of their token; and the request's id.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;

use axum::extract::FromRequestParts;
use http::request::Parts;

use crate::logging::Masked;
use crate::proxy::RequestId;
use crate::room::Who;

/// The peer of a request, for the log: in full for this machine, masked otherwise. Operators come through no proxy that the gate trusts,
/// so the request's id is always the gate's own.
#[derive(Clone, Debug)]
pub struct Peer {
    pub address: SocketAddr,
    pub request: RequestId,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.address.ip();
        if address.is_loopback() {
            write!(f, "{address}")
        } else {
            write!(f, "{}", Masked(address))
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts
            .extensions
            .get::<Self>()
            .cloned()
            .expect("the connection puts its peer on every request"))
    }
}

/// The caller, by the name of their token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operator(pub String);

impl<S: Sync> FromRequestParts<S> for Operator {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts
            .extensions
            .get::<Self>()
            .cloned()
            .expect("the entrance puts its operator on every request"))
    }
}

impl Operator {
    pub fn with(&self, reason: Option<String>) -> Who {
        Who {
            name: self.0.clone(),
            reason: reason.unwrap_or_default(),
        }
    }
}
