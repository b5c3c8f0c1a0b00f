//! The way to the upstream: which server has a request, what is spoken to it, and what happens when it fails.

mod http2;
mod moved;
mod servers;
mod succession;
mod tls;
mod tries;
mod waiting;
