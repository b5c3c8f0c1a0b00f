//! What all cores share about one upstream: its bounds, its signer and its counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::config;
use crate::gate::bounds::sockets::Sockets;
use crate::gate::bounds::unadmitted::Unadmitted;
use crate::metrics::{Metrics, UpstreamMetrics};
use crate::token::RequestSigner;

/// One upstream as all cores share it.
pub struct UpstreamState {
    /// `None` for a single one without a name.
    pub name: Option<String>,
    pub unadmitted: Unadmitted,
    pub sockets: Sockets,
    /// Signs the requests that are forwarded to it.
    pub signer: Option<RequestSigner>,
    pub metrics: UpstreamMetrics,
    /// Since the last report of load control.
    sent: Arc<AtomicU32>,
}

impl UpstreamState {
    /// Requests under way under the bounds `before` stay counted.
    pub fn new(
        upstream: &config::Upstream,
        signer: Option<RequestSigner>,
        metrics: &Metrics,
        before: Option<&Self>,
    ) -> Self {
        let label = upstream.name.as_deref().unwrap_or_default();
        Self {
            name: upstream.name.clone(),
            unadmitted: Unadmitted::new(
                upstream.unadmitted,
                &|limit| metrics.limited_at(limit, label),
                before.map(|before| &before.unadmitted),
            ),
            sockets: Sockets::new(
                upstream.takes,
                metrics.limited_at("sockets", label),
                before.map(|before| &before.sockets),
            ),
            signer,
            metrics: metrics.of_upstream(label),
            sent: before.map_or_else(Arc::default, |before| Arc::clone(&before.sent)),
        }
    }

    /// Sets the bounds of the counts that were taken over.
    pub fn take_force(&self) {
        self.unadmitted.take_force();
        self.sockets.take_force();
    }

    /// A request goes to it, whosever it is.
    pub fn note_sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// The requests since the last call.
    pub fn take_sent(&self) -> u32 {
        self.sent.swap(0, Ordering::Relaxed)
    }
}
