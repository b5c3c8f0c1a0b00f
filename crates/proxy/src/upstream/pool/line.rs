//! A connection of HTTP/1.1, which carries one request after another.

use std::sync::Arc;

use hyper::client::conn::http1::SendRequest;
use tokio::task::AbortHandle;

use crate::upstream::heard::Heard;
use crate::upstream::request_body::Sent;
use crate::upstream::servers::Key;
use crate::wire::alarm::Alarm;

/// A connection to a server.
pub(crate) struct Line {
    pub(super) server: Arc<Key>,
    pub(super) sender: SendRequest<Sent>,
    pub(super) heard: Arc<Heard>,
    /// For its requests' deadlines. PERF: one that stays set is no work for each of them.
    pub(super) alarm: Option<Alarm>,
    pub(super) task: Leash,
}

/// Ends the connection's task, and with it the connection, when it drops; unless it was let go.
pub(super) struct Leash(pub(super) Option<AbortHandle>);

impl Drop for Leash {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}
