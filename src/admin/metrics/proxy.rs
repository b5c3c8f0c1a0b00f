//! Metrics of the proxy.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::encode::{counter, gauge};
use crate::proxy::Stats;

/// The proxy's own counts.
#[derive(Debug)]
pub struct ProxyFigures(pub Arc<Stats>);

impl Collector for ProxyFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let stats = &self.0;
        for (name, help, count) in [
            ("connections", "Open client connections", &stats.open),
            ("tunnels", "Open upgraded connections", &stats.tunnels_open),
        ] {
            gauge(&mut encoder, name, help, &read(count))?;
        }
        for (name, help, count) in [
            ("connections_accepted", "Client connections accepted", &stats.accepted),
            (
                "connections_refused",
                "Client connections closed at once, too many being open",
                &stats.refused,
            ),
            (
                "connections_timed_out",
                "Client connections closed at a deadline",
                &stats.timed_out,
            ),
            (
                "connections_unannounced",
                "Client connections closed for want of a PROXY header",
                &stats.unannounced,
            ),
            (
                "connections_flooded",
                "Client connections closed because requests on them were called off one after the other",
                &stats.flooded,
            ),
            (
                "malformed",
                "Requests refused before a room was looked for",
                &stats.malformed,
            ),
        ] {
            counter(&mut encoder, name, help, read(count))?;
        }
        Ok(())
    }
}
