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
            (
                "upstream_connections",
                "Open connections to the upstream",
                &stats.upstream_open,
            ),
            ("tunnels", "Open upgraded connections", &stats.tunnels_open),
            (
                "streaming_bodies",
                "Request bodies streamed to the upstream",
                &stats.streaming,
            ),
            (
                "request_buffer_kib",
                "Memory that request bodies take",
                &stats.buffered_kib,
            ),
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
            (
                "upstream_connects",
                "Connections to the upstream made",
                &stats.upstream_connects,
            ),
            (
                "upstream_retries",
                "Requests sent again before any byte of an answer",
                &stats.upstream_retries,
            ),
        ] {
            counter(&mut encoder, name, help, read(count))?;
        }
        Ok(())
    }
}
