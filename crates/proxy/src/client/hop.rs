//! A connection's part in its requests: the facts about it that are sent to the upstream, and the state that its service
//! keeps.

use std::any::Any;
use std::net::SocketAddr;
use std::sync::OnceLock;

use http::HeaderValue;

use crate::client::proto::Proto;
use crate::listen::load::{Permit, Spot};

/// One hop on a request's way. PERF: put into words once for all requests of a connection.
#[derive(Debug)]
pub struct Hop {
    /// Joins `X-Forwarded-For`.
    pub(crate) peer: HeaderValue,
    pub(crate) port: HeaderValue,
    pub(crate) proto: Proto,
    memory: OnceLock<Box<dyn Any + Send + Sync>>,
    spot: Option<Spot>,
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
            memory: OnceLock::new(),
            spot: None,
        }
    }

    /// The connection is one of a server's.
    pub(crate) fn at(self, spot: Spot) -> Self {
        Self {
            spot: Some(spot),
            ..self
        }
    }

    /// One more connection where this one is; `None` where it is at no server.
    pub(crate) fn connection(&self) -> Option<Permit> {
        self.spot.clone().map(Permit::new)
    }

    /// The state that the service keeps for the connection from one request to the next.
    ///
    /// # Panics
    /// When asked for different types: a service has one.
    pub fn memory<T: Default + Any + Send + Sync>(&self) -> &T {
        let memory = self.memory.get_or_init(|| Box::<T>::default());
        memory.downcast_ref().expect("a service keeps one kind of memory")
    }
}
