//! Metrics of TLS handshakes, and when certificates expire.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::encode::{counter, counters, gauges};
use crate::acme::Acme;
use crate::tls::Tls;

/// Counts are 0, and there are no certificates, where no listener speaks TLS.
#[derive(Debug)]
pub struct TlsFigures {
    pub tls: Option<Arc<Tls>>,
    pub acme: Option<Acme>,
}

impl Collector for TlsFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let tls = self.tls.as_deref();
        let (done, failed) = tls.map_or((0, 0), |tls| (tls.done(), tls.failed()));
        counter(&mut encoder, "tls_handshakes", "Handshakes that came to an end", done)?;
        counter(
            &mut encoder,
            "tls_handshakes_failed",
            "Handshakes that failed or took too long",
            failed,
        )?;
        let (taken, kept) = tls.map_or((0, 0), |tls| (tls.certificates().reloaded(), tls.certificates().kept()));
        let help = "New certificates seen, by whether they were taken";
        let reloads = [("taken", taken), ("refused", kept)].map(|(outcome, count)| ([("outcome", outcome)], count));
        counters(&mut encoder, "certificate_reloads", help, reloads)?;
        let in_force = tls.map(|tls| tls.certificates().in_force()).unwrap_or_default();
        let expiry = in_force.into_iter().map(|shown| {
            let file = shown.origin.to_string();
            #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit")]
            let secs = shown.expires.0 as f64 / 1e3;
            ([("name", shown.name), ("file", file)], secs)
        });
        let name = "certificate_expiry_timestamp_seconds";
        let help = "The end of a certificate in force, seconds since 1970";
        gauges(&mut encoder, name, help, expiry)?;
        let hosts = self.acme.as_ref().map(Acme::hosts).unwrap_or_default();
        let failures = hosts
            .iter()
            .map(|host| ([("host", host.name.as_str())], i64::from(host.failures)));
        let help = "Orders of a certificate for the host that failed in a row, as the store has it";
        gauges(&mut encoder, "acme_failures", help, failures)
    }
}
