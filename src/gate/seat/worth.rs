//! The worth of a request's credentials at one moment. Pure: it reads them, a view and the time.

use std::time::Duration;

use crate::room::{Clock, Edition, LineName, LineView, Mode, RoomView, Stage, Standing, View, Wall};
use crate::token::Keyring;

use super::credentials::Credentials;
use super::reader::{PassWorth, Reader, TicketWorth, number_of};
use crate::gate::state::let_past::OPENS_AFTER;
use crate::gate::state::rules::Rules;
use crate::gate::verdict::decide::{Door, PassState, TicketState, Void};

/// The validity of a request's tokens at one moment.
pub struct Worth {
    pub ticket: Option<TicketWorth>,
    pub pass: Option<PassWorth>,
    pub mode: Mode,
    /// Joining is impossible before the next sale.
    pub early: Option<Stage>,
    /// Joining is impossible, because the last sale of the schedule has ended.
    pub over: bool,
    /// All of the line's stock is sold, in the sale that is on or was the last.
    pub sold_out: bool,
    /// Whether the visitor has won, where that is known and may be shown.
    pub won: Option<bool>,
    pub door: Door,
    pub edition: Edition,
    /// The room's clock when they were judged.
    pub now: Clock,
}

/// The moment at which credentials are judged, and the gate's state then.
pub struct Moment<'a> {
    pub view: &'a View,
    /// The view's clock plus the time since the view was published.
    pub now: Clock,
    pub wall: Wall,
    /// For how long the gate has been cut off from the log, if it is.
    pub silent: Option<Duration>,
    /// It is cut off because others run a later version: it is to be taken out of service, and the others have a line.
    pub behind: bool,
}

impl Worth {
    /// `None` while the room is not in the view.
    #[must_use]
    pub fn of(
        shown: &Credentials,
        (keyring, rules, line): (&Keyring, &Rules, &LineName),
        moment: &Moment<'_>,
    ) -> Option<Self> {
        let Moment {
            view,
            now,
            wall,
            silent,
            behind,
        } = *moment;
        let room = &rules.room.name;
        let room_view = view.rooms.get(room)?;
        let cut_off = silent.is_some();
        let mode = room_view.settings.mode;
        let reader = Reader {
            keyring,
            known: shown.known_pass(),
            room,
            line,
            view,
            edition: room_view.edition,
            voided: room_view.voided,
            spared: room_view.spared,
            now,
            wall,
            extension_ms: cut_off.then_some(rules.room.outage_extension_ms),
        };
        let early = room_view.early();
        let line_view = room_view.line(line);
        let sold_out = line_view.is_some_and(|line| line.figures.is_sold_out()) && early.is_none() && mode != Mode::Off;
        let opens = silent >= Some(OPENS_AFTER) && rules.opens_in_outage(mode) && !behind && !sold_out;
        Some(Self {
            ticket: shown.ticket().map(|ticket| reader.ticket(ticket.clone())),
            pass: shown.pass().map(|pass| reader.pass(pass.clone())),
            mode,
            early,
            over: room_view.has_ended(),
            sold_out,
            // A gate that is cut off may not know the last winners.
            won: line_view
                .filter(|_| !cut_off)
                .and_then(|line| won(shown, room_view, line, wall)),
            door: match cut_off {
                true if opens => Door::LetPast,
                false if view.open(room, line, now) => Door::Open,
                _ => Door::Line,
            },
            edition: room_view.edition,
            now,
        })
    }

    pub fn is_empty_handed(&self) -> bool {
        self.ticket.is_none() && self.pass.is_none()
    }

    /// The pass, where its session is live.
    pub fn live_pass(&self) -> Option<&PassWorth> {
        self.pass.as_ref().filter(|pass| pass.state == PassState::Valid)
    }

    /// The session that the tokens name has no slot: a request must ask for one.
    #[must_use]
    pub fn must_ask(&self) -> bool {
        let by_ticket = || {
            let ticket = self.ticket.as_ref();
            ticket.is_some_and(|ticket| ticket.state == TicketState::Inside && ticket.must_ask)
        };
        self.live_pass().map_or_else(by_ticket, |pass| pass.must_ask)
    }

    /// The room has parked the session that the tokens name.
    #[must_use]
    pub fn is_parked(&self) -> bool {
        let by_ticket = || self.ticket.as_ref()?.standing;
        let standing = self.live_pass().map(|pass| pass.standing).or_else(by_ticket);
        matches!(standing, Some(Standing::Inside(inside)) if inside.parked)
    }

    /// The ticket, if it gives a place.
    pub fn live_ticket(&self) -> Option<&TicketWorth> {
        let is_live = |state| {
            matches!(
                state,
                TicketState::Waiting
                    | TicketState::Called
                    | TicketState::Inside
                    | TicketState::Pending(_)
                    | TicketState::Unknown
            )
        };
        self.ticket.as_ref().filter(|ticket| is_live(ticket.state))
    }

    #[must_use]
    pub fn pass(&self) -> PassState {
        self.pass.as_ref().map_or(PassState::None, |pass| pass.state)
    }

    #[must_use]
    pub fn ticket(&self) -> TicketState {
        self.ticket.as_ref().map_or(TicketState::None, |ticket| ticket.state)
    }

    /// After the room was asked to give an unknown place back and had time to answer: a place that it still does not know
    /// never existed.
    #[must_use]
    pub fn without_unknown(mut self) -> Self {
        if let Some(ticket) = self
            .ticket
            .as_mut()
            .filter(|ticket| ticket.state == TicketState::Unknown)
        {
            ticket.state = TicketState::Void(Void::Late);
        }
        self
    }
}

/// Whether the tokens' visitor has won in the edition that is on, which a pass proves that they took part in.
fn won(shown: &Credentials, room: &RoomView, line: &LineView, wall: Wall) -> Option<bool> {
    let current = |edition, number| edition <= room.edition && !room.is_reset(edition, number);
    let pass = shown.pass().filter(|pass| current(pass.edition, pass.number));
    let by_pass = pass.and_then(|pass| room.outcome(line, (pass.lane, pass.number), true, wall));
    let ticket = || {
        let ticket = shown.ticket()?;
        let number = number_of(ticket).filter(|number| current(ticket.edition, *number))?;
        room.outcome(line, (ticket.lane, number), false, wall)
    };
    by_pass.or_else(ticket)
}
