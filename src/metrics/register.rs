//! Names and help texts of the metrics.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use super::{CodeFate, Metrics};

impl Metrics {
    /// Shows every handle in `ours`, whose prefix is `ropeline`.
    pub fn register(&self, ours: &mut Registry) {
        register_requests(ours, self);
        ours.register("streams", "Open event streams", self.streams.0.clone());
        ours.register(
            "log_lines_dropped",
            "Log lines that did not fit the queue",
            self.log_lines_dropped.clone(),
        );
        ours.register("admin_changes", "Changes an operator made", self.admin_changes.clone());
        ours.register(
            "admin_refused",
            "Admin requests turned away",
            self.admin_refused.clone(),
        );
        ours.register("upgrades_failed", "Upgrades that failed", self.upgrades_failed.clone());
    }
}

fn register_requests(ours: &mut Registry, metrics: &Metrics) {
    ours.register(
        "requests",
        "Requests by room and by what became of them",
        metrics.requests.clone(),
    );
    ours.register(
        "returns",
        "Requests of parked sessions that asked for a slot, by what became of them",
        metrics.returns.clone(),
    );
    ours.register(
        "return_wait_seconds",
        "How long requests of parked sessions waited for a slot",
        metrics.return_waits.clone(),
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
        metrics.upstream_durations.clone(),
    );
    ours.register(
        "upstream_faults",
        "Requests that the upstream failed",
        metrics.upstream_faults.clone(),
    );
    ours.register_collector(Box::new(Codes(metrics.clone())));
    ours.register_collector(Box::new(metrics.crawlers.clone()));
    ours.register_collector(Box::new(metrics.proof_prices.clone()));
    ours.register(
        "crawlers_verified",
        "Addresses known to be a crawler's",
        metrics.crawlers.verified.clone(),
    );
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

/// One counter for each thing that becomes of a code.
#[derive(Debug)]
struct Codes(Metrics);

impl Collector for Codes {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Codes shown, by what became of them";
        let mut metric = encoder.encode_descriptor("codes", help, None, MetricType::Counter)?;
        for fate in CodeFate::ALL {
            let labels = [("fate", fate.as_str())];
            self.0.codes[fate as usize].encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use std::time::Duration;

    use super::super::{Outcome, UpstreamFault};
    use super::*;
    use ropeline_ids::RoomName;

    #[test]
    fn an_upstream_that_is_gone_is_shown_no_longer() {
        let metrics = Metrics::new();
        for name in ["", "music", "books"] {
            metrics.of_upstream(name).fault(UpstreamFault::Connect);
            metrics.limited_at("sockets", name).inc();
            metrics.limited_at("unadmitted-reads", name).inc();
        }
        // A limit of the operator's.
        let sockets = metrics.limited("sockets");
        metrics.keep_upstreams(&["music"]);
        sockets.inc();
        let shown = |metrics: &Metrics| {
            let mut registry = Registry::default();
            metrics.register(registry.sub_registry_with_prefix("ropeline"));
            let mut text = String::new();
            encode(&mut text, &registry).expect("a string takes everything");
            text
        };
        let text = shown(&metrics);
        assert!(!text.contains("upstream=\"books\""), "{text}");
        let unnamed: Vec<&str> = text.lines().filter(|line| line.contains("upstream=\"\"")).collect();
        assert_eq!(
            unnamed,
            ["ropeline_limited_total{limit=\"sockets\",upstream=\"\"} 2"],
            "{text}"
        );
        assert!(text.contains("ropeline_upstream_faults_total{fault=\"connect\",upstream=\"music\"} 1"));
        metrics.keep_upstreams(&["music", "books"]);
        let _ = metrics.of_upstream("books");
        assert!(shown(&metrics).contains("ropeline_upstream_faults_total{fault=\"connect\",upstream=\"books\"} 0"));
    }

    #[test]
    fn every_count_is_shown_under_its_name() {
        let metrics = Metrics::new();
        let room = RoomName::new("main").expect("a name");
        metrics.requests(Some(&room)).count(Outcome::Inside);
        metrics.requests(None).count(Outcome::Outside);
        metrics.limited("seats").inc();
        metrics.limited_at("sockets", "music").inc();
        metrics.of_upstream("").fault(UpstreamFault::Timeout);
        metrics.of_upstream("music").took.observe(Duration::from_millis(3));
        let gone = RoomName::new("gone").expect("a name");
        metrics.proof_prices.set(vec![(room.clone(), 5), (gone, 6)]);
        metrics.proof_prices.set(vec![(room, 200_000)]);
        let _stream = metrics.streams.raise();
        let mut registry = Registry::default();
        metrics.register(registry.sub_registry_with_prefix("ropeline"));
        let mut text = String::new();
        encode(&mut text, &registry).expect("a string takes everything");
        for line in [
            "ropeline_requests_total{room=\"main\",outcome=\"inside\"} 1",
            "ropeline_requests_total{room=\"main\",outcome=\"waiting\"} 0",
            "ropeline_requests_total{room=\"\",outcome=\"outside\"} 1",
            "ropeline_limited_total{limit=\"seats\",upstream=\"\"} 1",
            "ropeline_limited_total{limit=\"sockets\",upstream=\"music\"} 1",
            "ropeline_upstream_faults_total{fault=\"timeout\",upstream=\"\"} 1",
            "ropeline_upstream_faults_total{fault=\"timeout\",upstream=\"music\"} 0",
            "ropeline_upstream_faults_total{fault=\"connect\",upstream=\"\"} 0",
            "ropeline_upstream_duration_seconds_count{upstream=\"\"} 0",
            "ropeline_upstream_duration_seconds_count{upstream=\"music\"} 1",
            "ropeline_upstream_duration_seconds_bucket{le=\"0.005\",upstream=\"music\"} 1",
            "ropeline_streams 1",
            "ropeline_proof_price{room=\"main\"} 200000",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
        assert!(!text.contains("room=\"gone\""), "{text}");
    }
}
