//! Changes of a room by an operator, made through the log one at a time.

use std::time::Duration;

use http::StatusCode;

use super::named_room::{Named, find};
use crate::admin::http::problem::Problem;
use crate::admin::shared::Shared;
use crate::replica::Unrecorded;
use crate::room::{Change, MAX_REASON, Overrides, RoomName, RoomView, Who};
use crate::terminal::may_be_shown;
use crate::time;

/// A reason as it may be given.
///
/// # Errors
/// The mistake in it.
pub fn reason(text: Option<String>) -> Result<Option<String>, String> {
    let Some(text) = text.map(|text| text.trim().to_owned()) else {
        return Ok(None);
    };
    if text.len() > MAX_REASON {
        return Err(format!("reason must be at most {MAX_REASON} bytes, not {}", text.len()));
    }
    if !text.chars().all(may_be_shown) {
        return Err("reason must be on one line, without control characters and marks of direction".to_owned());
    }
    Ok(Some(text))
}

/// The reason; none, and one mistake more, where it is not as it may be.
pub fn reason_or(text: Option<String>, mistakes: &mut Vec<String>) -> Option<String> {
    reason(text).unwrap_or_else(|mistake| {
        mistakes.push(mistake);
        None
    })
}

/// The reason for an order that affects many visitors; it must be given, and the room named.
pub fn confirmed(room: &RoomName, confirm: &str, why: String) -> Result<String, Problem> {
    let mut mistakes = Vec::new();
    if confirm != room.as_str() {
        mistakes.push(format!("confirm must be the room's name, {:?}", room.as_str()));
    }
    let why = reason_or(Some(why), &mut mistakes);
    match why.filter(|why| !why.is_empty()) {
        Some(why) if mistakes.is_empty() => Ok(why),
        why => {
            if why.is_none() && mistakes.iter().all(|mistake| !mistake.starts_with("reason")) {
                mistakes.push("reason must say why: it is kept with the change".to_owned());
            }
            Err(Problem::mistakes(mistakes))
        }
    }
}

/// Sets overrides that are made from the room's state, and makes them again where another gate's change came first. Returns the
/// room before and after.
pub async fn take(
    shared: &Shared,
    room: &RoomName,
    who: Who,
    made: impl Fn(&RoomView) -> Result<Overrides, Problem>,
) -> Result<(Named, Named), Problem> {
    // One change at a time: the next is based on the result of this one.
    let _turn = shared.changing.lock().await;
    let until = time::uptime() + BEATEN_WITHIN;
    loop {
        let before = find(&shared.replica.view(), room.as_str())?;
        let overrides = made(&before.view)?;
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

/// Appends a change that does not depend on the room's revision. It is refused while the store is unreachable, since it would
/// otherwise take effect much later.
pub async fn say(shared: &Shared, room: &RoomName, change: Change, who: Who) -> Result<u64, Problem> {
    let _turn = shared.changing.lock().await;
    if shared.replica.cut_off().is_some() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, AWAY));
    }
    let said = shared.replica.order(room.clone(), change, None, Some(who)).await;
    let revision = said.map_err(|why| match why {
        Unrecorded::Refused => conflict("the room did not take it as it is now: look and try again"),
        why => Problem::unrecorded(why),
    })?;
    shared.metrics.admin_changes.inc();
    Ok(revision)
}

/// Why a change is refused while the store is unreachable.
pub const AWAY: &str = "the log takes nothing at this moment: nothing was changed, try again when it does";

pub fn conflict(detail: &str) -> Problem {
    Problem::new(StatusCode::CONFLICT, detail)
}

/// How long a change is made anew because others of the same room come first.
const BEATEN_WITHIN: Duration = Duration::from_secs(2);
