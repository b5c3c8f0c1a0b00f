//! One visitor before one line: the tokens that came with a request, and what they are worth now.

use std::borrow::Cow;
use std::sync::Arc;

use http::header::HeaderName;
use http::request::Parts;

use crate::replica::Condition;
use crate::room::{
    Clock, Edition, LaneId, LineName, LineView, Mode, Number, RehearsalId, RoomView, Stage, Tag, Visitor, Wall,
};
use crate::token::{Pass, Ticket, TicketPlace};
use crate::waiting::{Kept, Reload};

use super::Shared;
use super::accounts;
use super::anew::Signed;
use super::codes::ShownCode;
use super::cookies::{Own, Policy};
use super::decide::{Account, Door, Facts, Open, PassState, Purpose, TicketState, Void};
use super::join::number_of;
use super::kind::{Kind, is_link_from_elsewhere};
use super::known::{KnownPass, Memory, Tokens};
use super::outage::OPENS_AFTER;
use super::rehearsal;
use super::rules::{Names, Rules};
use super::told;
use super::visit::Visit;
use super::who::{PassWorth, Reader, TicketWorth};

/// Apps may carry their tokens in these instead of cookies.
pub const TICKET_HEADER: HeaderName = HeaderName::from_static("ropeline-ticket");
pub const PASS_HEADER: HeaderName = HeaderName::from_static("ropeline-pass");

/// A request before a line of a room.
pub struct Seat<'a> {
    pub shared: &'a Shared,
    pub rules: &'a Rules,
    pub line: LineName,
    pub names: Cow<'a, Names>,
    pub policy: &'a Policy,
    /// The tokens came in headers: an app that keeps them itself.
    pub app: bool,
    /// How the visitor's page without a script is reloaded.
    pub reload: Reload,
    /// What a visitor without a script was told of the wait.
    pub told: Kept,
    /// The tags of the account that the request names, first the one by the key which signs.
    pub tags: Vec<Tag>,
    /// The configured lane that the account's token leads to.
    pub(super) claimed: Option<usize>,
    /// The shop may read another account in the request than the gate.
    pub doubtful: bool,
    /// A link of another site leads here, from where browsers hold strict cookies back.
    stripped: bool,
    /// The visitor is a virtual one of this rehearsal.
    pub rehearsal: Option<RehearsalId>,
    ticket: Option<Ticket>,
    pass: Option<Pass>,
    /// By which keys they are signed.
    pub(super) signed: Signed,
    /// What is known of the pass from requests before.
    known: Option<Arc<KnownPass>>,
    /// A code as it was shown, where the room takes any.
    code: Option<ShownCode>,
}

/// What a request's tokens are worth at one moment.
pub struct Worth {
    pub ticket: Option<TicketWorth>,
    pub pass: Option<PassWorth>,
    pub mode: Mode,
    /// Nobody can join before the next sale.
    pub early: Option<Stage>,
    /// All of the line's stock is sold, in the sale that is on or was the last.
    pub sold_out: bool,
    /// Whether the visitor has won, where that is known and may be told.
    pub won: Option<bool>,
    pub door: Door,
    pub edition: Edition,
    /// The room's clock when they were judged.
    pub now: Clock,
}

impl<'a> Seat<'a> {
    /// Reads the genuine tokens that a request carries for this line.
    #[must_use]
    pub fn of(shared: &'a Shared, rules: &'a Rules, line: LineName, head: &Parts, visit: &Visit) -> Self {
        let rehearsal = visit.rehearsed.map(|rehearsed| rehearsed.id);
        let (policy, names) = rules.cookies(visit.secure, rehearsal, &line);
        let fields = [TICKET_HEADER, PASS_HEADER].map(|name| visit.noted.own.then(|| head.headers.get(name)).flatten());
        let app = fields.iter().any(Option::is_some);
        let own = Own::of(&head.headers);
        let [ticket, pass] = fields.map(|field| field.and_then(|value| value.to_str().ok()).into_iter());
        let tickets = ticket.chain(own.tokens(&names.ticket));
        let passes = pass.chain(own.tokens(&names.pass));
        let (some_ticket, some_pass) = (tickets.clone().next().is_some(), passes.clone().next().is_some());
        let (keyring, place) = (&shared.keyring, (&rules.room.name, &line));
        // SECURITY: many visitors share a proxy's connection.
        let nothing = Memory::default();
        let memory = if visit.peer_trusted {
            &nothing
        } else {
            visit.hop.memory()
        };
        let Tokens { ticket, pass, known } = match rehearsal {
            None => memory.tokens(keyring, place, tickets, passes),
            Some(id) => rehearsal::tokens(keyring, id, place, tickets, passes),
        };
        if some_ticket && ticket.is_none() {
            shared.metrics.tickets_refused.inc();
        }
        if some_pass && pass.is_none() {
            shared.metrics.passes_refused.inc();
        }
        let signed = Signed::of(ticket.as_ref(), pass.as_ref());
        signed.note(shared, visit);
        let named = accounts::named(shared, rules, head, visit);
        let marks = own.values(&names.reload).find_map(Reload::marked);
        let reload = marks.unwrap_or_default();
        let code = ShownCode::of(rules, &names.code, head, &own).filter(|_| rehearsal.is_none());
        Self {
            shared,
            rules,
            line,
            told: told::read(&names, reload, &own),
            names,
            policy,
            stripped: policy.same_site == cookie::SameSite::Strict && is_link_from_elsewhere(&head.headers),
            app,
            reload,
            tags: named.tags,
            claimed: named.lane,
            doubtful: named.doubtful,
            rehearsal,
            ticket: ticket.map(|(ticket, _)| ticket),
            pass: pass.map(|(pass, _)| pass),
            signed,
            known,
            code,
        }
    }

    /// The same visitor, with the tokens just made.
    #[must_use]
    pub fn with(&self, ticket: Ticket, pass: Option<Pass>) -> Self {
        Self {
            line: self.line.clone(),
            names: self.names.clone(),
            tags: self.tags.clone(),
            code: self.code.clone(),
            ticket: Some(ticket),
            pass,
            signed: Signed::NOW,
            known: None,
            ..*self
        }
    }

    /// What the tokens are worth by the newest view; `None` while the room is not in it.
    #[must_use]
    pub fn worth(&self, visit: &Visit) -> Option<Worth> {
        self.shared.replica.attend();
        let view = self.shared.replica.load();
        let room_view = view.rooms.get(&self.rules.room.name)?;
        let silent = self.shared.replica.cut_off();
        let cut_off = silent.is_some();
        let mode = room_view.settings.mode;
        // Such a gate is to be taken out of service; the others have a line.
        let behind = cut_off && matches!(self.shared.replica.condition(), Condition::Behind { .. });
        let reader = Reader {
            keyring: &self.shared.keyring,
            known: self.known.as_deref(),
            room: &self.rules.room.name,
            line: &self.line,
            view: &view,
            edition: room_view.edition,
            voided: room_view.voided,
            spared: room_view.spared,
            now: view.at(visit.judged()),
            wall: visit.wall,
            extension_ms: cut_off.then_some(self.rules.room.outage_extension_ms),
        };
        let early = room_view.early();
        let line = room_view.line(&self.line);
        let sold_out = line.is_some_and(|line| line.figures.is_sold_out()) && early.is_none() && mode != Mode::Off;
        Some(Worth {
            ticket: self.ticket.clone().map(|ticket| reader.ticket(ticket)),
            pass: self.pass.clone().map(|pass| reader.pass(pass)),
            mode,
            early,
            sold_out,
            // A gate that is cut off may not know the last of those who have.
            won: line
                .filter(|_| !cut_off)
                .and_then(|line| self.won(room_view, line, visit.wall)),
            door: match cut_off {
                true if silent >= Some(OPENS_AFTER) && self.rules.opens_in_outage(mode) && !behind && !sold_out => {
                    Door::LetPast
                }
                false if view.open(&self.rules.room.name, &self.line, reader.now) => Door::Open,
                _ => Door::Line,
            },
            edition: room_view.edition,
            now: reader.now,
        })
    }

    /// A code as it was shown, with the mark of whoever shows it.
    pub(super) fn code(&self) -> Option<&str> {
        self.code.as_ref().map(|code| code.text.as_str())
    }

    /// The visitor has said that the code may take the place away that they have.
    pub(super) fn confirms_code(&self) -> bool {
        self.code.as_ref().is_some_and(|code| code.confirmed)
    }

    /// What a lane is called that is not the one of everybody else.
    #[must_use]
    pub fn lane_name<'v>(&self, view: &'v RoomView, lane: LaneId) -> Option<&'v str> {
        let settings = &view.settings;
        let rest = self.rules.room.lanes.first().map(|lane| lane.name.as_str());
        let several = settings.lanes.len() > 1;
        settings.lane_name(lane).filter(|name| several && Some(*name) != rest)
    }

    /// The lane of that name, as the rooms have it.
    pub(super) fn index(&self, lane: &str) -> Option<LaneId> {
        let view = self.shared.replica.load();
        view.rooms.get(&self.rules.room.name)?.settings.lane_of(lane)
    }

    /// Whether the tokens' visitor has won in the edition that is on, which a pass proves that they took part in.
    fn won(&self, room: &RoomView, line: &LineView, wall: Wall) -> Option<bool> {
        let current = |edition, number| edition <= room.edition && !room.is_reset(edition, number);
        let pass = self.pass.as_ref().filter(|pass| current(pass.edition, pass.number));
        let by_pass = pass.and_then(|pass| room.outcome(line, (pass.lane, pass.number), true, wall));
        let ticket = || {
            let ticket = self.ticket.as_ref()?;
            let number = number_of(ticket).filter(|number| current(ticket.edition, *number))?;
            room.outcome(line, (ticket.lane, number), false, wall)
        };
        by_pass.or_else(ticket)
    }

    /// The visitor that a number of this line names.
    #[must_use]
    pub fn visitor(&self, lane: LaneId, number: Number) -> Visitor {
        Visitor {
            room: self.rules.room.name.clone(),
            line: self.line.clone(),
            lane,
            number,
            rehearsal: self.rehearsal,
        }
    }

    /// The visitor of the ticket, if it is numbered.
    #[must_use]
    pub fn ticket_visitor(&self) -> Option<Visitor> {
        let ticket = self.ticket.as_ref()?;
        match ticket.place {
            TicketPlace::Numbered(number) => Some(self.visitor(ticket.lane, number)),
            TicketPlace::Pending(_) => None,
        }
    }

    /// The visitor of the pass.
    #[must_use]
    pub fn pass_visitor(&self) -> Option<Visitor> {
        self.pass.as_ref().map(|pass| self.visitor(pass.lane, pass.number))
    }

    /// The genuine ticket that the request carries.
    pub fn ticket(&self) -> Option<&Ticket> {
        self.ticket.as_ref()
    }

    /// What the shop is told that a pass's session is called.
    #[must_use]
    pub fn session_name(&self, pass: &Pass) -> String {
        let known = self.known.as_ref().and_then(|known| known.session_of(pass));
        known.map_or_else(|| pass.session_header(), str::to_owned)
    }

    /// The genuine pass that the request carries.
    #[must_use]
    pub fn pass(&self) -> Option<&Pass> {
        self.pass.as_ref()
    }
}

impl Worth {
    /// What the decision rests on, with nothing to be fetched.
    #[must_use]
    pub fn facts(&self, visit: &Visit, seat: &Seat<'_>, purpose: Purpose) -> Facts {
        Facts {
            kind: visit.kind,
            purpose,
            mode: self.mode,
            sold_out: self.sold_out,
            door: self.door,
            held_back: match visit.kind {
                Kind::CrossSitePost => self.is_empty_handed(),
                Kind::Navigation => seat.stripped && self.is_empty_handed(),
                Kind::CrossSiteFrame => seat.policy.same_site != cookie::SameSite::None,
                _ => false,
            },
            account: match seat.is_foreign(self) {
                true => Account::Other,
                false if seat.must_sign_in(self) => Account::Missing,
                false if seat.is_nameless() => Account::Nobody,
                false => Account::Fits,
            },
            pass: self.pass(),
            ticket: self.ticket(),
            uses_code: seat.uses_code(self, visit),
            leave_only: visit.aim.is_for_leave_only(),
            open: Open::default(),
        }
    }

    fn is_empty_handed(&self) -> bool {
        self.ticket.is_none() && self.pass.is_none()
    }

    #[must_use]
    pub fn pass(&self) -> PassState {
        self.pass.as_ref().map_or(PassState::None, |pass| pass.state)
    }

    #[must_use]
    pub fn ticket(&self) -> TicketState {
        self.ticket.as_ref().map_or(TicketState::None, |ticket| ticket.state)
    }

    /// After the room was asked to give an unknown place back and took its time to answer: what it still does not know
    /// never was.
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
