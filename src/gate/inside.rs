//! Requests of visitors whose turn it is: the claim, and everything that carries a valid pass.

use crate::metrics::Outcome;
use crate::room::{Standing, Wall};
use crate::token::Pass;

use super::answers::Answer;
use super::forward::{Admission, Session};
use super::seat::{Seat, Worth};
use super::visit::Visit;
use super::{Gate, Halves};

impl Gate {
    /// The row "valid pass": forwarded, the pass re-signed when due, the ticket cleared.
    pub async fn inside(
        &self,
        seat: &Seat<'_>,
        visit: &Visit,
        request: Box<Halves>,
        worth: &Worth,
        ends_on: u32,
    ) -> Answer {
        let Some(shown) = &worth.pass else {
            return self.shared.unavailable(&seat.rules.pages, visit);
        };
        let (lane, number) = (shown.pass.lane, shown.pass.number);
        if shown.standing == Standing::Unknown {
            self.shared.replica.foreign_era(number.era);
            self.shared
                .replica
                .foreign_edition(&seat.rules.room.name, shown.pass.edition);
        }
        seat.note(shown.note, Some(seat.visitor(lane, number)));
        let mut cookies = Vec::new();
        if !seat.app {
            cookies.extend(worth.due(seat, visit).map(|fresh| seat.set_pass(&fresh)));
            cookies.extend(seat.ticket().map(|_| seat.clear_ticket()));
        }
        let session = Session {
            carried: Some(ends_on),
            ..Session::of(seat, &shown.pass, cookies)
        };
        self.forward(
            visit,
            request,
            &seat.rules.pages,
            Outcome::Inside,
            Admission::Session(session),
        )
        .await
    }

    /// The row "ticket of a called number": the pass is set and the request forwarded.
    pub async fn claim(&self, seat: &Seat<'_>, visit: &Visit, request: Box<Halves>, worth: &Worth) -> Answer {
        let visitor = seat.ticket_visitor();
        let pass = worth.yields(seat, visit);
        let (Some(ticket), Some(pass)) = (&worth.ticket, pass) else {
            // The view has moved on since the ticket was judged.
            return self.wait(seat, visit, worth);
        };
        seat.note(ticket.note, visitor);
        let session = Session::of(seat, &pass, vec![seat.set_pass(&pass)]);
        let session = Session {
            must_set: true,
            ..session
        };
        self.forward(
            visit,
            request,
            &seat.rules.pages,
            Outcome::Claimed,
            Admission::Session(session),
        )
        .await
    }
}

impl Worth {
    /// The shown pass with a later date, when it is time for one.
    #[must_use]
    pub fn due(&self, seat: &Seat<'_>, visit: &Visit) -> Option<Pass> {
        let shown = self.pass.as_ref()?;
        let (fresh, since) = self.renewed(visit)?;
        is_due(&shown.pass, &fresh, since, visit.wall, seat.session_ms()).then_some(fresh)
    }
}

/// A pass is re-signed past half of the session's length, and once the claim is read back: until then its date is the claim
/// deadline, which lies well before a whole session from its beginning.
fn is_due(shown: &Pass, fresh: &Pass, since: Wall, now: Wall, session_ms: u64) -> bool {
    let gained = fresh.expires_at.since(shown.expires_at);
    let half_gone = shown.expires_at.since(now) < session_ms / 2;
    let of_the_claim = shown.expires_at < since.plus(session_ms - session_ms / 10);
    gained > 0 && (half_gone || of_the_claim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::{Edition, Era, LaneId, LineName, Number, RoomName};
    use crate::token::PassId;

    fn pass(expires_at: u64) -> Pass {
        Pass {
            room: RoomName::new("shop").unwrap(),
            line: LineName::ONLY,
            lane: LaneId(0),
            edition: Edition(0),
            number: Number { era: Era(1), n: 7 },
            id: PassId([1; 8]),
            expires_at: Wall(expires_at),
        }
    }

    #[test]
    fn a_pass_is_resigned_past_half_its_life_and_never_to_an_earlier_date() {
        let due = |shown, fresh, now| is_due(&pass(shown), &pass(fresh), Wall(0), Wall(now), 300_000);
        assert!(!due(300_000, 310_000, 10_000));
        assert!(due(300_000, 460_000, 160_000));
        assert!(!due(300_000, 290_000, 160_000));
    }

    #[test]
    fn a_pass_dated_by_the_claim_deadline_is_resigned_at_once() {
        let due = |shown, fresh| is_due(&pass(shown), &pass(fresh), Wall(0), Wall(1_000), 100_000);
        assert!(due(89_000, 100_500));
        assert!(!due(100_000, 100_500));
        assert!(!due(89_000, 80_000), "an ending session");
    }
}
