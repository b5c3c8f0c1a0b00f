//! The outcome of a request on its stream, and whether it may be sent again.

use std::error::Error;

use h2::Reason;
use hyper::client::conn::TrySendError;

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Under way.
    Open,
    Answered,
    /// Not sent, or the upstream ended the connection without having looked at it (RFC 9113, section 6.8).
    Unseen,
    /// The same, where the upstream ended the connection in order.
    Left,
    /// The upstream refused the stream without having looked at it (section 8.7).
    Refused,
    /// The connection ended.
    Lost,
    /// This stream failed, and no other.
    Failed,
}

impl Fate {
    pub(super) fn of<B>(error: &TrySendError<B>) -> Self {
        if error.message().is_some() {
            return Self::Unseen;
        }
        let Some(cause) = cause(error.error()) else {
            return Self::Lost;
        };
        match cause.reason() {
            // One that is remote is given to streams behind its last id alone.
            Some(Reason::NO_ERROR) if cause.is_remote() && cause.is_go_away() => Self::Left,
            _ if cause.is_remote() && cause.is_go_away() => Self::Unseen,
            Some(Reason::REFUSED_STREAM) if cause.is_remote() => Self::Refused,
            _ if cause.is_reset() => Self::Failed,
            _ => Self::Lost,
        }
    }

    /// Whether the upstream has not looked at the request: then any may be sent again.
    pub(crate) fn is_unprocessed(self) -> bool {
        matches!(self, Self::Unseen | Self::Left | Self::Refused)
    }

    /// Whether the connection is to blame, and not the server.
    pub(crate) fn is_of_connection(self) -> bool {
        matches!(self, Self::Unseen | Self::Left | Self::Lost)
    }
}

fn cause(error: &hyper::Error) -> Option<&h2::Error> {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref() {
            return Some(error);
        }
        source = error.source();
    }
    None
}
