//! Where a session stands, for a shop that asks at the moment of the order.

use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, HeaderName, StatusCode};

use super::problem::json;
use super::shape::state;
use super::{Problem, Shared, api};
use crate::logging::rfc3339;
use crate::room::{CallId, Clock, RoomName, SLACK_MS, Standing, View, Visitor};
use crate::time;
use crate::token::{Reference, SessionName};

/// The endpoint's path, which has a token of its own.
pub(super) const VERIFY: &str = "/api/v1/verify";

const SESSION: HeaderName = HeaderName::from_static("anteroom-session");

/// `GET /api/v1/verify` with the `Anteroom-Session` of the visitor's request. In a field, not in the URL: URLs are logged.
pub(super) async fn show(State(shared): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    let mut values = headers.get_all(SESSION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        let detail = "send one Anteroom-Session, as the visitor's request has it";
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
    };
    let name = value.to_str().ok().and_then(|text| SessionName::read(text.trim()));
    // Told and not found are alike: a forged name learns nothing of a true one.
    let genuine = name.and_then(|name| Some((shared.keyring.call_of(&name)?, name)));
    Ok(json(&match genuine {
        Some((call, name)) => told(&shared, name, call),
        None => api::Verified {
            state: state(Standing::Unknown).to_owned(),
            ..api::Verified::default()
        },
    }))
}

fn told(shared: &Shared, name: SessionName, call: CallId) -> api::Verified {
    let edition = name.edition;
    let visitor = Visitor {
        room: name.room,
        line: name.line,
        lane: name.lane,
        number: name.number,
    };
    let view = shared.replica.view();
    let at = honoured_at(shared, &view, &visitor.room);
    let standing = match view.rooms.get(&visitor.room) {
        Some(room) if room.is_reset(edition, visitor.number) => Standing::Ended,
        Some(room) if edition <= room.edition => of_call(view.standing(&visitor, at), call),
        _ => Standing::Unknown,
    };
    let left_ms = match standing {
        Standing::Inside(inside) => Some(inside.expires.since(at)),
        Standing::Called(called) => Some(called.deadline.since(at)),
        _ => None,
    };
    api::Verified {
        state: state(standing).to_owned(),
        reference: Some(Reference::of(&visitor).to_string()),
        room: Some(visitor.room.to_string()),
        line: Some(visitor.line.to_string()),
        expires_at: left_ms.map(|left| rfc3339(time::wall().plus(left))),
        expires_in_secs: left_ms.map(|left| left / 1_000),
    }
}

/// The session of another call of the number is not the one asked about: that one is over.
fn of_call(standing: Standing, asked: CallId) -> Standing {
    let call = match standing {
        Standing::Inside(inside) => inside.call,
        Standing::Called(called) => called.call,
        _ => return standing,
    };
    if call == asked { standing } else { Standing::Ended }
}

/// The moment by which the gate judges a pass: a little late, and later by as much as sessions go on in an outage.
fn honoured_at(shared: &Shared, view: &View, room: &RoomName) -> Clock {
    let extension = shared.options.outage_extension_ms.get(room).copied().unwrap_or(0);
    let cut_off = shared.replica.cut_off().is_some();
    let grace = SLACK_MS + if cut_off { extension } else { 0 };
    Clock(shared.replica.now().0.saturating_sub(grace)).max(view.clock)
}
