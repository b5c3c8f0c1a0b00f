//! Codes that lead to a lane or past the line: a link brings one, the gate keeps it in a cookie, and it counts on joining.
//!
//! The shop never sees a code: a navigation that carries one is sent on to the same address without it, which keeps it out of
//! the `Referer` too, and fields and cookies of the gate's own are removed from each forwarded request. A code that cannot be used is
//! reported in words, with a way to go on without it.

use http::header::{CACHE_CONTROL, LOCATION, RETRY_AFTER, SET_COOKIE};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};

use crate::metrics::{CodeFate, Outcome};
use crate::pages::{PageFacts, PageKind, percent_encode};
use crate::proxy::{Body, ROPELINE_STATUS};
use crate::replica::Note;
use crate::token::{Code, CodeDate, Grant};
use ropeline_ids::LaneId;

use super::worth::Worth;
use super::{Seat, redeem, reissue};
use crate::gate::forward_auth::no;
use crate::gate::request::kind::{Kind, is_by_own_hand};
use crate::gate::request::location;
use crate::gate::request::shown_code::{CONFIRMED, HEADER, PARAMETER, parted};
use crate::gate::request::visit::Visit;
use crate::gate::verdict::answers::{Answer, Refusal, page};
use crate::gate::verdict::decide::{PassState, TicketState};
use crate::gate::verdict::refusals;

/// The validity of a code for this line, now.
pub fn judge_code(seat: &Seat<'_>, text: &str, visit: &Visit) -> Result<Code, CodeFate> {
    let room = &seat.rules.room.name;
    let keyring = &seat.shared.keyring;
    let Some(code) = Code::read(keyring, room, &seat.line, text) else {
        // A code of another room is reported only as far as the visitor needs to find the right link.
        let mut others = seat.shared.rules.iter().take(OTHER_ROOMS);
        let other = others.any(|other| Code::read(keyring, &other.room.name, &seat.line, text).is_some());
        return Err(if other { CodeFate::OtherRoom } else { CodeFate::Unknown });
    };
    match code.date(visit.wall) {
        CodeDate::NotYet(_) => return Err(CodeFate::NotYet),
        CodeDate::Over => return Err(CodeFate::Expired),
        CodeDate::Good => {}
    }
    match &code.grant {
        Grant::Bypass if !seat.rules.room.settings.takes_bypass() => Err(CodeFate::NoBypass),
        Grant::Lane(name) if !seat.rules.has_code_lane(name) => Err(CodeFate::NoLane),
        _ => Ok(code),
    }
}

/// The lane of a newcomer: by a code, else by a claim of their token, else by their network. The lanes of the room decide
/// which number it has: another gate may have configured them differently, and then a visitor without a lane there gets the
/// common one.
#[must_use]
pub fn lane(seat: &Seat<'_>, visit: &Visit) -> LaneId {
    let Some(lane) = seat.rules.lane(visit.client, seat.shown.claimed_lane()) else {
        return rest(seat);
    };
    if let Some((index, _)) = lane_by_code(seat, visit) {
        return index;
    }
    seat.index(&lane.name).unwrap_or_else(|| rest(seat))
}

/// The lane that the code leads to which the request carries, and the code.
fn lane_by_code(seat: &Seat<'_>, visit: &Visit) -> Option<(LaneId, Code)> {
    let code = judge_code(seat, parted(seat.shown.code()?).0, visit).ok()?;
    match &code.grant {
        Grant::Lane(name) if !code.single => Some((seat.index(name)?, code)),
        _ => None,
    }
}

/// Logs, by its id, the code by which a newcomer gets this lane. A code that is only shown, which is free, is not logged.
pub fn note_code(seat: &Seat<'_>, lane: LaneId, visit: &Visit) {
    let room = &seat.rules.room.name;
    if let Some((_, code)) = lane_by_code(seat, visit).filter(|(index, _)| *index == lane) {
        tracing::info!(%room, request_id = %visit.id, code = %code.id, grants = %code.grant, "a code was accepted");
    }
}

/// The lane for everybody else.
pub fn rest(seat: &Seat<'_>) -> LaneId {
    let first = seat.rules.room.lanes.first();
    first.and_then(|lane| seat.index(&lane.name)).unwrap_or_default()
}

/// The answer to a navigation that brings a code; `None` for one that brings none.
pub fn take_code(seat: &Seat<'_>, visit: &Visit, head: &Parts) -> Option<Answer> {
    if visit.kind != Kind::Navigation || !seat.rules.takes_codes() {
        return None;
    }
    let (here, text) = without_code(visit.here())?;
    let back = location::back(visit, head, &here);
    // Where a proxy only asks whether a request may pass, no cookie can be set; it is to ask for the words.
    if visit.aim.is_for_leave_only() {
        return Some(no());
    }
    if text == NO_CODE {
        // SECURITY: any site can have a visitor follow a link; only the gate's own page, or the visitor, puts a code away.
        let cleared = is_by_own_hand(&head.headers).then(|| seat.cookies.clear_code());
        return Some(send_on(back, cleared));
    }
    let verdict = judge_code(seat, &text, visit);
    let verdict = verdict.and_then(|code| redeem::unspent(seat, &text, code));
    // SECURITY: any site can have a visitor follow a link. Only a form of the gate's own can give up their present place.
    let worth = seat.worth(visit);
    if let (Ok(code), Some(worth)) = (&verdict, &worth)
        && costs_a_place(seat, code, worth)
    {
        return Some(ask_about_code(seat, &here, &text, worth, visit));
    }
    tell(seat, &verdict, visit);
    Some(match verdict {
        Ok(code) => keep_code(seat, back, &text, &code, false),
        Err(fate) => refuse_code(seat, &here, fate, visit),
    })
}

/// The code leads to a lane, and the visitor has a place in line which they would give up for it.
pub fn costs_a_place(seat: &Seat<'_>, code: &Code, worth: &Worth) -> bool {
    let Grant::Lane(name) = &code.grant else { return false };
    let has_place = matches!(
        worth.ticket(),
        TicketState::Waiting | TicketState::Unknown | TicketState::Pending(_)
    );
    if !has_place || worth.pass() == PassState::Valid || redeem::is_of(seat, code) {
        return false;
    }
    code.is_redeemed() || seat.index(name) != seat.shown.ticket().map(|ticket| ticket.lane)
}

/// A page with a button, and a link that keeps the place.
fn ask_about_code(seat: &Seat<'_>, here: &str, text: &str, worth: &Worth, visit: &Visit) -> Answer {
    let ticket = worth.ticket.as_ref();
    refusals::note(seat, ticket.and_then(|ticket| ticket.note), seat.ticket_visitor());
    let button = format!(
        "{}&code={}",
        refusals::own_url(seat, "code", here),
        percent_encode(text)
    );
    let id = visit.id.as_str();
    let facts = PageFacts {
        button_url: Some(&button),
        ..PageFacts::new(id, visit.wall, here)
    };
    let rendered = seat.rules.pages.render(PageKind::CodeUse, &facts, visit);
    let answer = Answer::new(Outcome::Waiting, page(StatusCode::OK, "code_use", rendered));
    reissue::with_ticket_anew(seat, worth, answer)
}

/// The button was pressed: the code may take the place away, and then goes on to `to`.
pub fn use_code(seat: &Seat<'_>, text: &str, to: &str, visit: &Visit) -> Answer {
    let verdict = judge_code(seat, text, visit);
    let verdict = verdict.and_then(|code| redeem::unspent(seat, text, code));
    tell(seat, &verdict, visit);
    let code = match verdict {
        Ok(code) => code,
        Err(fate) if visit.kind.is_navigation() => return refuse_code(seat, to, fate, visit),
        Err(fate) => return refuse_code_to_app(seat, fate, visit),
    };
    let costs = seat
        .worth(visit)
        .is_some_and(|worth| costs_a_place(seat, &code, &worth));
    let mut answer = keep_code(seat, location::to(to), text, &code, true);
    // One that is for one visitor takes the place when it is theirs, in the log.
    if costs && !code.is_redeemed() {
        refusals::note(seat, Some(Note::Leave), seat.ticket_visitor());
        answer
            .response
            .headers_mut()
            .append(SET_COOKIE, seat.cookies.clear_ticket());
    }
    answer
}

/// Counts the outcome of a code that was shown.
pub fn tell(seat: &Seat<'_>, verdict: &Result<Code, CodeFate>, visit: &Visit) {
    let room = &seat.rules.room.name;
    let fate = verdict.as_ref().map_or_else(|fate| *fate, |_| CodeFate::Accepted);
    seat.shared.metrics.code(fate);
    match verdict {
        Ok(code) => tracing::debug!(
            %room, request_id = %visit.id, code = %code.id, grants = %code.grant, "a code was shown"
        ),
        Err(fate) => {
            tracing::debug!(%room, request_id = %visit.id, reason = fate.as_str(), "a code was refused");
        }
    }
}

/// On to the same address without the code, which the browser keeps.
fn keep_code(seat: &Seat<'_>, back: HeaderValue, text: &str, code: &Code, confirmed: bool) -> Answer {
    if redeem::is_of(seat, code) {
        return send_on(back, None);
    }
    let mut kept = if code.is_redeemed() {
        redeem::marked(seat, text)
    } else {
        text.to_owned()
    };
    if confirmed {
        kept.push_str(CONFIRMED);
    }
    send_on(back, Some(seat.cookies.set_code(&kept)))
}

fn send_on(back: HeaderValue, cookie: Option<HeaderValue>) -> Answer {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    headers.insert(LOCATION, back);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(ROPELINE_STATUS, HeaderValue::from_static("code"));
    if let Some(cookie) = cookie {
        headers.append(SET_COOKIE, cookie);
    }
    Answer::new(Outcome::Redirected, response)
}

pub fn refuse_code(seat: &Seat<'_>, here: &str, fate: CodeFate, visit: &Visit) -> Answer {
    let id = visit.id.as_str();
    let facts = PageFacts {
        code: Some(fate),
        ..PageFacts::new(id, visit.wall, here)
    };
    let rendered = seat.rules.pages.render(PageKind::CodeRefused, &facts, visit);
    let mut response = page(status_of(fate), fate.as_str(), rendered);
    if let Some(secs) = retry_of(fate) {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(secs));
    }
    Answer::new(Outcome::TurnedAway, response)
}

/// The answer to an app about a code that cannot be used.
pub fn refuse_code_to_app(seat: &Seat<'_>, fate: CodeFate, visit: &Visit) -> Answer {
    let refusal = Refusal::new(status_of(fate), fate.as_str(), PageKind::CodeRefused, Outcome::Own);
    let retry_after_secs = retry_of(fate);
    Refusal {
        retry_after_secs,
        ..refusal
    }
    .answer(&seat.rules.pages, visit)
}

/// The answer to an app that joins with a code which cannot be used; `None` for one that brings none, or a good one.
pub fn refuse_app(seat: &Seat<'_>, head: &Parts, visit: &Visit) -> Option<Answer> {
    if !seat.rules.takes_codes() {
        return None;
    }
    let text = head.headers.get(HEADER)?;
    let verdict = text
        .to_str()
        .map_err(|_| CodeFate::Unknown)
        .and_then(|text| judge_code(seat, parted(text).0, visit));
    tell(seat, &verdict, visit);
    Some(refuse_code_to_app(seat, verdict.err()?, visit))
}

/// The target without its codes, and the first of them; `None` where there is none.
fn without_code(target: &str) -> Option<(String, String)> {
    let (path, query) = target.split_once('?')?;
    let is_code = |pair: &&str| pair.split('=').next() == Some(PARAMETER);
    let found = query.split('&').find(is_code)?;
    let text = found.split_once('=').map_or("", |(_, text)| text);
    let rest: Vec<&str> = query.split('&').filter(|pair| !is_code(pair)).collect();
    let here = if rest.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{}", rest.join("&"))
    };
    Some((here, text.to_owned()))
}

/// A code that is refused only for now is worth another try.
fn status_of(fate: CodeFate) -> StatusCode {
    if fate == CodeFate::NotNow {
        StatusCode::SERVICE_UNAVAILABLE
    } else {
        StatusCode::FORBIDDEN
    }
}

fn retry_of(fate: CodeFate) -> Option<u32> {
    (fate == CodeFate::NotNow).then_some(RETRY_SECS)
}

/// Replaces the code in a link: a visitor who follows it has none any more.
pub const NO_CODE: &str = "none";

/// When a code that is not taken at the moment may be.
const RETRY_SECS: u32 = 10;

/// Rooms that a code is tried for in addition to the one it came to: each try costs a MAC.
const OTHER_ROOMS: usize = 32;

#[cfg(test)]
mod tests {
    use crate::gate::seat::codes::without_code;

    #[test]
    fn every_code_is_taken_out_of_a_target_and_the_rest_stays_as_it_was() {
        let cut = |target| without_code(target).map(|(here, text)| format!("{here} {text}"));
        assert_eq!(cut("/a?ropeline_code=x").as_deref(), Some("/a x"));
        assert_eq!(cut("/a?b=%20&ropeline_code=x&c").as_deref(), Some("/a?b=%20&c x"));
        assert_eq!(
            cut("/a?ropeline_code=x&ropeline_code=y&z=1").as_deref(),
            Some("/a?z=1 x")
        );
        assert_eq!(cut("/a?ropeline_code").as_deref(), Some("/a "));
        for other in ["/a", "/a?b", "/a?ropeline_codes=x", "/ropeline_code=x"] {
            assert_eq!(cut(other), None, "{other}");
        }
    }
}
