//! Rooms that let all visitors past their line while the gate is cut off (`on_outage = "open"`), and visitors who are let past because of
//! their network (`bypass_networks`).
//!
//! Each such visit is counted here, by line, and reported to the log when it can be reached again; the log's queue is left to
//! joins. The replica says when there is an outage, and [`decide`](mod@crate::gate::verdict::decide) which requests are let past.

use std::collections::BTreeMap;

use crate::metrics::Outcome;
use crate::replica::Past;
use ropeline_ids::RoomName;

use super::answers::Answer;
use super::refusals;
use crate::gate::forward::{self, Permission};
use crate::gate::request::visit::Visit;
use crate::gate::seat::Seat;
use crate::gate::seat::worth::Worth;
use crate::gate::state::gate::{Gate, Halves};
use crate::gate::state::shared::Shared;

/// The row "cut off, in a room that opens then": forwarded without a session. A visitor with a place keeps it.
pub async fn let_past(gate: &Gate, seat: &Seat<'_>, visit: &Visit, request: Box<Halves>, worth: &Worth) -> Answer {
    refusals::note(seat, worth.presence(), seat.ticket_visitor());
    let room = &seat.rules.room.name;
    if visit.kind.is_navigation()
        && seat.shown.rehearsal().is_none()
        && gate.shared.let_past.count(room, &seat.line, Past::Outage)
    {
        tracing::warn!(%room, "cut off from the store: everybody is let past the line until it is back (on_outage)");
    }
    let right = Permission::LetPast(seat);
    forward::forward(gate, visit, request, &seat.rules.pages, Outcome::LetPast, right).await
}

/// Tells the log how many were let past, once it can be reached.
pub fn settle(shared: &Shared) {
    if shared.replica.cut_off().is_some() {
        return;
    }
    let counts = shared.let_past.take();
    let mut rooms: BTreeMap<RoomName, u64> = BTreeMap::new();
    for ((room, why, line), count) in counts.lines {
        if why == Past::Outage {
            *rooms.entry(room.clone()).or_default() += u64::from(count);
        }
        shared.replica.bypassed(room, line, why, count);
    }
    for (room, visits) in rooms {
        tracing::warn!(%room, visits, "the store is back: the line is in force again");
    }
    if counts.more > 0 {
        tracing::warn!(
            visits = counts.more,
            "visits to further lines were let past too, and are counted nowhere else"
        );
    }
}
