//! Rooms and their lines over HTTP: what they are, and an operator's change of one.

use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::response::Response;
use http::request::Parts;
use serde::Deserialize;

use super::body::JsonBytes;
use super::entrance::Operator;
use super::paging::Parameters;
use super::problem::json;
use super::{Peer, Problem, Shared, additions, api, gates, paging, patch, shape};
use crate::replica::Unrecorded;
use crate::room::{Change, LineName, Mode, Overrides, RoomName, RoomView, View, Who};
use crate::time;

/// The room that a path names.
pub(super) struct Named {
    pub name: RoomName,
    pub view: Arc<RoomView>,
}

impl FromRequestParts<Shared> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        let asked = parameter(parts, "room").await;
        find(&shared.replica.view(), &asked)
    }
}

/// A part of the path, decoded; empty where it is no text, which names nothing.
pub(super) async fn parameter(parts: &mut Parts, wanted: &str) -> String {
    let Ok(parameters) = RawPathParams::from_request_parts(parts, &()).await else {
        return String::new();
    };
    let found = parameters.iter().find(|(name, _)| *name == wanted);
    found.map(|(_, value)| value.to_owned()).unwrap_or_default()
}

fn find(view: &View, asked: &str) -> Result<Named, Problem> {
    let found = RoomName::new(asked).and_then(|name| Some((name.clone(), Arc::clone(view.rooms.get(&name)?))));
    let (name, view) = found.ok_or_else(|| {
        let names: Vec<&str> = view.rooms.keys().take(20).map(RoomName::as_str).collect();
        Problem::not_found(format!(
            "there is no room of that name; there are: {}",
            names.join(", ")
        ))
    })?;
    Ok(Named { name, view })
}

/// `GET /api/v1/rooms`.
pub(super) async fn list(State(shared): State<Shared>) -> Response {
    let view = shared.replica.view();
    let rooms = view.rooms.iter().map(|(name, view)| shown(&shared, name, view));
    json(&api::Rooms {
        gate: api::Gate {
            refused_reload: shared.reloads.refused_at(),
            untaken: shared.reloads.untaken(),
            ..gates::standing(&shared.replica)
        },
        rooms: rooms.collect(),
    })
}

/// The room as it is by now, after what was just said.
pub(super) fn by_now(shared: &Shared, room: &Named) -> Response {
    let view = shared.replica.view();
    let after = view.rooms.get(&room.name).unwrap_or(&room.view);
    json(&shown(shared, &room.name, after))
}

pub(super) fn shown(shared: &Shared, name: &RoomName, view: &RoomView) -> api::Room {
    let room = shape::room(
        name,
        view,
        shared.configured_message(name).as_deref(),
        shared.replica.now(),
    );
    let opens = shared.live.load().options.open_in_outage.contains(name) && view.settings.mode == Mode::Auto;
    api::Room {
        from: additions::origin(shared, name).to_owned(),
        let_past: opens && shared.replica.cut_off().is_some(),
        ..room
    }
}

/// `GET /api/v1/rooms/{room}`.
pub(super) async fn show(State(shared): State<Shared>, room: Named) -> Response {
    json(&api::Room {
        addition: additions::addition(&shared.replica.view(), &room.name),
        ..shown(&shared, &room.name, &room.view)
    })
}

/// `PATCH /api/v1/rooms/{room}`: answered once the change is in the log, with the room as it then is.
pub(super) async fn change(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    room: Named,
    JsonBytes(body): JsonBytes,
) -> Result<Response, Problem> {
    let (body, reason) = patch::read(&body)?;
    let patched = |room: &RoomView, version| patch::apply(&body, room, version, time::wall());
    let (before, after) = take(&shared, &room.name, operator.with(reason), patched).await?;
    tracing::info!(
        room = %room.name, %peer, operator = operator.0, revision = after.view.revision,
        before = patch::described(&before.view.overrides),
        after = patch::described(&after.view.overrides), "an operator changed a room"
    );
    Ok(json(&shown(&shared, &after.name, &after.view)))
}

/// Makes overrides of the room as it is, and again where another gate's change came first. Says what it was before, and is.
pub(super) async fn take(
    shared: &Shared,
    room: &RoomName,
    who: Who,
    made: impl Fn(&RoomView, u16) -> Result<Overrides, Problem>,
) -> Result<(Named, Named), Problem> {
    // One change at a time: the next stands on what this one made.
    let _turn = shared.changing.lock().await;
    let until = time::uptime() + BEATEN_WITHIN;
    loop {
        let before = find(&shared.replica.view(), room.as_str())?;
        let overrides = made(&before.view, shared.replica.view().version)?;
        let (change, over) = (Change::Override(overrides), Some(before.view.revision));
        match shared
            .replica
            .order(room.clone(), change, over, Some(who.clone()))
            .await
        {
            Ok(_) => {
                shared.metrics.admin_changes.inc();
                return Ok((before, find(&shared.replica.view(), room.as_str())?));
            }
            Err(Unrecorded::Stale) if time::uptime() < until => {}
            Err(why) => return Err(Problem::unrecorded(why)),
        }
    }
}

/// Which page of a room's lines.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    after: Option<String>,
    limit: Option<usize>,
}

/// `GET /api/v1/rooms/{room}/lines`: in the order of their names, a page at a time.
pub(super) async fn lines(room: Named, Parameters(page): Parameters<Page>) -> Result<Response, Problem> {
    let limit = paging::size(page.limit, MAX_PAGE)?;
    let from = match page.after {
        None => Bound::Unbounded,
        Some(name) => Bound::Excluded(LineName::new(&name).ok_or_else(|| no_line_name("after"))?),
    };
    let mut rest = room.view.lines.iter_from(from.as_ref());
    let lines: Vec<_> = rest
        .by_ref()
        .take(limit)
        .map(|(name, view)| shape::line(name.as_str(), view))
        .collect();
    let next = rest.next().and(lines.last()).map(|line| line.line.clone());
    Ok(json(&api::Lines { lines, next }))
}

pub(super) fn no_line_name(parameter: &str) -> Problem {
    let wanted = format!("at most {} bytes without control characters", LineName::MAX_LEN);
    Problem::mistakes(vec![format!("{parameter} is no line's name: those have {wanted}")])
}

/// How long a change is made anew because others of the same room come first.
const BEATEN_WITHIN: Duration = Duration::from_secs(2);

const MAX_PAGE: usize = 1_000;
