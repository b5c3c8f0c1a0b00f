//! Codes whose use the log decides: single-use codes, and codes that lead past the line.
//!
//! The visitor's cookie holds a mark beside the code, and the log a hash of both: a visitor who comes again with it is the same
//! visitor, at any gate and after any loss. A code is not taken where another visitor may have used it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use http::header::SET_COOKIE;

use crate::metrics::CodeFate;
use crate::replica::{Arrival, Granted};
use crate::room::{Denied, Edition, LaneId, Number, Redeem};
use crate::token::{Code, Grant, Ticket, TicketPlace};

use super::codes::{self, NO_CODE};
use super::worth::Worth;
use super::{Seat, ownership};
use crate::gate::request::kind::Kind;
use crate::gate::request::shown_code::{PARAMETER, parted};
use crate::gate::request::visit::Visit;
use crate::gate::verdict::answers::Answer;
use crate::gate::verdict::arrival::{self, Joined};
use crate::gate::verdict::decide::{Door, TicketState};
use crate::gate::verdict::{line_page, refusals};

/// A code that is to be used in the log.
pub struct Use {
    code: Code,
    mark: Option<String>,
}

/// The code that the request carries, if its use is the log's to decide; or why it cannot be used.
pub fn use_of_code(seat: &Seat<'_>, visit: &Visit) -> Option<Result<Use, CodeFate>> {
    // PERF: few visitors have one.
    let (text, mark) = parted(seat.shown.code()?);
    let line = &seat.line;
    let code = Code::read(&seat.shared.keyring, &seat.rules.room.name, line, text)?;
    if !code.is_redeemed() || is_of(seat, &code) {
        return None;
    }
    let costs = || {
        seat.worth(visit)
            .is_some_and(|worth| codes::costs_a_place(seat, &code, &worth))
    };
    if !seat.shown.confirms_code() && costs() {
        return None;
    }
    let judged = codes::judge_code(seat, text, visit);
    Some(match mark {
        Some(mark) if !is_mark(mark) => Err(CodeFate::Unknown),
        _ => judged.map(|code| Use {
            code,
            mark: mark.map(str::to_owned),
        }),
    })
}

/// By the code that the request carries visitors do not join as others do: a refusal costs nothing, and a grant the code.
pub fn joins_by_code(seat: &Seat<'_>, visit: &Visit) -> bool {
    match use_of_code(seat, visit) {
        None => false,
        Some(Err(_)) => true,
        Some(Ok(used)) => needs(seat, &used.code, visit),
    }
}

/// The visitor waits, and comes to use a code: it asks the log, and does not join without one.
pub fn waits_with_code(seat: &Seat<'_>, visit: &Visit) -> bool {
    let waits = || {
        seat.worth(visit)
            .is_some_and(|worth| worth.ticket() == TicketState::Waiting)
    };
    use_of_code(seat, visit).is_some() && waits()
}

/// A visitor who waits shows a code that is not used yet: it is used now.
pub fn uses_code(seat: &Seat<'_>, worth: &Worth, visit: &Visit) -> bool {
    // PERF: few visitors have a code.
    let waits = seat.shown.code().is_some() && worth.ticket() == TicketState::Waiting;
    waits
        && visit.kind == Kind::Navigation
        && !ownership::lacks_account(seat, worth)
        && use_of_code(seat, visit).is_some()
}

/// Which of the room's doors is open now: no code is needed where every newcomer is called at once.
fn needs(seat: &Seat<'_>, code: &Code, visit: &Visit) -> bool {
    let open = || seat.worth(visit).is_some_and(|worth| worth.door == Door::Open);
    code.grant != Grant::Bypass || seat.shown.ticket().is_some() || !open()
}

/// A code that another visitor has used is refused before anything is asked of the log.
pub fn unspent(seat: &Seat<'_>, text: &str, code: Code) -> Result<Code, CodeFate> {
    let marked = seat.shown.code().map(parted).filter(|(shown, _)| *shown == text);
    let holder = marked.and_then(|(_, mark)| Some(code.holder(mark?)));
    let view = seat.shared.replica.load();
    let room = view.rooms.get(&seat.rules.room.name);
    let spent = room.and_then(|room| room.spent.get(code.id)).filter(|_| code.single);
    match spent {
        Some(spent) if Some(spent.holder) != holder && !has(seat, spent.lane, spent.number) => Err(CodeFate::Spent),
        _ => Ok(code),
    }
}

/// The visitor has the number that the code was good for.
pub fn is_of(seat: &Seat<'_>, code: &Code) -> bool {
    let view = seat.shared.replica.load();
    let room = view.rooms.get(&seat.rules.room.name);
    let spent = room.and_then(|room| room.spent.get(code.id)).filter(|_| code.single);
    spent.is_some_and(|spent| has(seat, spent.lane, spent.number))
}

fn has(seat: &Seat<'_>, lane: LaneId, number: Number) -> bool {
    let visitor = Some(seat.visitor(lane, number));
    seat.ticket_visitor() == visitor || seat.pass_visitor() == visitor
}

/// The code with a mark; the browser's present mark for it stays.
pub fn marked(seat: &Seat<'_>, text: &str) -> String {
    let shown = seat.shown.code().filter(|shown| {
        let (code, mark) = parted(shown);
        code == text && mark.is_some_and(is_mark)
    });
    let fresh = || fresh_mark().map_or_else(|| text.to_owned(), |mark| format!("{text}.{mark}"));
    shown.map_or_else(fresh, str::to_owned)
}

/// The answer to a visitor with a code that cannot be used: a person on a page, with a way on without it.
fn refuse_code_page(seat: &Seat<'_>, fate: CodeFate, visit: &Visit) -> Answer {
    if !visit.kind.is_navigation() {
        return codes::refuse_code_to_app(seat, fate, visit);
    }
    let here = visit.here();
    let separator = if here.contains('?') { '&' } else { '?' };
    let mut answer = codes::refuse_code(seat, &format!("{here}{separator}{PARAMETER}={NO_CODE}"), fate, visit);
    // A code that may be taken later is kept for the next try.
    if fate != CodeFate::NotNow {
        answer
            .response
            .headers_mut()
            .append(SET_COOKIE, seat.cookies.clear_code());
    }
    answer
}

/// A visitor who waits, with a code that may be taken later, sees their line meanwhile.
pub fn without_code(seat: &Seat<'_>, visit: &Visit, fate: CodeFate) -> Answer {
    let waits = |worth: &Worth| worth.ticket() == TicketState::Waiting;
    match seat.worth(visit).filter(waits) {
        Some(worth) if fate == CodeFate::NotNow => line_page::wait(seat, visit, &worth),
        _ => refuse_code_page(seat, fate, visit),
    }
}

/// Has the log decide; `None` for a visitor who joins without a code after all.
pub async fn by_code(seat: &Seat<'_>, visit: &Visit, edition: Edition) -> Option<Joined> {
    let shown = use_of_code(seat, visit)?;
    // A visitor who waits is present, also if the code is refused.
    let presence = seat.worth(visit).and_then(|worth| worth.presence());
    refusals::note(seat, presence, seat.ticket_visitor());
    let used = match shown {
        Ok(used) if needs(seat, &used.code, visit) => used,
        Ok(_) => return None,
        Err(fate) => return Some(denied(seat, fate, visit)),
    };
    if let Err(fate) = unspent(seat, parted(seat.shown.code()?).0, used.code.clone()) {
        return Some(denied(seat, fate, visit));
    }
    // The rooms lack the lane that this gate has read of in its file.
    let Some(redeem) = redeem(seat, &used, visit) else {
        return Some(denied(seat, CodeFate::NotNow, visit));
    };
    let bypass = redeem.bypass;
    Some(match seat.shared.replica.redeem(redeem).await {
        Ok(granted) => joined_by(seat, &used.code, granted, visit, edition),
        Err(Denied::Refused) if bypass && !takes_bypass(seat) => denied(seat, CodeFate::NoBypass, visit),
        Err(Denied::Refused) => Joined::Refused,
        Err(Denied::Spent) => denied(seat, CodeFate::Spent, visit),
        Err(Denied::NotNow) => denied(seat, CodeFate::NotNow, visit),
        Err(Denied::Doubtful) => denied(seat, CodeFate::InDoubt, visit),
        Err(Denied::Expired) => denied(seat, CodeFate::Expired, visit),
    })
}

fn redeem(seat: &Seat<'_>, used: &Use, visit: &Visit) -> Option<Redeem> {
    let lane = match &used.code.grant {
        Grant::Lane(name) => seat.index(name)?,
        Grant::Bypass => codes::lane(seat, visit),
    };
    let waiting = |ticket: &&Ticket| matches!(ticket.place, TicketPlace::Numbered(_));
    let leaves = seat.shown.ticket().filter(waiting).and_then(|_| seat.ticket_visitor());
    // A visitor without a mark cannot come again as the same.
    let holder = match &used.mark {
        Some(mark) => used.code.holder(mark),
        None => Arrival::first().id,
    };
    Some(Redeem {
        room: seat.rules.room.name.clone(),
        line: seat.line.clone(),
        lane,
        tags: ownership::joins_as(seat),
        code: used.code.id,
        holder,
        issued: used.code.issued,
        expires: used.code.expires,
        single: used.code.single,
        bypass: used.code.grant == Grant::Bypass,
        leaves: leaves.map(|visitor| (visitor.lane, visitor.number)),
    })
}

fn takes_bypass(seat: &Seat<'_>) -> bool {
    let view = seat.shared.replica.load();
    let room = view.rooms.get(&seat.rules.room.name);
    room.is_some_and(|room| room.settings.takes_bypass())
}

fn denied(seat: &Seat<'_>, fate: CodeFate, visit: &Visit) -> Joined {
    codes::tell(seat, &Err(fate), visit);
    Joined::CodeRefused(fate)
}

fn joined_by(seat: &Seat<'_>, code: &Code, granted: Granted, visit: &Visit, edition: Edition) -> Joined {
    let Granted { lane, number, new } = granted;
    if new {
        let room = &seat.rules.room.name;
        seat.shared.metrics.code(CodeFate::Used);
        tracing::info!(
            %room, request_id = %visit.id, code = %code.id, grants = %code.grant, lane = lane.0, number = number.n,
            "a code was used"
        );
    }
    let identity = ownership::joins_as(seat).first().copied();
    let joined = arrival::joined(seat, visit, edition, (lane, TicketPlace::Numbered(number)), identity);
    joined.by_code(new || was_good_for(seat, code, lane, number))
}

fn was_good_for(seat: &Seat<'_>, code: &Code, lane: LaneId, number: Number) -> bool {
    let view = seat.shared.replica.load();
    let room = view.rooms.get(&seat.rules.room.name);
    let spent = room.and_then(|room| room.spent.get(code.id)).filter(|_| code.single);
    spent.is_some_and(|spent| (spent.lane, spent.number) == (lane, number))
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

/// `None` without randomness: two visitors with one mark would be one to the log. A visitor without one cannot come again as the same.
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
