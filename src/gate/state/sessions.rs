//! A check that a session, or the open door by which a request came in, is over.

use crate::room::{Clock, Edition, LineName, RoomName, SLACK_MS, Standing, Visitor, is_reset};

use super::shared::Shared;

/// A session of this edition is over.
#[must_use]
pub fn is_over(shared: &Shared, visitor: &Visitor, edition: Edition) -> bool {
    let view = shared.replica.load();
    let room = view.rooms.get(&visitor.room);
    let is_void = room.is_some_and(|room| is_reset(edition, visitor.number, room.voided, room.spared));
    is_void || ends(shared, visitor, view.standing(visitor, view.clock))
}

/// While cut off, sessions go on: only the log, or too long an outage, ends one.
pub fn ends(shared: &Shared, visitor: &Visitor, standing: Standing) -> bool {
    match standing {
        Standing::Inside(inside) => outlived(shared, &visitor.room, inside.expires),
        Standing::Ended | Standing::Late => true,
        _ => false,
    }
}

/// The line is not open, or not any more, nor is the room off.
#[must_use]
pub fn is_shut(shared: &Shared, room: &RoomName, line: &LineName) -> bool {
    let view = shared.replica.load();
    !shared.is_off(room) && !view.stays_open(room, line, view.now())
}

/// While cut off: the session has been over for longer than those inside may go on. Otherwise only the log ends it.
#[must_use]
fn outlived(shared: &Shared, room: &RoomName, expires: Clock) -> bool {
    let extension = |at: usize| shared.rules[at].room.outage_extension_ms;
    shared.replica.cut_off().is_some() && {
        let extension = shared.room_named(room.as_str()).map_or(0, extension);
        shared.replica.now() > expires.plus(SLACK_MS + extension)
    }
}
