//! Requests of visitors whose turn it is. One session, whichever token names it: the pass, the ticket that yields the pass,
//! or a join that was called at once.
//!
//! A called visitor is admitted with the first request that is forwarded. The log has that before the upstream has the request, so a
//! slot is never given to another visitor meanwhile, even if the gate dies.

use std::borrow::Cow;

use http::HeaderValue;

use crate::metrics::Outcome;
use crate::replica::{Note, Unrecorded};
use crate::room::{Clock, Edition, Inside, LaneId, Number, Standing, Visitor, Wall};
use crate::token::{Pass, PassId, Ticket};

use super::answers::Answer;
use super::decide::{PassState, TicketState};
use super::{line_page, refusals, returns};
use crate::gate::forward::{self, Permission, Session};
use crate::gate::request::account::account;
use crate::gate::request::visit::Visit;
use crate::gate::seat::reader::{number_of, used};
use crate::gate::seat::worth::Worth;
use crate::gate::seat::{Seat, reissue};
use crate::gate::state::gate::{Gate, Halves};
use crate::gate::state::shared::Shared;

/// The session that a request's tokens name.
pub struct Named<'a> {
    pub pass: Cow<'a, Pass>,
    pub standing: Standing,
    /// The note for the log once a request is forwarded.
    note: Option<Note>,
    /// The request carries the pass.
    carried: bool,
    /// The session has no slot.
    must_ask: bool,
    /// The room's clock when the tokens were judged.
    now: Clock,
}

impl Named<'_> {
    /// The room knows the session, and it has no slot.
    #[must_use]
    pub fn is_parked(&self) -> bool {
        self.must_ask && matches!(self.standing, Standing::Inside(_))
    }
}

/// The data that goes with the request of a session.
pub struct Entry {
    pub outcome: Outcome,
    /// Cookies in addition to the pass.
    pub cookies: Vec<HeaderValue>,
    /// See [`Session::check`].
    pub check: Option<String>,
}

/// The rows "valid pass" and "ticket of a called number".
pub async fn inside(gate: &Gate, seat: &Seat<'_>, visit: &Visit, request: Box<Halves>, worth: &Worth) -> Answer {
    let Some(named) = worth.named(seat, visit) else {
        // The view has moved on since the tokens were judged.
        return line_page::wait(seat, visit, worth);
    };
    let (outcome, cookies) = if named.carried {
        let used = seat.shown.ticket().filter(|_| !seat.shown.is_app());
        (Outcome::Inside, used.map(|_| seat.cookies.clear_ticket()))
    } else {
        (Outcome::Claimed, None)
    };
    let entry = Entry {
        outcome,
        cookies: cookies.into_iter().collect(),
        check: None,
    };
    match forward_in(gate, seat, visit, request, named, entry).await {
        Some(answer) => answer,
        None => line_page::wait(seat, visit, worth),
    }
}

/// Forwards a request as its session's; the pass is set where the request did not carry it, or when it is due. `None` where
/// the visitor's turn is over.
pub async fn forward_in(
    gate: &Gate,
    seat: &Seat<'_>,
    visit: &Visit,
    request: Box<Halves>,
    named: Named<'_>,
    entry: Entry,
) -> Option<Answer> {
    if is_shared_out(seat, &named.pass, visit) {
        return Some(refusals::shared_out(seat, visit));
    }
    let must_set = !named.carried && visit.kind.takes_tokens();
    let forwarded = visit.aim.forwards(must_set);
    if forwarded && named.must_ask {
        return Some(returns::parked(seat, visit, &request.head, &named));
    }
    if forwarded {
        match opened(gate, seat, visit, &named).await {
            Opened::Yes => {}
            Opened::Over => return None,
            Opened::NotNow => return Some(returns::parked(seat, visit, &request.head, &named)),
        }
    }
    let mut cookies = entry.cookies;
    if !seat.shown.is_app() || must_set {
        cookies.extend(renewed(seat, visit, &named, forwarded).map(|pass| seat.cookies.set_pass(&pass)));
    }
    if forwarded && visit.counts && !seat.shown.is_app() {
        cookies.extend(returns::clear_tries(seat, &request.head));
    }
    if let Some(for_ms) = seat.rules.hold_ms(request.holds).filter(|_| forwarded && visit.counts) {
        let visitor = seat.visitor(named.pass.lane, named.pass.number);
        seat.shared.replica.insist(visitor, Note::Hold { for_ms });
    }
    let session = Session {
        must_set,
        check: entry.check,
        is_new: matches!(named.standing, Standing::Called(_)),
        ..Session::of(seat, &named.pass, cookies)
    };
    let right = Permission::Session(session);
    Some(forward::forward(gate, visit, request, &seat.rules.pages, entry.outcome, right).await)
}

/// Whether a request of a session may be forwarded.
enum Opened {
    Yes,
    /// The visitor's turn is over.
    Over,
    /// The log cannot be told of a use that keeps the slot.
    NotNow,
}

/// Records in the log that a request of the session is forwarded. A call is claimed first. While the log cannot be asked the
/// visitor goes on, and it gets the record when it can be.
async fn opened(gate: &Gate, seat: &Seat<'_>, visit: &Visit, named: &Named<'_>) -> Opened {
    if let (Standing::Called(_), Some(note @ Note::Claim { .. })) = (named.standing, named.note) {
        // PERF: once for each session.
        let visitor = seat.visitor(named.pass.lane, named.pass.number);
        let is_claimed = Box::pin(claimed(&gate.shared, visitor, note)).await;
        return if is_claimed { Opened::Yes } else { Opened::Over };
    }
    // A request that is no use of the session leaves it as it is.
    if !visit.counts || tell(seat, named) || seat.rules.room.active.is_none() {
        return Opened::Yes;
    }
    Opened::NotNow
}

/// Tells the log that a request of a session is forwarded, and does not wait for it; false where too much is waiting to be told.
#[must_use]
fn tell(seat: &Seat<'_>, named: &Named<'_>) -> bool {
    let replica = &seat.shared.replica;
    let (lane, number) = (named.pass.lane, named.pass.number);
    if named.standing == Standing::Unknown {
        tell_lost(seat, &named.pass);
    }
    // PERF: most requests have nothing to tell.
    let Some(note) = named.note else { return true };
    let visitor = seat.visitor(lane, number);
    if note == Note::Reopen {
        replica.insist(visitor, note);
        return true;
    }
    replica.takes(visitor, note)
}

/// Tells the log of the use of a session while its room is off. One without a slot asks for one, and does not wait for it.
pub fn tell_while_off(seat: &Seat<'_>, named: &Named<'_>) {
    if !named.must_ask {
        // Nobody is refused while the room is off.
        let _ = tell(seat, named);
        return;
    }
    if named.standing == Standing::Unknown {
        tell_lost(seat, &named.pass);
    }
    let visitor = seat.visitor(named.pass.lane, named.pass.number);
    seat.shared.replica.note(visitor, Note::Return);
}

/// A genuine pass is of a log, or a sale, that the rooms may have lost.
pub fn tell_lost(seat: &Seat<'_>, pass: &Pass) {
    let replica = &seat.shared.replica;
    replica.foreign_epoch(pass.number.epoch);
    replica.foreign_edition(&seat.rules.room.name, pass.edition);
}

/// Claims a call; false where its turn is over.
async fn claimed(shared: &Shared, visitor: Visitor, note: Note) -> bool {
    let replica = &shared.replica;
    match replica.record(visitor.clone(), note).await {
        Ok(()) | Err(Unrecorded::Refused | Unrecorded::Stale) => {
            let view = replica.load();
            matches!(view.standing(&visitor, view.clock), Standing::Inside(_))
        }
        Err(Unrecorded::CutOff | Unrecorded::Full) => {
            replica.insist(visitor, Note::Reopen);
            true
        }
    }
}

/// The session of a visitor who was called while joining.
#[must_use]
pub fn called_at_once<'a>(seat: &Seat<'_>, pass: &'a Pass) -> Named<'a> {
    let replica = &seat.shared.replica;
    let view = replica.load();
    let standing = view.standing(&seat.visitor(pass.lane, pass.number), view.clock);
    let is_cut_off = replica.cut_off().is_some();
    // The account's session, of another browser.
    let must_ask = match standing {
        Standing::Inside(inside) => inside.must_ask(if is_cut_off { view.clock } else { view.now() }),
        _ => false,
    };
    Named {
        pass: Cow::Borrowed(pass),
        standing,
        note: used(standing, false, (!is_cut_off).then(|| view.now())),
        carried: false,
        must_ask,
        now: view.now(),
    }
}

/// The pass is in use from as many networks as the room allows, and this is none of them.
#[must_use]
pub fn is_shared_out(seat: &Seat<'_>, pass: &Pass, visit: &Visit) -> bool {
    let allowed = seat.rules.room.pass_networks;
    // PERF: nothing is counted where any number is allowed.
    seat.shown.rehearsal().is_none() && !seat.shared.limits.pass(pass, visit.client, allowed)
}

/// The pass that a number's standing entitles its ticket to: when it is called, or inside and no request has carried
/// the pass yet.
///
/// Its date is that of a session that begins with the request, in wall time: a room that has lost the session relies on it.
/// The room itself holds the slot for a tenth longer, and for two seconds.
#[must_use]
pub fn pass_for(seat: &Seat<'_>, lane: LaneId, number: Number, edition: Edition, wall: Wall) -> Option<Pass> {
    let view = seat.shared.replica.load();
    // Another browser of an account shares its session.
    let owner = account(&view, &seat.visitor(lane, number)).is_some_and(|tag| seat.shown.tags().contains(&tag));
    let (call, until) = match view.standing(&seat.visitor(lane, number), view.clock) {
        Standing::Called(called) => (called.call, called.deadline),
        Standing::Inside(inside) if !inside.carried || owner => (inside.call, dated(seat, &inside)),
        _ => return None,
    };
    let (room, line) = (&seat.rules.room.name, &seat.line);
    Some(Pass {
        id: PassId::new(&seat.shared.keyring, room, line, edition, call),
        room: room.clone(),
        line: line.clone(),
        lane,
        edition,
        number,
        call: call.count,
        expires_at: wall.plus(until.since(view.now())),
    })
}

/// When the passes of a session expire, by its last recorded request.
#[must_use]
fn dated(seat: &Seat<'_>, inside: &Inside) -> Clock {
    Clock(inside.expires.0.saturating_sub(tolerance_ms(seat)))
}

/// A pass that is shown may lack this much of its session.
fn tolerance_ms(seat: &Seat<'_>) -> u64 {
    seat.rules.room.settings.renewal_ms()
}

/// The pass to set on the answer. Of a request that is forwarded it has the date of the session which that request makes or
/// renews, as the room will know it a moment later; of another, that of the session as the room has it.
pub fn renewed(seat: &Seat<'_>, visit: &Visit, named: &Named<'_>, forwarded: bool) -> Option<Pass> {
    let must_set = !named.carried || reissue::has_old_pass(seat, &named.pass);
    let (standing, now) = match named.standing {
        Standing::Called(_) if forwarded => {
            let view = seat.shared.replica.load();
            let visitor = seat.visitor(named.pass.lane, named.pass.number);
            (view.standing(&visitor, view.clock), view.now())
        }
        standing => (standing, named.now),
    };
    let left_ms = match standing {
        Standing::Inside(inside) if forwarded => inside.used_until(now, refusals::session_ms(seat)).since(now),
        Standing::Inside(inside) => dated(seat, &inside).since(now),
        // The log could not be asked.
        Standing::Called(_) if forwarded => refusals::session_ms(seat),
        _ => return must_set.then(|| Pass::clone(&named.pass)),
    };
    let expires_at = visit.wall.plus(left_ms);
    let due = must_set || is_due(named.pass.expires_at, expires_at, tolerance_ms(seat));
    due.then(|| Pass {
        expires_at,
        ..Pass::clone(&named.pass)
    })
}

impl Worth {
    /// The session that the tokens name, if there is one.
    #[must_use]
    pub fn named(&self, seat: &Seat<'_>, visit: &Visit) -> Option<Named<'_>> {
        if let Some(shown) = self.pass.as_ref().filter(|pass| pass.state == PassState::Valid) {
            return Some(Named {
                pass: Cow::Borrowed(&shown.pass),
                standing: shown.standing,
                note: shown.note,
                carried: true,
                must_ask: shown.must_ask,
                now: self.now,
            });
        }
        let ticket = self.ticket.as_ref()?;
        Some(Named {
            pass: Cow::Owned(self.yields(seat, visit)?),
            standing: ticket.standing?,
            note: ticket.note,
            carried: false,
            must_ask: ticket.must_ask,
            now: self.now,
        })
    }

    /// The pass that the ticket yields now, if its number is called or inside.
    #[must_use]
    pub fn yields(&self, seat: &Seat<'_>, visit: &Visit) -> Option<Pass> {
        let seated = [TicketState::Called, TicketState::Inside];
        let ticket: &Ticket = &self
            .ticket
            .as_ref()
            .filter(|ticket| seated.contains(&ticket.state))?
            .ticket;
        pass_for(seat, ticket.lane, number_of(ticket)?, ticket.edition, visit.wall)
    }

    /// The shown pass with the date of its session as the room has it; `None` unless it is valid and inside.
    #[must_use]
    pub fn renewed(&self, seat: &Seat<'_>, visit: &Visit) -> Option<Pass> {
        let shown = self.pass.as_ref().filter(|pass| pass.state == PassState::Valid)?;
        let Standing::Inside(inside) = shown.standing else {
            return None;
        };
        Some(Pass {
            expires_at: visit.wall.plus(dated(seat, &inside).since(self.now)),
            ..shown.pass.clone()
        })
    }

    /// The shown pass with a later date, when it is time for one, or by the key that signs now.
    #[must_use]
    pub fn due(&self, seat: &Seat<'_>, visit: &Visit) -> Option<Pass> {
        let shown = self.pass.as_ref().filter(|pass| pass.state == PassState::Valid)?;
        let renewed = self.renewed(seat, visit);
        if reissue::has_old_pass(seat, &shown.pass) {
            return renewed.or_else(|| Some(shown.pass.clone()));
        }
        renewed.filter(|fresh| is_due(shown.pass.expires_at, fresh.expires_at, tolerance_ms(seat)))
    }

    /// A note that the visitor is present, if the ticket is one in line.
    #[must_use]
    pub fn presence(&self) -> Option<Note> {
        let in_line = [TicketState::Waiting, TicketState::Unknown];
        let ticket = self.ticket.as_ref().filter(|ticket| in_line.contains(&ticket.state));
        ticket.and_then(|ticket| ticket.note)
    }
}

/// A pass is set anew once it lacks more than that of its session: a tenth. One that is dated by a claim deadline lacks more at once.
fn is_due(shown: Wall, fresh: Wall, tolerance_ms: u64) -> bool {
    fresh.since(shown) > tolerance_ms
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropeline_ids::{CallId, Epoch};

    #[test]
    fn a_request_uses_its_session_for_a_whole_one_from_then_on_and_never_beyond_the_rooms_end() {
        let number = Number { epoch: Epoch(1), n: 1 };
        let inside = Inside {
            call: CallId {
                lane: LaneId(0),
                number,
                count: 1,
            },
            expires: Clock(110_000),
            ends_by: Clock(200_000),
            since: Wall(0),
            carried: true,
            parked: false,
            unasked_until: Clock(u64::MAX),
            renews_from: Clock(10_000),
            ending: false,
        };
        let until = |inside: Inside, now| inside.used_until(Clock(now), 100_000).0;
        assert_eq!(until(inside, 0), 100_000);
        assert_eq!(until(inside, 9_999), 109_999, "not recorded, and held that long");
        assert_eq!(until(inside, 99_000), 199_000);
        assert_eq!(until(inside, 105_000), 200_000, "session_max");
        // Neither is stretched any more: an end is set, or a shorter session was recorded than there is now.
        let ends = Inside {
            renews_from: Clock(u64::MAX),
            ending: true,
            ..inside
        };
        assert_eq!(until(ends, 50_000), 110_000);
        assert_eq!(
            until(
                Inside {
                    expires: Clock(50_000),
                    ..inside
                },
                5_000
            ),
            50_000
        );
    }

    #[test]
    fn a_pass_is_set_anew_when_it_lacks_a_tenth_and_never_with_an_earlier_date() {
        let due = |shown, fresh| is_due(Wall(shown), Wall(fresh), 30_000);
        assert!(!due(300_000, 310_000));
        assert!(!due(300_000, 330_000));
        assert!(due(300_000, 330_001));
        assert!(due(60_000, 300_000), "dated by the claim deadline");
        assert!(!due(300_000, 290_000), "an ending session");
    }
}
