//! TLS towards visitors, by rustls: certificates from files, which one a visitor gets, and the handshake.
//!
//! A listener with a [`Tls`] speaks nothing else. What is read and written on the decrypted side is the proxy's; who may come in
//! is the gate's. TLS 1.2 and 1.3, tickets that any connection of this process can resume on, no early data: what is sent
//! before the handshake is over could be sent again by anybody (RFC 8446, section 8).

mod certificates;
mod error;
mod handshake;
mod pair;
mod shelf;
mod watch;

pub use certificates::{Certificates, InForce, Renewal};
pub use error::PairError;
pub use handshake::{Secured, Tls, Version, is_http2};
pub use pair::{Files, Oddity, Pair};
pub use watch::{INTERVAL, Watch};
