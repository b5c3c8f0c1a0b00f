//! The naive log: one room, its roster, and the order of an entry, written down as the design says it.

mod lane;
mod line;
mod standing;
mod words;

use std::collections::BTreeMap;

use anteroom::room::{
    Batch, Change, Entry, LaneId, LineName, Mode, Number, Overrides, PendingId, Section, Settings, Standing,
};

use lane::{Key, Now};
use line::Line;

/// What entries did, as far as gates are told.
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Answer {
    pub joined: Vec<Option<Number>>,
    pub pending_joined: Vec<Option<Number>>,
    pub skipped: u32,
    pub ignored: bool,
    pub clock: u64,
}

/// What outlives lines.
#[derive(Debug)]
pub struct Lore {
    floors: BTreeMap<u64, u64>,
    since: u64,
    session_max: u64,
    cold: u64,
    pub healing_until: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Proof {
    Late,
    Ahead,
    Lost { cold: bool },
}

#[derive(Debug)]
pub struct Room {
    configured: Settings,
    overrides: Overrides,
    pub settings: Settings,
    revision: u64,
    pub edition: u32,
    pub lines: BTreeMap<LineName, Line>,
    /// (numbered at, id, line, number)
    pending: Vec<(u64, PendingId, LineName, Number)>,
}

#[derive(Debug)]
pub struct Model {
    pub clock: u64,
    time: Option<u64>,
    pub lore: Lore,
    pub room: Option<Room>,
    /// Last serial, and when.
    gates: BTreeMap<u64, (u64, u64)>,
    silent: BTreeMap<u64, u64>,
    held_until: u64,
}

impl Lore {
    pub fn era(&self) -> u64 {
        *self.floors.last_key_value().unwrap().0
    }

    pub fn floor(&self) -> u32 {
        u32::try_from(*self.floors.last_key_value().unwrap().1).unwrap()
    }

    pub fn floor_of(&self, era: u64) -> u64 {
        self.floors.get(&era).copied().unwrap_or(0)
    }

    pub fn raise(&mut self, ends: Vec<Key>) {
        for (era, end) in ends {
            self.floors.entry(era).and_modify(|floor| *floor = (*floor).max(end));
        }
    }

    pub fn prove(&self, key: Key, now: u64) -> Proof {
        match self.floors.get(&key.0) {
            _ if key.0 > self.era() => Proof::Ahead,
            Some(floor) if key.1 < *floor => Proof::Late,
            Some(_) if key.0 == self.era() => Proof::Ahead,
            Some(_) => Proof::Lost { cold: false },
            None if now < self.since + self.session_max => Proof::Lost { cold: true },
            None => Proof::Late,
        }
    }

    pub fn learn(&mut self, era: u64, cold: bool, now: u64) {
        if cold {
            self.floors.insert(era, 0);
            self.healing_until = self.healing_until.max(now + self.cold);
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
    pub fn new(era: u64, proven_new: bool) -> Self {
        let healing_until = if proven_new { 0 } else { 5_000 };
        let lore = Lore {
            floors: BTreeMap::from([(era, 0)]),
            since: 0,
            session_max: 0,
            cold: 0,
            healing_until,
        };
        Self {
            clock: 0,
            time: None,
            lore,
            room: None,
            gates: BTreeMap::new(),
            silent: BTreeMap::new(),
            held_until: 0,
        }
    }

    pub fn begin(&mut self, era: u64) {
        self.lore.floors.insert(era, 0);
        self.lore.since = self.clock;
        for (gate, (_, last)) in std::mem::take(&mut self.gates) {
            self.silent.insert(gate, last);
        }
        if let Some(room) = &mut self.room {
            room.lines.values_mut().for_each(|line| line.begin(era, self.clock));
        }
        self.hold();
    }

    pub fn apply(&mut self, entry: &Entry) -> Answer {
        let time = entry.time.0;
        self.clock += time.saturating_sub(self.time.unwrap_or(time)).min(5_000);
        self.time = Some(time);
        let mut answer = Answer {
            ignored: !self.admit(entry),
            ..Answer::default()
        };
        if answer.ignored {
            self.run(&Batch::default(), time, &mut answer);
        } else {
            self.run(&entry.batch, time, &mut answer);
            if entry.batch.goodbye {
                self.gates.remove(&entry.gate.0);
            }
        }
        let gone: Vec<_> = self
            .gates
            .iter()
            .filter(|(_, (_, last))| self.clock > last + 15_000)
            .map(|(id, gate)| (*id, gate.1))
            .collect();
        for (id, last) in gone {
            self.gates.remove(&id);
            self.silent.insert(id, last);
        }
        self.silent.retain(|_, since| *since + 3_600_000 > self.clock);
        self.hold();
        answer.clock = self.clock;
        answer
    }

    fn admit(&mut self, entry: &Entry) -> bool {
        match self.gates.get_mut(&entry.gate.0) {
            Some(gate) => {
                let new = entry.serial > gate.0;
                *gate = (gate.0.max(entry.serial), self.clock);
                new
            }
            None if entry.batch.hello => {
                self.silent.remove(&entry.gate.0);
                self.gates.insert(entry.gate.0, (entry.serial, self.clock));
                true
            }
            None => false,
        }
    }

    fn hold(&mut self) {
        self.held_until = self.silent.values().max().map_or(0, |since| since + 3_600_000);
    }

    fn run(&mut self, batch: &Batch, time: u64, answer: &mut Answer) {
        for change in &batch.rooms {
            answer.skipped += u32::from(!self.change(change.revision, &change.change));
        }
        let Some(room) = &mut self.room else {
            return batch.sections.iter().for_each(|section| refuse(section, answer));
        };
        let settings = room.settings.clone();
        let mut now = Now {
            clock: self.clock,
            time,
            settings: &settings,
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
            (!name.is_only() && line.empty(now.clock) && due(line)).then(|| name.clone())
        };
        for name in room.lines.iter().filter_map(forgotten).collect::<Vec<_>>() {
            now.lore.raise(room.lines.remove(&name).unwrap().highest());
        }
    }

    fn change(&mut self, revision: u64, change: &Change) -> bool {
        let clock = self.clock;
        match (&mut self.room, change) {
            (None, Change::Configure(settings)) => {
                self.room = Some(Room {
                    configured: settings.clone(),
                    overrides: Overrides::default(),
                    settings: settings.clone(),
                    revision,
                    edition: 0,
                    lines: BTreeMap::new(),
                    pending: Vec::new(),
                });
            }
            (None, _) => return false,
            (Some(room), _) if revision <= room.revision => return false,
            (Some(room), Change::Configure(settings)) => {
                room.configured = settings.clone();
                room.settle(clock, &self.lore);
            }
            (Some(room), Change::Override(overrides)) => {
                room.overrides = overrides.clone();
                room.settle(clock, &self.lore);
            }
            (Some(room), Change::Reset) => {
                room.edition += 1;
                room.close(&mut self.lore);
            }
            (Some(room), Change::Remove) => {
                room.close(&mut self.lore);
                self.room = None;
            }
        }
        if let Some(room) = &mut self.room {
            room.revision = revision;
        }
        let of = |value: fn(&Settings) -> u64| self.room.as_ref().map_or(0, |room| value(&room.settings));
        self.lore.session_max = of(|s| s.session_max_ms);
        self.lore.cold = of(|s| (s.grace_ms / 2).max(s.session_ms).max(s.claim_deadline_ms));
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

impl Room {
    fn settle(&mut self, clock: u64, lore: &Lore) {
        let old = self.settings.clone();
        self.settings = Settings {
            mode: self.overrides.mode.unwrap_or(self.configured.mode),
            capacity: self.overrides.capacity.unwrap_or(self.configured.capacity),
            rate_per_minute: self
                .overrides
                .rate_per_minute
                .unwrap_or(self.configured.rate_per_minute),
            ..self.configured.clone()
        };
        for line in self.lines.values_mut() {
            line.grow(&self.settings, lore);
            line.resettle(&old, &self.settings, clock);
        }
    }

    fn close(&mut self, lore: &mut Lore) {
        for (_, line) in std::mem::take(&mut self.lines) {
            lore.raise(line.highest());
        }
        self.pending.clear();
    }

    fn make(&mut self, name: &LineName, now: &Now) -> bool {
        let room = self.lines.len() < usize::try_from(self.settings.max_lines).unwrap();
        if room && !self.lines.contains_key(name) {
            self.lines.insert(name.clone(), Line::new(now));
        }
        self.lines.contains_key(name)
    }

    fn section(&mut self, section: &Section, now: &mut Now, answer: &mut Answer) {
        let key = |number: &Number| (number.era.0, u64::from(number.n));
        let mut named = section.marks.iter().chain(&section.reopens);
        if named.any(|(_, number)| matches!(now.lore.prove(key(number), now.clock), Proof::Lost { .. })) {
            self.make(&section.line, now);
        }
        match self.lines.get_mut(&section.line) {
            None => answer.skipped += items(section),
            Some(line) => {
                let mut note = |done: bool| answer.skipped += u32::from(!done);
                section
                    .leaves
                    .iter()
                    .for_each(|(lane, n)| note(line.leave(*lane, key(n), now)));
                section
                    .ends
                    .iter()
                    .for_each(|end| note(line.end(end.lane, key(&end.number), end.after_ms, now)));
                section
                    .claims
                    .iter()
                    .for_each(|c| note(line.claim(c.lane, key(&c.number), c.carried, now)));
                section
                    .reopens
                    .iter()
                    .for_each(|(lane, n)| note(line.reopen(*lane, key(n), now)));
                section
                    .renewals
                    .iter()
                    .for_each(|(lane, n)| note(line.renew(*lane, key(n), now)));
                section
                    .marks
                    .iter()
                    .for_each(|(lane, n)| note(line.mark(*lane, key(n), now)));
            }
        }
        for (lane, count) in &section.joins {
            let first = self.join(&section.line, *lane, *count, now);
            answer.skipped += u32::from(first.is_none());
            answer.joined.push(first);
        }
        for (lane, id) in &section.pending_joins {
            let known = self
                .pending
                .iter()
                .find(|p| p.1 == *id && p.2 == section.line)
                .map(|p| p.3);
            let first = known.or_else(|| self.join(&section.line, *lane, 1, now));
            if known.is_none() {
                self.pending
                    .extend(first.map(|number| (now.clock, *id, section.line.clone(), number)));
            }
            answer.skipped += u32::from(first.is_none());
            answer.pending_joined.push(first);
        }
    }

    fn join(&mut self, name: &LineName, lane: LaneId, count: u32, now: &Now) -> Option<Number> {
        let able = matches!(self.settings.mode, Mode::Auto | Mode::Hold);
        let configured = usize::from(lane.0) < self.settings.lane_weights.len();
        if !able || !configured || count == 0 || !self.make(name, now) {
            return None;
        }
        self.lines.get_mut(name)?.join(lane, count, now)
    }
}

fn refuse(section: &Section, answer: &mut Answer) {
    answer.skipped += items(section) + u32::try_from(section.joins.len() + section.pending_joins.len()).unwrap();
    answer.joined.extend(section.joins.iter().map(|_| None));
    answer.pending_joined.extend(section.pending_joins.iter().map(|_| None));
}

fn items(section: &Section) -> u32 {
    let named = [&section.leaves, &section.reopens, &section.renewals, &section.marks];
    let items = named.map(Vec::len).iter().sum::<usize>() + section.ends.len() + section.claims.len();
    u32::try_from(items).unwrap()
}
