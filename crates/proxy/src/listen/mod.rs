//! Where clients come in: sockets, PROXY headers, TLS, and how many connections there may be.

pub(crate) mod accept;
pub(crate) mod address;
pub(crate) mod greet;
pub(crate) mod listener;
pub(crate) mod load;
pub mod proxy_protocol;
pub(crate) mod secured;
pub(crate) mod serve;
pub(crate) mod transport;
pub(crate) mod unix;
