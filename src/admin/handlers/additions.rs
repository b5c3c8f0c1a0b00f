//! Rooms added and removed while gates run: `POST /api/v1/rooms` and `DELETE /api/v1/rooms/{room}`.
//!
//! Requests are read here and queued with the reloads: a room more is a configuration like any other.

use axum::extract::{FromRequest, Request, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde::Deserialize;
use tokio::sync::oneshot;

use super::change::{AWAY, confirmed, reason};
use super::named_room::{Named, shown};
use crate::admin::api;
use crate::admin::http::body;
use crate::admin::http::body::JsonBody;
use crate::admin::http::caller::{Operator, Peer};
use crate::admin::http::problem::{Problem, json};
use crate::admin::http::query::Parameters;
use crate::admin::room_order::{Refused, RoomDone, RoomOrder, Table, Wish};
use crate::admin::shared::Shared;
use crate::dates::rfc3339;
use crate::room::{Noted, RoomName, View};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    reason: Option<String>,
}

/// `POST /api/v1/rooms`: answered once the room is in the log and in force here.
pub async fn add(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    Parameters(given): Parameters<Given>,
    table: Table,
) -> Result<Response, Problem> {
    let reason = reason(given.reason).map_err(|mistake| Problem::mistakes(vec![mistake]))?;
    let who = operator.with(reason);
    let done = carried_out(&shared, Wish::Add { table, who }).await?;
    tracing::info!(
        room = %done.room, %peer, request_id = %peer.request, operator = operator.0,
        "an operator added a room"
    );
    let view = shared.replica.view();
    // It may be gone again.
    let found = view.rooms.get(&done.room).map(|view| shown(&shared, &done.room, view));
    let room = found.ok_or_else(|| Problem::new(StatusCode::CONFLICT, "the room was added, and removed since"))?;
    let mut answer = json(&api::RoomAdded {
        room,
        warnings: done.warnings,
    });
    *answer.status_mut() = StatusCode::CREATED;
    Ok(answer.into_response())
}

/// SECURITY: neither type is one that another site's page can send without asking first.
impl FromRequest<Shared> for Table {
    type Rejection = Problem;

    async fn from_request(request: Request, shared: &Shared) -> Result<Self, Problem> {
        let content_type = body::content_type(request.headers()).to_ascii_lowercase();
        match content_type.as_str() {
            "application/toml" => {
                let text = String::from_utf8(body::bytes(request, shared).await?.to_vec());
                let wrong = |_| Problem::new(StatusCode::BAD_REQUEST, "the body is no text in UTF-8");
                text.map(Self::Toml).map_err(wrong)
            }
            "application/json" => body::read(&body::bytes(request, shared).await?).map(Self::Json),
            _ => {
                let detail = "send the room's table as Content-Type: application/toml or application/json";
                Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail))
            }
        }
    }
}

/// `DELETE /api/v1/rooms/{room}`: answered once it is in the log and this gate sends no visitor there.
pub async fn remove(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    room: Named,
    JsonBody(api::RemoveRoom { confirm, reason }): JsonBody<api::RemoveRoom>,
) -> Result<Response, Problem> {
    let reason = confirmed(&room.name, &confirm, reason)?;
    let who = operator.with(Some(reason.clone()));
    let room = room.name;
    let done = carried_out(&shared, Wish::Remove { room, who }).await?;
    tracing::warn!(
        room = %done.room, %peer, request_id = %peer.request, operator = operator.0, reason,
        "an operator removed a room"
    );
    Ok(json(&api::RoomRemoved {
        room: done.room.to_string(),
        text: done.text,
    }))
}

async fn carried_out(shared: &Shared, wish: Wish) -> Result<RoomDone, Problem> {
    let (answer, done) = oneshot::channel();
    let not_now = || {
        let detail = "no room is added or removed now: too many changes wait, or the gate is about to end";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail)
    };
    let ordered = shared.reloads.order_room(RoomOrder { wish, answer });
    ordered.map_err(|_| not_now())?;
    let done = done.await.map_err(|_| not_now())?;
    let done = done.map_err(problem)?;
    shared.metrics.admin_changes.inc();
    Ok(done)
}

fn problem(refused: Refused) -> Problem {
    match refused {
        Refused::Mistakes(mistakes) => Problem::mistakes(mistakes),
        Refused::Conflict(detail) => Problem::new(StatusCode::CONFLICT, detail),
        Refused::Away => Problem::new(StatusCode::SERVICE_UNAVAILABLE, AWAY),
        Refused::Unrecorded(why) => Problem::unrecorded(why),
    }
}

/// `GET /api/v1/additions`: the last rooms that were added or removed.
pub async fn list(State(shared): State<Shared>) -> Response {
    let view = shared.replica.view();
    let changes = view.additions.noted().map(noted).collect();
    json(&api::Additions { changes })
}

fn noted(noted: &Noted) -> api::RoomChange {
    let who = noted.who.as_ref();
    let what = if noted.added { "add" } else { "remove" };
    api::RoomChange {
        at: rfc3339(noted.at),
        room: noted.room.to_string(),
        who: who.map(|who| who.name.clone()),
        reason: who.map(|who| who.reason.clone()).filter(|reason| !reason.is_empty()),
        what: what.to_owned(),
    }
}

/// The operator's addition of a room; `None` for one of a file.
pub fn addition(view: &View, name: &RoomName) -> Option<api::Addition> {
    let added = view.additions.get(name)?;
    Some(api::Addition {
        text: added.text.clone(),
        at: rfc3339(added.at),
        who: added.who.as_ref().map(|who| who.name.clone()),
    })
}
