//! Counting of questions at the endpoints against `[limits] status`, by their visitors.

use super::super::seat::Seat;
use crate::gate::bounds::limits::{Asker, Over};
use crate::gate::request::visit::Visit;
use crate::gate::seat::ownership;
use crate::gate::seat::worth::Worth;
use crate::gate::verdict::decide::{PassState, TicketState};
use crate::gate::verdict::refusals;
use crate::room::Mode;

/// Counts a question against the holder of the tokens. Two are free: to leave, while that frees a place or a slot, and to be turned
/// away, since many people behind one address would otherwise read to ask less often instead of the reason. A visitor in line is
/// present even if neighbours have used up the limit: a question that is too many is noted as a check-in, too.
///
/// # Errors
/// The limit that it is over.
pub fn count_question(seat: &Seat<'_>, visit: &Visit, leaves: bool) -> Result<(), Over> {
    let counted = counted(seat, visit, leaves);
    if counted.is_err()
        && let Some(worth) = seat.worth(visit)
        && !ownership::is_foreign(seat, &worth)
    {
        refusals::note(seat, worth.presence(), seat.ticket_visitor());
    }
    counted
}

fn counted(seat: &Seat<'_>, visit: &Visit, leaves: bool) -> Result<(), Over> {
    // PERF: a page in line asks with its ticket alone, and needs no second look at the room.
    if !leaves && seat.shown.pass().is_none() && seat.shown.ticket().is_some() {
        return count(seat, visit, None);
    }
    let worth = seat.worth(visit);
    if leaves && let Some(worth) = &worth {
        if frees(worth) {
            return Ok(());
        }
        // A leave may free a place, and the ticket stays the same afterwards: it is counted by the ticket alone.
        if let (TicketState::Pending(_) | TicketState::Unknown, Some(ticket)) = (worth.ticket(), seat.shown.ticket()) {
            return seat.shared.limits.leave(ticket, visit.client);
        }
    }
    count(seat, visit, worth.as_ref())
}

/// As [`count_question`], where the worth of the tokens is known and the visitor does not leave.
pub fn count(seat: &Seat<'_>, visit: &Visit, worth: Option<&Worth>) -> Result<(), Over> {
    if seat.shown.rehearsal().is_some() {
        return Ok(());
    }
    let pass = worth.and_then(|worth| worth.pass.as_ref());
    let asker = match pass.filter(|pass| pass.state == PassState::Valid) {
        Some(pass) => Asker::Session(&pass.pass),
        None => Asker::of(seat.shown.ticket()),
    };
    if matches!(asker, Asker::Nobody) && worth.is_some_and(turns_away) {
        return Ok(());
    }
    seat.shared.limits.status(asker, visit.client)
}

/// The tokens hold a place or a slot.
fn frees(worth: &Worth) -> bool {
    worth.pass() == PassState::Valid
        || matches!(
            worth.ticket(),
            TicketState::Waiting | TicketState::Called | TicketState::Inside
        )
}

/// The answer to a newcomer is that all is sold, or that the room is closed or not open yet.
fn turns_away(worth: &Worth) -> bool {
    worth.sold_out || worth.early.is_some() || worth.mode == Mode::Closed
}
