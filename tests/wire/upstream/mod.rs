//! The way to the upstream: the choice of a server, the protocol, and the handling of failures.

mod http2;
mod moved;
mod servers;
mod succession;
mod tls;
mod tries;
mod waiting;
