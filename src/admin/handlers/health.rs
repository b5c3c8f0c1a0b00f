//! Health, readiness and metrics.
//!
//! Ready means that the load balancer can send visitors here. A gate that cannot reach the store is ready: visitors inside go
//! on, and visitors in line keep their page. It lists the outage under `degraded`.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, StatusCode, header};

use crate::admin::api;
use crate::admin::http::problem::json;
use crate::admin::metrics::exposition::CONTENT_TYPE;
use crate::admin::readiness::Phase;
use crate::admin::shared::Shared;
use crate::admin::view;
use crate::replica::Replica;

/// `GET /livez`: 503 only when nothing but a restart helps.
pub async fn live(State(shared): State<Shared>) -> Response {
    health(view::gate::fallen(&shared.replica).into_iter().collect(), Vec::new())
}

/// `GET /readyz`: 503 until visitors are numbered, while draining, frozen or behind, and once the replica has ended.
pub async fn ready(State(shared): State<Shared>) -> Response {
    let mut reasons = match shared.readiness.phase() {
        Phase::Serving => Vec::new(),
        Phase::Starting => vec!["starting: the listeners are not open yet".to_owned()],
        Phase::Draining => vec!["draining: the process is stopping".to_owned()],
    };
    reasons.extend(view::gate::unready(&shared.replica));
    health(reasons, degraded(&shared.replica))
}

pub fn degraded(replica: &Replica) -> Vec<String> {
    let gate = view::gate::standing(replica);
    let cut_off = gate
        .cut_off_secs
        .map(|secs| format!("cut off from the store for {secs} s: nobody is called"));
    let once = if cut_off.is_some() {
        ", once the store answers"
    } else {
        ""
    };
    let healing = gate
        .healing_secs
        .map(|secs| format!("healing for {secs} s more{once}: nobody is called"));
    let alarm = replica.view().alarm;
    let alarm = alarm.then(|| "alarm: the gates' states differ: nobody is called".to_owned());
    cut_off.into_iter().chain(healing).chain(alarm).collect()
}

fn health(reasons: Vec<String>, degraded: Vec<String>) -> Response {
    let ok = reasons.is_empty();
    let mut response = json(&api::Health { ok, reasons, degraded });
    if !ok {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    response
}

/// `GET /metrics`.
pub async fn metrics(State(shared): State<Shared>) -> Response {
    (
        [(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE))],
        shared.exposition.text(),
    )
        .into_response()
}
