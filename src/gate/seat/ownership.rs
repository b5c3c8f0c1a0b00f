//! A check that the place of a request belongs to the account that it names.
//!
//! A ticket or pass of an account counts under that account alone: not under another, and not without one, where each request
//! can name it. A visitor whose token has expired keeps the place in line, and is admitted once signed in again.

use http::StatusCode;

use crate::config::{Identities, Missing};
use crate::metrics::Outcome;
use crate::pages::PageKind;
use crate::room::{Tag, Visitor};
use crate::token::{Ticket, TicketPlace};

use super::Seat;
use super::reader::TicketWorth;
use super::worth::Worth;
use crate::gate::request::account;
use crate::gate::request::visit::Visit;
use crate::gate::verdict::answers::{Answer, Refusal};
use crate::gate::verdict::decide::{PassState, TicketState};
use crate::gate::verdict::refusals;

/// The room requires an account, and the request names none.
#[must_use]
pub fn is_nameless(seat: &Seat<'_>) -> bool {
    let refuses = |identities: &Identities| identities.missing == Missing::Refuse;
    let named = seat.shown.rehearsal().is_some() || !joins_as(seat).is_empty();
    !named && seat.rules.room.identity.as_ref().is_some_and(refuses)
}

/// The tokens belong to another account.
#[must_use]
pub fn is_foreign(seat: &Seat<'_>, worth: &Worth) -> bool {
    let other = |tag: Tag| !seat.shown.tags().contains(&tag);
    !seat.shown.tags().is_empty() && owners(seat, worth).into_iter().flatten().any(other)
}

/// The tokens show a place that counts only under its account, and the request names none.
#[must_use]
pub fn lacks_account(seat: &Seat<'_>, worth: &Worth) -> bool {
    let Some(identities) = seat
        .rules
        .room
        .identity
        .as_ref()
        .filter(|identities| identities.binds())
    else {
        return false;
    };
    if seat.shown.rehearsal().is_some() || !seat.shown.tags().is_empty() {
        return false;
    }
    match identities.missing {
        Missing::Refuse => worth.live_pass().is_some() || worth.live_ticket().is_some(),
        Missing::Join => owners(seat, worth).iter().any(Option::is_some),
    }
}

/// The tokens would admit their account now, and the request names none. A visitor who only waits goes on waiting.
#[must_use]
pub fn must_sign_in(seat: &Seat<'_>, worth: &Worth) -> bool {
    let seated = matches!(
        worth.ticket(),
        TicketState::Called | TicketState::Inside | TicketState::Pending(_)
    );
    (seated || worth.pass() == PassState::Valid) && lacks_account(seat, worth)
}

/// The accounts of the pass and the ticket, as far as these count.
fn owners(seat: &Seat<'_>, worth: &Worth) -> [Option<Tag>; 2] {
    let pass = worth
        .live_pass()
        .and_then(|pass| account(seat, &seat.visitor(pass.pass.lane, pass.pass.number)));
    // The room is asked first: it has the tag of the signing key as soon as the account has joined, with any browser.
    let by_room = || account(seat, &seat.ticket_visitor()?);
    let of_ticket = |live: &TicketWorth| by_room().or(live.ticket.identity);
    [pass, worth.live_ticket().and_then(of_ticket)]
}

/// Records in the log to whom the numbers belong that a request of an account shows, where it does not know; a visitor who joined before
/// signing in has that place from now on. SECURITY: only after [`is_foreign`].
pub async fn own(seat: &Seat<'_>, visit: &Visit, worth: Worth) -> Worth {
    if seat.shown.tags().is_empty() {
        return worth;
    }
    if let Some(pass) = worth.pass.as_ref().filter(|pass| pass.state == PassState::Valid) {
        let visitor = seat.visitor(pass.pass.lane, pass.pass.number);
        if pass.pass.edition == worth.edition && account(seat, &visitor) != seat.shown.tags().first().copied() {
            seat.shared.replica.bind(visitor, seat.shown.tags().to_vec());
        }
    }
    let shown = matches!(
        worth.ticket(),
        TicketState::Waiting | TicketState::Called | TicketState::Inside
    );
    let ticket = worth.ticket.as_ref().map(|ticket| &ticket.ticket);
    let ticket = ticket.filter(|ticket| shown && ticket.edition == worth.edition);
    let (Some(ticket), Some(visitor)) = (ticket, seat.ticket_visitor()) else {
        return worth;
    };
    match account(seat, &visitor) {
        owner if owner == seat.shown.tags().first().copied() => worth,
        None if ticket.identity.is_none() => {
            let _ = seat.shared.replica.bound(visitor, seat.shown.tags().to_vec()).await;
            seat.worth(visit).unwrap_or(worth)
        }
        _ => {
            seat.shared.replica.bind(visitor, seat.shown.tags().to_vec());
            worth
        }
    }
}

/// The tags of a visitor who joins. A ticket without a number keeps its account, where requests need not name it.
#[must_use]
pub fn joins_as(seat: &Seat<'_>) -> Vec<Tag> {
    let pending = |ticket: &&Ticket| matches!(ticket.place, TicketPlace::Pending(_));
    let binds = || seat.rules.room.identity.as_ref().is_some_and(Identities::binds);
    let kept = || seat.shown.ticket().filter(pending).filter(|_| !binds())?.identity;
    if seat.shown.tags().is_empty() {
        kept().into_iter().collect()
    } else {
        seat.shown.tags().to_vec()
    }
}

/// 403: the place is another account's. The page has a button that puts the tokens away.
#[must_use]
pub fn not_yours(seat: &Seat<'_>, visit: &Visit) -> Answer {
    let button = refusals::own_url(seat, "afresh", visit.here());
    let refusal = Refusal::new(
        StatusCode::FORBIDDEN,
        "ticket_owner",
        PageKind::TicketOwner,
        Outcome::TurnedAway,
    );
    Refusal {
        room: Some(seat.rules.room.name.as_str()),
        button_url: Some(&button),
        ..refusal
    }
    .answer(&seat.rules.pages, visit)
}

/// 403: sign in first. The request's body is not kept. Where no account is required, the page has the button that puts an
/// account's place away.
#[must_use]
pub fn sign_in(seat: &Seat<'_>, visit: &Visit) -> Answer {
    let identities = seat.rules.room.identity.as_ref();
    if identities.is_some_and(|identities| identities.missing == Missing::Join) {
        return not_yours(seat, visit);
    }
    let refusal = Refusal::new(StatusCode::FORBIDDEN, "sign_in", PageKind::SignIn, Outcome::TurnedAway);
    Refusal {
        room: Some(seat.rules.room.name.as_str()),
        sign_in: identities.and_then(|identities| identities.sign_in.as_deref()),
        ..refusal
    }
    .answer(&seat.rules.pages, visit)
}

/// The account of a number, as far as the room knows it.
pub fn account(seat: &Seat<'_>, visitor: &Visitor) -> Option<Tag> {
    account::account(&seat.shared.replica.load(), visitor)
}

#[cfg(test)]
mod tests;
