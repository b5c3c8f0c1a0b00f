//! A request before one line of a room: its credentials, and how its answer sets cookies.

pub mod codes;
pub mod cookie_writer;
pub mod credentials;
pub mod ownership;
mod peers;
pub mod proof;
pub mod reader;
pub mod redeem;
pub mod reissue;
pub mod stale_cookies;
pub mod told_wait;
pub mod worth;

use http::request::Parts;

use crate::replica::Condition;
use crate::room::{LaneId, LineName, Number, RoomView, Visitor};
use crate::token::{Pass, Ticket};

use super::request::account;
use super::request::visit::Visit;
use super::state::rules::Rules;
use super::state::shared::Shared;
use cookie_writer::CookieWriter;
use credentials::Credentials;
use reader::number_of;
use worth::{Moment, Worth};

/// A request before a line of a room.
pub struct Seat<'a> {
    pub shared: &'a Shared,
    pub rules: &'a Rules,
    pub line: LineName,
    pub shown: Credentials,
    pub cookies: CookieWriter<'a>,
}

impl<'a> Seat<'a> {
    /// Reads the credentials of a request for this line.
    #[must_use]
    pub fn of(shared: &'a Shared, rules: &'a Rules, line: LineName, head: &Parts, visit: &Visit) -> Self {
        let rehearsal = visit.rehearsed.map(|rehearsed| rehearsed.id);
        let cookies = CookieWriter::new(&shared.keyring, rules, &line, (visit.secure, rehearsal));
        let shown = Credentials::read(
            (&shared.keyring, &shared.metrics),
            (rules, &line, &cookies),
            (head, visit),
            account::named(shared, rules, head, visit),
        );
        for by in shown.signers() {
            shared.was_shown(by, visit.wall);
        }
        peers::note(&shared.metrics.peers, &shown, head, visit);
        Self {
            shared,
            rules,
            line,
            shown,
            cookies,
        }
    }

    /// The same visitor, with the tokens just made.
    #[must_use]
    pub fn with(&self, ticket: Ticket, pass: Option<Pass>) -> Self {
        Self {
            line: self.line.clone(),
            shown: self.shown.with(ticket, pass),
            cookies: self.cookies.clone(),
            ..*self
        }
    }

    /// The worth of the tokens by the newest view; `None` while the room is not in it.
    #[must_use]
    pub fn worth(&self, visit: &Visit) -> Option<Worth> {
        let replica = &self.shared.replica;
        replica.attend();
        let view = replica.load();
        let silent = replica.cut_off();
        let moment = Moment {
            view: &view,
            now: view.at(visit.judged()),
            wall: visit.wall,
            silent,
            behind: silent.is_some() && matches!(replica.condition(), Condition::Behind { .. }),
        };
        Worth::of(&self.shown, (&self.shared.keyring, self.rules, &self.line), &moment)
    }

    /// The name of a lane other than the common one.
    #[must_use]
    pub fn lane_name<'v>(&self, view: &'v RoomView, lane: LaneId) -> Option<&'v str> {
        let settings = &view.settings;
        let rest = self.rules.room.lanes.first().map(|lane| lane.name.as_str());
        let several = settings.lanes.len() > 1;
        settings.lane_name(lane).filter(|name| several && Some(*name) != rest)
    }

    /// The lane of that name, as the rooms have it.
    pub fn index(&self, lane: &str) -> Option<LaneId> {
        let view = self.shared.replica.load();
        view.rooms.get(&self.rules.room.name)?.settings.lane_of(lane)
    }

    /// The visitor that a number of this line names.
    #[must_use]
    pub fn visitor(&self, lane: LaneId, number: Number) -> Visitor {
        Visitor {
            room: self.rules.room.name.clone(),
            line: self.line.clone(),
            lane,
            number,
            rehearsal: self.shown.rehearsal(),
        }
    }

    /// The visitor of the ticket, if it is numbered.
    #[must_use]
    pub fn ticket_visitor(&self) -> Option<Visitor> {
        let ticket = self.shown.ticket()?;
        Some(self.visitor(ticket.lane, number_of(ticket)?))
    }

    /// The visitor of the pass.
    #[must_use]
    pub fn pass_visitor(&self) -> Option<Visitor> {
        self.shown.pass().map(|pass| self.visitor(pass.lane, pass.number))
    }

    /// The name of a pass's session in the header for the upstream.
    #[must_use]
    pub fn session_name(&self, pass: &Pass) -> String {
        let known = self.shown.known_pass().and_then(|known| known.session_of(pass));
        known.map_or_else(|| pass.session_header(), str::to_owned)
    }
}
