//! The waiting page of one visitor: the facts from the view, the answer around them.

use http::header::{RETRY_AFTER, SET_COOKIE};
use http::{HeaderValue, StatusCode};

use crate::metrics::Outcome;
use crate::pages::{DrawFacts, LineFacts, Notice, PageFacts, PageKind, Reload, Stall, StockFacts, TurnFacts, let_in};
use crate::room::{LaneId, Number, RoomView, Stage, Standing, View, Visitor, pace};
use crate::token::{Reference, Ticket};

use super::answers::{Answer, CLOSED_RETRY_SECS, Refusal, jitter, page};
use super::decide::{TicketState, Void};
use super::refusals;
use crate::gate::request::aim::Aim;
use crate::gate::request::kind::Kind;
use crate::gate::request::visit::Visit;
use crate::gate::seat::reader::number_of;
use crate::gate::seat::worth::Worth;
use crate::gate::seat::{Seat, reissue, told_wait};

/// A page for a visitor with a ticket, numbered or pending.
pub struct LinePage<'a> {
    pub seat: &'a Seat<'a>,
    pub visit: &'a Visit,
    /// Why the place is not the one that the visitor remembers, beyond the room's knowledge.
    pub notice: Option<Notice>,
    /// The request came without a ticket.
    pub fresh: bool,
    pub ticket: &'a Ticket,
}

/// The row "navigation, waiting ticket": the page, and a note that the visitor is present.
pub fn wait(seat: &Seat<'_>, visit: &Visit, worth: &Worth) -> Answer {
    let Some(ticket) = &worth.ticket else {
        return seat.shared.unavailable(&seat.rules.pages, visit);
    };
    refusals::note(seat, worth.presence(), seat.ticket_visitor());
    let page = LinePage {
        seat,
        visit,
        notice: None,
        fresh: false,
        ticket: &ticket.ticket,
    };
    reissue::with_ticket_anew(seat, worth, page.answer(Outcome::Waiting))
}

impl LinePage<'_> {
    /// The page as an answer, or a code for a script: with the room's waiting status, or 503 when the request's body cannot
    /// be delivered.
    #[must_use]
    pub fn answer(&self, outcome: Outcome) -> Answer {
        let (seat, visit) = (self.seat, self.visit);
        if !visit.kind.is_navigation() {
            return in_line_word(seat, outcome, visit);
        }
        let view = seat.shared.replica.load();
        let Some(room_view) = view.rooms.get(&seat.rules.room.name) else {
            return seat.shared.unavailable(&seat.rules.pages, visit);
        };
        let line_view = room_view.line(&seat.line);
        let number = number_of(self.ticket);
        let lane = self.ticket.lane;
        let standing = line_view
            .zip(number)
            .map(|(line, number)| line.standing(lane, number, view.clock));
        let waiting = match standing {
            Some(Standing::Waiting(waiting)) => Some(waiting),
            _ => None,
        };
        let reference = number.map(|number| reference(&seat.visitor(lane, number)));
        let of_line = || Stall::pause(&view, room_view, line_view?, visit.wall);
        let crowded = number.is_none() && seat.shared.is_crowded();
        // Only a visitor in line has a place that is safe.
        let pause = seat.shared.outage().or_else(of_line).filter(|_| !crowded);
        let (stall, resumes_secs) = pause.unzip();
        // Before the draw a visitor has no place yet.
        let undrawn = room_view.is_undrawn();
        let ahead = waiting.map(|waiting| waiting.ahead).filter(|_| !undrawn);
        let figures = room_view.figures(&seat.rules.room.name, &seat.line, lane);
        let entry = line_view
            .zip(number)
            .and_then(|(line, number)| line.entry(lane, number));
        let draw = figures.as_ref().map(|figures| DrawFacts { figures, entry });
        let stock = line_view
            .zip(ahead)
            .map(|(line, ahead)| StockFacts::in_line(line, lane, ahead))
            .unwrap_or_default();
        let estimate = line_view
            .zip(ahead)
            .filter(|_| !stall.is_some_and(Stall::pauses))
            .and_then(|(line, ahead)| line.estimate(lane, ahead, view.clock));
        let (kept, estimate, stall) = if ahead.is_some() && told_wait::without_script(seat.shown.reload()) {
            let (kept, shown, why) = told_wait::tell(seat.shown.told(), (estimate, stall), stock.beyond, visit.wall);
            (Some(kept), shown, why)
        } else {
            (None, estimate, stall)
        };
        let turn = TurnFacts {
            joined_at: self.ticket.joined_at,
            reference: reference.as_deref(),
            place: line_view
                .zip(number)
                .filter(|_| !undrawn)
                .and_then(|(line, number)| line.place(lane, number)),
            ahead,
            lane: seat.lane_name(room_view, lane),
            waiting: line_view.map_or(0, |line| line.waiting(lane)),
            estimate,
            let_in: line_view.and_then(|line| let_in(room_view, line, stall, view.clock)),
            notice: self
                .notice
                .or(waiting.and_then(|waiting| waiting.missed_at).map(Notice::Missed)),
            stall,
            resumes_secs: resumes_secs.flatten(),
            crowded,
        };
        let settings = &room_view.settings;
        let id = visit.id.as_str();
        let facts = PageFacts {
            not_sent: visit.kind != Kind::Navigation,
            message: seat.rules.message(room_view, visit.languages()),
            line: Some(LineFacts {
                refresh_ms: pace::refresh_ms(settings, ahead.filter(|_| !self.fresh), jitter()),
                fresh: self.fresh,
                draw: draw.as_ref(),
                stock,
                turn: Some(turn),
                ..line_facts(seat, visit, room_view)
            }),
            ..PageFacts::new(id, visit.wall, visit.here())
        };
        let (kind, word) = match waiting {
            Some(_) => (PageKind::Waiting, "waiting"),
            None => (PageKind::Joining, "joining"),
        };
        let status = match visit.kind {
            Kind::Navigation if visit.aim == Aim::Shop => seat.rules.room.waiting_status,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        let mut response = page(status, word, seat.rules.pages.render(kind, &facts, visit));
        if status != StatusCode::OK {
            let secs = pace::refresh_ms(settings, ahead, jitter()).div_ceil(1_000);
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(secs));
        }
        if let Some(kept) = kept.filter(|kept| *kept != seat.shown.told()) {
            let remembered = seat.cookies.set_told(kept);
            response.headers_mut().append(SET_COOKIE, remembered);
        }
        Answer::new(outcome, response)
    }
}

/// The page of a room that is closed, over or not open yet: it stays, and moves on when the room opens.
#[must_use]
fn closed_page(seat: &Seat<'_>, visit: &Visit) -> Answer {
    let Some(worth) = seat.worth(visit) else {
        return seat.shared.unavailable(&seat.rules.pages, visit);
    };
    let kind = if worth.over { PageKind::Over } else { PageKind::Closed };
    shut(seat, visit, kind, &worth)
}

/// The page of a line that has sold everything: it stays, and moves on when there is more.
#[must_use]
fn sold_out_page(seat: &Seat<'_>, visit: &Visit, worth: &Worth) -> Answer {
    shut(seat, visit, PageKind::SoldOut, worth)
}

/// Programs are told when to ask again; to a person no time is named, since nothing need come then.
fn shut(seat: &Seat<'_>, visit: &Visit, kind: PageKind, worth: &Worth) -> Answer {
    let view = seat.shared.replica.load();
    let Some(room_view) = view.rooms.get(&seat.rules.room.name) else {
        return seat.shared.unavailable(&seat.rules.pages, visit);
    };
    if let Some(stage) = room_view.early() {
        return early_page(seat, visit, room_view, &stage);
    }
    let named = numbered(worth).map(|(lane, number)| reference(&seat.visitor(lane, number)));
    let turn = named
        .as_deref()
        .zip(worth.ticket.as_ref())
        .and_then(|(named, ticket)| stood(seat, (&view, room_view), kind, &ticket.ticket, named));
    let id = visit.id.as_str();
    let facts = PageFacts {
        not_sent: visit.kind != Kind::Navigation,
        message: seat.rules.message(room_view, visit.languages()),
        line: Some(LineFacts {
            stock: StockFacts::over(room_view, worth.won, visit.wall),
            turn,
            ..line_facts(seat, visit, room_view)
        }),
        ..PageFacts::new(id, visit.wall, visit.here())
    };
    let rendered = seat.rules.pages.render(kind, &facts, visit);
    let mut response = page(StatusCode::SERVICE_UNAVAILABLE, kind.name(), rendered);
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from(CLOSED_RETRY_SECS));
    Answer::new(Outcome::Closed, response)
}

/// The number of a ticket of the sale that is on or was the last.
fn numbered(worth: &Worth) -> Option<(LaneId, Number)> {
    let ticket = worth.ticket.as_ref();
    let ticket = ticket.filter(|ticket| ticket.state != TicketState::Void(Void::Reset))?;
    Some((ticket.ticket.lane, number_of(&ticket.ticket)?))
}

/// Where a visitor stands, or stood when the room was shut. In a closed room only a visitor who has kept the place is in line.
fn stood<'a>(
    seat: &'a Seat<'_>,
    (view, room_view): (&View, &'a RoomView),
    kind: PageKind,
    ticket: &Ticket,
    reference: &'a str,
) -> Option<TurnFacts<'a>> {
    let (line, number) = (room_view.line(&seat.line)?, number_of(ticket)?);
    let standing = line.standing(ticket.lane, number, view.clock);
    let ahead = match standing {
        Standing::Waiting(waiting) => Some(waiting.ahead),
        _ => None,
    };
    // A turn that came before stands while the room is closed.
    let keeps = ahead.is_some() || matches!(standing, Standing::Called(_));
    (keeps || kind != PageKind::Closed).then(|| TurnFacts {
        joined_at: ticket.joined_at,
        reference: Some(reference),
        place: None,
        ahead: ahead.filter(|_| kind != PageKind::SoldOut && !room_view.is_undrawn()),
        lane: seat.lane_name(room_view, ticket.lane),
        waiting: line.waiting(ticket.lane),
        estimate: None,
        let_in: None,
        notice: None,
        stall: None,
        resumes_secs: None,
        crowded: false,
    })
}

/// The countdown to the moment from which on visitors can join.
fn early_page(seat: &Seat<'_>, visit: &Visit, room_view: &RoomView, stage: &Stage) -> Answer {
    let id = visit.id.as_str();
    let refresh_ms = pace::early_ms(stage.window.begins.since(visit.wall), jitter());
    let facts = PageFacts {
        not_sent: visit.kind != Kind::Navigation,
        message: seat.rules.message(room_view, visit.languages()),
        line: Some(LineFacts {
            refresh_ms,
            ..line_facts(seat, visit, room_view)
        }),
        ..PageFacts::new(id, visit.wall, visit.here())
    };
    let status = match visit.kind {
        Kind::Navigation if visit.aim == Aim::Shop => seat.rules.room.waiting_status,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    let rendered = seat.rules.pages.render(PageKind::Early, &facts, visit);
    let mut response = page(status, "early", rendered);
    if status != StatusCode::OK {
        let secs = HeaderValue::from(refresh_ms.div_ceil(1_000));
        response.headers_mut().insert(RETRY_AFTER, secs);
    }
    Answer::new(Outcome::Closed, response)
}

/// The facts for every page that follows its line.
pub fn line_facts<'a>(seat: &'a Seat<'_>, visit: &Visit, room_view: &'a RoomView) -> LineFacts<'a> {
    let settings = &room_view.settings;
    LineFacts {
        room: &seat.rules.room.name,
        line: &seat.line,
        settings,
        revision: room_view.announced(),
        refresh_ms: pace::refresh_ms(settings, None, jitter()),
        reload: if seat.rules.room.page.refresh {
            seat.shown.reload()
        } else {
            Reload::Off
        },
        check_in_ms: (!visit.direct).then_some(settings.grace_ms / 4),
        fresh: false,
        opening: room_view.stage.as_ref().filter(|_| !room_view.is_shut()),
        draw: None,
        lot: room_view.sale.stage(),
        stock: StockFacts::default(),
        turn: None,
    }
}

/// The visitor's name for support.
#[must_use]
pub fn reference(visitor: &Visitor) -> String {
    Reference::of(visitor).to_string()
}

/// The answer to a visitor without a number: the room is closed, or can have no more lines.
#[must_use]
pub fn refused(seat: &Seat<'_>, visit: &Visit) -> Answer {
    // Sold while the visitor joined.
    if let Some(worth) = seat.worth(visit).filter(|worth| worth.sold_out) {
        return sold_out(seat, visit, &worth);
    }
    if seat.line.is_only() {
        return closed(seat, visit);
    }
    let status = StatusCode::SERVICE_UNAVAILABLE;
    let refusal = Refusal::new(status, "too_many_lines", PageKind::TooManyLines, Outcome::TurnedAway);
    Refusal {
        retry_after_secs: Some(CLOSED_RETRY_SECS),
        ..refusal
    }
    .answer(&seat.rules.pages, visit)
}

/// Where the room stands before its next sale, and whether its last one has ended.
pub fn early_or_over(seat: &Seat<'_>) -> (Option<Stage>, bool) {
    let view = seat.shared.replica.load();
    let room = view.rooms.get(&seat.rules.room.name);
    (
        room.and_then(|room| room.early()),
        room.is_some_and(|room| room.has_ended()),
    )
}

/// The answer of a room that is closed, over or not open yet; to a person a page that stays, and moves on when it opens.
#[must_use]
pub fn closed(seat: &Seat<'_>, visit: &Visit) -> Answer {
    if visit.kind.is_navigation() {
        return closed_page(seat, visit);
    }
    let (word, retry_after_secs) = match early_or_over(seat) {
        (Some(stage), _) => ("early", refusals::early_secs(&stage, visit)),
        (None, true) => ("over", CLOSED_RETRY_SECS),
        (None, false) => ("closed", CLOSED_RETRY_SECS),
    };
    let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, word, PageKind::Closed, Outcome::Closed);
    Refusal {
        retry_after_secs: Some(retry_after_secs),
        room: Some(seat.rules.room.name.as_str()),
        ..refusal
    }
    .answer(&seat.rules.pages, visit)
}

/// The answer of a line that has sold everything; to a person a page that stays, and moves on if there is more.
#[must_use]
pub fn sold_out(seat: &Seat<'_>, visit: &Visit, worth: &Worth) -> Answer {
    if visit.kind.is_navigation() {
        return sold_out_page(seat, visit, worth);
    }
    refusals::not_now(seat, visit, worth)
}

/// 503 for a script whose visitor is in line: its request was not delivered.
#[must_use]
pub fn in_line_word(seat: &Seat<'_>, outcome: Outcome, visit: &Visit) -> Answer {
    let status = StatusCode::SERVICE_UNAVAILABLE;
    Refusal {
        retry_after_secs: Some(refusals::soon()),
        room: Some(seat.rules.room.name.as_str()),
        ..Refusal::new(status, "waiting", PageKind::Unavailable, outcome)
    }
    .answer(&seat.rules.pages, visit)
}
