//! Metrics of reloads.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::encode::{counters, gauge};
use crate::admin::reloads::Reloads;

/// Reloads as metrics.
#[derive(Debug)]
pub struct ReloadFigures(pub Reloads);

impl Collector for ReloadFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Attempts to take another configuration, by what became of them";
        let results = self.0.counts().map(|(result, count)| ([("result", result)], count));
        counters(&mut encoder, "config_reloads", help, results)?;
        let untaken = u64::try_from(self.0.untaken().len()).unwrap_or(u64::MAX);
        let help = "Rooms that operators added and that this gate does not take";
        gauge(&mut encoder, "rooms_untaken", help, &untaken)?;
        let well = u64::from(self.0.refused_at().is_none());
        let help = "1 unless the last attempt to take another configuration was refused";
        gauge(&mut encoder, "config_last_reload_successful", help, &well)?;
        #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit")]
        let secs = self.0.in_force_since().0 as f64 / 1e3;
        let help = "When the configuration in force was taken, seconds since 1970";
        gauge(
            &mut encoder,
            "config_last_reload_success_timestamp_seconds",
            help,
            &secs,
        )
    }
}
