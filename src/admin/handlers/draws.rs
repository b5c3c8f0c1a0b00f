//! A room's draw: its published figures, and the beacon's value that an operator gives.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use super::change::conflict;
use super::named_room::{Named, no_line_name};
use crate::admin::api;
use crate::admin::http::body::JsonBody;
use crate::admin::http::caller::{Operator, Peer};
use crate::admin::http::problem::{Problem, json};
use crate::admin::http::query::Parameters;
use crate::admin::shared::Shared;
use crate::dates::rfc3339;
use crate::draw::is_beacon_value;
use crate::replica::{Unrecorded, reveal};
use crate::room::{Commitment, LaneId, LineName, RoomName, RoomView};

/// Which line, in a room that has many.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Which {
    line: Option<String>,
}

impl Which {
    fn line(self) -> Result<LineName, Problem> {
        match self.line {
            None => Ok(LineName::ONLY),
            Some(name) => LineName::new(&name).ok_or_else(|| no_line_name("line")),
        }
    }
}

/// `GET /api/v1/rooms/{room}/draw`.
pub async fn show(room: Named, Parameters(which): Parameters<Which>) -> Result<Response, Problem> {
    let line = which.line()?;
    shown(&room.name, &room.view, &line).map(|draw| json(&draw))
}

/// `POST /api/v1/rooms/{room}/draw`: the beacon's value, with which the draw is made.
pub async fn make(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    room: Named,
    Parameters(which): Parameters<Which>,
    JsonBody(api::BeaconValue { beacon_value }): JsonBody<api::BeaconValue>,
) -> Result<Response, Problem> {
    let line = which.line()?;
    let value = beacon_value.as_str();
    if !is_beacon_value(value) {
        let mistake = "beacon_value must be 64 or 128 hexadecimal digits in small letters, and nothing else";
        return Err(Problem::mistakes(vec![mistake.to_owned()]));
    }
    let whole = shared.replica.view();
    if whole.adopting.is_some() {
        return Err(conflict(
            "the gates are putting the rooms back in order after a fault: wait until that is done",
        ));
    }
    let commitment = awaited(&room.view)?;
    let keyring = shared.live.load().keyring.clone();
    let word = reveal(&keyring, &room.name, room.view.edition, commitment, Some(value)).ok_or_else(|| {
        conflict(
            "this gate lacks the key that the draw's secret was made from: ask another gate, or bring the key back",
        )
    })?;
    let name = operator.0.clone();
    match shared
        .replica
        .order(room.name.clone(), word, None, Some(operator.with(None)))
        .await
    {
        Ok(revision) => tracing::info!(
            room = %room.name, %peer, request_id = %peer.request,
            operator = name, revision, value, "an operator gave a beacon's value"
        ),
        Err(Unrecorded::Refused) => return Err(conflict("the draw was made meanwhile: look at it")),
        Err(why) => return Err(Problem::unrecorded(why)),
    }
    shared.metrics.admin_changes.inc();
    let view = shared.replica.view();
    let after = view.rooms.get(&room.name).unwrap_or(&room.view);
    shown(&room.name, after, &line).map(|draw| json(&draw))
}

/// The promise whose beacon's value is needed now.
fn awaited(view: &RoomView) -> Result<&Commitment, Problem> {
    let sale = &view.sale;
    let Some(commitment) = &sale.commitment else {
        return Err(nothing(view));
    };
    match commitment.beacon {
        _ if sale.made.is_some() => Err(conflict("the draw is made: another needs another sale")),
        None => Err(conflict(
            "this draw has no beacon: it is made at the opening, without anybody's word",
        )),
        Some(_) if sale.closed.is_none() => Err(conflict(
            "the line is not closed yet: a value that is known while people join proves nothing",
        )),
        Some(_) => Ok(commitment),
    }
}

fn nothing(view: &RoomView) -> Problem {
    Problem::not_found(match view.settings.draw {
        None => "the room calls in order of arrival: it has no draw (queueing_method)",
        Some(_) => "there is no draw yet: its commitment comes with the prequeue",
    })
}

fn shown(room: &RoomName, view: &RoomView, line: &LineName) -> Result<api::Draw, Problem> {
    let sale = &view.sale;
    let commitment = sale.commitment.as_ref().ok_or_else(|| nothing(view))?;
    let lanes = (0_u8..).map(LaneId).take(view.settings.lane_weights.len());
    Ok(api::Draw {
        state: match (sale.closed, &sale.made) {
            (_, Some(_)) => "made",
            (Some(_), None) => "closed",
            (None, None) => "promised",
        }
        .to_owned(),
        promised_at: rfc3339(commitment.at),
        closed_at: sale.closed.map(rfc3339),
        made_at: sale.made.as_ref().map(|made| rfc3339(made.at)),
        figures: lanes.filter_map(|lane| view.figures(room, line, lane)).collect(),
    })
}
