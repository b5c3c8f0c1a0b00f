//! The price of a join by room, where a proof of work is required.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

use ropeline_ids::RoomName;

/// The prices of a moment, all of one; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Prices(Arc<Mutex<Vec<(RoomName, u32)>>>);

impl Prices {
    /// Rooms that are not named are shown no more.
    pub fn set(&self, prices: Vec<(RoomName, u32)>) {
        *self.lock() = prices;
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(RoomName, u32)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Collector for Prices {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Hashes that a join takes on average";
        let mut metric = encoder.encode_descriptor("proof_price", help, None, MetricType::Gauge)?;
        for (room, price) in &*self.lock() {
            let labels = [("room", room.as_str())];
            ConstGauge::new(i64::from(*price)).encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }
}
