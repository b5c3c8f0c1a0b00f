//! HTTP/2 to the upstream, where `[upstream] http2` asks for it: connections that requests share, on each core.
//!
//! A request takes one stream of a connection instead of a connection of its own. The rules for requests (retries, deadlines,
//! counting) are in `exchange` and `pool`, as for HTTP/1.1. hyper and h2 speak the protocol; this module does the work that
//! they leave to a proxy.

mod again;
mod check;
mod connection;
mod connections;
mod fate;
mod joined;
mod message;
mod run;
mod watch;

pub(crate) use again::{Again, Upload};
pub(crate) use check::ask;
pub(crate) use connection::Stream;
pub(crate) use connections::{Connections, Unopened};
pub(crate) use fate::Fate;
