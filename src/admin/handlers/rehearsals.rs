//! Rehearsals: begin, renew and end.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;

use super::change::{AWAY, conflict, reason, reason_or, say};
use super::named_room::{Named, by_now};
use crate::admin::api;
use crate::admin::http::body::JsonBody;
use crate::admin::http::caller::{Operator, Peer};
use crate::admin::http::problem::Problem;
use crate::admin::shared::Shared;
use crate::dates::rfc3339;
use crate::replica::Unrecorded;
use crate::room::{Change, MAX_REHEARSAL_MS, MAX_REHEARSED, RehearsalId, RehearsalOrder, Who};

/// `POST /api/v1/rooms/{room}/rehearsal`.
pub async fn begin(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    room: Named,
    JsonBody(asked): JsonBody<api::Rehearse>,
) -> Result<Response, Problem> {
    let anyway = asked.anyway;
    let (order, who) = checked(asked, &operator)?;
    if let Some(other) = room.view.rehearsal.as_ref().filter(|other| other.order.id != order.id) {
        let (by, until) = (&other.order.by.name, rfc3339(other.ends_at()));
        return Err(conflict(&format!(
            "a rehearsal of {by:?} is under way until {until}: one at a time, end it first"
        )));
    }
    if room.view.decides && !anyway {
        return Err(conflict(
            "a sale by stock or by a draw is on: virtual visitors would hold pieces and take places until it ends; rehearse in \
             a room like it without them, or anyway",
        ));
    }
    let (id, size, forward) = (order.id, order.size, order.forward);
    say(&shared, &room.name, Change::Rehearse(Box::new(order)), who).await?;
    tracing::warn!(
        room = %room.name, %peer, request_id = %peer.request,
        operator = operator.0, rehearsal = %id, visitors = size, forward, "a rehearsal has begun"
    );
    Ok(by_now(&shared, &room))
}

/// `POST /api/v1/rooms/{room}/rehearsal/renew`.
pub async fn renew(
    State(shared): State<Shared>,
    room: Named,
    JsonBody(api::Renew { id }): JsonBody<api::Renew>,
) -> Result<Response, Problem> {
    let id = named(&id)?;
    if shared.replica.cut_off().is_some() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, AWAY));
    }
    match shared
        .replica
        .order(room.name.clone(), Change::Renew(id), None, None)
        .await
    {
        Ok(_) => Ok(by_now(&shared, &room)),
        Err(Unrecorded::Refused) => Err(conflict("this rehearsal is not under way any more")),
        Err(why) => Err(Problem::unrecorded(why)),
    }
}

/// `POST /api/v1/rooms/{room}/rehearsal/end`.
pub async fn end(
    State(shared): State<Shared>,
    (peer, operator): (Peer, Operator),
    room: Named,
    JsonBody(api::EndRehearsal { id, reason: why }): JsonBody<api::EndRehearsal>,
) -> Result<Response, Problem> {
    let wanted = id.as_deref().map(named).transpose()?;
    let why = reason(why).map_err(|mistake| Problem::mistakes(vec![mistake]))?;
    // Without an id the rehearsal seen here is ended, never one that begins meanwhile.
    let under_way = room.view.rehearsal.as_ref().map(|rehearsal| rehearsal.order.id);
    let Some(id) = wanted.or(under_way) else {
        return Err(conflict("no rehearsal is under way in this room"));
    };
    let change = Change::EndRehearsal(id);
    say(&shared, &room.name, change, operator.with(why)).await?;
    tracing::warn!(
        room = %room.name, %peer, request_id = %peer.request, operator = operator.0, rehearsal = %id,
        "a rehearsal was ended"
    );
    Ok(by_now(&shared, &room))
}

fn checked(asked: api::Rehearse, operator: &Operator) -> Result<(RehearsalOrder, Who), Problem> {
    let mut mistakes = Vec::new();
    let most_secs = MAX_REHEARSAL_MS / 1_000;
    if !(1..=MAX_REHEARSED).contains(&asked.visitors) {
        mistakes.push(format!("visitors must be 1 to {MAX_REHEARSED}, not {}", asked.visitors));
    }
    if !(1..=most_secs).contains(&asked.seconds) {
        mistakes.push(format!("seconds must be 1 to {most_secs}, not {}", asked.seconds));
    }
    let why = reason_or(asked.reason, &mut mistakes);
    if !mistakes.is_empty() {
        return Err(Problem::mistakes(mistakes));
    }
    let who = operator.with(why);
    let order = RehearsalOrder {
        id: named(&asked.id)?,
        size: asked.visitors,
        forward: asked.forward,
        anyway: asked.anyway,
        for_ms: asked.seconds * 1_000,
        by: who.clone(),
    };
    Ok((order, who))
}

fn named(id: &str) -> Result<RehearsalId, Problem> {
    RehearsalId::parse(id).ok_or_else(|| Problem::mistakes(vec!["id must be 16 hexadecimal digits".to_owned()]))
}
