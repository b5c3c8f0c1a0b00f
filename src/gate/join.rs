//! A navigation without a place: numbering the visitor, and going on from there.

use http::HeaderMap;
use http::header::SET_COOKIE;

use crate::metrics::{CodeFate, Outcome};
use crate::replica::{Arrival, JoinOutcome};
use crate::room::{Edition, LaneId, Number, PendingId, Standing, Tag, View};
use crate::time;
use crate::token::{Pass, Ticket, TicketPlace};
use crate::waiting::{Notice, check_of};

use super::answers::Answer;
use super::decide::{PassState, Void};
use super::forward::Admission;
use super::forward_auth::Aim;
use super::inside::Entry;
use super::limits::Asker;
use super::line_page::LinePage;
use super::proof::{Asked, PROOF_HEADER, Proof};
use super::seat::Seat;
use super::visit::Visit;
use super::{Gate, Halves, limits};

/// How a newcomer comes.
#[derive(Clone, Copy)]
pub enum Coming {
    First,
    /// With a pending ticket.
    Again(PendingId),
    /// With a proof of work, or having waited instead; each is good for one join, by its id.
    Proved(PendingId),
    Waited(PendingId),
}

impl Coming {
    #[must_use]
    pub fn of(pending: Option<PendingId>) -> Self {
        pending.map_or(Self::First, Self::Again)
    }
}

/// A visitor without a place, before a line of a room.
pub struct Newcomer {
    pub pending: Option<PendingId>,
    /// Why what was shown is void.
    pub told: Option<Void>,
    /// The room's, when the visit began.
    pub edition: Edition,
}

/// What became of a newcomer.
pub enum Joined {
    /// Called while joining; and whether it was by the code that was shown, which has done its work.
    Called(Box<(Ticket, Pass)>, bool),
    /// In line, or noted for when the log can be reached again; and whether it was by the code.
    InLine(Box<Ticket>, bool),
    /// Nobody is numbered here.
    Refused,
    /// Nor by the code that was shown.
    CodeRefused(CodeFate),
    /// Too many joins from this client.
    Limited(limits::Over),
}

impl Joined {
    pub(super) fn by_code(self, by_code: bool) -> Self {
        match self {
            Self::Called(tokens, _) => Self::Called(tokens, by_code),
            Self::InLine(ticket, _) => Self::InLine(ticket, by_code),
            other => other,
        }
    }
}

impl Gate {
    /// Gives the visitor a number and, if it is called at once, a pass; a pending ticket while the log cannot be reached.
    pub async fn number(&self, seat: &Seat<'_>, visit: &Visit, edition: Edition, coming: Coming) -> Joined {
        // A pending join was counted when its ticket was given; the room forgets its id after the late window.
        let lapsed = |ticket: &Ticket| seat.has_lapsed(ticket, visit);
        let counted = match coming {
            // As many as the rehearsal is for, however few machines they come from.
            _ if seat.rehearsal.is_some() => Ok(()),
            Coming::First if seat.waits_with_code(visit) => {
                self.shared.limits.status(Asker::of(seat.ticket()), visit.client)
            }
            Coming::Again(_) if !seat.ticket().is_some_and(lapsed) => {
                self.shared.limits.status(Asker::of(seat.ticket()), visit.client)
            }
            Coming::Waited(_) => self
                .shared
                .limits
                .join_without_proof(&seat.rules.room.name, visit.client),
            _ => self.shared.limits.join(&seat.rules.room.name, visit.client),
        };
        if let Err(over) = counted {
            return Joined::Limited(over);
        }
        if let Some(joined) = self.by_code(seat, visit, edition).await {
            return joined;
        }
        self.place(seat, visit, edition, coming).await
    }

    /// As [`Gate::number`], for whoever is counted and comes without a code for the log.
    pub(super) async fn place(&self, seat: &Seat<'_>, visit: &Visit, edition: Edition, coming: Coming) -> Joined {
        let lane = seat.lane(visit);
        let (room, line) = (seat.rules.room.name.clone(), seat.line.clone());
        let tags = seat.joins_as();
        let identity = tags.first().copied();
        let arrival = match coming {
            Coming::First => Arrival::first(),
            Coming::Again(id) | Coming::Proved(id) | Coming::Waited(id) => Arrival::again(id),
        }
        .of(tags)
        .within(seat.rehearsal);
        let (lane, place) = match self.shared.replica.join(&room, &line, lane, arrival.clone()).await {
            JoinOutcome::Numbered(lane, number) => (lane, TicketPlace::Numbered(number)),
            JoinOutcome::Later => (lane, TicketPlace::Pending(arrival.id)),
            JoinOutcome::Refused => return Joined::Refused,
        };
        // Once for each visitor: whoever comes again was written down.
        if !matches!(coming, Coming::Again(_)) {
            seat.note_code(lane, visit);
        }
        // PERF: nobody else needs to know.
        if seat.rules.room.proof.is_some() && seat.rehearsal.is_none() {
            seat.rules.joins.count(time::uptime());
        }
        seat.joined(visit, edition, (lane, place), identity)
    }

    /// The row "navigation, no ticket": forwarded if called at once, else the waiting page.
    pub async fn join(
        &self,
        seat: &Seat<'_>,
        visit: &mut Visit,
        mut request: Box<Halves>,
        mut newcomer: Newcomer,
    ) -> Answer {
        let Newcomer { pending, edition, told } = newcomer;
        let coming = match pending.map_or_else(|| seat.proved(visit, &request.head.headers), |id| Ok(Coming::Again(id)))
        {
            Ok(coming) => coming,
            Err(asked) => return seat.ask(visit, &asked),
        };
        // An account may have a place already, which is not at the back.
        let before = told
            .filter(|_| !seat.tags.is_empty())
            .map(|_| self.shared.replica.view());
        let joined = self.number(seat, visit, edition, coming).await;
        if before.is_some_and(|view| seat.stood(&view, &joined)) {
            newcomer.told = None;
        }
        let joined = match joined {
            Joined::Called(tokens, by_code) if !request.body.is_complete() && visit.aim == Aim::Shop => {
                if let Err(error) = Box::pin(self.receive(visit, &mut request)).await {
                    return self.failed(error, &seat.rules.pages, visit);
                }
                seat.still_called(visit, tokens, by_code)
            }
            joined => joined,
        };
        match joined {
            Joined::Called(tokens, by_code) => {
                let (ticket, pass) = *tokens;
                let mut cookies = vec![seat.set_ticket_inside(&ticket)];
                cookies.extend(by_code.then(|| seat.clear_code()));
                let entry = Entry {
                    outcome: Outcome::Admitted,
                    cookies,
                    check: check_of(&seat.rules.room.name, &seat.line, visit.here()),
                };
                let named = seat.called_at_once(&pass);
                match self.forward_in(seat, visit, request, named, entry).await {
                    Some(answer) => answer,
                    None => seat.in_line(visit, &newcomer, &ticket, by_code),
                }
            }
            Joined::InLine(ticket, by_code) => seat.in_line(visit, &newcomer, &ticket, by_code),
            // Switched off on another gate, which this one had not read yet.
            Joined::Refused if self.shared.is_off(&seat.rules.room.name) => {
                let pages = &seat.rules.pages;
                let right = Admission::Off(seat.rules.room.name.clone(), seat.line.clone());
                self.forward(visit, request, pages, Outcome::Outside, right).await
            }
            Joined::Refused => seat.refused_to(visit, coming),
            Joined::CodeRefused(fate) => self.without_code(seat, visit, fate),
            Joined::Limited(over) => over.answer(&seat.rules.pages, visit),
        }
    }
}

impl Seat<'_> {
    /// How a newcomer comes who shows what these fields hold; `Err`: what is asked before.
    pub(super) fn proved(&self, visit: &Visit, fields: &HeaderMap) -> Result<Coming, Asked> {
        // A code is scarcer than any proof.
        if self.joins_by_code(visit) {
            return Ok(Coming::First);
        }
        let shown = fields.get(PROOF_HEADER).and_then(|shown| shown.to_str().ok());
        match self.proof(visit, shown) {
            Proof::NotAsked => Ok(Coming::First),
            Proof::Given(id) => Ok(Coming::Proved(id)),
            Proof::Waited(id) => Ok(Coming::Waited(id)),
            Proof::Asked(asked) => Err(asked),
        }
    }

    /// The answer to who is not numbered: what was shown may be spent by another account's join, so another proof is asked for.
    pub(super) fn refused_to(&self, visit: &Visit, coming: Coming) -> Answer {
        let is_proved = matches!(coming, Coming::Proved(_) | Coming::Waited(_));
        if is_proved
            && !self.tags.is_empty()
            && let Proof::Asked(asked) = self.proof(visit, None)
        {
            return self.ask(visit, &asked);
        }
        self.refused(visit)
    }

    /// The room has forgotten the id of a pending ticket.
    pub(super) fn has_lapsed(&self, ticket: &Ticket, visit: &Visit) -> bool {
        visit.wall.since(ticket.joined_at) > self.rules.room.settings.late_window_ms
    }

    /// The number that a join was answered with was there before.
    fn stood(&self, view: &View, joined: &Joined) -> bool {
        let Joined::InLine(ticket, _) = joined else {
            return false;
        };
        let number = number_of(ticket).map(|number| self.visitor(ticket.lane, number));
        number.is_some_and(|visitor| view.standing(&visitor, view.clock) != Standing::Unknown)
    }

    /// The waiting page of a visitor who has just joined.
    fn in_line(&self, visit: &Visit, newcomer: &Newcomer, ticket: &Ticket, by_code: bool) -> Answer {
        let page = LinePage {
            seat: self,
            visit,
            notice: newcomer.told.map(notice),
            fresh: true,
            ticket,
        };
        let mut answer = page.answer(Outcome::Joined);
        let used_up = by_code.then(|| self.clear_code());
        for cookie in std::iter::once(self.set_ticket(ticket)).chain(used_up) {
            answer.response.headers_mut().append(SET_COOKIE, cookie);
        }
        answer
    }

    /// Whoever was called while joining, once the request's body is here: the call may have lapsed meanwhile.
    fn still_called(&self, visit: &Visit, tokens: Box<(Ticket, Pass)>, by_code: bool) -> Joined {
        let (ticket, pass) = &*tokens;
        let worth = self.with(ticket.clone(), Some(pass.clone())).worth(visit);
        if worth.is_some_and(|worth| worth.pass() == PassState::Valid) {
            return Joined::Called(tokens, by_code);
        }
        Joined::InLine(Box::new(tokens.0), by_code)
    }

    /// The tokens of whoever was numbered, or is to be.
    pub(super) fn joined(
        &self,
        visit: &Visit,
        edition: Edition,
        (lane, place): (LaneId, TicketPlace),
        identity: Option<Tag>,
    ) -> Joined {
        let (room, line) = (self.rules.room.name.clone(), self.line.clone());
        // Another gate may have reset the room since the visit began: the number is of the edition that the view shows with it.
        let edition = match place {
            TicketPlace::Numbered(_) => self
                .shared
                .replica
                .load()
                .rooms
                .get(&room)
                .map_or(edition, |room| room.edition),
            TicketPlace::Pending(_) => edition,
        };
        let ticket = Ticket {
            room,
            line,
            lane,
            edition,
            place,
            joined_at: visit.wall,
            identity,
        };
        let pass = match place {
            TicketPlace::Numbered(number) => self.pass_for(lane, number, edition, visit.wall),
            TicketPlace::Pending(_) => None,
        };
        match pass {
            Some(pass) => Joined::Called(Box::new((ticket, pass)), false),
            None => Joined::InLine(Box::new(ticket), false),
        }
    }
}

/// What a visitor who joins anew is told.
#[must_use]
pub fn notice(void: Void) -> Notice {
    match void {
        Void::Late => Notice::Late,
        Void::Ended => Notice::Ended,
        Void::Reset => Notice::Reset,
    }
}

/// The number of a ticket, if it has one.
#[must_use]
pub fn number_of(ticket: &Ticket) -> Option<Number> {
    match ticket.place {
        TicketPlace::Numbered(number) => Some(number),
        TicketPlace::Pending(_) => None,
    }
}
