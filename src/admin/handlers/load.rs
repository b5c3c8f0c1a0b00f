//! Load figures of the upstream that its own monitoring reports.
//!
//! They replace the gates' measurements until their time to live ends.

use axum::extract::State;
use axum::response::Response;

use super::change::{conflict, reason_or, say};
use super::named_room::{Named, by_now};
use crate::admin::api;
use crate::admin::http::body::JsonBody;
use crate::admin::http::caller::{Operator, Peer};
use crate::admin::http::problem::Problem;
use crate::admin::shared::Shared;
use crate::room::{Change, MAX_REQUESTS, OUTSIDE_TTL_MS, Outside};

/// `POST /api/v1/rooms/{room}/load`.
pub async fn give(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    room: Named,
    JsonBody(given): JsonBody<api::Load>,
) -> Result<Response, Problem> {
    let (figures, why) = checked(given)?;
    follows(&room)?;
    say(&shared, &room.name, Change::Load(Some(figures)), operator.with(why)).await?;
    // Sent again and again by a machine: not worth a line each time.
    tracing::debug!(
        room = %room.name, %peer, request_id = %peer.request,
        operator = operator.0, requests_per_second = figures.requests_per_second,
        "figures of the shop were given"
    );
    Ok(by_now(&shared, &room))
}

/// `DELETE /api/v1/rooms/{room}/load`: the measured figures count again.
pub async fn give_back(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    room: Named,
) -> Result<Response, Problem> {
    follows(&room)?;
    say(&shared, &room.name, Change::Load(None), operator.with(None)).await?;
    tracing::info!(
        room = %room.name, %peer, request_id = %peer.request, operator = operator.0,
        "the measured figures of the shop count again"
    );
    Ok(by_now(&shared, &room))
}

fn follows(room: &Named) -> Result<(), Problem> {
    if room.view.load.is_some() {
        return Ok(());
    }
    Err(conflict(
        "the room goes by no figures: set by in its [room.load_control]",
    ))
}

fn checked(given: api::Load) -> Result<(Outside, Option<String>), Problem> {
    let mut mistakes = Vec::new();
    if given.requests_per_second > MAX_REQUESTS {
        mistakes.push(format!("requests_per_second must be at most {MAX_REQUESTS}"));
    }
    if let Some(share) = given.error_share.filter(|share| !(0.0..=1.0).contains(share)) {
        mistakes.push(format!("error_share must be 0 to 1, not {share}"));
    }
    let ttl_ms = given.ttl_secs.saturating_mul(1_000);
    if !OUTSIDE_TTL_MS.contains(&ttl_ms) {
        mistakes.push(format!("ttl_secs must be 1 to 3600, not {}", given.ttl_secs));
    }
    let why = reason_or(given.reason, &mut mistakes);
    if !mistakes.is_empty() {
        return Err(Problem::mistakes(mistakes));
    }
    let figures = Outside {
        requests_per_second: given.requests_per_second,
        p95_ms: given.p95_ms,
        errors_permille: given.error_share.map(permille),
        ttl_ms,
    };
    Ok((figures, why))
}

/// The share, which is 0 to 1, in thousandths.
fn permille(share: f64) -> u16 {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of 0 to 1 comes to at most a thousand"
    )]
    let permille = (share * 1_000.0).round() as u16;
    permille
}
