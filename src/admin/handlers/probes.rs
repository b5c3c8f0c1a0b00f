//! The nonce by which `ropeline probe` checks that it talks to a gate with the same keys.

use axum::extract::State;
use axum::response::Response;

use super::named_room::Named;
use crate::admin::api;
use crate::admin::http::problem::json;
use crate::admin::shared::Shared;
use crate::time;
use crate::token::nonce;

/// `GET /api/v1/rooms/{room}/probe`.
pub async fn show(State(shared): State<Shared>, room: Named) -> Response {
    let mut random = [0; 8];
    fastrand::fill(&mut random);
    let nonce = nonce::sign(&shared.live.load().keyring, &room.name, random, time::wall());
    json(&api::Probe {
        nonce,
        for_secs: nonce::LIFETIME_MS / 1_000,
    })
}
