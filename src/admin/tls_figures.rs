//! What TLS counts for itself, and until when the certificates in force are good.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::figures::counter;
use crate::tls::Tls;

/// Counts are 0, and there are no certificates, where nobody comes in over TLS.
#[derive(Debug)]
pub(super) struct TlsFigures(pub Option<Arc<Tls>>);

impl Collector for TlsFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let tls = self.0.as_deref();
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
        let mut reloads = encoder.encode_descriptor("certificate_reloads", help, None, MetricType::Counter)?;
        for (outcome, count) in [("taken", taken), ("refused", kept)] {
            reloads
                .encode_family(&[("outcome", outcome)])?
                .encode_counter::<NoLabelSet, _, f64>(&count, None)?;
        }
        let help = "The end of a certificate in force, seconds since 1970";
        let name = "certificate_expiry_timestamp_seconds";
        let mut expiry = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for shown in tls.map(|tls| tls.certificates().in_force()).unwrap_or_default() {
            let file = shown.files.certificate.display().to_string();
            let labels = [("name", shown.name), ("file", file)];
            #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit")]
            let secs = shown.expires.0 as f64 / 1e3;
            expiry.encode_family(&labels)?.encode_gauge(&secs)?;
        }
        Ok(())
    }
}
