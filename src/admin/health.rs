//! Health, readiness and metrics.
//!
//! Ready means: give this gate visitors. A gate cut off from its log still is, since those inside go on and those waiting
//! keep their page; taking it away would help nobody. It says so under `degraded`.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, StatusCode, header};

use super::exposition::CONTENT_TYPE;
use super::problem::json;
use super::readiness::Phase;
use super::{Shared, api, rooms};

/// `GET /livez`: 503 only when nothing but a restart helps.
pub(super) async fn live(State(shared): State<Shared>) -> Response {
    let reasons = match shared.readiness.phase() {
        Phase::Failed(reason) => vec![reason],
        Phase::Starting | Phase::Serving | Phase::Draining => Vec::new(),
    };
    health(reasons, Vec::new())
}

/// `GET /readyz`: 503 while starting, draining, frozen or failed.
pub(super) async fn ready(State(shared): State<Shared>) -> Response {
    let mut reasons = match shared.readiness.phase() {
        Phase::Serving => Vec::new(),
        Phase::Starting => vec!["starting: the listeners are not open yet".to_owned()],
        Phase::Draining => vec!["draining: the process is stopping".to_owned()],
        Phase::Failed(reason) => vec![reason],
    };
    if shared.replica.frozen() {
        reasons.push("frozen: an entry of the log could not be applied, and the rooms stand still".to_owned());
    }
    health(reasons, degraded(&shared))
}

fn degraded(shared: &Shared) -> Vec<String> {
    let gate = rooms::gate(&shared.replica);
    let cut_off = gate
        .cut_off_secs
        .map(|secs| format!("cut off from the store for {secs} s: nobody is called"));
    let healing = gate
        .healing_secs
        .map(|secs| format!("healing for {secs} s more: nobody is called"));
    cut_off.into_iter().chain(healing).collect()
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
pub(super) async fn metrics(State(shared): State<Shared>) -> Response {
    (
        [(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE))],
        shared.exposition.text(),
    )
        .into_response()
}
