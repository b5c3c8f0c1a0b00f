//! One visitor, found by the reference on their page.

use axum::extract::{FromRequestParts, State};
use axum::response::Response;
use http::StatusCode;
use http::request::Parts;
use serde::Deserialize;

use super::change::say;
use super::named_room::{Named, no_line_name, parameter};
use crate::admin::api;
use crate::admin::http::caller::{Operator, Peer};
use crate::admin::http::problem::{Problem, json};
use crate::admin::http::query::Parameters;
use crate::admin::shared::Shared;
use crate::admin::view;
use crate::room::{Change, Clock, Eviction, LineName, LineView, Number, RoomName, RoomView, Standing, Visitor};
use crate::token::Reference;

/// Which line of a room with many.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Which {
    line: Option<String>,
}

/// A visitor found, and where they stood when they were.
pub struct Found {
    visitor: Visitor,
    standing: Standing,
    now: Clock,
}

impl FromRequestParts<Shared> for Found {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        let room = Named::from_request_parts(parts, shared).await?;
        let reference = reference(parts).await?;
        let Parameters(which) = Parameters::<Which>::from_request_parts(parts, shared).await?;
        let line = match which.line {
            None => None,
            Some(name) => Some(LineName::new(&name).ok_or_else(|| no_line_name("line"))?),
        };
        find(&room.name, &room.view, line.as_ref(), reference, shared.replica.now())
    }
}

async fn reference(parts: &mut Parts) -> Result<Reference, Problem> {
    Reference::parse(&parameter(parts, "reference").await).ok_or_else(|| {
        let detail = "that is no reference as the waiting page shows it (its check character does not fit): ask again";
        Problem::new(StatusCode::BAD_REQUEST, detail)
    })
}

/// A reference does not say its line, so without `line` every line of the room is asked.
fn find(
    room: &RoomName,
    view: &RoomView,
    line: Option<&LineName>,
    reference: Reference,
    now: Clock,
) -> Result<Found, Problem> {
    let wanted = |name: &LineName| line.is_none_or(|line| line == name);
    let lines = view.lines.iter().filter(|(name, _)| wanted(name));
    let mut found: Vec<Found> = lines
        .filter_map(|(name, view)| {
            let (number, standing) = known(view, reference, now)?;
            let visitor = Visitor {
                room: room.clone(),
                line: name.clone(),
                lane: reference.lane,
                number,
                rehearsal: None,
            };
            Some(Found { visitor, standing, now })
        })
        .take(MAX_NAMED)
        .collect();
    if found.len() > 1 {
        let names: Vec<&str> = found.iter().map(|found| found.visitor.line.as_str()).collect();
        let detail = format!(
            "several lines have a visitor {reference}: say which with ?line=, such as {}",
            names.join(", ")
        );
        return Err(Problem::new(StatusCode::CONFLICT, detail));
    }
    found
        .pop()
        .ok_or_else(|| Problem::not_found(format!("no visitor of this room has the reference {reference}")))
}

/// The newest number that the reference can mean and that the line has heard of.
fn known(line: &LineView, reference: Reference, now: Clock) -> Option<(Number, Standing)> {
    let epochs = line
        .epochs(reference.lane)
        .into_iter()
        .rev()
        .filter(|epoch| reference.matches(*epoch));
    epochs
        .map(|epoch| Number { epoch, n: reference.n })
        .map(|number| (number, line.standing(reference.lane, number, now)))
        .find(|(_, standing)| *standing != Standing::Unknown)
}

/// `GET /api/v1/rooms/{room}/visitors/{reference}`.
pub async fn show(State(shared): State<Shared>, found: Found) -> Response {
    json(&named(
        &shared,
        &found.visitor,
        view::room::visitor(&found.visitor, found.standing, found.now),
    ))
}

/// `DELETE` of the same: ends the session, or takes the visitor from the line; answered once it is in the log. Ending
/// a visitor twice changes nothing.
pub async fn end(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    found: Found,
) -> Result<Response, Problem> {
    let before = view::room::visitor(&found.visitor, found.standing, found.now);
    if !matches!(found.standing, Standing::Late | Standing::Ended) {
        let Visitor {
            room,
            line,
            lane,
            number,
            ..
        } = found.visitor.clone();
        let eviction = Eviction { line, lane, number };
        say(&shared, &room, Change::Evict(eviction), operator.with(None)).await?;
    }
    let after = now(&shared, &found.visitor);
    let Visitor { room, line, .. } = &found.visitor;
    tracing::info!(
        %room, %line, %peer, request_id = %peer.request,
        operator = operator.0, reference = before.reference, before = before.state, after = after.state,
        "an operator ended a visitor"
    );
    Ok(json(&after))
}

/// The visitor as the room now knows them; a line that went with its last visitor means ended.
fn now(shared: &Shared, visitor: &Visitor) -> api::Visitor {
    let (view, now) = (shared.replica.view(), shared.replica.now());
    let line = view.rooms.get(&visitor.room).and_then(|room| room.line(&visitor.line));
    let standing = line.map_or(Standing::Ended, |line| line.standing(visitor.lane, visitor.number, now));
    named(shared, visitor, view::room::visitor(visitor, standing, now))
}

/// With the name of the lane, where the room has several.
fn named(shared: &Shared, visitor: &Visitor, told: api::Visitor) -> api::Visitor {
    let view = shared.replica.view();
    let settings = view.rooms.get(&visitor.room).map(|room| &room.settings);
    let several = settings.filter(|settings| settings.lanes.len() > 1);
    let lane_name = several
        .and_then(|settings| settings.lane_name(visitor.lane))
        .map(str::to_owned);
    api::Visitor { lane_name, ..told }
}

/// Most lines named when a reference fits several.
const MAX_NAMED: usize = 10;
