//! The shop's servers: how each stands, for operators and for metrics.

use std::fmt;

use axum::extract::State;
use axum::response::Response;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::figures::{counters, gauges};
use super::problem::json;
use super::{Live, Shared, api};
use crate::proxy::Standing;

/// `GET /api/v1/upstreams`.
pub(super) async fn list(State(shared): State<Shared>) -> Response {
    let upstreams = shared.live.load().origins.standing().into_iter().map(shown).collect();
    json(&api::Upstreams { upstreams })
}

fn shown(standing: Standing) -> api::Upstream {
    api::Upstream {
        origin: standing.origin,
        weight: standing.weight,
        healthy: standing.healthy,
        protocol: standing.protocol.map(str::to_owned),
        in_flight: standing.in_flight,
        waiting: standing.waiting,
        failures: standing.failures,
        reason: standing.reason.map(|reason| reason.to_string()),
    }
}

/// The same as metrics. A name's addresses come and go, a bounded number at a time.
#[derive(Debug)]
pub(super) struct UpstreamFigures(pub Live);

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

fn of_server(server: &Standing) -> [(&'static str, &str); 1] {
    [("origin", server.origin.as_str())]
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
