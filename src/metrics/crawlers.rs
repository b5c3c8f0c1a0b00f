//! Metrics of crawler verification.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;

use super::LookupFate;

/// Lookups by result, and the verified addresses; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct CrawlerMetrics {
    lookups: Arc<[Counter; LookupFate::ALL.len()]>,
    pub(super) verified: Gauge,
}

impl CrawlerMetrics {
    /// Counts a lookup.
    pub fn count(&self, fate: LookupFate) {
        self.lookups[fate as usize].inc();
    }

    /// Sets the number of verified addresses.
    pub fn verified(&self, addresses: usize) {
        self.verified.set(i64::try_from(addresses).unwrap_or(i64::MAX));
    }
}

impl Collector for CrawlerMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Lookups of addresses whose requests name a crawler";
        let mut metric = encoder.encode_descriptor("crawler_lookups", help, None, MetricType::Counter)?;
        for fate in LookupFate::ALL {
            let labels = [("found", fate.as_str())];
            self.lookups[fate as usize].encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }
}
