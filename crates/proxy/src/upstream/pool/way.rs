//! The carrier of one request: a connection of its own, or a stream of a shared one.

use super::line::Line;
use crate::upstream::http2::Stream;

/// A connection for one request.
pub(crate) enum Way {
    Own(Line),
    Shared(Box<Stream>),
}
