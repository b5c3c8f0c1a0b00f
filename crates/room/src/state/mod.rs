//! All rooms of one log, and the roster: the replicated state.
//!
//! `apply` is the whole machine in its order: clock and roster, settings, the gates' observations, expiry, calls, horizons.
//! It is total and deterministic: the same entries give the same bytes on every gate.

pub(crate) mod additions;
pub(crate) mod bootstrap;
pub(crate) mod chain;
pub(crate) mod checkpoints;
pub(crate) mod context;
#[cfg(any(test, feature = "testing"))]
mod form;
mod head;
pub(crate) mod past;
pub(crate) mod rooms;
pub(crate) mod roster;
pub(crate) mod snapshot;
pub(crate) mod versions;

use std::sync::Arc;

use crate::entry::effects::{Effects, Joined};
use crate::entry::encoded::Encoded;
use crate::entry::sale::{BreaksDraw, Owed};
use crate::entry::{Batch, Entry, StateHash};
use crate::recovery::Recovery;
use crate::recovery::merge::Merge;
use crate::room::Room;
use crate::settings::Settings;
use crate::settings::schedule::Schedule;
use crate::state::additions::Additions;
use crate::state::chain::Chain;
use crate::state::checkpoints::Checkpoints;
use crate::state::context::Context;
use crate::state::head::{Head, Step};
use crate::state::past::Past;
use crate::state::rooms::Rooms;
use crate::state::roster::{Roster, RosterGate};
use crate::state::versions::Versions;
use crate::version::{NEWEST, OLDEST, VERSION};
use crate::view::View;
use ropeline_ids::{Clock, Epoch, GateId, Position, RoomName, Wall};

/// How soon an empty entry is due while all rooms are empty: sooner than the step that the clock makes at most.
pub const IDLE_TICK_MS: u64 = 4_800;

/// The replicated state: made by applying a log's entries in order, the same on every gate.
#[derive(Debug)]
pub struct State {
    head: Head,
    context: Context,
    roster: Roster,
    versions: Versions,
    checkpoints: Checkpoints,
    recovery: Recovery,
    rooms: Rooms,
    published: Option<Arc<View>>,
}

impl State {
    /// The rooms of a log begun from nothing, before its first entry (whose sequence is 1): no rooms. It is certain that no log
    /// was lost before it. Each room calls its first visitor at once.
    #[must_use]
    pub fn empty(epoch: u64) -> Self {
        Self::from_nothing(epoch, false, true)
    }

    /// As [`State::empty`], where it is an operator's word, or follows from the gates' keys, that no visitor of a lost log can
    /// come. Single-use codes that were issued before the log are not taken all the same.
    #[must_use]
    pub fn first(epoch: u64) -> Self {
        Self::from_nothing(epoch, false, false)
    }

    /// As [`State::empty`], where a log may have been lost whose visitors still come: no room calls until every session of
    /// that log is over, or known again, and single-use codes that were issued before are not taken.
    #[must_use]
    pub fn after_a_loss(epoch: u64) -> Self {
        Self::from_nothing(epoch, true, false)
    }

    fn from_nothing(epoch: u64, visitors_may_come: bool, codes_are_known: bool) -> Self {
        let past = Arc::new(Past::new(Epoch(epoch)));
        Self {
            head: Head::new(epoch),
            context: Context::new((Clock(0), Wall(0)), visitors_may_come, past),
            roster: Roster::default(),
            versions: Versions::new(VERSION),
            checkpoints: Checkpoints::new(Clock(0)),
            recovery: Recovery::new(codes_are_known),
            rooms: Rooms::default(),
            published: None,
        }
    }

    /// Applies one entry. Total and deterministic. Nothing changes by an entry that was applied before, that is of another
    /// log (unless it begins an embedded one), or that this binary is too old for ([`State::wants`]).
    pub fn apply(&mut self, entry: &Encoded) -> Effects {
        let mut effects = Effects {
            clock: self.context.clock,
            ignored: true,
            ..Effects::default()
        };
        if !self.reads(entry) {
            return effects;
        }
        self.meet(entry);
        if !self.head.is_next(entry) {
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
    pub fn pass_over(&mut self, entry: &Encoded) {
        if self.head.is_next(entry) {
            self.step(entry, true);
        }
    }

    #[must_use]
    pub fn position(&self) -> Position {
        self.head.position()
    }

    /// The nonce of the last entry applied, which the next names as its predecessor's; zeros before a log's first.
    #[must_use]
    pub fn nonce(&self) -> [u8; 8] {
        self.head.nonce()
    }

    /// The chain over all entries applied, from epoch to epoch: the same on every replica at this position.
    #[must_use]
    pub fn chain(&self) -> Chain {
        self.head.chain()
    }

    /// The serial of a gate's last batch, and the answers to its joins, for a gate that resumes from a snapshot; `None` for a
    /// gate that is not on the roster. (Pending joins are answered again when they are sent again.)
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
        self.rooms.additions()
    }

    /// The next turn of any room's schedule: an entry is due then, even an empty one.
    #[must_use]
    pub fn next_turn(&self) -> Option<Wall> {
        self.rooms.all().filter_map(Room::next_turn).min()
    }

    /// Store's time of the last entry.
    #[must_use]
    pub fn time(&self) -> Option<Wall> {
        self.head.time()
    }

    /// The rooms with a schedule, and their schedules.
    pub fn schedules(&self) -> impl Iterator<Item = (&RoomName, &Schedule)> {
        let scheduled = self.rooms.iter();
        scheduled.filter_map(|(name, room)| Some((name, room.schedule()?)))
    }

    /// The parts of a draw that the gates have to publish: the promise of a secret, or the secret itself.
    pub fn owed(&self) -> impl Iterator<Item = (&RoomName, Owed<'_>)> {
        // A secret is not published while another history may still bring back the draw that it made.
        let m = &self.context;
        self.rooms.iter().filter_map(move |(name, room)| {
            let owed = room.owed()?;
            (matches!(owed, Owed::Promise(..)) || !room.waits_for_lost(m)).then_some((name, owed))
        })
    }

    /// Why the room's draw does not allow these settings.
    #[must_use]
    pub fn breaks_draw(&self, room: &RoomName, settings: &Settings) -> Option<BreaksDraw> {
        self.rooms.get(room)?.breaks_draw(settings, self.context.time)
    }

    /// The names of all rooms.
    pub fn room_names(&self) -> impl Iterator<Item = &RoomName> {
        self.rooms.iter().map(|(name, _)| name)
    }

    /// Publishes the view for the request path; lines that did not change are shared with the last one.
    pub fn view(&mut self) -> Arc<View> {
        if let Some(view) = &self.published {
            return Arc::clone(view);
        }
        let rooms = self.rooms.views(&self.context);
        let context = &self.context;
        let view = View {
            position: self.position(),
            chain: self.chain(),
            clock: context.clock,
            time: context.time,
            quiet_until: context.barred_until,
            adopting: self.recovery.adopting().until().filter(|until| context.clock < *until),
            version: self.version(),
            rooted: self.rooted(),
            alarm: self.alarm(),
            confirmed: self.confirmed(),
            roster: self.roster().cloned().collect(),
            rooms,
            additions: Arc::clone(self.rooms.additions()),
            past: Arc::clone(&context.past),
        };
        Arc::clone(self.published.insert(Arc::new(view)))
    }

    /// How soon an empty entry is due if there is no other: 250 ms with a line, 1 s with slots held only, and
    /// [`IDLE_TICK_MS`] when all is empty.
    #[must_use]
    pub fn tick_ms(&self) -> u64 {
        let any = |held: fn(&Room) -> u64| self.rooms.all().any(|room| held(room) > 0);
        match () {
            () if any(|room| room.counts().waiting) => 250,
            () if any(|room| room.counts().rights) => 1_000,
            () => IDLE_TICK_MS,
        }
    }

    /// The epochs of logs that are known only from their visitors' tokens: they were lost with every gate.
    pub fn lost_logs(&self) -> impl Iterator<Item = u64> {
        self.context.past.lacking().map(|epoch| epoch.0)
    }

    /// The data of this state's epochs that the rooms of `now` lack, for a gate whose history went further than theirs; empty
    /// when there is none. Each batch is at most [`MAX_BATCH_BYTES`](crate::MAX_BATCH_BYTES) long, the last is marked as
    /// done. They must be appended in this order, before any of the gate's observations of these visitors. Costs 24 bytes of
    /// memory a number: a million waiting are about twenty batches.
    #[must_use]
    pub fn adoption(&self, now: &Self) -> Vec<Batch> {
        Merge { lost: self, now }.batches()
    }

    /// The end of the log that these rooms come from is lost: single-use codes issued until now may have been used in it.
    pub fn doubt_codes(&mut self, now: Wall) {
        let now = now.max(self.time().unwrap_or_default());
        self.recovery.doubt_codes(now);
    }

    /// The machine version in force.
    #[must_use]
    pub fn version(&self) -> u16 {
        self.versions.current()
    }

    /// The same rooms under another machine version, at most [`NEWEST`]; for a log that begins with one, not for one that
    /// gates have been reading.
    #[must_use]
    pub fn with_version(mut self, version: u16) -> Self {
        self.versions.raise(version.clamp(OLDEST, NEWEST));
        self.published = None;
        self
    }

    /// The machine version that applying the entry takes, when this binary does not have it: the replica stops before the
    /// entry, which [`State::apply`] would leave alone.
    #[must_use]
    pub fn wants(&self, entry: &Entry) -> Option<u16> {
        let next = self.head.is_next(entry);
        next.then(|| self.versions.wants(entry, &self.roster, self.rooted()))?
    }

    /// Whether everybody on the roster knows a machine version.
    #[must_use]
    pub fn agreeable(&self, version: u16) -> bool {
        self.roster.knows(version, None)
    }

    /// A version above the one in force that everybody on the roster has known for ten minutes of room clock: time to
    /// raise it. It may be above [`NEWEST`] where this gate is not on the roster.
    #[must_use]
    pub fn agreed(&self) -> Option<u16> {
        self.versions.agreed(self.clock())
    }

    /// The sequence of the entry applied last, when that is a checkpoint: the replica hashes its state now and says so with
    /// its next batch.
    #[must_use]
    pub fn checkpoint(&self) -> Option<u64> {
        self.checkpoints.at(self.head.position().sequence)
    }

    /// The entry applied last is the first checkpoint of an hour of the room clock. A gate alone votes on its state there too,
    /// and an archive keeps it: a replay can begin from it, and the vote in the log says that it is genuine.
    #[must_use]
    pub fn landmark(&self) -> bool {
        self.checkpoint().is_some() && self.checkpoints.is_landmark()
    }

    /// The last checkpoint of this log that more than half of the roster agreed on: its sequence and hash.
    #[must_use]
    pub fn confirmed(&self) -> Option<(u64, StateHash)> {
        self.checkpoints.confirmed()
    }

    /// The sequence of the last confirmed snapshot that a gate reported as saved.
    #[must_use]
    pub fn saved(&self) -> Option<u64> {
        self.checkpoints.saved()
    }

    /// The checkpoint that all have voted on without a majority: they are to work it out anew and vote `again`.
    #[must_use]
    pub fn disputed(&self) -> Option<u64> {
        self.checkpoints.disputed()
    }

    /// The second votes brought no majority either: no visitor is called until a later checkpoint is confirmed.
    #[must_use]
    pub fn alarm(&self) -> bool {
        self.checkpoints.alarm()
    }

    pub(crate) fn rooms(&self) -> &Rooms {
        &self.rooms
    }

    pub(crate) fn past(&self) -> &Past {
        &self.context.past
    }

    /// Whether this binary supports the entry and its effects.
    fn reads(&self, entry: &Entry) -> bool {
        (OLDEST..=NEWEST).contains(&entry.version) && self.wants(entry).is_none()
    }

    /// Goes on to the entry's position without applying it.
    fn step(&mut self, entry: &Encoded, passed_over: bool) -> Step {
        self.published = None;
        self.head.step(entry, entry.bytes(), passed_over)
    }

    /// Applies an entry to the rooms of a log with a root.
    fn work(&mut self, entry: &Entry, step: &Step, effects: &mut Effects) {
        let m = &mut self.context;
        m.go_on(entry, step.passed_ms);
        let clock = m.clock;
        self.recovery.codes_mut().settle(entry.time);
        effects.ignored = !(self.versions.runs(entry) && self.roster.admit(entry, clock));
        (m.notes_until, m.fell_silent) = (self.roster.all_notes_until(), self.roster.fell_silent());
        // Time passes with every entry, of any gate.
        if effects.ignored {
            self.rooms
                .apply(&Batch::default(), self.recovery.codes_mut(), m, effects);
        } else {
            self.rooms.measure(entry, clock);
            if self.recovery.adopt(entry, &self.roster, m, effects) {
                self.rooms.all_mut().for_each(Room::repaint);
            }
            self.rooms.apply(&entry.batch, self.recovery.codes_mut(), m, effects);
            if self.recovery.adopted(entry, m) {
                m.unproven = false;
                self.rooms.all_mut().for_each(|room| room.end_healing(m));
            }
            self.recovery.believe(entry, self.versions.current());
            self.heed(entry);
            self.roster.answer(entry.gate, &effects.joined);
        }
        self.roster.sweep(clock);
        self.versions.agree(&self.roster, clock);
        self.checkpoints.count(&self.roster, clock);
        self.checkpoints.pass(entry.position.sequence, step.bytes, clock);
    }

    /// Applies the parts of an entry that concern the gates themselves.
    fn heed(&mut self, entry: &Entry) {
        if let Some(sequence) = entry.batch.saved {
            self.checkpoints.save(sequence);
        }
        if let Some(version) = self.versions.raised(entry, &self.roster) {
            self.versions.raise(version);
        }
        if entry.batch.goodbye {
            self.roster.goodbye(entry.gate);
        }
    }

    /// The rules for all lines until the next entry: horizons stand still while a silent gate may come back, and no visitor
    /// is called while something is lost. An early end of either is not in the lines' schedules.
    fn settle(&mut self) {
        let held_until = self.roster.held_until();
        let barred_until = self.recovery.barred_until(&self.roster, self.checkpoints.alarm());
        let m = &mut self.context;
        let sooner = held_until < m.held_until || barred_until < m.barred_until;
        let later = barred_until > m.barred_until;
        (m.held_until, m.barred_until) = (held_until, barred_until);
        if sooner {
            self.rooms.all_mut().for_each(|room| room.reschedule(m));
        } else if later {
            self.rooms.all_mut().for_each(Room::repaint);
        }
    }
}
