//! The proxy on the wire: bytes in, bytes out, over real sockets on port 0, with a raw recording shop behind it.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as its functions do")]

mod aliases;
mod announced;
mod bad_answers;
mod bodies;
mod bounds;
mod buffers;
mod client;
mod deadlines;
mod detached;
mod drain;
mod faults;
mod framing;
mod gate;
mod gone;
mod headers;
mod http2;
mod shop;
mod tls;
mod turning;
mod unread;
mod upgrades;
mod upstream;

use ropeline_testkit::harness::certificates;
