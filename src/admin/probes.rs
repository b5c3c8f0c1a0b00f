//! The nonce by which `ropeline probe` makes sure that it tries the operator's own gate.

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::problem::json;
use super::rooms::Named;
use super::{Shared, api};
use crate::time;
use crate::token::NONCE_MS;

/// `GET /api/v1/rooms/{room}/probe`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Probe {
    /// What `GET /.ropeline/rooms/{room}/probe?nonce=` of every gate with the same keys knows.
    pub nonce: String,
    /// Seconds that it is good for.
    pub for_secs: u64,
}

pub(super) async fn show(State(shared): State<Shared>, room: Named) -> Response {
    let mut random = [0; 8];
    fastrand::fill(&mut random);
    let nonce = shared.live.load().keyring.sign_nonce(&room.name, random, time::wall());
    json(&api::Probe {
        nonce,
        for_secs: NONCE_MS / 1_000,
    })
}
