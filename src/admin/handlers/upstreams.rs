//! The upstream servers and their health.

use axum::extract::State;
use axum::response::Response;

use crate::admin::api;
use crate::admin::http::problem::json;
use crate::admin::shared::Shared;
use crate::proxy::{Standing, UpstreamServers};

/// `GET /api/v1/upstreams`.
pub async fn list(State(shared): State<Shared>) -> Response {
    let live = shared.live.load();
    let servers = live.origins.iter().flat_map(UpstreamServers::standing);
    let upstreams = servers.map(shown).collect();
    json(&api::Upstreams { upstreams })
}

fn shown(standing: Standing) -> api::Upstream {
    api::Upstream {
        upstream: standing.upstream.map(|name| name.to_string()),
        origin: standing.server,
        weight: standing.weight,
        healthy: standing.healthy,
        protocol: standing.protocol.map(str::to_owned),
        in_flight: standing.in_flight,
        waiting: standing.waiting,
        failures: standing.failures,
        reason: standing.reason.map(|reason| reason.to_string()),
    }
}
