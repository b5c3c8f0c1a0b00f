//! A lock-free histogram of durations, which every request on every core updates.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// Durations by bucket; cheap to clone, and all clones count together.
///
/// Buckets, count and sum are read one after the other: a scrape in the middle of an observation may be one short in the
/// sum, never in the buckets against the count.
#[derive(Clone, Debug)]
pub struct Latency(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Upper bounds, ascending.
    bounds: Box<[Bound]>,
    /// One more than there are bounds: the last counts durations above them all.
    counts: Box<[AtomicU64]>,
    sum_ns: AtomicU64,
}

#[derive(Clone, Copy, Debug)]
struct Bound {
    secs: f64,
    ns: u64,
}

impl Latency {
    /// `bounds` are the buckets' upper bounds in seconds, ascending.
    #[must_use]
    pub fn new(bounds: &[f64]) -> Self {
        debug_assert!(bounds.is_sorted(), "a histogram's bounds ascend");
        let ns = |secs: f64| u64::try_from(Duration::from_secs_f64(secs).as_nanos()).unwrap_or(u64::MAX);
        Self(Arc::new(Inner {
            bounds: bounds.iter().map(|&secs| Bound { secs, ns: ns(secs) }).collect(),
            counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            sum_ns: AtomicU64::new(0),
        }))
    }

    /// Counts one duration. PERF: two atomic additions and a search over some fifteen integers.
    pub fn observe(&self, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = self.0.bounds.partition_point(|bound| bound.ns < ns);
        self.0.counts[bucket].fetch_add(1, Ordering::Relaxed);
        // Wraps after 584 years of waiting.
        self.0.sum_ns.fetch_add(ns, Ordering::Relaxed);
    }

    /// How many durations were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.counts.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// Their total.
    #[must_use]
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(self.0.sum_ns.load(Ordering::Relaxed))
    }
}

impl TypedMetric for Latency {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for Latency {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let bounds = self.0.bounds.iter().map(|bound| bound.secs).chain([f64::INFINITY]);
        let counts = self.0.counts.iter().map(|count| count.load(Ordering::Relaxed));
        let buckets: Vec<(f64, u64)> = bounds.zip(counts).collect();
        let count = buckets.iter().map(|(_, count)| count).sum();
        encoder.encode_histogram::<NoLabelSet>(self.sum().as_secs_f64(), count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    use super::*;

    #[test]
    fn durations_fall_into_the_bucket_whose_bound_they_do_not_exceed() {
        let latency = Latency::new(&[0.001, 0.1]);
        for micros in [0, 1_000, 1_001, 5_000_000] {
            latency.observe(Duration::from_micros(micros));
        }
        let mut registry = Registry::default();
        registry.register("took_seconds", "Took", latency.clone());
        let mut text = String::new();
        encode(&mut text, &registry).expect("a string takes everything");
        for line in [
            "took_seconds_bucket{le=\"0.001\"} 2",
            "took_seconds_bucket{le=\"0.1\"} 3",
            "took_seconds_bucket{le=\"+Inf\"} 4",
            "took_seconds_count 4",
            "took_seconds_sum 5.002001",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
        assert_eq!(latency.count(), 4);
    }
}
