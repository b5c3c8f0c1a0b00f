//! The shop's servers: how each stands, for operators and for metrics.

use std::fmt;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequestParts, State};
use axum::response::Response;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::entrance::Operator;
use super::problem::json;
use super::{Live, Peer, Problem, Shared, api, gates, rooms};
use crate::proxy::{NotWeighed, Origins, Standing};

/// `GET /api/v1/upstreams`.
pub(super) async fn list(State(shared): State<Shared>) -> Response {
    all(&shared.live.load().origins)
}

fn all(origins: &Origins) -> Response {
    let upstreams = origins.standing().into_iter().map(shown).collect();
    json(&api::Upstreams { upstreams })
}

/// The server that a path names.
pub(super) struct Named(String);

impl FromRequestParts<Shared> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _shared: &Shared) -> Result<Self, Problem> {
        Ok(Self(rooms::parameter(parts, "server").await))
    }
}

/// `POST /api/v1/upstreams/{server}`: gives it another weight, until other servers are configured.
pub(super) async fn weigh(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    Named(server): Named,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let api::Weigh { weight } = gates::read(&headers, body)?;
    if let Some(odd) = weight.filter(|weight| *weight > MAX_WEIGHT) {
        let mistake =
            format!("weight must be a whole number from 0 to {MAX_WEIGHT}, or null for the configured one, not {odd}");
        return Err(Problem::mistakes(vec![mistake]));
    }
    let live = shared.live.load();
    let origins = &live.origins;
    for weighed in origins.set_weight(&server, weight).map_err(|why| refused(&why))? {
        let (before, after) = (weighed.before, weighed.after);
        tracing::info!(origin = weighed.origin, %peer, operator = operator.0, before, after, "an operator weighed a server of the shop");
    }
    shared.metrics.admin_changes.inc();
    Ok(all(origins))
}

fn refused(why: &NotWeighed) -> Problem {
    let status = match why {
        NotWeighed::Unknown(_) => StatusCode::NOT_FOUND,
        NotWeighed::Last | NotWeighed::TooMany => StatusCode::CONFLICT,
    };
    Problem::new(status, why.to_string())
}

/// Highest weight that can be set, as in the configuration.
const MAX_WEIGHT: u32 = 1_000;

fn shown(standing: Standing) -> api::Upstream {
    api::Upstream {
        origin: standing.origin,
        weight: standing.weight,
        configured_weight: Some(standing.configured).filter(|configured| *configured != standing.weight),
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
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for server in &servers {
                let labels = [("origin", server.origin.as_str())];
                metric.encode_family(&labels)?.encode_gauge(&figure(server))?;
            }
        }
        let help = "Requests and checks that a server of the shop failed";
        let mut metric = encoder.encode_descriptor("upstream_failures", help, None, MetricType::Counter)?;
        for server in &servers {
            let labels = [("origin", server.origin.as_str())];
            metric
                .encode_family(&labels)?
                .encode_counter::<NoLabelSet, _, f64>(&server.failures, None)?;
        }
        Ok(())
    }
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
