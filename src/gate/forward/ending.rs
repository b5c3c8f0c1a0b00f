//! Effects of the upstream's answer on the session of its request.

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, StatusCode};

use crate::replica::Note;
use ropeline_ids::{Edition, Visitor};

use super::super::seat::Seat;
use super::session::Session;
use crate::gate::request::method;
use crate::gate::seat::ownership;
use crate::gate::seat::worth::Worth;
use crate::gate::state::rules::Ending;
use crate::gate::state::sessions;
use crate::gate::state::shared::Shared;

/// The session of a pass that a request shows, and is not forwarded by: it is over, or counts under an account that the request lacks.
pub struct Former {
    visitor: Visitor,
    edition: Edition,
    /// It is of the edition that is on, and its visitor has bought nothing yet.
    is_unfinished: bool,
}

/// The session of the pass that the request shows, if it is no other account's.
pub fn former(seat: &Seat<'_>, worth: &Worth) -> Option<Former> {
    let pass = &worth
        .pass
        .as_ref()
        .filter(|_| !ownership::is_foreign(seat, worth))?
        .pass;
    let view = seat.shared.replica.load();
    let room = view.rooms.get(&seat.rules.room.name)?;
    let is_current = pass.edition <= room.edition && !room.is_reset(pass.edition, pass.number);
    let outcome = room
        .line(&seat.line)
        .and_then(|line| line.outcome(pass.lane, pass.number, true));
    Some(Former {
        visitor: seat.visitor(pass.lane, pass.number),
        edition: pass.edition,
        is_unfinished: is_current && outcome != Some(true),
    })
}

/// The session of a request whose answer may end it, or report that its visitor has bought.
#[derive(Clone)]
pub struct Endable {
    visitor: Arc<Visitor>,
    edition: Edition,
    /// Bits of the `ends_on` rules that the request meets.
    met: u32,
    /// The request is forwarded by another session.
    is_former: bool,
    /// The request may be a purchase.
    buys: bool,
}

impl Endable {
    /// A request that opens a session and only reads does not count as a purchase, or each reload of a receipt would buy again, unless its
    /// pass shows a visitor who has bought nothing yet.
    pub fn of(session: &Session<'_>, met: u32, head: &Parts, former: Option<&Former>) -> Self {
        let is_unfinished = former.is_some_and(|former| former.is_unfinished);
        let is_look = session.is_new && method::is_read(head) && !is_unfinished;
        Self {
            visitor: Arc::clone(&session.visitor),
            edition: session.edition,
            met,
            is_former: false,
            buys: !is_look,
        }
    }

    /// For a session that the request is not forwarded by: only a completion counts.
    pub fn of_former(former: Former, met: u32) -> Self {
        Self {
            visitor: Arc::new(former.visitor),
            edition: former.edition,
            met,
            is_former: true,
            buys: true,
        }
    }

    /// Whether the answer is read even if the visitor hangs up while a server has the request. A visitor who presses "pay"
    /// twice, or closes the page, breaks off the request, and the shop has sold all the same. In a room without stock, and
    /// for requests that only read, this applies only to answers that a rule of `ends_on` or `completes_on` may match.
    pub fn is_detachable(&self, head: &Parts, shared: &Shared) -> bool {
        self.met != 0 || (shared.sells(&self.visitor.room) && !method::is_read(head))
    }

    pub fn visitor(&self) -> &Arc<Visitor> {
        &self.visitor
    }

    /// The session has ended since the request was judged; the request may not be sent again under it.
    pub fn is_over(&self, shared: &Shared) -> bool {
        !self.is_former && sessions::is_over(shared, &self.visitor, self.edition)
    }

    /// Tells the log that the shop has ended the session, if it has.
    pub fn note(&self, shared: &Shared, status: StatusCode, word: Option<&HeaderValue>) {
        let Some(at) = shared.room_named(self.visitor.room.as_str()) else {
            return;
        };
        let rules = &shared.rules[at];
        let holds = word
            .and_then(held_ms)
            .filter(|_| rules.room.active.is_some() && !self.is_former);
        if let Some(for_ms) = holds {
            shared.replica.insist((*self.visitor).clone(), Note::Hold { for_ms });
        }
        let (edition, said) = (self.edition, word.and_then(said));
        // The shop says `end` when nothing more is to be loaded; behind a route that ends a session, more may be.
        let after_ms = match said {
            Some(Ending::End) => 0,
            _ => rules.room.end_grace_ms,
        };
        let note = match rules.ends(self.met, status).max(said) {
            Some(Ending::Complete) if !self.buys => return,
            Some(Ending::Complete) => Note::Complete { edition, after_ms },
            Some(Ending::End) if self.is_former => return,
            Some(Ending::End) => Note::End { after_ms },
            None => return,
        };
        shared.replica.insist((*self.visitor).clone(), note);
    }
}

/// The shop's own word, which needs no configured route.
fn said(word: &HeaderValue) -> Option<Ending> {
    let word = word.as_bytes().trim_ascii();
    let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
    if is(b"complete") {
        Some(Ending::Complete)
    } else {
        is(b"end").then_some(Ending::End)
    }
}

/// How long the shop asks to keep the slot: `hold=900`, in seconds.
fn held_ms(word: &HeaderValue) -> Option<u64> {
    let (name, secs) = word.to_str().ok()?.split_once('=')?;
    let secs: u32 = secs.trim().parse().ok()?;
    name.trim()
        .eq_ignore_ascii_case("hold")
        .then_some(u64::from(secs) * 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shops_word_ends_a_session_whatever_its_case() {
        let says = |word: &'static str| said(&HeaderValue::from_static(word));
        assert_eq!(
            (says("END"), says(" Complete ")),
            (Some(Ending::End), Some(Ending::Complete))
        );
        assert_eq!((says("ended"), says("")), (None, None));
    }

    #[test]
    fn the_shops_word_holds_a_slot_for_so_many_seconds() {
        let holds = |word: &'static str| held_ms(&HeaderValue::from_static(word));
        assert_eq!((holds("hold=900"), holds(" Hold = 1 ")), (Some(900_000), Some(1_000)));
        for other in ["hold", "hold=", "hold=-1", "hold=1.5", "end=900", "hold=4294967296", ""] {
            assert_eq!(holds(other), None, "{other}");
        }
    }
}
