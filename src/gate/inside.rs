//! Requests of visitors whose turn it is: the claim, and everything that carries a valid pass.

use http::request::Parts;

use crate::metrics::Outcome;
use crate::proxy::RequestBody;
use crate::room::{Standing, Wall};
use crate::token::Pass;

use super::Gate;
use super::answers::Answer;
use super::forward::Session;
use super::seat::{Seat, Worth};
use super::visit::Visit;

impl Gate {
    /// The row "valid pass": forwarded, the pass re-signed when due, the ticket cleared.
    pub async fn inside(
        &self,
        seat: &Seat<'_>,
        visit: &Visit,
        head: Parts,
        body: RequestBody,
        worth: &Worth,
        ends_on: u32,
    ) -> Answer {
        let Some(shown) = &worth.pass else {
            return self.shared.unavailable(&seat.rules.pages, visit);
        };
        let (lane, number) = (shown.pass.lane, shown.pass.number);
        if shown.standing == Standing::Unknown {
            self.shared.replica.foreign_era(number.era);
        }
        seat.note(shown.note, Some(seat.visitor(lane, number)));
        let mut cookies = Vec::new();
        if !seat.app {
            if let Standing::Inside(_) = shown.standing
                && let Some(fresh) = seat.pass_for(lane, number, shown.pass.edition, visit.wall)
                && is_due(&shown.pass, &fresh, visit.wall, seat.session_ms())
            {
                cookies.push(seat.set_pass(&fresh));
            }
            if seat.ticket().is_some() {
                cookies.push(seat.clear_ticket());
            }
        }
        let session = Session {
            carried: Some(ends_on),
            ..Session::of(seat, &shown.pass, cookies)
        };
        self.forward(visit, head, body, &seat.rules.pages, Outcome::Inside, Some(session))
            .await
    }

    /// The row "ticket of a called number": the pass is set and the request forwarded.
    pub async fn claim(&self, seat: &Seat<'_>, visit: &Visit, head: Parts, body: RequestBody, worth: &Worth) -> Answer {
        let visitor = seat.ticket_visitor();
        let pass = visitor
            .as_ref()
            .and_then(|v| seat.pass_for(v.lane, v.number, worth.edition, visit.wall));
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
        self.forward(visit, head, body, &seat.rules.pages, Outcome::Claimed, Some(session))
            .await
    }
}

/// A pass is re-signed past half of the session's length, and when the claim has turned its deadline into a session.
fn is_due(shown: &Pass, fresh: &Pass, now: Wall, session_ms: u64) -> bool {
    let gained = fresh.expires_at.since(shown.expires_at);
    gained > 0 && (shown.expires_at.since(now) < session_ms / 2 || shown.id != fresh.id)
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
        assert!(!is_due(&pass(300_000), &pass(310_000), Wall(10_000), 300_000));
        assert!(is_due(&pass(300_000), &pass(460_000), Wall(160_000), 300_000));
        assert!(is_due(&pass(90_000), &pass(305_000), Wall(5_000), 300_000));
        assert!(!is_due(&pass(90_000), &pass(80_000), Wall(60_000), 300_000));
    }
}
