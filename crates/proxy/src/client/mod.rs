//! One client's connection: its bytes, its requests, and the checks on both.

pub(crate) mod conn;
pub(crate) mod connection;
pub(crate) mod framing;
pub(crate) mod guard;
pub(crate) mod hop;
pub(crate) mod http2;
pub(crate) mod noted;
pub(crate) mod proto;
pub(crate) mod refusals;
pub(crate) mod request_body;
pub(crate) mod request_id;
pub(crate) mod socket;
