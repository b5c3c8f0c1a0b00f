//! The metrics as text for a scrape.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use super::process::Process;
use super::{Metrics, UpstreamFault};
use crate::room::Wall;

/// What [`Exposition::text`] is: `OpenMetrics`, which Prometheus reads since 2.5.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Every metric of the process with its name and help.
#[derive(Debug)]
pub struct Exposition(Registry);

impl Exposition {
    /// Everything in `metrics` and about the process, which began at `started`.
    #[must_use]
    pub fn new(metrics: &Metrics, started: Wall) -> Self {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Process { started }));
        let ours = registry.sub_registry_with_prefix("anteroom");
        ours.register(
            "build",
            "The version that is running",
            Info::new([("version", env!("CARGO_PKG_VERSION"))]),
        );
        register_requests(ours, metrics);
        register_connections(ours, metrics);
        register_own(ours, metrics);
        Self(registry)
    }

    /// The text of a scrape. Cost: a few hundred microseconds, none of it on the request path.
    ///
    /// # Panics
    /// Never: a string takes everything.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(16 * 1024);
        text::encode(&mut text, &self.0).expect("a string takes everything");
        text
    }
}

fn register_requests(ours: &mut Registry, metrics: &Metrics) {
    ours.register(
        "requests",
        "Requests by room and by what became of them",
        metrics.requests.clone(),
    );
    ours.register("limited", "Requests refused by a limit", metrics.limited.clone());
    ours.register(
        "gate_duration_seconds",
        "The gate's own share of a request's time",
        metrics.gate.clone(),
    );
    ours.register(
        "upstream_duration_seconds",
        "From asking the upstream to its answer's head",
        metrics.upstream.clone(),
    );
    ours.register_collector(Box::new(UpstreamFaults(metrics.clone())));
    ours.register(
        "tickets_refused",
        "Tickets that are not genuine",
        metrics.tickets_refused.clone(),
    );
    ours.register(
        "passes_refused",
        "Passes that are not genuine",
        metrics.passes_refused.clone(),
    );
}

fn register_connections(ours: &mut Registry, metrics: &Metrics) {
    ours.register("connections", "Open client connections", metrics.connections.0.clone());
    ours.register(
        "connections_refused",
        "Client connections over the limit",
        metrics.connections_refused.clone(),
    );
    ours.register(
        "upstream_connections",
        "Open connections to the upstream",
        metrics.upstream_connections.0.clone(),
    );
    ours.register("tunnels", "Open upgraded connections", metrics.tunnels.0.clone());
    ours.register("streams", "Open event streams", metrics.streams.0.clone());
}

fn register_own(ours: &mut Registry, metrics: &Metrics) {
    ours.register(
        "log_lines_dropped",
        "Log lines that did not fit the queue",
        metrics.log_lines_dropped.clone(),
    );
    ours.register(
        "admin_changes",
        "Changes an operator made",
        metrics.admin_changes.clone(),
    );
    ours.register(
        "admin_refused",
        "Admin requests turned away",
        metrics.admin_refused.clone(),
    );
}

/// One counter for each way an upstream can fail, from the first scrape on, so that an alert sees the first fault.
#[derive(Debug)]
struct UpstreamFaults(Metrics);

impl Collector for UpstreamFaults {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Requests that the upstream failed";
        let mut metric = encoder.encode_descriptor("upstream_faults", help, None, MetricType::Counter)?;
        for fault in UpstreamFault::ALL {
            let count = &self.0.upstream_faults[fault as usize];
            let labels = [("fault", fault.as_str())];
            prometheus_client::encoding::EncodeMetric::encode(count, metric.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Outcome;
    use super::*;
    use crate::room::RoomName;

    #[test]
    fn a_scrape_has_every_count_under_its_name_and_ends_properly() {
        let metrics = Metrics::new();
        let room = RoomName::new("main").expect("a name");
        metrics.requests(Some(&room)).count(Outcome::Inside);
        metrics.requests(None).count(Outcome::Outside);
        metrics.limited("seats").inc();
        metrics.upstream_fault(UpstreamFault::Timeout);
        let stream = metrics.streams.raise();
        let text = Exposition::new(&metrics, Wall(1_000)).text();
        drop(stream);
        for line in [
            "anteroom_requests_total{room=\"main\",outcome=\"inside\"} 1",
            "anteroom_requests_total{room=\"main\",outcome=\"waiting\"} 0",
            "anteroom_requests_total{room=\"\",outcome=\"outside\"} 1",
            "anteroom_limited_total{limit=\"seats\"} 1",
            "anteroom_upstream_faults_total{fault=\"timeout\"} 1",
            "anteroom_upstream_faults_total{fault=\"connect\"} 0",
            "anteroom_streams 1",
            "process_start_time_seconds 1.0",
            concat!("anteroom_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
    }
}
