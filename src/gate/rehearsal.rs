//! Virtual visitors of a rehearsal: told by the mark that each of their requests carries, and kept from the shop.
//!
//! SECURITY: whoever shows a mark is a virtual visitor or nobody. A mark that is not genuine, is over, or is of a rehearsal that
//! is not under way is refused on every path, so that a request which was sent for one can never count as a person's. What
//! would go to the shop ends here, at [`Gate::forward`](super::Gate), unless the mark and the room both say that it is
//! forwarded. Tokens of virtual visitors are of kinds that nothing else reads; while a rehearsal is under way, a cookie of theirs without
//! the mark, as where somebody copied it or a proxy took the mark away, keeps its request from the shop too.

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderName, HeaderValue, StatusCode};

use crate::config::routes::{InRoom, OWN_PREFIX, Routed};
use crate::metrics::Outcome;
use crate::proxy::Conn;
use crate::room::{LineName, Mode, Rehearsal, RehearsalId, RoomName};
use crate::token::{Keyring, Mark, MarkDate, SignedBy};
use crate::waiting::PageKind;

use super::answers::{Answer, Refusal, json};
use super::forward::{Admission, give};
use super::known::Tokens;
use super::pages::Pages;
use super::visit::Visit;
use super::{Gate, Halves, Shared};

/// Carries the mark; the answers say in it whose visitors they were given to.
pub const HEADER: HeaderName = HeaderName::from_static("ropeline-rehearsal");

/// Whose a virtual visitor is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rehearsed {
    pub id: RehearsalId,
    pub forward: bool,
}

/// Why a mark is worth nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Refused {
    /// Not genuine, not of this room, over, or on a path of no room.
    Mark,
    /// Genuine, and the room has no such rehearsal under way.
    Over,
    /// The room has no line at present, so there is nothing to rehearse.
    Off,
}

impl Gate {
    /// A request that shows a mark, whatever else it is.
    pub async fn rehearsed(
        &self,
        conn: &Arc<Conn>,
        visit: &mut Visit,
        request: Box<Halves>,
        routed: Routed,
    ) -> (Option<usize>, Answer) {
        let shared = &*self.shared;
        let Some(at) = shared.room_of(&request.head, &routed) else {
            return (None, Refused::Mark.answer(&shared.pages, visit));
        };
        let rules = &shared.rules[at];
        let rehearsed = match shared.judge_mark(&rules.room.name, visit) {
            Ok(rehearsed) => rehearsed,
            Err(refused) => return (Some(at), refused.answer(&rules.pages, visit)),
        };
        visit.rehearsed = Some(rehearsed);
        let mut answer = match routed.room {
            Some(place) => self.in_room(visit, request, virtual_place(place)).await,
            None => self.endpoint(conn, visit, &request.head).await.1,
        };
        answer.outcome = Outcome::Rehearsed;
        if let Ok(id) = HeaderValue::try_from(rehearsed.id.to_string()) {
            answer.response.headers_mut().insert(HEADER, id);
        }
        (Some(at), answer)
    }

    /// What a virtual visitor is given in place of the shop's answer.
    pub fn stand_in(head: &Parts, outcome: Outcome, right: &Admission<'_>) -> Answer {
        let body = "{\"state\":\"inside\",\"virtual\":true}".to_owned();
        let mut response = json(StatusCode::OK, "rehearsed", "application/json", body);
        if let Some(session) = right.session() {
            give(&session.cookies, session.must_set, &head.method, &mut response);
        }
        Answer::new(outcome, response)
    }
}

/// A return, or an account's form, is nothing to a virtual visitor.
fn virtual_place(place: InRoom) -> InRoom {
    InRoom {
        returning: false,
        names: false,
        ..place
    }
}

impl Shared {
    /// The room that a request is about: one of its routes, or one of the gate's own endpoints.
    fn room_of(&self, head: &Parts, routed: &Routed) -> Option<usize> {
        if routed.misdirected {
            return None;
        }
        if !routed.own {
            return routed.room.as_ref().map(|place| place.index);
        }
        let path = head.uri.path().strip_prefix(OWN_PREFIX)?.strip_prefix("/rooms/")?;
        let name = path.split('/').next()?;
        self.room_named(name)
    }

    /// A rehearsal is under way, in whichever room.
    pub(super) fn is_rehearsing(&self) -> bool {
        self.replica.load().rooms.values().any(|room| room.rehearsal.is_some())
    }

    /// What a mark is worth in a room now.
    fn judge_mark(&self, room: &RoomName, visit: &Visit) -> Result<Rehearsed, Refused> {
        let text = visit.mark.as_ref().and_then(|mark| mark.to_str().ok());
        let mark = text.and_then(|text| self.keyring.read_mark(room, text));
        let good = |mark: &Mark| mark.date(visit.wall) == MarkDate::Good;
        let mark = mark.filter(good).ok_or(Refused::Mark)?;
        let view = self.replica.load();
        let room = view.rooms.get(room).ok_or(Refused::Over)?;
        let of = |rehearsal: &&Arc<Rehearsal>| rehearsal.id == mark.rehearsal && rehearsal.size <= mark.size;
        let rehearsal = room.rehearsal.as_ref().filter(of).ok_or(Refused::Over)?;
        if room.settings.mode == Mode::Off {
            return Err(Refused::Off);
        }
        Ok(Rehearsed {
            id: mark.rehearsal,
            forward: mark.forward && rehearsal.forward,
        })
    }
}

impl Refused {
    fn answer(self, pages: &Pages, visit: &Visit) -> Answer {
        let word = match self {
            Self::Mark => "rehearsal_mark",
            Self::Over => "rehearsal_over",
            Self::Off => "rehearsal_off",
        };
        Refusal::new(StatusCode::FORBIDDEN, word, PageKind::BadRequest, Outcome::Rehearsed).answer(pages, visit)
    }
}

/// The answer to a request that only a virtual visitor could have sent, and that does not say so.
#[must_use]
pub fn unmarked(pages: &Pages, visit: &Visit) -> Answer {
    Refused::Mark.answer(pages, visit)
}

/// The genuine tokens among those that a virtual visitor brings: of its rehearsal alone. Nobody else's are of any.
#[must_use]
pub fn tokens<'a>(
    keyring: &Keyring,
    id: RehearsalId,
    (room, line): (&RoomName, &LineName),
    mut tickets: impl Iterator<Item = &'a str>,
    mut passes: impl Iterator<Item = &'a str>,
) -> Tokens {
    let ticket = tickets.find_map(|text| keyring.read_virtual_ticket(id, room, line, text));
    let pass = passes.find_map(|text| keyring.read_virtual_pass(id, room, line, text));
    // A rehearsal is over long before a key is.
    Tokens {
        ticket: ticket.map(|ticket| (ticket, SignedBy::FIRST)),
        pass: pass.map(|pass| (pass, SignedBy::FIRST)),
        known: None,
    }
}
