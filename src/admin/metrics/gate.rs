//! Metrics of the gate: its log, the other gates on the roster, and readiness.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;

use super::encode::{counter, counters, gauge, gauges};
use crate::admin::readiness::{Phase, Readiness};
use crate::admin::view;
use crate::archive;
use crate::replica::{self, Calls, Replica};
use crate::room::View;

/// How the gate stands with its log and with the other gates, and whether it takes visitors.
#[derive(Debug)]
pub struct GateFigures {
    pub replica: Replica,
    pub readiness: Readiness,
}

impl Collector for GateFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let ready = self.readiness.phase() == Phase::Serving && view::gate::unready(&self.replica).is_none();
        gauge(
            &mut encoder,
            "ready",
            "1 while this gate takes visitors",
            &u64::from(ready),
        )?;
        self.standing(&mut encoder)?;
        roster(&self.replica.view(), &mut encoder)?;
        store(&self.replica.stats(), &mut encoder)?;
        calls(self.replica.calls(), &mut encoder)?;
        archived(self.replica.archive(), &mut encoder)
    }
}

impl GateFigures {
    fn standing(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let now = view::gate::word(&self.replica);
        let conditions = view::gate::CONDITIONS.map(|word| ([("condition", word)], u64::from(word == now)));
        gauges(encoder, "condition", "1 for how the gate stands to its log", conditions)?;
        gauge(
            encoder,
            "cut_off_seconds",
            "How long the gate has been cut off from its store; 0 when it is not",
            &self.replica.cut_off().unwrap_or_default().as_secs_f64(),
        )?;
        gauge(
            encoder,
            "healing_seconds",
            "Until calls go on after something was lost; 0 when they do",
            &view::gate::healing_secs(&self.replica).unwrap_or_default(),
        )?;
        gauge(
            encoder,
            "machine_version_known",
            "The highest machine version of the rooms that this gate runs",
            &u64::from(self.replica.knows()),
        )
    }
}

/// The gates that share the log, by its roster.
fn roster(view: &View, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let differing = view
        .roster
        .iter()
        .filter(|gate| view::gate::agrees(view, gate) == Some(false));
    for (name, help, value) in [
        (
            "roster_gates",
            "Gates that share the rooms, as the log knows them",
            view.roster.len() as u64,
        ),
        (
            "state_differing_gates",
            "Gates whose state at the last checkpoint is not that of most",
            differing.count() as u64,
        ),
        (
            "state_alarm",
            "1 while nobody is called because the gates' states differ",
            u64::from(view.alarm),
        ),
        (
            "machine_version",
            "The machine version of the rooms that is in force",
            u64::from(view.version),
        ),
    ] {
        gauge(encoder, name, help, &value)?;
    }
    Ok(())
}

fn store(stats: &replica::Stats, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    gauge(
        encoder,
        "store_lag_seconds",
        "From appending the last batch to having read it back",
        &stats.lag.as_secs_f64(),
    )?;
    gauge(
        encoder,
        "store_log_bytes",
        "Bytes that the log takes in its store",
        &stats.log_bytes,
    )?;
    gauge(
        encoder,
        "pending_joins",
        "Visitors waiting for their number",
        &(stats.pending_joins as u64),
    )?;
    for (name, help, count) in [
        ("store_entries", "Entries of the log applied", stats.entries),
        ("store_appends", "Batches appended", stats.appends),
        (
            "store_outages",
            "Times the gate was cut off from its store",
            stats.outages,
        ),
        ("store_snapshots", "Snapshots written", stats.snapshots),
        (
            "state_outvoted",
            "Times this gate's state was not that of most gates, and was loaded anew",
            stats.outvoted,
        ),
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
        counter(encoder, name, help, count)?;
    }
    Ok(())
}

/// How the store answers, from the first scrape on for each kind, so that an alert sees the first failure.
fn calls(calls: &Calls, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let help = "How long the store took for a call, failed ones included";
    let mut took = encoder.encode_descriptor("store_call_duration_seconds", help, None, MetricType::Histogram)?;
    for (call, latency) in calls.took() {
        latency.encode(took.encode_family(&[("call", call)])?)?;
    }
    let help = "Calls to the store that failed and were tried again";
    let failed = calls
        .failed()
        .map(|(trouble, count)| ([("kind", trouble.as_str())], count));
    counters(encoder, "store_failures", help, failed)?;
    let help = "Connections to the store made";
    counter(encoder, "store_connects", help, calls.connections())
}

fn archived(counts: &archive::Counts, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
    gauge(
        encoder,
        "archive_waiting_bytes",
        "Bytes of the log that wait for the archive's folder",
        &read(&counts.waiting_bytes),
    )?;
    for (name, help, count) in [
        (
            "archive_files",
            "Files that this gate wrote to the archive",
            &counts.filed,
        ),
        (
            "archive_failures",
            "Times that the archive's folder failed, and was tried again",
            &counts.failures,
        ),
        (
            "archive_entries_dropped",
            "Entries missing from the archive because its folder took nothing for too long",
            &counts.dropped,
        ),
    ] {
        counter(encoder, name, help, read(count))?;
    }
    Ok(())
}
