//! Rooms and their lines, and changes of a room's settings.

use std::ops::Bound;

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use super::additions;
use super::change::take;
use super::named_room::{Named, no_line_name, shown};
use crate::admin::api;
use crate::admin::http::body::JsonBytes;
use crate::admin::http::caller::{Operator, Peer};
use crate::admin::http::problem::{Problem, json};
use crate::admin::http::query;
use crate::admin::http::query::Parameters;
use crate::admin::patch;
use crate::admin::patch::keys;
use crate::admin::shared::Shared;
use crate::admin::view;
use crate::room::{LineName, RoomView};
use crate::time;

/// `GET /api/v1/rooms`.
pub async fn list(State(shared): State<Shared>) -> Response {
    let view = shared.replica.view();
    let rooms = view.rooms.iter().map(|(name, view)| shown(&shared, name, view));
    json(&api::Rooms {
        gate: api::Gate {
            refused_reload: shared.reloads.refused_at(),
            untaken: shared.reloads.untaken(),
            ..view::gate::standing(&shared.replica)
        },
        rooms: rooms.collect(),
    })
}

/// `GET /api/v1/rooms/{room}`.
pub async fn show(State(shared): State<Shared>, room: Named) -> Response {
    json(&api::Room {
        addition: additions::addition(&shared.replica.view(), &room.name),
        ..shown(&shared, &room.name, &room.view)
    })
}

/// `PATCH /api/v1/rooms/{room}`: answered once the change is in the log, with the room as it then is.
pub async fn change(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    room: Named,
    JsonBytes(body): JsonBytes,
) -> Result<Response, Problem> {
    let (body, reason) = patch::read(&body)?;
    let message = shared.configured_message(&room.name);
    let patched = |room: &RoomView| patch::apply(&body, room, message.as_deref(), time::wall());
    let (before, after) = take(&shared, &room.name, operator.with(reason), patched).await?;
    tracing::info!(
        room = %room.name, %peer, request_id = %peer.request, operator = operator.0, revision = after.view.revision,
        before = keys::described(&before.view.overrides),
        after = keys::described(&after.view.overrides), "an operator changed a room"
    );
    Ok(json(&shown(&shared, &after.name, &after.view)))
}

/// `GET /api/v1/rooms/{room}/history`.
pub async fn history(State(shared): State<Shared>, room: Named) -> Response {
    json(&shared.history.of(&room.name))
}

/// Which page of a room's lines.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    after: Option<String>,
    limit: Option<usize>,
}

/// `GET /api/v1/rooms/{room}/lines`: sorted by name, a page at a time.
pub async fn lines(room: Named, Parameters(page): Parameters<Page>) -> Result<Response, Problem> {
    let limit = query::size(page.limit, MAX_PAGE)?;
    let from = match page.after {
        None => Bound::Unbounded,
        Some(name) => Bound::Excluded(LineName::new(&name).ok_or_else(|| no_line_name("after"))?),
    };
    let mut rest = room.view.lines.iter_from(from.as_ref());
    let lines: Vec<_> = rest
        .by_ref()
        .take(limit)
        .map(|(name, view)| view::room::line(name.as_str(), view))
        .collect();
    let next = rest.next().and(lines.last()).map(|line| line.line.clone());
    Ok(json(&api::Lines { lines, next }))
}

const MAX_PAGE: usize = 1_000;
