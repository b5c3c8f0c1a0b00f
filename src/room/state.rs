//! All rooms of one log, and the roster: the replicated state.
//!
//! `apply` is the whole machine in its order: clock and roster, settings, what the gates saw, expiry, calls, horizons.
//! It is total and deterministic: the same entries make the same bytes on every gate.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::chain::Chain;
use super::entry::{Batch, Change, Effects, Entry, Joined, RoomChange, Section, VERSION};
use super::ids::{Clock, Era, GateId, Position, RoomName, Wall};
use super::moment::{MAX_JOINS, Moment};
use super::past::Past;
use super::rooms::Room;
use super::roster::Roster;
use super::settings::{MAX_MESSAGE, Settings};
use super::view::View;

/// Most that one entry advances the clock: an outage or a clock step costs this much of everybody's time, no more.
const MAX_STEP_MS: u64 = 5_000;

/// How long a log begun from nothing calls nobody, unless it is known that nothing was lost.
const FIRST_CALL_MS: u64 = 5_000;

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
    pub(super) moment: Moment,
    pub(super) roster: Roster,
    pub(super) rooms: BTreeMap<RoomName, Room>,
    pub(super) published: Option<Arc<View>>,
}

impl State {
    /// The rooms of a log begun from nothing, before its first entry (whose sequence is 1): no rooms, and nobody is
    /// called for 5 s of log time. `proven_new` says that there cannot have been a log before, such as when the file was
    /// just made together with its folder: then the first visitor is called at once.
    #[must_use]
    pub fn empty(incarnation: u64, proven_new: bool) -> Self {
        let healing_until = Clock(if proven_new { 0 } else { FIRST_CALL_MS });
        let moment = Moment {
            clock: Clock(0),
            time: Wall(0),
            healing_until,
            held_until: Clock(0),
            cold_ms: 0,
            joins_left: MAX_JOINS,
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
            moment,
            roster: Roster::default(),
            rooms: BTreeMap::new(),
            published: None,
        }
    }

    /// The same rooms under a new log: a new era for every lane, its base at least 2^20 places behind the end of the one
    /// before; roster empty; sessions, marks and places kept. Nothing happens unless `incarnation` is above the present
    /// one.
    pub fn begin(&mut self, incarnation: u64) {
        if incarnation <= self.position.incarnation {
            return;
        }
        self.position = Position {
            incarnation,
            sequence: 0,
        };
        self.nonce = [0; 8];
        self.chain = Chain::begin(incarnation, self.chain);
        Arc::make_mut(&mut self.moment.past).open(Era(incarnation), self.moment.clock);
        self.roster.begin();
        self.look_over_rooms();
        for room in self.rooms.values_mut() {
            room.begin(Era(incarnation), &self.moment);
        }
        self.hold();
        self.published = None;
    }

    /// Applies one entry. Total and deterministic. An entry that was applied before, of a version that is not this
    /// binary's, or of another log (unless it is a new one's root) changes nothing.
    pub fn apply(&mut self, entry: &Entry) -> Effects {
        let mut effects = Effects {
            clock: self.moment.clock,
            ignored: true,
            ..Effects::default()
        };
        if entry.batch.root.is_some() && entry.version == VERSION {
            self.begin(entry.position.incarnation);
        }
        let mine = entry.position.incarnation == self.position.incarnation && entry.position > self.position;
        if !mine || entry.version != VERSION {
            return effects;
        }
        self.tick(entry);
        effects.ignored = !self.roster.admit(entry, self.moment.clock);
        // Time passes with every entry, whoever it is of.
        if effects.ignored {
            self.run(&Batch::default(), &mut effects);
        } else {
            self.run(&entry.batch, &mut effects);
            self.roster.answer(entry.gate, &effects.joined);
        }
        if entry.batch.goodbye && !effects.ignored {
            self.roster.goodbye(entry.gate);
        }
        self.roster.sweep(self.moment.clock);
        self.hold();
        effects.clock = self.moment.clock;
        effects
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
        self.moment.clock
    }

    /// Gates on the roster, with the serial of each one's last batch and the clock at which it came.
    pub fn gates(&self) -> impl Iterator<Item = (GateId, u64, Clock)> {
        self.roster.gates()
    }

    /// A room's settings as configured, without its overrides.
    #[must_use]
    pub fn configured(&self, room: &RoomName) -> Option<&Settings> {
        self.rooms.get(room).map(Room::configured)
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
        let moment = &self.moment;
        let rooms = self
            .rooms
            .iter_mut()
            .map(|(name, room)| (name.clone(), room.view(moment)))
            .collect();
        let view = View {
            position: self.position,
            chain: self.chain,
            clock: moment.clock,
            time: moment.time,
            healing_until: moment.heals().then_some(moment.healing_until),
            rooms,
            past: Arc::clone(&moment.past),
        };
        Arc::clone(self.published.insert(Arc::new(view)))
    }

    /// How soon an empty entry is due if nobody says anything: 250 ms with a line, 1 s with slots held only, 4 s when all
    /// is empty.
    #[must_use]
    pub fn tick_ms(&self) -> u64 {
        let any = |held: fn(&Room) -> u64| self.rooms.values().any(|room| held(room) > 0);
        match () {
            () if any(|room| room.crowd.waiting) => 250,
            () if any(|room| room.crowd.slots) => 1_000,
            () => 4_000,
        }
    }

    fn tick(&mut self, entry: &Entry) {
        // The store's clock may step; only how far it went since the entry before counts, and only forwards.
        let passed = entry.time.since(self.time.unwrap_or(entry.time)).min(MAX_STEP_MS);
        self.time = Some(entry.time);
        self.position = entry.position;
        self.nonce = entry.nonce;
        self.chain = self.chain.then(&entry.encode());
        self.moment.clock = self.moment.clock.plus(passed);
        self.moment.time = entry.time;
        self.moment.joins_left = MAX_JOINS;
        self.published = None;
    }

    fn run(&mut self, batch: &Batch, effects: &mut Effects) {
        let healing_until = self.moment.healing_until;
        for change in &batch.rooms {
            effects.skip(u32::from(!self.change(change)));
        }
        for section in &batch.sections {
            if let Some(room) = self.rooms.get_mut(&section.room) {
                room.name(&section.line);
            }
        }
        self.rooms.values_mut().for_each(|room| room.advance(&self.moment));
        for section in &batch.sections {
            match self.rooms.get_mut(&section.room) {
                Some(room) => room.apply(section, &mut self.moment, effects),
                None => refuse(section, effects),
            }
        }
        self.rooms.values_mut().for_each(|room| room.finish(&mut self.moment));
        // Each line's view says until when nobody is called.
        if self.moment.healing_until != healing_until {
            self.rooms.values_mut().for_each(Room::repaint);
        }
    }

    fn change(&mut self, change: &RoomChange) -> bool {
        let m = &mut self.moment;
        let full = self.rooms.len() >= MAX_ROOMS;
        match (self.rooms.get_mut(&change.room), &change.change) {
            (None, Change::Configure(settings)) if !full => {
                let room = Room::new(settings.bounded(), change.revision);
                self.rooms.insert(change.room.clone(), room);
            }
            (None, _) => return false,
            (Some(room), _) if change.revision <= room.revision => return false,
            (Some(_), Change::Override(overrides)) if too_long(overrides.message.as_deref()) => return false,
            (Some(room), Change::Configure(settings)) => room.configure(settings.bounded(), m),
            (Some(room), Change::Override(overrides)) => room.override_with(overrides.clone(), m),
            (Some(room), Change::Reset) => room.reset(m),
            (Some(room), Change::Remove) => {
                room.close(m);
                self.rooms.remove(&change.room);
            }
        }
        if let Some(room) = self.rooms.get_mut(&change.room) {
            room.revision = change.revision;
        }
        self.look_over_rooms();
        true
    }

    /// What follows from the settings of all rooms together.
    pub(super) fn look_over_rooms(&mut self) {
        let longest = |of: fn(&Room) -> u64| self.rooms.values().map(of).max().unwrap_or(0);
        let session_max_ms = longest(|room| room.settings.session_max_ms);
        self.moment.cold_ms = longest(|room| {
            let settings = &room.settings;
            (settings.grace_ms / 2)
                .max(settings.session_ms)
                .max(settings.claim_deadline_ms)
        });
        Arc::make_mut(&mut self.moment.past).trust(session_max_ms);
    }

    /// Horizons stand while a silent gate may come back. A hold that ends early is not in the schedules.
    fn hold(&mut self) {
        let before = std::mem::replace(&mut self.moment.held_until, self.roster.held_until());
        if self.moment.held_until < before {
            self.rooms.values_mut().for_each(|room| room.reschedule(&self.moment));
        }
    }
}

fn too_long(message: Option<&str>) -> bool {
    message.is_some_and(|message| message.len() > MAX_MESSAGE)
}

/// A section of a room that is not there.
fn refuse(section: &Section, effects: &mut Effects) {
    effects.skip(section.items());
    for join in &section.joins {
        effects.answer(section, *join, None);
    }
    for (lane, _) in &section.pending_joins {
        effects.answer_pending(section, *lane, None);
    }
}
