//! Figures of the gate itself, read when a scrape asks: the proxy's own counts, and how the replica stands with its log.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::readiness::{Phase, Readiness};
use crate::proxy::Stats;
use crate::replica::Replica;

/// What the proxy counts for itself.
#[derive(Debug)]
pub(super) struct ProxyFigures(pub Arc<Stats>);

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
                "Requests sent again after a kept connection had died",
                &stats.upstream_retries,
            ),
        ] {
            counter(&mut encoder, name, help, read(count))?;
        }
        Ok(())
    }
}

/// How the gate stands with its log, and whether it takes visitors.
#[derive(Debug)]
pub(super) struct GateFigures {
    pub replica: Replica,
    pub readiness: Readiness,
}

impl Collector for GateFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let (stats, view) = (self.replica.stats(), self.replica.view());
        let ready = self.readiness.phase() == Phase::Serving && !self.replica.frozen();
        let cut_off = self.replica.cut_off().unwrap_or_default().as_secs_f64();
        let healing = view
            .healing_until
            .map_or(0, |until| until.since(self.replica.now()).div_ceil(1_000));
        gauge(
            &mut encoder,
            "ready",
            "1 while this gate takes visitors",
            &u64::from(ready),
        )?;
        gauge(
            &mut encoder,
            "cut_off_seconds",
            "How long the gate has been cut off from its store; 0 when it is not",
            &cut_off,
        )?;
        gauge(
            &mut encoder,
            "healing_seconds",
            "Until calls go on after something was lost; 0 when they do",
            &healing,
        )?;
        gauge(
            &mut encoder,
            "store_lag_seconds",
            "From appending the last batch to having read it back",
            &stats.lag.as_secs_f64(),
        )?;
        gauge(
            &mut encoder,
            "store_log_bytes",
            "Size of the log on disk",
            &stats.log_bytes,
        )?;
        gauge(
            &mut encoder,
            "pending_joins",
            "Visitors waiting for their number",
            &(stats.pending_joins as u64),
        )?;
        for (name, help, count) in [
            ("store_entries", "Entries of the log applied", stats.entries),
            ("store_appends", "Batches appended", stats.appends),
            (
                "store_failures",
                "Exchanges with the store that failed and were tried again",
                stats.failures,
            ),
            (
                "store_outages",
                "Times the gate was cut off from its store",
                stats.outages,
            ),
            ("store_snapshots", "Snapshots written", stats.snapshots),
            (
                "items_skipped",
                "Items of entries that the rooms passed over",
                stats.skipped,
            ),
            (
                "notes_dropped",
                "Notes about visitors lost because too many were waiting",
                stats.notes_dropped,
            ),
        ] {
            counter(&mut encoder, name, help, count)?;
        }
        Ok(())
    }
}

fn gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: &impl EncodeGaugeValue) -> fmt::Result {
    encoder
        .encode_descriptor(name, help, None, MetricType::Gauge)?
        .encode_gauge(value)
}

fn counter(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: u64) -> fmt::Result {
    encoder
        .encode_descriptor(name, help, None, MetricType::Counter)?
        .encode_counter::<NoLabelSet, _, f64>(&value, None)
}
