//! TLS towards visitors, by rustls: certificates from files, the choice of the certificate for a visitor, and the handshake.
//!
//! A listener with a [`Tls`] speaks TLS only. The proxy handles the decrypted bytes, and the gate decides about admission.
//! TLS 1.2 and 1.3, tickets that any connection of this process can resume on, no early data: an attacker could replay data
//! that is sent before the handshake is over (RFC 8446, section 8).

mod certificates;
mod error;
mod handshake;
mod pair;
mod shelf;
mod watch;

pub use certificates::{Certificates, InForce, Renewal};
pub use error::PairError;
pub use handshake::{Secured, Tls, Version, is_challenge, is_http2};
pub use pair::{Files, Oddity, Origin, Pair};
pub use watch::{INTERVAL, Watch};
