//! Errors of forwarding, each with the party at fault.

use http::StatusCode;

/// The error of a body; the client sees its answer cut.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The party at fault for a failed forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The client's: its body was too long, too slow or cut off.
    Client,
    /// The upstream's fault: it could not be reached, was too slow, or its answer was not valid HTTP.
    Upstream,
    /// Ours: out of sockets or memory.
    Ours,
    /// Nobody's: the client lost its right to be forwarded.
    Nobodys,
}

/// The kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Kind {
    /// The body is longer than allowed, by its declared length or by count.
    #[error("the request body is too large")]
    BodyTooLarge,
    /// The body stopped arriving, or came too slowly.
    #[error("the request body did not arrive in time")]
    BodyTimeout,
    /// The body was cut off or its chunks are no chunks.
    #[error("the request body broke off")]
    BodyBroken,
    /// The request has passed this proxy too often already.
    #[error("the request goes round in circles")]
    Loop,
    /// No connection to the upstream.
    #[error("the upstream cannot be reached")]
    Unreachable,
    /// No connection to the upstream in time.
    #[error("the upstream did not accept in time")]
    ConnectTimeout,
    /// No answer from the upstream in time.
    #[error("the upstream did not answer in time")]
    ResponseTimeout,
    /// All tries and waits together took too long.
    #[error("the upstream took too long in all")]
    TotalTimeout,
    /// The upstream's certificate is not to be trusted, or it does not speak TLS.
    #[error("the upstream cannot be trusted")]
    Untrusted,
    /// The upstream closed, or spoke no HTTP, before its answer's head was complete.
    #[error("the upstream broke off its answer")]
    Broken,
    /// The upstream's answer can be framed in two ways, or not at all.
    #[error("the upstream's answer is framed ambiguously")]
    Ambiguous,
    /// The upstream switched protocols unasked, or to another protocol than asked for.
    #[error("the upstream switched protocols unasked")]
    UnaskedSwitch,
    /// A WebSocket was asked for, and the upstream takes none over HTTP/2 (RFC 8441).
    #[error("the upstream takes no WebSocket over HTTP/2")]
    NoTunnel,
    /// This process has no socket, port or memory left, or all connections that the upstream may have are taken.
    #[error("no resources to reach the upstream")]
    Exhausted,
    /// The right to be forwarded ended while the request waited for a server.
    #[error("the right to be forwarded ended meanwhile")]
    Withdrawn,
}

/// Why a request's body ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// Longer than allowed.
    #[error("the request body is too large")]
    TooLarge,
    /// No data came for too long, or too little.
    #[error("the request body did not arrive in time")]
    TooSlow,
    /// The client is gone, or sent an invalid chunk.
    #[error("the request body broke off")]
    Broken,
    /// Other bodies had all the memory for bodies, for too long.
    #[error("no memory for the request body")]
    NoMemory,
}

impl From<BodyError> for Kind {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => Self::BodyTooLarge,
            BodyError::TooSlow => Self::BodyTimeout,
            BodyError::Broken => Self::BodyBroken,
            BodyError::NoMemory => Self::Exhausted,
        }
    }
}

/// A request that could not be forwarded. The client has been sent nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct ForwardError {
    pub fault: Fault,
    pub kind: Kind,
}

impl From<Kind> for ForwardError {
    fn from(kind: Kind) -> Self {
        let fault = match kind {
            Kind::BodyTooLarge | Kind::BodyTimeout | Kind::BodyBroken | Kind::Loop => Fault::Client,
            Kind::Exhausted => Fault::Ours,
            Kind::Withdrawn => Fault::Nobodys,
            _ => Fault::Upstream,
        };
        Self { fault, kind }
    }
}

impl Kind {
    /// The status that says so (RFC 9110, section 15).
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::BodyBroken => StatusCode::BAD_REQUEST,
            Self::Loop => StatusCode::LOOP_DETECTED,
            Self::ConnectTimeout | Self::ResponseTimeout | Self::TotalTimeout => StatusCode::GATEWAY_TIMEOUT,
            Self::Unreachable
            | Self::Untrusted
            | Self::Broken
            | Self::Ambiguous
            | Self::UnaskedSwitch
            | Self::NoTunnel => StatusCode::BAD_GATEWAY,
            Self::Exhausted | Self::Withdrawn => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}
