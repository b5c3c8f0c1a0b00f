//! What carries one request: a connection of its own, or a stream of one that is shared.

use super::line::Line;
use crate::proxy::shop_http2::Stream;

/// A connection for one request.
pub(in crate::proxy) enum Way {
    Own(Line),
    Shared(Box<Stream>),
}
