//! All rooms of one log, and the roster: the replicated state.
//!
//! `apply` is the whole machine in its order: clock and roster, settings, what the gates saw, expiry, calls, horizons.
//! It is total and deterministic: the same entries make the same bytes on every gate.

pub(crate) mod additions;
pub(crate) mod bootstrap;
pub(crate) mod chain;
pub(crate) mod changes;
pub(crate) mod checkpoints;
pub(crate) mod context;
pub(crate) mod past;
pub(crate) mod roster;
pub(crate) mod snapshot;
pub(crate) mod versions;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::entry::effects::{Effects, Joined};
use crate::entry::sale::{BreaksDraw, Owed};
use crate::entry::{Batch, Entry, StateHash};
use crate::recovery::adopting::Adopting;
use crate::recovery::codes_cutoff::CodesCutoff;
use crate::room::Room;
use crate::settings::Settings;
use crate::settings::schedule::Schedule;
use crate::state::additions::Additions;
use crate::state::chain::Chain;
use crate::state::checkpoints::Checkpoints;
use crate::state::context::{Context, MAX_JOINS};
use crate::state::past::Past;
use crate::state::roster::{Roster, RosterGate};
use crate::state::versions::Versions;
use crate::version::VERSION;
use crate::view::View;
use ropeline_ids::{Clock, Era, GateId, Position, RoomName, Wall};

/// Most that one entry advances the clock: an outage or a clock step costs this much of everybody's time, no more.
const MAX_STEP_MS: u64 = 5_000;

/// How long a log begun from nothing calls nobody, unless it is known that nothing was lost.
const FIRST_CALL_MS: u64 = 5_000;

/// How soon an empty entry is due while all rooms are empty: sooner than the step that the clock makes at most.
pub const IDLE_TICK_MS: u64 = 4_800;

/// Most rooms of one log.
pub const MAX_ROOMS: usize = 1_000;

/// The replicated state: made by applying a log's entries in order, the same on every gate.
#[derive(Debug)]
pub struct State {
    pub(super) position: Position,
    pub(super) nonce: [u8; 8],
    /// Over every entry up to the position, and over the logs before.
    pub(super) chain: Chain,
    /// The store's time of the last entry.
    pub(super) time: Option<Wall>,
    /// The root that is waited for: until it comes the rooms stand still.
    pub(super) awaits: Option<StateHash>,
    pub(super) versions: Versions,
    pub(super) checkpoints: Checkpoints,
    pub(super) adopting: Adopting,
    pub(super) context: Context,
    pub(super) roster: Roster,
    pub(super) codes_cutoff: CodesCutoff,
    pub(super) rooms: BTreeMap<RoomName, Room>,
    /// Those of them that are in no file, and what became of such.
    pub(super) additions: Arc<Additions>,
    pub(super) published: Option<Arc<View>>,
}

impl State {
    /// The rooms of a log begun from nothing, before its first entry (whose sequence is 1): no rooms, and nobody is
    /// called for 5 s of log time. `proven_new` says that there cannot have been a log before, such as when the file was
    /// just made together with its folder: then the first visitor is called at once.
    #[must_use]
    pub fn empty(incarnation: u64, proven_new: bool) -> Self {
        let first_call = Clock(if proven_new { 0 } else { FIRST_CALL_MS });
        let context = Context {
            version: VERSION,
            clock: Clock(0),
            time: Wall(0),
            first_call,
            barred_until: Clock(0),
            held_until: Clock(0),
            adopts: None,
            silent_ms: 0,
            lag_ms: 0,
            joins_left: MAX_JOINS,
            given_up: Vec::new(),
            past: Arc::new(Past::new(Era(incarnation))),
        };
        Self {
            position: Position {
                incarnation,
                sequence: 0,
            },
            nonce: [0; 8],
            chain: Chain::begin(incarnation, Chain::default()),
            time: None,
            awaits: None,
            versions: Versions::new(VERSION),
            checkpoints: Checkpoints::new(Clock(0)),
            adopting: Adopting::default(),
            context,
            roster: Roster::default(),
            codes_cutoff: CodesCutoff::new(proven_new),
            rooms: BTreeMap::new(),
            additions: Arc::default(),
            published: None,
        }
    }

    /// Applies one entry. Total and deterministic. Nothing changes by an entry that was applied before, that is of another
    /// log (unless it begins an embedded one), or that this binary is too old for ([`State::wants`]).
    pub fn apply(&mut self, entry: &Entry) -> Effects {
        let mut effects = Effects {
            clock: self.context.clock,
            ignored: true,
            ..Effects::default()
        };
        if !self.reads(entry) {
            return effects;
        }
        self.meet(entry);
        if !self.is_next(entry) {
            return effects;
        }
        let step = self.step(entry, false);
        if self.rooted() {
            self.work(entry, &step, &mut effects);
        } else {
            effects.ignored = !self.gather(entry);
        }
        self.settle();
        effects.clock = self.context.clock;
        effects
    }

    /// Passes over an entry that an operator has skipped: its position, nonce and time are noted, and nothing else. The chain
    /// says that it was passed over.
    pub fn pass_over(&mut self, entry: &Entry) {
        if self.is_next(entry) {
            self.step(entry, true);
        }
    }

    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// The nonce of the last entry applied, which the next names as its predecessor's; zeros before a log's first.
    #[must_use]
    pub fn nonce(&self) -> [u8; 8] {
        self.nonce
    }

    /// The chain over all entries applied, from incarnation to incarnation: the same on every replica at this position.
    #[must_use]
    pub fn chain(&self) -> Chain {
        self.chain
    }

    /// The serial of a gate's last batch, and what its joins were given, for a gate that resumes from a snapshot;
    /// `None` for a gate that is not on the roster. (Pending joins are answered again when they are sent again.)
    #[must_use]
    pub fn answered(&self, gate: GateId) -> Option<(u64, &[Joined])> {
        self.roster.answered(gate)
    }

    /// The clock after the last entry.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.context.clock
    }

    /// The gates that share the log, in order of id; without a root those that have spoken.
    pub fn roster(&self) -> impl Iterator<Item = &RosterGate> {
        self.roster.gates()
    }

    /// Whose turn it is: (place in the roster - sequence) mod size, 0 for the gate on turn; `None` for one that is not on
    /// the roster.
    #[must_use]
    pub fn rank(&self, gate: GateId, sequence: u64) -> Option<usize> {
        let place = self.roster.gates().position(|on| on.id == gate)?;
        let size = self.roster.gates().count();
        let turns = usize::try_from(sequence % u64::try_from(size).ok()?).ok()?;
        Some((place + size - turns) % size)
    }

    /// A room's settings as configured, without its overrides.
    #[must_use]
    pub fn configured(&self, room: &RoomName) -> Option<&Settings> {
        self.rooms.get(room).map(Room::configured)
    }

    /// The rooms that operators added.
    #[must_use]
    pub fn additions(&self) -> &Additions {
        &self.additions
    }

    /// When the schedule of a room turns next: an entry is due by then, though nobody says anything.
    #[must_use]
    pub fn next_turn(&self) -> Option<Wall> {
        self.rooms.values().filter_map(Room::next_turn).min()
    }

    /// Store's time of the last entry.
    #[must_use]
    pub fn time(&self) -> Option<Wall> {
        self.time
    }

    /// The rooms that go by a schedule, and theirs.
    pub fn schedules(&self) -> impl Iterator<Item = (&RoomName, &Schedule)> {
        let scheduled = self.rooms.iter();
        scheduled.filter_map(|(name, room)| Some((name, room.schedule()?)))
    }

    /// What the gates owe the rooms that draw: a promise of a secret, or the secret itself.
    pub fn owed(&self) -> impl Iterator<Item = (&RoomName, Owed<'_>)> {
        // A secret is not told while another history may still bring back the draw that it made.
        let m = &self.context;
        self.rooms.iter().filter_map(move |(name, room)| {
            let owed = room.owed()?;
            (matches!(owed, Owed::Promise(..)) || !room.waits_for_lost(m)).then_some((name, owed))
        })
    }

    /// Why the room's draw keeps it as it is, whatever it is configured with.
    #[must_use]
    pub fn breaks_draw(&self, room: &RoomName, settings: &Settings) -> Option<BreaksDraw> {
        self.rooms.get(room)?.breaks_draw(settings, self.context.time)
    }

    /// The names of all rooms.
    pub fn room_names(&self) -> impl Iterator<Item = &RoomName> {
        self.rooms.keys()
    }

    /// Publishes what the request path reads; lines that did not change are shared with the last one.
    pub fn view(&mut self) -> Arc<View> {
        if let Some(view) = &self.published {
            return Arc::clone(view);
        }
        let context = &self.context;
        let rooms = self
            .rooms
            .iter_mut()
            .map(|(name, room)| (name.clone(), room.view(context)))
            .collect();
        let view = View {
            position: self.position,
            chain: self.chain,
            clock: context.clock,
            time: context.time,
            healing_until: Some(context.first_call).filter(|first| context.clock < *first),
            quiet_until: context.quiet_until(),
            adopting: self.adopting.until().filter(|until| context.clock < *until),
            version: self.version(),
            rooted: self.rooted(),
            alarm: self.alarm(),
            confirmed: self.confirmed(),
            roster: self.roster().cloned().collect(),
            rooms,
            additions: Arc::clone(&self.additions),
            past: Arc::clone(&context.past),
        };
        Arc::clone(self.published.insert(Arc::new(view)))
    }

    /// How soon an empty entry is due if nobody says anything: 250 ms with a line, 1 s with slots held only, and
    /// [`IDLE_TICK_MS`] when all is empty.
    #[must_use]
    pub fn tick_ms(&self) -> u64 {
        let any = |held: fn(&Room) -> u64| self.rooms.values().any(|room| held(room) > 0);
        match () {
            () if any(|room| room.counts().waiting) => 250,
            () if any(|room| room.counts().slots) => 1_000,
            () => IDLE_TICK_MS,
        }
    }

    /// Whether the entry is a later one of this log.
    pub(super) fn is_next(&self, entry: &Entry) -> bool {
        entry.position.incarnation == self.position.incarnation && entry.position > self.position
    }

    /// Goes on to the entry's position without applying it.
    fn step(&mut self, entry: &Entry, passed_over: bool) -> Step {
        // The store's clock may step; only how far it went since the entry before counts, and only forwards.
        let passed_ms = entry.time.since(self.time.unwrap_or(entry.time)).min(MAX_STEP_MS);
        self.time = Some(entry.time);
        self.position = entry.position;
        self.nonce = entry.nonce;
        let encoded = entry.encode();
        self.chain = self.chain.then(&encoded, passed_over);
        self.published = None;
        Step {
            passed_ms,
            bytes: u64::try_from(encoded.len()).unwrap_or(u64::MAX),
        }
    }

    /// What an entry does to the rooms of a log with a root.
    fn work(&mut self, entry: &Entry, step: &Step, effects: &mut Effects) {
        self.tick(entry, step.passed_ms);
        let clock = self.context.clock;
        effects.ignored = !(self.versions.runs(entry) && self.roster.admit(entry, clock));
        // Time passes with every entry, whoever it is of.
        if effects.ignored {
            self.run(&Batch::default(), effects);
        } else {
            self.measure(entry);
            self.adopt(entry, effects);
            self.run(&entry.batch, effects);
            self.adopted(entry);
            self.believe(entry);
            self.heed(entry);
            self.roster.answer(entry.gate, &effects.joined);
        }
        self.roster.sweep(clock);
        self.versions.agree(&self.roster, clock);
        self.checkpoints.count(&self.roster, clock);
        self.checkpoints.pass(self.position.sequence, step.bytes, clock);
    }

    /// What the gate saw of the rooms' upstreams.
    fn measure(&mut self, entry: &Entry) {
        for (room, report) in &entry.batch.load {
            if let Some(room) = self.rooms.get_mut(room) {
                room.take_report(entry.gate, report, self.context.clock);
            }
        }
        if entry.batch.goodbye {
            self.rooms.values_mut().for_each(|room| room.forget_reports(entry.gate));
        }
    }

    fn tick(&mut self, entry: &Entry, passed_ms: u64) {
        self.context.go_on(entry, passed_ms);
        self.codes_cutoff.settle(entry.time);
    }

    /// What gates say among themselves.
    fn heed(&mut self, entry: &Entry) {
        if let Some(sequence) = entry.batch.saved {
            self.checkpoints.save(sequence);
        }
        if let Some(version) = self.raised(entry) {
            self.raise(version, entry.time);
        }
        if entry.batch.goodbye {
            self.roster.goodbye(entry.gate);
        }
    }

    fn run(&mut self, batch: &Batch, effects: &mut Effects) {
        for room in self.rooms.values_mut() {
            room.follow(&mut self.context);
        }
        for change in &batch.rooms {
            effects.change(self.change(change));
        }
        for section in &batch.sections {
            if let Some(room) = self.rooms.get_mut(&section.room) {
                room.name(&section.line);
            }
        }
        for redeem in &batch.redeems {
            if let Some(room) = self.rooms.get_mut(&redeem.room) {
                room.name(&redeem.line);
            }
        }
        self.rooms.values_mut().for_each(|room| room.advance(&self.context));
        self.bring_codes(batch, effects);
        for section in &batch.sections {
            match self.rooms.get_mut(&section.room) {
                Some(room) if room.hears(section) => room.apply(section, &mut self.context, effects),
                _ => effects.refuse(section),
            }
        }
        self.redeem(batch, effects);
        self.rooms.values_mut().for_each(|room| room.finish(&mut self.context));
    }

    /// What holds for all lines until the next entry: horizons stand while a silent gate may come back, and nobody is
    /// called while something is lost. What ends early is not in the lines' schedules.
    pub(super) fn settle(&mut self) {
        self.adopting.forget(&self.roster);
        let held_until = self.roster.held_until();
        let barred_until = match self.adopting.until() {
            _ if !self.rooted() || self.alarm() => Clock(u64::MAX),
            until => until.unwrap_or_default(),
        };
        let m = &mut self.context;
        let sooner = held_until < m.held_until || barred_until < m.barred_until;
        let later = barred_until > m.barred_until;
        (m.held_until, m.barred_until) = (held_until, barred_until);
        if sooner {
            self.rooms.values_mut().for_each(|room| room.reschedule(&self.context));
        } else if later {
            self.rooms.values_mut().for_each(Room::repaint);
        }
    }
}

/// What one entry is, whatever it says.
struct Step {
    passed_ms: u64,
    bytes: u64,
}
