//! The state of a session, for an upstream that asks when an order is placed.

use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, HeaderName, StatusCode};

use crate::admin::api;
use crate::admin::http::problem::{Problem, json};
use crate::admin::shared::Shared;
use crate::admin::view::room::state;
use crate::dates::rfc3339;
use crate::room::{CallId, Clock, SLACK_MS, Standing, Visitor};
use crate::time;
use crate::token::{Reference, SessionName};

const SESSION: HeaderName = HeaderName::from_static("ropeline-session");

/// `GET /api/v1/verify` with the `Ropeline-Session` of the visitor's request. In a field, not in the URL: URLs are logged.
pub async fn show(State(shared): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    let mut values = headers.get_all(SESSION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        let detail = "send one Ropeline-Session, as the visitor's request has it";
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
    };
    let name = value.to_str().ok().and_then(|text| SessionName::read(text.trim()));
    // SECURITY: a forged name gets the same answer as an unknown one.
    let genuine = name.and_then(|name| Some((name.call(&shared.live.load().keyring)?, name)));
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
        rehearsal: None,
    };
    let view = shared.replica.view();
    let cut_off = shared.replica.cut_off().is_some();
    let live = shared.live.load();
    let extension_ms = live.options.outage_extension_ms.get(&visitor.room);
    let extension_ms = extension_ms.filter(|_| cut_off).copied().unwrap_or(0);
    let at = judged_at(view.clock, shared.replica.now(), extension_ms);
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
        parked: matches!(standing, Standing::Inside(inside) if inside.parked),
        reference: Some(Reference::of(&visitor).to_string()),
        room: Some(visitor.room.to_string()),
        line: Some(visitor.line.to_string()),
        expires_at: left_ms.map(|left| rfc3339(time::wall().plus(left))),
        expires_in_secs: left_ms.map(|left| left / 1_000),
    }
}

/// Where the number has been called again since the call asked about, that one's session is over.
fn of_call(standing: Standing, asked: CallId) -> Standing {
    let call = match standing {
        Standing::Inside(inside) => inside.call,
        Standing::Called(called) => called.call,
        _ => return standing,
    };
    if asked.is_before(call) {
        Standing::Ended
    } else {
        standing
    }
}

/// The time by which the gate judges a pass: a little late, later by the time that sessions go on in an outage, and never
/// before the log's latest time.
fn judged_at(heard: Clock, now: Clock, extension_ms: u64) -> Clock {
    Clock(now.0.saturating_sub(SLACK_MS + extension_ms)).max(heard)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::{Called, Epoch, LaneId, Number, Wall};

    #[test]
    fn a_session_stands_as_long_as_its_pass_is_honoured() {
        let at = |heard, now, extension| judged_at(Clock(heard), Clock(now), extension).0;
        assert_eq!(at(50_000, 60_000, 0), 58_000, "as long as the slot");
        assert_eq!(at(59_500, 60_000, 0), 59_500, "what the log has ended is over");
        assert_eq!(at(50_000, 400_000, 300_000), 98_000, "in an outage");
        assert_eq!(at(50_000, 51_000, 300_000), 50_000);
        assert_eq!(at(0, 1_000, 0), 0);
    }

    #[test]
    fn a_call_stands_until_a_later_one_of_its_number() {
        let number = Number { epoch: Epoch(1), n: 7 };
        let call = |count| CallId {
            lane: LaneId(0),
            number,
            count,
        };
        let called = |count| {
            Standing::Called(Called {
                call: call(count),
                deadline: Clock(9),
                called_at: Wall(0),
            })
        };
        assert_eq!(of_call(called(2), call(2)), called(2));
        assert_eq!(of_call(called(2), call(1)), Standing::Ended);
        assert_eq!(
            of_call(called(1), call(2)),
            called(1),
            "the log has lost the second call"
        );
        assert_eq!(of_call(Standing::Late, call(1)), Standing::Late);
    }
}
