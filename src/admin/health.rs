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
use super::{Shared, api, gates};
use crate::replica::{Condition, Replica};

/// `GET /livez`: 503 only when nothing but a restart helps.
pub(super) async fn live(State(shared): State<Shared>) -> Response {
    health(fallen(&shared.replica).into_iter().collect(), Vec::new())
}

/// `GET /readyz`: 503 until visitors are numbered, while draining, frozen or behind, and once the replica has ended.
pub(super) async fn ready(State(shared): State<Shared>) -> Response {
    let mut reasons = match shared.readiness.phase() {
        Phase::Serving => Vec::new(),
        Phase::Starting => vec!["starting: the listeners are not open yet".to_owned()],
        Phase::Draining => vec!["draining: the process is stopping".to_owned()],
    };
    reasons.extend(unready(&shared.replica));
    health(reasons, degraded(&shared.replica))
}

/// Why another gate would serve visitors better. Not that nothing could be read since the start: with the store away
/// another has no more to show than this one.
pub(super) fn unready(replica: &Replica) -> Option<String> {
    if let Some(reason) = fallen(replica) {
        return Some(reason);
    }
    match replica.condition() {
        Condition::Frozen { at } => Some(format!(
            "frozen: the entry {} of the log could not be applied, and the rooms stand still",
            gates::spelled(at)
        )),
        Condition::Behind { version } => Some(format!(
            "behind: the log has gone on with machine version {version}, which this gate does not run"
        )),
        _ if replica.has_opened() || replica.failure().is_some() => None,
        Condition::Healing { .. } => Some("starting: a new log begins, and nobody is numbered yet".to_owned()),
        _ => Some("starting: the log is being read, and nobody is numbered yet".to_owned()),
    }
}

/// What only a restart helps against.
fn fallen(replica: &Replica) -> Option<String> {
    let reason = "failed: the replica has ended by a fault of the program, and the rooms stand still until a restart";
    replica.fallen().then(|| reason.to_owned())
}

fn degraded(replica: &Replica) -> Vec<String> {
    let gate = gates::standing(replica);
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
pub(super) async fn metrics(State(shared): State<Shared>) -> Response {
    (
        [(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE))],
        shared.exposition.text(),
    )
        .into_response()
}
