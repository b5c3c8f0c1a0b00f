//! The request path's view of the rooms: an immutable copy, published after an entry is applied.
//!
//! Only apply changes a room. A gate that has heard nothing for a while passes a `now` that includes its own elapsed time;
//! deadlines are read against it.

pub(crate) mod frame;
pub(crate) mod line_view;
pub(crate) mod lines;
pub mod pace;
pub(crate) mod standing;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::draw::{Draw, Published};
use crate::entry::StateHash;
use crate::entry::commands::{Deed, MAX_ORDERS, Orders};
use crate::entry::sale::Sale;
use crate::load::{Allowance, LoadView};
use crate::room::codes::SpentCodes;
use crate::room::edition::is_reset;
use crate::room::rehearsal::Rehearsal;
use crate::settings::schedule::{Phase, Stage};
use crate::settings::{Mode, Overrides, Settings};
use crate::state::additions::Additions;
use crate::state::chain::Chain;
use crate::state::past::Past;
use crate::state::roster::RosterGate;
use crate::view::line_view::LineView;
use crate::view::lines::Lines;
use crate::view::standing::Standing;
use ropeline_ids::{Clock, Edition, Epoch, LaneId, LineName, Number, Position, RoomName, Visitor, Wall};

/// All rooms as of one position of the log.
#[derive(Debug, Default)]
pub struct View {
    pub position: Position,
    /// The chain over every entry up to the position: an archive of the log must end in it.
    pub chain: Chain,
    pub clock: Clock,
    /// Log time of the last entry.
    pub time: Wall,
    /// Set while no visitor is called because a gate brings back an epoch: the clock at which that ends at the latest.
    pub adopting: Option<Clock>,
    /// No visitor is called because the gates do not agree on their states.
    pub alarm: bool,
    /// False while the rooms stand still because the log has no root yet.
    pub rooted: bool,
    /// The machine version in force.
    pub version: u16,
    /// The gates that share the log, in order of id.
    pub roster: Vec<RosterGate>,
    /// The last confirmed checkpoint of this log.
    pub confirmed: Option<(u64, StateHash)>,
    pub rooms: BTreeMap<RoomName, Arc<RoomView>>,
    /// The rooms that operators added; the same pointer for as long as nothing about them changes.
    pub additions: Arc<Additions>,
    pub(super) past: Arc<Past>,
    /// No visitor is called before in any room, for any reason.
    pub(super) quiet_until: Clock,
}

/// One room: its settings in force, and its lines.
#[derive(Debug)]
pub struct RoomView {
    /// The configured settings with the overrides applied, and the mode as the schedule's phase lets it be.
    pub settings: Settings,
    /// The settings of the gates' files, without the overrides.
    pub configured: Arc<Settings>,
    /// The mode as the operator set it.
    pub mode: Mode,
    /// The room's stage in its schedule, if it has one.
    pub stage: Option<Stage>,
    /// Before it no visitor is shown whether they have won; `None`: as soon as it is known.
    pub results: Option<Wall>,
    /// How far the draw of this edition has come.
    pub sale: Arc<Sale>,
    /// Operators' recent commands.
    pub orders: Arc<Orders>,
    /// The rehearsal that is under way.
    pub rehearsal: Option<Arc<Rehearsal>>,
    /// A sale is on that has winners, which virtual visitors would affect: by stock, or by a draw.
    pub decides: bool,
    /// Single-use codes that are spent and have not expired.
    pub spent: SpentCodes,
    pub overrides: Overrides,
    pub revision: u64,
    pub edition: Edition,
    /// Editions below were reset, and their sessions are over. Editions from here on ended with a sale: their tickets give no
    /// place, and their sessions run out.
    pub voided: Edition,
    /// Numbers of this epoch and later ones are valid even if their tokens name a lower edition: they were issued while the
    /// log had lost the room's edition, so after the reset.
    pub spared: Option<Epoch>,
    /// The figures of the room's controller, if it has one, and the calls that it allows all lines together.
    pub load: Option<LoadView>,
    pub(super) allowance: Option<Allowance>,
    /// No visitor is called here before, because visitors of a lost log come back.
    pub(super) heals_until: Clock,
    pub lines: Lines,
}

impl View {
    /// [`LineView::standing`], also for a line that does not exist: a number of it is late if the line was forgotten, unknown
    /// if it was lost or is not made yet.
    #[must_use]
    pub fn standing(&self, visitor: &Visitor, now: Clock) -> Standing {
        match self.rooms.get(&visitor.room).and_then(|room| room.line(&visitor.line)) {
            Some(line) => line.stands(visitor.lane, visitor.number, &self.past, now),
            None => line_view::lost(self.past.prove(visitor.number, now)),
        }
    }

    /// `LineView::open`, also for a line that its first visitor makes. False for a room that is not there.
    #[must_use]
    pub fn open(&self, room: &RoomName, line: &LineName, now: Clock) -> bool {
        let allows = self.rooms.get(room).is_some_and(|room| room.allows(now));
        allows && self.stays_open(room, line, now)
    }

    /// As [`Self::open`] for a visitor who was admitted before: calls of the step that others have used since do not matter.
    #[must_use]
    pub fn stays_open(&self, room: &RoomName, line: &LineName, now: Clock) -> bool {
        let Some(room) = self.rooms.get(room).filter(|room| room.calls()) else {
            return false;
        };
        if let Some(line) = room.line(line) {
            return line.open(now);
        }
        let settings = &room.settings;
        let able = settings.mode == Mode::Auto && now >= self.quiet_until.max(room.heals_until);
        let fits = u32::try_from(room.lines.len()).is_ok_and(|lines| lines < settings.max_lines);
        able && fits && settings.capacity > 0 && settings.rate_per_minute != Some(0)
    }
}

impl RoomView {
    /// Whether a visitor has won, if that may be shown at `now` and they took part: see [`LineView::outcome`].
    #[must_use]
    pub fn outcome(&self, line: &LineView, (lane, number): (LaneId, Number), passed: bool, now: Wall) -> Option<bool> {
        let told = self.results.is_none_or(|at| now >= at);
        let won = line.outcome(lane, number, passed).filter(|_| told)?;
        // Before the end of a sale a piece may still come back.
        let over = || self.results.is_some() || line.figures.is_sold_out() || self.stage.is_some_and(is_over);
        (won || over()).then_some(won)
    }

    #[must_use]
    pub fn line(&self, line: &LineName) -> Option<&Arc<LineView>> {
        self.lines.get(line)
    }

    /// The known figures of one lane's draw, by which anyone can check it. `None` before the promise.
    #[must_use]
    pub fn figures(&self, room: &RoomName, line: &LineName, lane: LaneId) -> Option<Published> {
        let commitment = self.sale.commitment.as_ref()?;
        let made = self.sale.made.as_ref();
        let drawn = self.line(line).map_or(0, |line| line.drawn(lane));
        let count = self.sale.closed.map(|_| drawn);
        let secret = made.map(|made| made.secret);
        let draw = Draw {
            order: commitment.order,
            room: room.as_str(),
            line: line.as_str(),
            edition: self.edition.0,
            lane: lane.0,
            begins_ms: commitment.forms.begins.0,
            opens_ms: commitment.forms.opens.0,
            closed_ms: self.sale.closed.unwrap_or_default().0,
            count: drawn,
            // No fingerprint covers it: the commitment takes its place.
            secret: secret.unwrap_or(commitment.hash),
            beacon: commitment.beacon(made.and_then(|made| made.value.as_deref())),
        };
        let closing = count.map(|_| draw.closing(commitment.hash));
        Some(Published {
            draw: commitment.order.form(),
            room: room.as_str().to_owned(),
            line: line.as_str().to_owned(),
            lane: lane.0,
            edition: self.edition.0,
            begins_ms: commitment.forms.begins.0,
            opens_ms: commitment.forms.opens.0,
            beacon: commitment.beacon.clone(),
            commitment: commitment.hash,
            count,
            closed_ms: self.sale.closed.map(|at| at.0),
            closing,
            beacon_value: made.and_then(|made| made.value.clone()),
            secret,
            seal: closing.filter(|_| made.is_some()).map(|closing| draw.seal(closing)),
        })
    }

    /// Whether the room's controller, if it has one, allows calls at all.
    fn calls(&self) -> bool {
        self.allowance.is_none_or(|allowance| allowance.step_milli() > 0)
    }

    /// The room's controller lets one be called at `now`, if it has one.
    fn allows(&self, now: Clock) -> bool {
        let step_ms = self.settings.call_every_ms;
        self.allowance
            .is_none_or(|allowance| allowance.at(step_ms, now).calls() > 0)
    }

    /// A ticket of this edition with this number is void: the operator has reset the room since, or another sale has begun.
    #[must_use]
    pub fn is_reset(&self, edition: Edition, number: Number) -> bool {
        is_reset(edition, number, self.edition, self.spared_now())
    }

    /// The epoch from which on a ticket is valid with any edition; `None` if another sale has begun since.
    #[must_use]
    pub fn spared_now(&self) -> Option<Epoch> {
        self.spared.filter(|_| self.edition == self.voided)
    }

    /// The room's revision as waiting pages see it: an operator's calls do not raise it, because a page need not ask for
    /// anything then, and a called visitor is informed anyway. Where calls are the only remembered commands, it stays the
    /// same.
    #[must_use]
    pub fn announced(&self) -> u64 {
        let calls = self.orders.iter().zip(0_u64..).take_while(|(order, back)| {
            order.revision.checked_add(*back) == Some(self.revision) && matches!(order.deed, Deed::Call { .. })
        });
        let calls = calls.count();
        if calls >= MAX_ORDERS {
            return 0;
        }
        self.revision.saturating_sub(u64::try_from(calls).unwrap_or(u64::MAX))
    }

    /// The waiting visitors are to be drawn, so none has a place yet.
    #[must_use]
    pub fn is_undrawn(&self) -> bool {
        self.settings.draw.is_some() && self.sale.is_open(self.stage.as_ref())
    }

    /// An operator keeps the room closed, or out of service, whatever its schedule says.
    #[must_use]
    pub fn is_shut(&self) -> bool {
        !matches!(self.mode, Mode::Auto | Mode::Hold)
    }

    /// The last sale of its schedule has ended, unless an operator keeps the room closed anyway.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        !self.is_shut() && self.stage.is_some_and(|stage| stage.phase == Phase::Closed)
    }

    /// Before the next sale, unless an operator keeps the room closed anyway.
    #[must_use]
    pub fn early(&self) -> Option<Stage> {
        self.stage
            .filter(|stage| !self.is_shut() && stage.phase == Phase::Early)
    }
}

/// No visitor is called any more in the sale that began last.
fn is_over(stage: Stage) -> bool {
    matches!(stage.phase, Phase::Early | Phase::Closed)
}
