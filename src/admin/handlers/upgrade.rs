//! `POST /api/v1/upgrade`: starts a live upgrade, and answers when the new process serves or has failed.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;

use crate::admin::http::body::JsonBytes;
use crate::admin::http::caller::{Operator, Peer};
use crate::admin::http::problem::{Problem, json};
use crate::admin::shared::Shared;
use crate::admin::upgrades::Upgrades;

/// `POST /api/v1/upgrade`, with `{}`.
pub async fn upgrade(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    _: JsonBytes,
) -> Result<Response, Problem> {
    let Some(Upgrades(wishes)) = shared.live.load().options.upgrades.clone() else {
        return Err(refused(
            "this gate is part of another program, and is not upgraded by itself",
        ));
    };
    tracing::info!(%peer, request_id = %peer.request, operator = operator.0, "an operator asked for an upgrade");
    let (wish, outcome) = oneshot::channel();
    wishes.try_send(wish).map_err(|error| match error {
        TrySendError::Full(_) => refused("too many wait for an upgrade already"),
        TrySendError::Closed(_) => refused("this gate is about to end"),
    })?;
    match outcome.await {
        Ok(Ok(upgraded)) => Ok(json(&upgraded)),
        Ok(Err(reason)) => Err(refused(reason)),
        Err(_) => Err(refused("this gate was told to stop meanwhile")),
    }
}

fn refused(reason: impl Into<String>) -> Problem {
    Problem::new(StatusCode::CONFLICT, reason)
}

/// The path. The API's deadline does not apply: the upgrade has one for each step.
pub const UPGRADE: &str = "/api/v1/upgrade";
