//! Metrics of the shop's servers.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::encode::{counters, gauges};
use crate::admin::live::Live;
use crate::proxy::Standing;

/// The state of each server. A name's addresses come and go, a bounded number at a time.
#[derive(Debug)]
pub struct UpstreamFigures(pub Live);

impl Collector for UpstreamFigures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let servers = self.0.load().origins.standing();
        for (name, help, figure) in GAUGES {
            let values = servers.iter().map(|server| (of_server(server), figure(server)));
            gauges(&mut encoder, name, help, values)?;
        }
        let failures = servers.iter().map(|server| (of_server(server), server.failures));
        let help = "Requests and checks that a server of the shop failed";
        counters(&mut encoder, "upstream_failures", help, failures)
    }
}

fn of_server(standing: &Standing) -> [(&'static str, &str); 1] {
    [("origin", standing.server.as_str())]
}

type Gauge = (&'static str, &'static str, fn(&Standing) -> u32);

const GAUGES: [Gauge; 3] = [
    (
        "upstream_healthy",
        "1 unless a server of the shop counts as out",
        |server| u32::from(server.healthy),
    ),
    (
        "upstream_in_flight",
        "Requests and tunnels that a server of the shop is busy with",
        |server| server.in_flight,
    ),
    (
        "upstream_waiting",
        "Requests that wait for a connection to a server of the shop",
        |server| server.waiting,
    ),
];
