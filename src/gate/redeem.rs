//! Codes whose use the log decides: those good for one visitor, and those that lead past the line.
//!
//! The visitor's cookie holds a mark beside the code, and the log a hash of both: whoever comes again with it is the same
//! visitor, at any gate and after any loss. A code is not taken where it cannot be known that nobody else has used it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderValue;
use http::header::SET_COOKIE;

use crate::metrics::CodeFate;
use crate::replica::{Arrival, Granted};
use crate::room::{Denied, Edition, LaneId, Number, Redeem, WITH_SCHEDULES};
use crate::token::{Code, Grant, Ticket, TicketPlace};

use super::Gate;
use super::answers::Answer;
use super::codes::{NO_CODE, PARAMETER, parted};
use super::decide::{Door, TicketState};
use super::join::Joined;
use super::kind::Kind;
use super::seat::{Seat, Worth};
use super::visit::Visit;

/// A code that is to be used in the log.
pub struct Use {
    code: Code,
    mark: Option<String>,
}

impl Seat<'_> {
    /// The code that the request carries, if its use is the log's to decide; or why it cannot be used.
    pub(super) fn use_of_code(&self, visit: &Visit) -> Option<Result<Use, CodeFate>> {
        // PERF: hardly anybody has one.
        let (text, mark) = parted(self.code()?);
        let line = &self.line;
        let code = self.shared.keyring.read_code(&self.rules.room.name, line, text)?;
        if !code.is_redeemed() || self.is_of(&code) {
            return None;
        }
        let costs = || self.worth(visit).is_some_and(|worth| self.costs_a_place(&code, &worth));
        if !self.confirms_code() && costs() {
            return None;
        }
        let judged = self.judge_code(text, visit);
        Some(match mark {
            Some(mark) if !is_mark(mark) => Err(CodeFate::Unknown),
            _ => judged.map(|code| Use {
                code,
                mark: mark.map(str::to_owned),
            }),
        })
    }

    /// By the code that the request carries nobody joins as everybody does: a refusal costs nothing, and a grant the code.
    pub(super) fn joins_by_code(&self, visit: &Visit) -> bool {
        match self.use_of_code(visit) {
            None => false,
            Some(Err(_)) => true,
            Some(Ok(used)) => self.needs(&used.code, visit),
        }
    }

    /// The visitor waits, and comes for what a code gives beyond that: it asks the log, and joins nothing without one.
    pub(super) fn waits_with_code(&self, visit: &Visit) -> bool {
        let waits = || {
            self.worth(visit)
                .is_some_and(|worth| worth.ticket() == TicketState::Waiting)
        };
        self.use_of_code(visit).is_some() && waits()
    }

    /// A visitor who waits shows a code that is not used yet: it is used now.
    pub(super) fn uses_code(&self, worth: &Worth, visit: &Visit) -> bool {
        // PERF: hardly anybody has a code.
        let waits = self.code().is_some() && worth.ticket() == TicketState::Waiting;
        waits && visit.kind == Kind::Navigation && !self.lacks_account(worth) && self.use_of_code(visit).is_some()
    }

    /// Which of the room's doors is open now: nobody needs a code where everybody is called at once.
    fn needs(&self, code: &Code, visit: &Visit) -> bool {
        let open = || self.worth(visit).is_some_and(|worth| worth.door == Door::Open);
        code.grant != Grant::Bypass || self.ticket().is_some() || !open()
    }

    /// A code that another visitor has used is told so before anything is asked of the log.
    pub(super) fn unspent(&self, text: &str, code: Code) -> Result<Code, CodeFate> {
        let marked = self.code().map(parted).filter(|(shown, _)| *shown == text);
        let holder = marked.and_then(|(_, mark)| Some(code.holder(mark?)));
        let view = self.shared.replica.load();
        let room = view.rooms.get(&self.rules.room.name);
        let spent = room.and_then(|room| room.spent.get(code.id)).filter(|_| code.single);
        match spent {
            Some(spent) if Some(spent.holder) != holder && !self.has(spent.lane, spent.number) => Err(CodeFate::Spent),
            _ => Ok(code),
        }
    }

    /// The visitor has the number that the code was good for.
    pub(super) fn is_of(&self, code: &Code) -> bool {
        let view = self.shared.replica.load();
        let room = view.rooms.get(&self.rules.room.name);
        let spent = room.and_then(|room| room.spent.get(code.id)).filter(|_| code.single);
        spent.is_some_and(|spent| self.has(spent.lane, spent.number))
    }

    fn has(&self, lane: LaneId, number: Number) -> bool {
        let visitor = Some(self.visitor(lane, number));
        self.ticket_visitor() == visitor || self.pass_visitor() == visitor
    }

    /// The code with a mark of its own; one that the browser has for it already stays.
    pub(super) fn marked(&self, text: &str) -> String {
        let shown = self.code().filter(|shown| {
            let (code, mark) = parted(shown);
            code == text && mark.is_some_and(is_mark)
        });
        let fresh = || fresh_mark().map_or_else(|| text.to_owned(), |mark| format!("{text}.{mark}"));
        shown.map_or_else(fresh, str::to_owned)
    }

    pub(super) fn clear_code(&self) -> HeaderValue {
        self.policy.clear(&self.names.code)
    }

    /// What whoever comes with a code is told that cannot be used: a person on a page, with a way on without it.
    fn without_code(&self, fate: CodeFate, visit: &Visit) -> Answer {
        if !visit.kind.is_navigation() {
            return self.refuse_code_to_app(fate, visit);
        }
        let here = visit.here();
        let separator = if here.contains('?') { '&' } else { '?' };
        let mut answer = self.refuse_code(&format!("{here}{separator}{PARAMETER}={NO_CODE}"), fate, visit);
        // What may be taken later is kept for the next try.
        if fate != CodeFate::NotNow {
            answer.response.headers_mut().append(SET_COOKIE, self.clear_code());
        }
        answer
    }
}

impl Gate {
    /// Whoever waits, with a code that may be taken later, sees their line meanwhile.
    pub(super) fn without_code(&self, seat: &Seat<'_>, visit: &Visit, fate: CodeFate) -> Answer {
        let waits = |worth: &Worth| worth.ticket() == TicketState::Waiting;
        match seat.worth(visit).filter(waits) {
            Some(worth) if fate == CodeFate::NotNow => self.wait(seat, visit, &worth),
            _ => seat.without_code(fate, visit),
        }
    }

    /// Has the log decide; `None` for whoever joins without a code after all.
    pub(super) async fn by_code(&self, seat: &Seat<'_>, visit: &Visit, edition: Edition) -> Option<Joined> {
        let shown = seat.use_of_code(visit)?;
        // Whoever waits is there, whatever becomes of the code.
        let presence = seat.worth(visit).and_then(|worth| worth.presence());
        seat.note(presence, seat.ticket_visitor());
        let used = match shown {
            Ok(used) if seat.needs(&used.code, visit) => used,
            Ok(_) => return None,
            Err(fate) => return Some(seat.denied(fate)),
        };
        if let Err(fate) = seat.unspent(parted(seat.code()?).0, used.code.clone()) {
            return Some(seat.denied(fate));
        }
        // The rooms lack the lane that this gate has read of in its file.
        let Some(redeem) = seat.redeem(&used, visit) else {
            return Some(seat.denied(CodeFate::NotNow));
        };
        let bypass = redeem.bypass;
        let kept = self.shared.replica.load().version >= WITH_SCHEDULES;
        let done = match redeem {
            redeem if kept => self.shared.replica.redeem(redeem).await,
            _ => Err(Denied::NotNow),
        };
        Some(match done {
            Ok(granted) => seat.granted(&used.code, granted, visit, edition),
            Err(Denied::Refused) if bypass && !seat.takes_bypass() => seat.denied(CodeFate::NoBypass),
            Err(Denied::Refused) => Joined::Refused,
            Err(Denied::Spent) => seat.denied(CodeFate::Spent),
            Err(Denied::NotNow) => seat.denied(CodeFate::NotNow),
            Err(Denied::Doubtful) => seat.denied(CodeFate::InDoubt),
            Err(Denied::Expired) => seat.denied(CodeFate::Expired),
        })
    }
}

impl Seat<'_> {
    fn redeem(&self, used: &Use, visit: &Visit) -> Option<Redeem> {
        let lane = match &used.code.grant {
            Grant::Lane(name) => self.index(name)?,
            Grant::Bypass => self.lane(visit),
        };
        let waiting = |ticket: &&Ticket| matches!(ticket.place, TicketPlace::Numbered(_));
        let leaves = self.ticket().filter(waiting).and_then(|_| self.ticket_visitor());
        // Who has no mark cannot come again as the same.
        let holder = match &used.mark {
            Some(mark) => used.code.holder(mark),
            None => Arrival::first().id,
        };
        Some(Redeem {
            room: self.rules.room.name.clone(),
            line: self.line.clone(),
            lane,
            tags: self.joins_as(),
            code: used.code.id,
            holder,
            issued: used.code.issued,
            expires: used.code.expires,
            single: used.code.single,
            bypass: used.code.grant == Grant::Bypass,
            leaves: leaves.map(|visitor| (visitor.lane, visitor.number)),
        })
    }

    fn takes_bypass(&self) -> bool {
        let view = self.shared.replica.load();
        let room = view.rooms.get(&self.rules.room.name);
        room.is_some_and(|room| room.settings.takes_bypass())
    }

    fn denied(&self, fate: CodeFate) -> Joined {
        self.tell(&Err(fate));
        Joined::CodeRefused(fate)
    }

    fn granted(&self, code: &Code, granted: Granted, visit: &Visit, edition: Edition) -> Joined {
        let Granted { lane, number, new } = granted;
        if new {
            let room = &self.rules.room.name;
            self.shared.metrics.code(CodeFate::Used);
            tracing::info!(%room, code = %code.id, grants = %code.grant, lane = lane.0, number = number.n, "a code was used");
        }
        let identity = self.joins_as().first().copied();
        let joined = self.joined(visit, edition, (lane, TicketPlace::Numbered(number)), identity);
        joined.by_code(new || self.was_good_for(code, lane, number))
    }

    fn was_good_for(&self, code: &Code, lane: LaneId, number: Number) -> bool {
        let view = self.shared.replica.load();
        let room = view.rooms.get(&self.rules.room.name);
        let spent = room.and_then(|room| room.spent.get(code.id)).filter(|_| code.single);
        spent.is_some_and(|spent| (spent.lane, spent.number) == (lane, number))
    }
}

fn is_mark(mark: &str) -> bool {
    (MIN_MARK..=MAX_MARK).contains(&mark.len())
        && mark
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Characters of a mark. An app makes its own.
const MIN_MARK: usize = 16;
const MAX_MARK: usize = 64;

/// `None` without randomness: two visitors with one mark would be one to the log. Who has none cannot come again as the same.
fn fresh_mark() -> Option<String> {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes).ok()?;
    Some(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_some_letters_that_a_cookie_can_hold() {
        let (mark, other) = (fresh_mark().unwrap(), fresh_mark().unwrap());
        assert!(is_mark(&mark) && mark != other);
        assert!(is_mark(&"a".repeat(16)) && is_mark("AZaz09-_AZaz09-_"));
        for odd in ["", "short", "sixteen letters!", "sixteen.letters.", &"a".repeat(65)] {
            assert!(!is_mark(odd), "{odd}");
        }
    }

    #[test]
    fn a_code_is_told_from_its_mark() {
        assert_eq!(parted("abc"), ("abc", None));
        assert_eq!(parted("abc.def.g"), ("abc", Some("def.g")));
    }
}
