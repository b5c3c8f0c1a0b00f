//! Orders to a room: let visitors in, reset, set the message, end healing; and the list of changes so far.
//!
//! A request is checked completely before anything is changed, and answered once the change is in the log.

use axum::extract::State;
use axum::response::Response;

use super::change::{confirmed, conflict, reason, reason_or, say, take};
use super::named_room::{Named, by_now, no_line_name, shown};
use crate::admin::api;
use crate::admin::http::body::JsonBody;
use crate::admin::http::caller::{Operator, Peer};
use crate::admin::http::problem::{Problem, json};
use crate::admin::patch::messages;
use crate::admin::shared::Shared;
use crate::admin::view;
use crate::room::{CallOrder, Change, Deed, LaneId, LineName, MAX_CALL, Mode, Overrides, Phase, RoomView, View};

/// `GET /api/v1/rooms/{room}/changes`.
pub async fn changes(room: Named) -> Response {
    let changes = room.view.orders.iter().map(view::order::shown).collect();
    json(&api::Changes { changes })
}

/// `POST /api/v1/rooms/{room}/call`.
pub async fn call(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    room: Named,
    JsonBody(asked): JsonBody<api::Call>,
) -> Result<Response, Problem> {
    let (order, reason) = checked(asked, &shared.replica.view(), &room.view)?;
    let (asked, beyond) = (order.count, order.beyond);
    let revision = say(&shared, &room.name, Change::Call(order), operator.with(reason)).await?;
    let view = shared.replica.view();
    let after = view.rooms.get(&room.name).unwrap_or(&room.view);
    let called = after.orders.of(revision).and_then(|order| match order.deed {
        Deed::Call { called, .. } => Some(called),
        _ => None,
    });
    tracing::info!(
        room = %room.name, %peer, request_id = %peer.request,
        operator = operator.0, revision, asked, called, beyond, "an operator let visitors in"
    );
    let room = shown(&shared, &room.name, after);
    Ok(json(&api::Called { asked, called, room }))
}

fn checked(asked: api::Call, whole: &View, room: &RoomView) -> Result<(CallOrder, Option<String>), Problem> {
    let mut mistakes = Vec::new();
    if !(1..=MAX_CALL).contains(&asked.count) {
        mistakes.push(format!("count must be 1 to {MAX_CALL}, not {}", asked.count));
    }
    let lane = asked.lane.as_ref().map(|lane| lane_of(lane, room)).transpose();
    let lane = lane.unwrap_or_else(|mistake| {
        mistakes.push(mistake);
        None
    });
    let reason = reason_or(asked.reason, &mut mistakes);
    if !mistakes.is_empty() {
        return Err(Problem::mistakes(mistakes));
    }
    let line = match asked.line {
        None => LineName::ONLY,
        Some(name) => LineName::new(&name).ok_or_else(|| no_line_name("line"))?,
    };
    may_call(whole, room)?;
    if room.line(&line).is_none() {
        let detail = if line.is_only() && !room.lines.is_empty() {
            "the room has a line for each of many: say which with \"line\""
        } else {
            "there is no such line: nobody waits there"
        };
        return Err(Problem::not_found(detail));
    }
    let order = CallOrder {
        line,
        lane,
        count: asked.count,
        beyond: asked.beyond_capacity,
    };
    Ok((order, reason))
}

fn lane_of(lane: &api::LaneOf, room: &RoomView) -> Result<LaneId, String> {
    let (settings, count) = (&room.settings, room.settings.lane_weights.len());
    match lane {
        api::LaneOf::Index(index) if usize::from(*index) < count => Ok(LaneId(*index)),
        api::LaneOf::Index(index) => Err(format!(
            "lane must be below {count}, the room's number of lanes, not {index}"
        )),
        api::LaneOf::Name(name) => {
            let place = settings.lanes.iter().position(|lane| lane.name == *name);
            let index = || name.parse().ok().filter(|index: &u8| usize::from(*index) < count);
            let index = place.map_or_else(index, |place| u8::try_from(place).ok());
            let names: Vec<&str> = settings.lanes.iter().map(|lane| lane.name.as_str()).collect();
            let wrong = || format!("lane must be one of {}, or an index, not {name:?}", names.join(", "));
            index.map(LaneId).ok_or_else(wrong)
        }
    }
}

/// Refuses a call where the room's state does not allow one.
fn may_call(whole: &View, room: &RoomView) -> Result<(), Problem> {
    if whole.adopting.is_some() || whole.alarm {
        return Err(conflict(
            "the gates are putting the rooms back in order after a fault: wait until that is done",
        ));
    }
    if !matches!(room.settings.mode, Mode::Auto | Mode::Hold) {
        return Err(conflict(
            "the room is closed, not open yet, or off: whoever were called could not come in",
        ));
    }
    if room.stage.is_some_and(|stage| stage.phase == Phase::Prequeue) {
        return Err(conflict(
            "the line forms and the room opens later: nobody is called before, or set another opens_at",
        ));
    }
    if room.is_undrawn() {
        return Err(conflict(
            "whoever waits is to be drawn: there is no order to call by yet",
        ));
    }
    Ok(())
}

/// `POST /api/v1/rooms/{room}/reset`.
pub async fn reset(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    room: Named,
    JsonBody(api::Reset { confirm, reason: why }): JsonBody<api::Reset>,
) -> Result<Response, Problem> {
    let why = confirmed(&room.name, &confirm, why)?;
    let before = room.view.edition.0;
    let revision = say(&shared, &room.name, Change::Reset, operator.with(Some(why.clone()))).await?;
    let view = shared.replica.view();
    let after = view.rooms.get(&room.name).unwrap_or(&room.view);
    tracing::warn!(
        room = %room.name, %peer, request_id = %peer.request,
        operator = operator.0, revision, before, after = after.edition.0, reason = why,
        "an operator reset a room"
    );
    Ok(json(&shown(&shared, &room.name, after)))
}

/// `POST /api/v1/rooms/{room}/healing/end`: visitors of a lost log are waited for no longer.
pub async fn end_healing(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    room: Named,
    JsonBody(api::EndHealing { reason: why }): JsonBody<api::EndHealing>,
) -> Result<Response, Problem> {
    let why = reason(why).map_err(|mistake| Problem::mistakes(vec![mistake]))?;
    if room.view.healing_until(shared.replica.now()).is_none() {
        return Err(conflict(
            "this room is not healing: nothing was lost, or it calls again",
        ));
    }
    let revision = say(&shared, &room.name, Change::EndHealing, operator.with(why)).await?;
    tracing::warn!(
        room = %room.name, %peer, request_id = %peer.request, operator = operator.0, revision,
        "an operator ended a room's healing"
    );
    Ok(by_now(&shared, &room))
}

/// `POST /api/v1/rooms/{room}/message`.
pub async fn message(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    room: Named,
    JsonBody(api::Messages { reason: why, texts }): JsonBody<api::Messages>,
) -> Result<Response, Problem> {
    let mut mistakes = Vec::new();
    let messages = messages::checked(texts, &mut mistakes);
    let why = reason_or(why, &mut mistakes);
    if !mistakes.is_empty() {
        return Err(Problem::mistakes(mistakes));
    }
    let told = |in_force: &Overrides| Overrides {
        message: None,
        messages: messages.clone(),
        ..in_force.clone()
    };
    let (_, after) = take(&shared, &room.name, operator.with(why), |room| {
        Ok(told(&room.overrides))
    })
    .await?;
    let languages = messages.keys().cloned().collect::<Vec<_>>().join(" ");
    tracing::info!(
        room = %room.name, %peer, request_id = %peer.request,
        operator = operator.0, revision = after.view.revision, languages,
        "an operator changed what is told"
    );
    Ok(json(&shown(&shared, &after.name, &after.view)))
}
