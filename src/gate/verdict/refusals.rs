//! Refusals that need only a seat, and the events and cookies that go with them.

use http::header::REFRESH;
use http::{HeaderValue, StatusCode};

use crate::metrics::Outcome;
use crate::pages::{PageKind, percent_encode};
use crate::replica::{Note, Unrecorded};
use crate::room::{Mode, Stage, Visitor, pace};
use crate::token::Ticket;

use super::answers::{Answer, Refusal, jitter};
use super::decide::{Access, TicketState};
use crate::gate::request::kind::Kind;
use crate::gate::request::visit::Visit;
use crate::gate::seat::reader::PassWorth;
use crate::gate::seat::worth::Worth;
use crate::gate::seat::{Seat, ownership};
use crate::gate::state::pages::Pages;

/// Reports a note from the request's credentials to the log, if there is one.
pub fn note(seat: &Seat<'_>, note: Option<Note>, visitor: Option<Visitor>) {
    if let (Some(note), Some(visitor)) = (note, visitor) {
        seat.shared.replica.note(visitor, note);
    }
}

/// Renews the session of a shown pass if that is due: its request has come, though its body has not.
pub fn renew(seat: &Seat<'_>, shown: &PassWorth) {
    if shown.note == Some(Note::Renew) {
        note(seat, shown.note, Some(seat.visitor(shown.pass.lane, shown.pass.number)));
    }
}

/// Asks the room to give a lost place back to the ticket that proves it. Only its answer makes the ticket void: while
/// the log cannot be asked, the visitor keeps it.
pub async fn give_back(seat: &Seat<'_>, visit: &Visit, worth: Worth) -> Worth {
    let Some(visitor) = seat.ticket_visitor().filter(|_| worth.ticket() == TicketState::Unknown) else {
        return worth;
    };
    seat.shared.replica.foreign_epoch(visitor.number.epoch);
    // Of an epoch above the rooms' own: it is their log that is behind, and the next one stands above it.
    let ahead = visitor.number.epoch.0 > seat.shared.replica.load().position.epoch;
    if ahead || seat.shared.replica.cut_off().is_some() {
        return worth;
    }
    if let Some(ticket) = seat.shown.ticket() {
        seat.shared.replica.foreign_edition(&visitor.room, ticket.edition);
    }
    match seat.shared.replica.record(visitor, Note::Mark).await {
        Ok(()) | Err(Unrecorded::Refused | Unrecorded::Stale) => {
            seat.worth(visit).map_or(worth, Worth::without_unknown)
        }
        Err(Unrecorded::CutOff | Unrecorded::Full) => worth,
    }
}

/// Where a button of a page posts to, to come back to `here`.
#[must_use]
pub fn own_url(seat: &Seat<'_>, action: &str, here: &str) -> String {
    let (room, to) = (&seat.rules.room.name, percent_encode(here));
    let line = Some(seat.line.as_str()).filter(|_| !seat.line.is_only());
    let line = line.map(|line| format!("&line={}", percent_encode(line)));
    format!("/.ropeline/rooms/{room}/{action}?to={to}{}", line.unwrap_or_default())
}

/// A page whose link leads to the same address and makes the browser send the cookies that were held back. For a plain link
/// the page goes on by itself: the gate's own page leads there then, so the request is of the same origin. A form is never
/// sent again, and in a frame cookies would be held back from the next request too.
#[must_use]
pub fn same_site_link(seat: &Seat<'_>, visit: &Visit) -> Answer {
    let mut answer = same_site_page(&seat.rules.pages, visit);
    if visit.kind == Kind::Navigation {
        let secs = HeaderValue::from(GO_ON_SECS);
        answer.response.headers_mut().insert(REFRESH, secs);
    }
    answer
}

#[must_use]
pub fn session_ms(seat: &Seat<'_>) -> u64 {
    seat.rules.room.settings.session_ms
}

/// The answer to who comes with a pass that is in use from other networks: the visitor there goes on.
#[must_use]
pub fn shared_out(seat: &Seat<'_>, visit: &Visit) -> Answer {
    let status = StatusCode::FORBIDDEN;
    Refusal::new(status, "pass_shared", PageKind::PassShared, Outcome::Limited).answer(&seat.rules.pages, visit)
}

/// 503 for requests that no person waits with: when to try again, and why.
#[must_use]
pub fn not_now(seat: &Seat<'_>, visit: &Visit, worth: &Worth) -> Answer {
    let word = match worth.mode {
        _ if worth.early.is_some() => "early",
        _ if worth.sold_out => "sold_out",
        _ if worth.over => "over",
        Mode::Closed => "closed",
        _ => "waiting",
    };
    let refusal = Refusal::new(
        StatusCode::SERVICE_UNAVAILABLE,
        word,
        PageKind::Unavailable,
        Outcome::TurnedAway,
    );
    let retry = worth.early.map_or_else(soon, |stage| early_secs(&stage, visit));
    let room = Some(seat.rules.room.name.as_str());
    Refusal {
        retry_after_secs: Some(retry),
        room,
        ..refusal
    }
    .answer(&seat.rules.pages, visit)
}

/// Another site's request that must do nothing here: a page with a link of this site, or 403 for a script.
#[must_use]
pub fn cross_site(seat: &Seat<'_>, visit: &Visit) -> Answer {
    if visit.kind.is_navigation() {
        return same_site_page(&seat.rules.pages, visit);
    }
    let refusal = Refusal::new(
        StatusCode::FORBIDDEN,
        "cross_site",
        PageKind::BadRequest,
        Outcome::TurnedAway,
    );
    refusal.answer(&seat.rules.pages, visit)
}

/// The time of the next try for a visitor whose wait has no date.
pub fn soon() -> u32 {
    RETRY_SECS + u32::from(jitter() % RETRY_SPREAD_SECS)
}

/// A page with a link that leads here from this site.
pub fn same_site_page(pages: &Pages, visit: &Visit) -> Answer {
    Refusal::new(StatusCode::OK, "same_site", PageKind::SameSiteLink, Outcome::SameSite).answer(pages, visit)
}

/// When to come again who comes before a sale.
pub fn early_secs(stage: &Stage, visit: &Visit) -> u32 {
    let ms = pace::early_ms(stage.window.begins.since(visit.wall), jitter());
    u32::try_from(ms.div_ceil(1_000)).unwrap_or(u32::MAX)
}

/// When a program that was turned away should ask again, spread so that they do not all come at once.
const RETRY_SECS: u32 = 10;
const RETRY_SPREAD_SECS: u16 = 10;

/// When the page of a link from another site goes on by itself. Browsers keep no such page in their history, and one that named
/// another site again would not ask without a pause.
const GO_ON_SECS: u32 = 1;

/// The answer to a request that may not see the place which its tokens show.
pub fn refuse_access(seat: &Seat<'_>, access: Access, visit: &Visit) -> Option<Answer> {
    match access {
        Access::Granted => None,
        Access::NotYours => Some(ownership::not_yours(seat, visit)),
        Access::SignIn => Some(ownership::sign_in(seat, visit)),
    }
}

/// The cookie of the ticket of a visitor who is admitted at once.
#[must_use]
pub fn ticket_inside(seat: &Seat<'_>, ticket: &Ticket) -> HeaderValue {
    if seat.shared.sells(&seat.rules.room.name) {
        // It shows the win, when that may be shown.
        return seat.cookies.set_ticket(ticket);
    }
    seat.cookies.set_ticket_inside(ticket)
}
