//! `/api/v1/reload`: has the configuration read again.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use tokio::sync::oneshot;

use crate::admin::http::body::JsonBytes;
use crate::admin::http::caller::{Operator, Peer};
use crate::admin::http::problem::{Problem, json};
use crate::admin::reloads::{NotNow, Order, TAKEN, Trigger};
use crate::admin::shared::Shared;

/// `GET /api/v1/reload`: the result of the last one.
pub async fn show(State(shared): State<Shared>) -> Response {
    json(&shared.reloads.last())
}

/// `POST /api/v1/reload`: answered once the file's configuration is in force, or refused.
pub async fn reload(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    _: JsonBytes,
) -> Result<Response, Problem> {
    tracing::info!(%peer, request_id = %peer.request, operator = operator.0, "an operator asked for a reload");
    let (answer, done) = oneshot::channel();
    let order = Order {
        trigger: Trigger::Command,
        answer: Some(answer),
    };
    let not_now = |_| {
        let detail = "no configuration is taken now: too many wait to be, or the gate is about to end";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail)
    };
    shared.reloads.order(order).map_err(not_now)?;
    let told = done.await.map_err(|_| not_now(NotNow))?;
    if told.result == TAKEN {
        shared.metrics.admin_changes.inc();
        return Ok(json(&told));
    }
    Err(Problem {
        detail: "the configuration was refused, and the one in force stays".to_owned(),
        mistakes: told.mistakes,
        ..Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "")
    })
}

/// The path, which has no deadline of the API's: an order that waits behind others is carried out all the same.
pub const RELOAD: &str = "/api/v1/reload";
