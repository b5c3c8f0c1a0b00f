//! A navigation without a place: numbering the visitor, and going on from there.

use http::HeaderMap;
use http::header::SET_COOKIE;

use crate::metrics::Outcome;
use crate::pages::{Notice, check_of};
use crate::replica::{Arrival, JoinOutcome};
use crate::room::{Edition, Standing, View};
use crate::time;
use crate::token::{Pass, Ticket, TicketPlace};

use super::answers::Answer;
use super::arrival::{self, Coming, Joined, Newcomer};
use super::decide::{PassState, Void};
use super::inside::{self, Entry};
use super::line_page::{self, LinePage};
use super::{refusals, settle};
use crate::gate::bounds::limits::Asker;
use crate::gate::forward::{self, Permission, failed};
use crate::gate::request::aim::Aim;
use crate::gate::request::visit::Visit;
use crate::gate::seat::proof::{self, Asked, PROOF_HEADER, Proof};
use crate::gate::seat::reader::number_of;
use crate::gate::seat::{Seat, codes, ownership, redeem};
use crate::gate::state::gate::{Gate, Halves};

/// Gives the visitor a number and, if it is called at once, a pass; a pending ticket while the log cannot be reached.
pub async fn number(seat: &Seat<'_>, visit: &Visit, edition: Edition, coming: Coming) -> Joined {
    // A pending join was counted when its ticket was given; the room forgets its id after the late window.
    let lapsed = |ticket: &Ticket| arrival::has_lapsed(seat, ticket, visit);
    let counted = match coming {
        // As many as the rehearsal is for, however few machines they come from.
        _ if seat.shown.rehearsal().is_some() => Ok(()),
        Coming::First if redeem::waits_with_code(seat, visit) => {
            seat.shared.limits.status(Asker::of(seat.shown.ticket()), visit.client)
        }
        Coming::Again(_) if !seat.shown.ticket().is_some_and(lapsed) => {
            seat.shared.limits.status(Asker::of(seat.shown.ticket()), visit.client)
        }
        Coming::Waited(_) => seat
            .shared
            .limits
            .join_without_proof(&seat.rules.room.name, visit.client),
        _ => seat.shared.limits.join(&seat.rules.room.name, visit.client),
    };
    if let Err(over) = counted {
        return Joined::Limited(over);
    }
    if let Some(joined) = redeem::by_code(seat, visit, edition).await {
        return joined;
    }
    place(seat, visit, edition, coming).await
}

/// As [`number`], for a visitor who is counted and comes without a code for the log.
pub async fn place(seat: &Seat<'_>, visit: &Visit, edition: Edition, coming: Coming) -> Joined {
    let lane = codes::lane(seat, visit);
    let (room, line) = (seat.rules.room.name.clone(), seat.line.clone());
    let tags = ownership::joins_as(seat);
    let identity = tags.first().copied();
    let arrival = match coming {
        Coming::First => Arrival::first(),
        Coming::Again(id) | Coming::Proved(id) | Coming::Waited(id) => Arrival::again(id),
    }
    .of(tags)
    .within(seat.shown.rehearsal());
    let (lane, place) = match seat.shared.replica.join(&room, &line, lane, arrival.clone()).await {
        JoinOutcome::Numbered(lane, number) => (lane, TicketPlace::Numbered(number)),
        JoinOutcome::Later => (lane, TicketPlace::Pending(arrival.id)),
        JoinOutcome::Refused => return Joined::Refused,
    };
    // Once for each visitor: one who comes again was written down.
    if !matches!(coming, Coming::Again(_)) {
        codes::note_code(seat, lane, visit);
    }
    // PERF: only such rooms need the count.
    if seat.rules.room.proof.is_some() && seat.shown.rehearsal().is_none() {
        seat.rules.joins.count(time::uptime());
    }
    arrival::joined(seat, visit, edition, (lane, place), identity)
}

/// The row "navigation, no ticket": forwarded if called at once, else the waiting page.
pub async fn join(
    gate: &Gate,
    seat: &Seat<'_>,
    visit: &mut Visit,
    mut request: Box<Halves>,
    mut newcomer: Newcomer,
) -> Answer {
    let Newcomer { pending, edition, told } = newcomer;
    let coming = match pending.map_or_else(
        || proved(seat, visit, &request.head.headers),
        |id| Ok(Coming::Again(id)),
    ) {
        Ok(coming) => coming,
        Err(asked) => return proof::ask(seat, visit, &asked),
    };
    // An account may have a place already, which is not at the back.
    let before = told
        .filter(|_| !seat.shown.tags().is_empty())
        .map(|_| gate.shared.replica.view());
    let joined = number(seat, visit, edition, coming).await;
    if before.is_some_and(|view| stood(seat, &view, &joined)) {
        newcomer.told = None;
    }
    let joined = match joined {
        Joined::Called(tokens, by_code) if !request.body.is_complete() && visit.aim == Aim::Shop => {
            if let Err(error) = Box::pin(settle::receive(gate, visit, &mut request)).await {
                return failed::failed(&gate.shared, error, &seat.rules.pages, visit);
            }
            still_called(seat, visit, tokens, by_code)
        }
        joined => joined,
    };
    match joined {
        Joined::Called(tokens, by_code) => {
            let (ticket, pass) = *tokens;
            let mut cookies = vec![refusals::ticket_inside(seat, &ticket)];
            cookies.extend(by_code.then(|| seat.cookies.clear_code()));
            let entry = Entry {
                outcome: Outcome::Admitted,
                cookies,
                check: check_of(&seat.rules.room.name, &seat.line, visit.here()),
            };
            let named = inside::called_at_once(seat, &pass);
            match inside::forward_in(gate, seat, visit, request, named, entry).await {
                Some(answer) => answer,
                None => in_line(seat, visit, &newcomer, &ticket, by_code),
            }
        }
        Joined::InLine(ticket, by_code) => in_line(seat, visit, &newcomer, &ticket, by_code),
        // Switched off on another gate, which this one had not read yet.
        Joined::Refused if gate.shared.is_off(&seat.rules.room.name) => {
            let pages = &seat.rules.pages;
            let right = Permission::Off(seat.rules.room.name.clone(), seat.line.clone());
            forward::forward(gate, visit, request, pages, Outcome::Outside, right).await
        }
        Joined::Refused => refused_to(seat, visit, coming),
        Joined::CodeRefused(fate) => redeem::without_code(seat, visit, fate),
        Joined::Limited(over) => over.answer(&seat.rules.pages, visit),
    }
}

/// How a newcomer comes who shows these fields; `Err`: the proof that is asked for before.
pub fn proved(seat: &Seat<'_>, visit: &Visit, fields: &HeaderMap) -> Result<Coming, Asked> {
    // A code is scarcer than any proof.
    if redeem::joins_by_code(seat, visit) {
        return Ok(Coming::First);
    }
    let shown = fields.get(PROOF_HEADER).and_then(|shown| shown.to_str().ok());
    match proof::judge(seat, visit, shown) {
        Proof::NotAsked => Ok(Coming::First),
        Proof::Given(id) => Ok(Coming::Proved(id)),
        Proof::Waited(id) => Ok(Coming::Waited(id)),
        Proof::Asked(asked) => Err(asked),
    }
}

/// The answer to a visitor without a number: the shown proof may be spent by another account's join, so another is asked for.
pub fn refused_to(seat: &Seat<'_>, visit: &Visit, coming: Coming) -> Answer {
    let is_proved = matches!(coming, Coming::Proved(_) | Coming::Waited(_));
    if is_proved
        && !seat.shown.tags().is_empty()
        && let Proof::Asked(asked) = proof::judge(seat, visit, None)
    {
        return proof::ask(seat, visit, &asked);
    }
    line_page::refused(seat, visit)
}

/// The number that a join was answered with was there before.
fn stood(seat: &Seat<'_>, view: &View, joined: &Joined) -> bool {
    let Joined::InLine(ticket, _) = joined else {
        return false;
    };
    let number = number_of(ticket).map(|number| seat.visitor(ticket.lane, number));
    number.is_some_and(|visitor| view.standing(&visitor, view.clock) != Standing::Unknown)
}

/// The waiting page of a new visitor.
fn in_line(seat: &Seat<'_>, visit: &Visit, newcomer: &Newcomer, ticket: &Ticket, by_code: bool) -> Answer {
    let page = LinePage {
        seat,
        visit,
        notice: newcomer.told.map(notice),
        fresh: true,
        ticket,
    };
    let mut answer = page.answer(Outcome::Joined);
    let used_up = by_code.then(|| seat.cookies.clear_code());
    for cookie in std::iter::once(seat.cookies.set_ticket(ticket)).chain(used_up) {
        answer.response.headers_mut().append(SET_COOKIE, cookie);
    }
    answer
}

/// A visitor who was called while joining, once the request's body has arrived: the call may have expired meanwhile.
fn still_called(seat: &Seat<'_>, visit: &Visit, tokens: Box<(Ticket, Pass)>, by_code: bool) -> Joined {
    let (ticket, pass) = &*tokens;
    let worth = seat.with(ticket.clone(), Some(pass.clone())).worth(visit);
    if worth.is_some_and(|worth| worth.pass() == PassState::Valid) {
        return Joined::Called(tokens, by_code);
    }
    Joined::InLine(Box::new(tokens.0), by_code)
}

/// The notice to a visitor who joins anew.
#[must_use]
pub fn notice(void: Void) -> Notice {
    match void {
        Void::Late => Notice::Late,
        Void::Ended => Notice::Ended,
        Void::Reset => Notice::Reset,
    }
}
