//! The parameters of forwarding a request: the caller's facts about it, and the reports that the caller wants.

use http::{HeaderName, HeaderValue, StatusCode};
use tokio_util::sync::CancellationToken;

use crate::client::conn::Conn;
use crate::client::hop::Hop;
use crate::listen::address::is_trusted;
use crate::memory::BodyOf;
use crate::stage::Stage;

/// The facts about a request that are forwarded besides the request itself.
pub struct Forward<'a> {
    /// How the client reached us; the socket's other end joins `X-Forwarded-For`.
    pub hop: &'a Hop,
    /// The visitor whose share of the memory for bodies is used. A short answer to a stranger is read from the upstream at
    /// once, so that a client that does not read it occupies no connection. This applies to every visitor when most
    /// connections of the server are taken.
    pub whose: BodyOf,
    /// Whether the peer is a trusted proxy, whose `X-Forwarded-*` fields are kept.
    pub peer_trusted: bool,
    /// Fields that identify a request's client and are accepted from trusted proxies only.
    pub said_by_proxies: &'a [HeaderName],
    /// Fields of ours to set.
    pub headers: &'a [(HeaderName, HeaderValue)],
    /// Whether the right to be forwarded holds still: asked where the request had to wait for a server, or is sent once more.
    pub still: &'a (dyn Fn() -> bool + Sync),
    /// Cancelling it closes the request's tunnel, if it opens one; an answer under way is left to finish.
    pub cancel: Option<CancellationToken>,
    /// The field of an answer in which the upstream tells the gate something. It is taken out.
    pub signal: Option<&'a HeaderName>,
    /// Called with the answer's status and the value of its signal as soon as they arrive.
    pub heard: &'a (dyn Fn(StatusCode, Option<&HeaderValue>) + Sync),
    /// Receives the stage that the request has reached.
    pub stage: Option<&'a Stage>,
}

impl<'a> Forward<'a> {
    /// A request that came over `conn`, with no fields of ours and nothing that cancels it.
    #[must_use]
    pub fn over(conn: &'a Conn, trusted: &[ipnet::IpNet]) -> Self {
        Self {
            hop: conn.hop(),
            whose: BodyOf::Inside(conn.peer().ip()),
            peer_trusted: is_trusted(conn.peer().ip(), trusted),
            said_by_proxies: &[],
            headers: &[],
            still: &|| true,
            cancel: None,
            signal: None,
            heard: &|_, _| {},
            stage: None,
        }
    }
}
