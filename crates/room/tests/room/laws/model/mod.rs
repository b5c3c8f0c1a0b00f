//! The naive log: one room, its roster, and the order of an entry, written down as `docs/explanation/the-room.md` says it.

mod lane;
mod line;
mod room;
mod standing;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use ropeline_room::{Batch, Change, Entry, LaneId, LineName, Mode, Number, Overrides, Settings, Standing};

use lane::{Key, Now};
use line::Line;
use room::{Room, refuse};

/// The effects of entries, as far as gates are answered.
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Answer {
    pub joined: Vec<Option<Number>>,
    pub pending_joined: Vec<Option<Number>>,
    pub skipped: u32,
    pub ignored: bool,
    pub clock: u64,
}

/// State that outlives lines.
#[derive(Clone, Debug)]
pub struct Lore {
    floors: BTreeMap<u64, u64>,
    since: u64,
    session_max: u64,
    /// Nothing says that no log was lost before.
    unproven: bool,
    /// The last entry that was read of an epoch's log.
    ends: BTreeMap<u64, u64>,
    pub healing: Healing,
}

/// The room's.
#[derive(Clone, Debug, Default)]
pub struct Healing {
    pub until: u64,
    /// The proofs that have stopped the room: by an epoch older than the log before or not, and by a pass or a ticket.
    proofs: BTreeSet<(bool, bool)>,
    /// The log before.
    last: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Proof {
    Late,
    Ahead,
    Lost { cold: bool },
}

#[derive(Clone, Debug)]
pub struct Model {
    pub clock: u64,
    time: Option<u64>,
    /// Sequence of the last entry.
    sequence: u64,
    pub lore: Lore,
    pub room: Option<Room>,
    /// The edition that a room begins with, and its revision at least, by those that were removed.
    removed: (u32, u64),
    gates: BTreeMap<u64, Gate>,
    silent: BTreeMap<u64, u64>,
    /// The last serial of each gate that is off the roster, and when it was heard.
    gone: BTreeMap<u64, (u64, u64)>,
    held_until: u64,
    /// The hash of the root that is waited for.
    pub awaits: Option<[u8; 32]>,
    /// Gates that bring an epoch back: since when, and their last batch of it.
    adopting: BTreeMap<u64, (u64, u64)>,
}

#[derive(Clone, Debug)]
struct Gate {
    serial: u64,
    last: u64,
    /// Heard in this log.
    here: bool,
}

impl Lore {
    pub fn epoch(&self) -> u64 {
        *self.floors.last_key_value().unwrap().0
    }

    pub fn floor(&self) -> u32 {
        u32::try_from(*self.floors.last_key_value().unwrap().1).unwrap()
    }

    pub fn floor_of(&self, epoch: u64) -> u64 {
        self.floors.get(&epoch).copied().unwrap_or(0)
    }

    pub fn raise(&mut self, ends: Vec<Key>) {
        for (epoch, end) in ends {
            self.floors.entry(epoch).and_modify(|floor| *floor = (*floor).max(end));
        }
    }

    pub fn prove(&self, key: Key, now: u64) -> Proof {
        match self.floors.get(&key.0) {
            _ if key.0 > self.epoch() => Proof::Ahead,
            Some(floor) if key.1 < *floor => Proof::Late,
            Some(_) if key.0 == self.epoch() => Proof::Ahead,
            Some(_) if now < self.since + self.session_max && self.end(key.0) == 0 => Proof::Lost { cold: true },
            Some(_) => Proof::Lost { cold: false },
            None if now < self.since + self.session_max => Proof::Lost { cold: true },
            None => Proof::Late,
        }
    }

    fn end(&self, epoch: u64) -> u64 {
        self.ends.get(&epoch).copied().unwrap_or(0)
    }

    fn note_end(&mut self, epoch: u64, end: u64) {
        let end = end.max(self.end(epoch));
        self.ends.insert(epoch, end);
    }

    pub fn learn(&mut self, epoch: u64) {
        self.floors.entry(epoch).or_insert(0);
    }

    /// A token of a lost epoch is shown.
    pub fn heal(&mut self, epoch: u64, pass: bool, settings: &Settings, now: u64) {
        // A new log that may follow a lost one waits for its passes anyway.
        if pass && self.unproven && self.healing.last == 0 && now < self.healing.until {
            return;
        }
        if self.healing.proofs.insert((epoch < self.healing.last, pass)) {
            let lasts = if pass {
                settings.session_ms.max(settings.claim_deadline_ms)
            } else {
                settings.grace_ms / 2
            };
            self.healing.until = self.healing.until.max(now + lasts);
        }
    }

    /// A new room in a log that may follow a lost one: as if one of its passes had been shown when the log began.
    fn suspect(&mut self, settings: &Settings, now: u64) {
        let passes = settings.session_ms.max(settings.claim_deadline_ms);
        let until = passes.max(settings.grace_ms / 2) + 2_000;
        if self.unproven && now < until {
            self.healing.until = until;
        }
    }
}

impl Proof {
    pub fn standing(&self) -> Standing {
        if *self == Self::Late {
            Standing::Late
        } else {
            Standing::Unknown
        }
    }
}

impl Model {
    pub fn new(epoch: u64, proven_new: bool) -> Self {
        let lore = Lore {
            floors: BTreeMap::from([(epoch, 0)]),
            since: 0,
            session_max: 0,
            unproven: !proven_new,
            ends: BTreeMap::new(),
            healing: Healing::default(),
        };
        Self {
            clock: 0,
            time: None,
            sequence: 0,
            lore,
            room: None,
            removed: (0, 0),
            gates: BTreeMap::new(),
            silent: BTreeMap::new(),
            gone: BTreeMap::new(),
            held_until: 0,
            awaits: None,
            adopting: BTreeMap::new(),
        }
    }

    /// Without a root to wait for, the log has one at once.
    pub fn begin(&mut self, epoch: u64, awaits: Option<[u8; 32]>) {
        let last = self.lore.epoch();
        self.lore.note_end(last, std::mem::take(&mut self.sequence));
        if self.room.is_some() {
            let healing = &mut self.lore.healing;
            healing.proofs = healing.proofs.iter().map(|(_, pass)| (true, *pass)).collect();
            healing.last = last;
        }
        self.lore.floors.insert(epoch, 0);
        self.lore.since = self.clock;
        self.gates.values_mut().for_each(|gate| gate.here = false);
        self.adopting.clear();
        self.awaits = awaits;
        if awaits.is_none() {
            self.root();
        }
        if let Some(room) = &mut self.room {
            room.lines.values_mut().for_each(|line| line.begin(epoch, self.clock));
            room.keep(self.clock);
        }
        self.hold();
    }

    pub fn apply(&mut self, entry: &Entry) -> Answer {
        let time = entry.time.0;
        let passed = time.saturating_sub(self.time.unwrap_or(time)).min(5_000);
        self.time = Some(time);
        self.sequence = entry.position.sequence;
        if self.awaits.is_some() {
            return self.gather(entry);
        }
        self.clock += passed;
        let mut answer = Answer {
            ignored: !self.admit(entry),
            ..Answer::default()
        };
        if answer.ignored {
            self.run(&Batch::default(), None, time, &mut answer);
        } else {
            let adopts = self.adopt(entry);
            answer.skipped += u32::from(entry.batch.adopt.is_some() && adopts.is_none());
            self.run(&entry.batch, adopts, time, &mut answer);
            if let Some(adopt) = entry.batch.adopt.filter(|_| adopts.is_some()) {
                self.adopting.retain(|gate, _| !adopt.done || *gate != entry.gate.0);
                if adopt.whole {
                    self.lore.note_end(adopt.epoch.0, adopt.sequence);
                    let issuing = self.lore.epoch();
                    if self
                        .lore
                        .floors
                        .keys()
                        .all(|epoch| *epoch == issuing || self.lore.end(*epoch) > 0)
                    {
                        self.lore.healing.until = 0;
                        self.lore.unproven = false;
                    }
                    self.lore.raise(vec![(adopt.epoch.0, u64::from(adopt.floor))]);
                }
            }
            if entry.batch.goodbye {
                self.leave(entry.gate.0);
            }
        }
        let gone: Vec<_> = self
            .gates
            .iter()
            .filter(|(_, gate)| self.clock > gate.last + 15_000)
            .map(|(id, gate)| (*id, gate.last))
            .collect();
        for (id, last) in gone {
            self.leave(id);
            self.silent.insert(id, last);
        }
        self.silent.retain(|_, since| *since + 3_600_000 > self.clock);
        self.gone.retain(|_, (_, since)| *since + 3_600_000 > self.clock);
        self.adopting.retain(|gate, _| self.gates.contains_key(gate));
        self.hold();
        answer.clock = self.clock;
        answer
    }

    /// An entry of a log without a root: time stands, and the rooms with it.
    fn gather(&mut self, entry: &Entry) -> Answer {
        let (id, batch) = (entry.gate.0, &entry.batch);
        if batch.spoke.is_some() {
            self.silent.remove(&id);
            let new = Gate {
                serial: self.gone.remove(&id).map_or(0, |(serial, _)| serial),
                last: 0,
                here: true,
            };
            self.gates.entry(id).or_insert(new).here = true;
        }
        if let Some(gate) = self.gates.get_mut(&id) {
            gate.last = self.clock;
        }
        if batch.goodbye {
            self.leave(id);
        }
        if batch.root == self.awaits {
            self.awaits = None;
            self.root();
        }
        self.hold();
        Answer {
            ignored: !batch.rooms.is_empty() || !batch.sections.is_empty(),
            clock: self.clock,
            ..Answer::default()
        }
    }

    fn root(&mut self) {
        let away = self.gates.iter().filter(|(_, gate)| !gate.here);
        for (id, last) in away.map(|(id, gate)| (*id, gate.last)).collect::<Vec<_>>() {
            self.leave(id);
            self.silent.insert(id, last);
        }
    }

    fn leave(&mut self, id: u64) {
        if let Some(gate) = self.gates.remove(&id) {
            self.gone.insert(id, (gate.serial, gate.last));
        }
    }

    /// The epoch that an entry brings back.
    fn adopt(&mut self, entry: &Entry) -> Option<u64> {
        let epoch = entry.batch.adopt?.epoch.0;
        if epoch >= self.lore.epoch() {
            return None;
        }
        self.lore.floors.entry(epoch).or_insert(0);
        let since = self.adopting.get(&entry.gate.0).map_or(self.clock, |(since, _)| *since);
        self.adopting.insert(entry.gate.0, (since, self.clock));
        Some(epoch)
    }

    /// Until when no visitor is called because an epoch is being brought back.
    pub fn adopted_by(&self) -> u64 {
        let until = |(since, last): &(u64, u64)| (last + 5_000).min(since + 60_000);
        self.adopting.values().map(until).max().unwrap_or(0)
    }

    fn admit(&mut self, entry: &Entry) -> bool {
        match self.gates.get_mut(&entry.gate.0) {
            Some(gate) => {
                let new = entry.serial > gate.serial && entry.batch.spoke.is_none();
                gate.serial = if new { entry.serial } else { gate.serial };
                gate.last = self.clock;
                new
            }
            None if entry.batch.hello && entry.batch.spoke.is_none() => {
                let copy = |(serial, _): &(u64, u64)| entry.serial <= *serial;
                if self.gone.get(&entry.gate.0).is_some_and(copy) {
                    return false;
                }
                self.silent.remove(&entry.gate.0);
                self.gone.remove(&entry.gate.0);
                let gate = Gate {
                    serial: entry.serial,
                    last: self.clock,
                    here: true,
                };
                self.gates.insert(entry.gate.0, gate);
                true
            }
            None => false,
        }
    }

    fn hold(&mut self) {
        self.held_until = self.silent.values().max().map_or(0, |since| since + 3_600_000);
    }

    fn run(&mut self, batch: &Batch, adopts: Option<u64>, time: u64, answer: &mut Answer) {
        let quiet_until = self.adopted_by();
        for change in &batch.rooms {
            answer.skipped += u32::from(!self.change(adopts, change.revision, &change.change));
        }
        let Some(room) = &mut self.room else {
            return batch.sections.iter().for_each(|section| refuse(section, answer));
        };
        let settings = room.settings.clone();
        let mut now = Now {
            clock: self.clock,
            time,
            settings: &settings,
            quiet_until,
            adopts,
            lore: &mut self.lore,
        };
        room.pending.retain(|(at, ..)| at + settings.late_window_ms > now.clock);
        room.lines.values_mut().for_each(|line| line.advance(&now));
        for section in &batch.sections {
            room.section(section, &mut now, answer);
        }
        let held = self.clock < self.held_until;
        for line in room.lines.values_mut() {
            line.finish(&mut now, held);
        }
        let due = |line: &Line| now.clock >= (line.busy + settings.late_window_ms).max(self.held_until);
        let forgotten = |(name, line): (&LineName, &Line)| {
            (!name.is_only() && line.sold.is_empty() && line.empty(now.clock) && due(line)).then(|| name.clone())
        };
        for name in room.lines.iter().filter_map(forgotten).collect::<Vec<_>>() {
            now.lore.raise(room.lines.remove(&name).unwrap().highest());
        }
        room.keep(now.clock);
    }

    fn change(&mut self, adopts: Option<u64>, revision: u64, change: &Change) -> bool {
        let clock = self.clock;
        // Above all changes based on a removed room.
        let new = self.room.is_none() && adopts.is_none();
        let (begins, revised) = if new { self.removed } else { (0, 0) };
        let revision = revision.max(revised);
        match (&mut self.room, change) {
            (None, Change::Configure(settings)) => {
                self.room = Some(Room {
                    configured: settings.clone(),
                    overrides: Overrides::default(),
                    worded: None,
                    settings: settings.clone(),
                    revision,
                    edition: begins,
                    spared: None,
                    lines: BTreeMap::new(),
                    pending: Vec::new(),
                });
                self.lore.suspect(settings, clock);
            }
            (None, _)
            | (
                _,
                Change::Windows { .. }
                | Change::Commit { .. }
                | Change::Draw { .. }
                | Change::Sale { .. }
                | Change::Add(_)
                | Change::Rehearse(_)
                | Change::Renew(_)
                | Change::EndRehearsal(_)
                | Change::Evict(_)
                | Change::Load(_),
            ) => {
                return false;
            }
            (Some(room), Change::Edition(edition)) => {
                let higher = edition.0 > room.edition;
                if higher {
                    (room.edition, room.spared) = (edition.0, Some(self.lore.epoch()));
                    let epoch = self.lore.epoch();
                    for line in room.lines.values_mut() {
                        line.sold.retain(|(_, key)| key.0 >= epoch);
                    }
                }
                return higher;
            }
            (Some(room), _) if revision <= room.revision => return false,
            (Some(room), Change::Configure(settings)) => {
                room.configured = settings.clone();
                room.settle(clock, &self.lore);
            }
            (Some(room), Change::Override(overrides)) => {
                let said = adopts.unwrap_or(self.lore.epoch());
                if room.worded.is_some_and(|last| said < last) {
                    return false;
                }
                room.worded = Some(said);
                room.overrides = overrides.clone();
                room.settle(clock, &self.lore);
            }
            (Some(room), Change::Call(order)) => {
                let able = matches!(room.settings.mode, Mode::Auto | Mode::Hold);
                let line = room.lines.get_mut(&order.line);
                let knows = |line: &&mut Line| order.lane.is_none_or(|lane| usize::from(lane.0) < line.lanes.len());
                let counted = (1..=10_000).contains(&order.count);
                let Some(line) = line.filter(knows).filter(|_| able && counted) else {
                    return false;
                };
                line.ordered.push(order.clone());
            }
            (Some(_), Change::EndHealing) => {
                let healing = &mut self.lore.healing;
                if clock >= healing.until {
                    return false;
                }
                healing.until = 0;
                healing.proofs = [(false, false), (false, true), (true, false), (true, true)].into();
            }
            (Some(room), Change::Reset) => {
                (room.edition, room.spared) = (room.edition + 1, None);
                room.close(&mut self.lore);
            }
            (Some(room), Change::Remove) => {
                room.close(&mut self.lore);
                self.removed = (self.removed.0.max(room.edition + 1), self.removed.1.max(revision));
                self.room = None;
                self.lore.healing = Healing::default();
            }
        }
        if let Some(room) = &mut self.room {
            room.revision = revision;
        }
        self.lore.session_max = self.room.as_ref().map_or(0, |room| room.settings.session_max_ms);
        true
    }

    pub fn standing(&self, line: &LineName, lane: LaneId, key: Key) -> Standing {
        let found = self
            .room
            .as_ref()
            .and_then(|room| Some((room.lines.get(line)?, &room.settings)));
        match found {
            Some((line, settings)) => line.standing(lane, key, self.clock, &self.lore, settings),
            None => self.lore.prove(key, self.clock).standing(),
        }
    }
}
