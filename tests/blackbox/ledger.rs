//! What the log says happened, judged by rules that are not the room's.
//!
//! The kept log is read entry by entry. What visitors and gates *said* (joins, marks, leaves) is taken from the entries'
//! bytes; what the room *did* (whom it called, who holds a slot) is read off the replica's view after each entry, as the
//! gate itself read it. Between the two stands a reckoning in plain maps that shares nothing with `room`: its own clock,
//! and for each number when it was last heard of. From these it follows, whatever the room believes, who was
//! **surely present**: joined less than `firm_within` ago in this life of the log, or marked less than `grace`/2 ago and
//! not absent from a turn since. The room may count more people as present (a mark is good for up to two generations), never
//! fewer. So whoever was surely present and still waits after an entry that called a later number was passed over: an
//! inversion, exactly, and with no room for timing. That the log is what the gate acted on is shown by `anteroom replay`, by the
//! tickets that visitors hold, and by the sessions that the shop saw, all of which must be found in here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anteroom::log::Kept;
use anteroom::room::{Entry, LaneId, LineName, LineView, Number, PendingId, Standing, State};

use crate::crowd::{CAPACITY, CLAIM_MS, SLACK_MS};
use crate::gate::room;

const FIRM_MS: u64 = 6_000;
const GENERATION_MS: u64 = 8_000;
const LANE: LaneId = LaneId(0);

/// Entries between two looks at everybody in line.
const SWEEP_EVERY: u64 = 200;

/// What was found.
#[derive(Default)]
pub struct Ledger {
    /// Every number issued, every one called and how often, and every one taken out of line by its visitor.
    pub issued: BTreeSet<Number>,
    pub called: BTreeMap<Number, u32>,
    pub left: BTreeSet<Number>,
    pub entries: u64,
    pub lives: u64,
    pub claims: u64,
    pub no_shows: u64,
    pub most_held: u64,
    /// Slots that a missed turn or an end set free and that somebody took, and how many of them in the very entry.
    pub refilled: u64,
    /// Longest time between two entries of one life while somebody waited, by the log's own time.
    pub longest_tick_ms: u64,
    /// The second longest in a thousand.
    pub usual_tick_ms: u64,
    pub faults: Vec<String>,
    clock: u64,
    time: Option<u64>,
    waiting: BTreeMap<Number, Heard>,
    held: BTreeMap<Number, Held>,
    pending: BTreeMap<PendingId, Number>,
    calls: u64,
    ticks: Vec<u64>,
}

/// When somebody in line was last heard of, by the reckoning's clock.
#[derive(Clone, Copy, Default)]
struct Heard {
    joined: Option<u64>,
    marked: Option<u64>,
}

/// Somebody with a slot.
#[derive(Clone, Copy)]
enum Held {
    /// Until this clock, unless claimed.
    Called(u64),
    Inside,
}

/// Reads and judges the log of a stopped gate.
pub fn read(folder: &Path) -> Ledger {
    let kept = Kept::open(folder).unwrap();
    let mut ledger = Ledger::default();
    let mut state: Option<State> = None;
    for file in kept.files() {
        let part = kept.part(file).unwrap();
        let base = part.base.position;
        let goes_on = state.as_ref().is_some_and(|state| state.position() == base);
        if !goes_on {
            let mut fresh = State::decode(&part.base.state).unwrap();
            ledger.new_life(&mut fresh);
            state = Some(fresh);
        }
        let state = state.as_mut().unwrap();
        let mut sequence = base.sequence;
        loop {
            let entries = part.read(sequence).unwrap();
            let Some(last) = entries.last() else { break };
            sequence = last.position.sequence;
            for entry in &entries {
                ledger.entry(state, entry);
            }
        }
    }
    ledger.ticks.sort_unstable();
    ledger.longest_tick_ms = ledger.ticks.last().copied().unwrap_or_default();
    ledger.usual_tick_ms = ledger
        .ticks
        .get(ledger.ticks.len() * 999 / 1_000)
        .copied()
        .unwrap_or_default();
    ledger
}

impl Ledger {
    /// The log begins anew, from the state that the gate came back with: whoever was in line must be in line, in the same
    /// order, and whoever held a slot must hold it.
    fn new_life(&mut self, state: &mut State) {
        self.lives += 1;
        let view = state.view();
        if self.lives > 1 && view.clock.0 != self.clock {
            self.fault(&format!(
                "the clock went from {} to {} with a restart",
                self.clock, view.clock.0
            ));
        }
        self.clock = view.clock.0;
        // Who has only just joined must check in once before the room counts on them again.
        self.waiting.values_mut().for_each(|heard| heard.joined = None);
        let Some(line) = view
            .rooms
            .get(&room())
            .and_then(|room| room.line(&LineName::ONLY).cloned())
        else {
            return self.lost_all();
        };
        self.sweep(&line);
    }

    fn lost_all(&mut self) {
        if !self.waiting.is_empty() || !self.held.is_empty() {
            self.fault("the line is gone after a restart");
        }
    }

    /// Everybody in line is in line still, in the order of their numbers.
    fn sweep(&mut self, line: &LineView) {
        let mut last = None;
        let mut faults = Vec::new();
        for number in self.waiting.keys() {
            let standing = line.standing(LANE, *number, line.clock);
            if !matches!(standing, Standing::Waiting(_)) {
                faults.push(format!("{number:?} waited and is {standing:?}"));
            }
            let place = line.place(LANE, *number);
            if place.is_none() || place <= last {
                faults.push(format!("{number:?} stands at {place:?}, behind {last:?}"));
            }
            last = place;
        }
        for fault in &faults {
            self.fault(fault);
        }
    }

    fn entry(&mut self, state: &mut State, entry: &Entry) {
        self.entries += 1;
        let passed = self.time.map_or(0, |time| entry.time.0.saturating_sub(time));
        self.clock += passed.min(5_000);
        if entry.position.sequence > 1 && !self.waiting.is_empty() {
            self.ticks.push(passed);
        }
        self.time = Some(entry.time.0);
        let effects = state.apply(entry);
        if effects.ignored || effects.clock.0 != self.clock {
            self.fault(&format!(
                "{:?}: not applied, or at {:?}, not {}",
                entry.position, effects.clock, self.clock
            ));
        }
        self.said(entry);
        let pending = entry.batch.sections.iter().flat_map(|section| &section.pending_joins);
        for (joined, (_, id)) in effects.pending_joined.iter().zip(pending) {
            if let Some(first) = joined
                .first
                .filter(|first| self.pending.insert(*id, *first) != Some(*first))
            {
                self.issue(first);
            }
        }
        for joined in &effects.joined {
            let Some(first) = joined.first else { continue };
            for n in first.n..first.n + joined.count {
                self.issue(Number { n, ..first });
            }
        }
        let view = state.view();
        let Some(line) = view.rooms.get(&room()).and_then(|room| room.line(&LineName::ONLY)) else {
            return;
        };
        let before = self.held.len();
        self.release(line);
        let freed = before - self.held.len();
        let calls = self.call(line);
        self.refilled += calls.min(freed as u64);
        self.judge(line, view.healing_until.is_some());
        if self.entries.is_multiple_of(SWEEP_EVERY) {
            self.sweep(line);
        }
    }

    /// Takes down what visitors and gates said.
    fn said(&mut self, entry: &Entry) {
        for section in &entry.batch.sections {
            for (_, number) in &section.marks {
                if let Some(heard) = self.waiting.get_mut(number) {
                    heard.marked = Some(self.clock);
                }
                if !self.issued.contains(number) {
                    self.fault(&format!("{number:?} checks in and was never issued"));
                }
            }
            for (_, number) in &section.leaves {
                self.left.insert(*number);
                self.waiting.remove(number);
            }
            self.claims += section.claims.len() as u64;
        }
    }

    fn issue(&mut self, number: Number) {
        if !self.issued.insert(number) {
            self.fault(&format!("{number:?} is issued twice"));
        }
        if self.issued.last() != Some(&number) {
            self.fault(&format!("{number:?} is issued behind {:?}", self.issued.last()));
        }
        self.waiting.insert(
            number,
            Heard {
                joined: Some(self.clock),
                marked: None,
            },
        );
    }

    /// Who has lost their slot, and whose turn is missed: they are in line again, unheard of.
    fn release(&mut self, line: &LineView) {
        let mut released = Vec::new();
        for (number, held) in &mut self.held {
            let standing = line.standing(LANE, *number, line.clock);
            match (standing, *held) {
                (Standing::Called(called), _) => *held = Held::Called(called.deadline.0 + SLACK_MS),
                (Standing::Inside(_), _) => *held = Held::Inside,
                (Standing::Waiting(_) | Standing::Late, Held::Called(due)) if self.clock < due => {}
                _ => released.push((*number, standing)),
            }
        }
        for (number, standing) in released {
            self.held.remove(&number);
            if let Standing::Waiting(_) = standing {
                self.waiting.insert(number, Heard::default());
            }
            self.no_shows += u64::from(matches!(standing, Standing::Waiting(_) | Standing::Late));
        }
    }

    /// Finds whom the entry called, lowest first, and whom it passed over.
    fn call(&mut self, line: &LineView) -> u64 {
        let made = line.figures.calls - self.calls;
        self.calls = line.figures.calls;
        let (mut found, mut passed_over) = (Vec::new(), None);
        for (number, heard) in &self.waiting {
            if found.len() as u64 == made {
                break;
            }
            match line.standing(LANE, *number, line.clock) {
                Standing::Called(called) => {
                    let held = Held::Called(called.deadline.0 + SLACK_MS);
                    found.push((*number, held, passed_over));
                }
                Standing::Inside(_) => found.push((*number, Held::Inside, passed_over)),
                _ if self.is_surely_present(heard) => passed_over = passed_over.or(Some(*number)),
                _ => {}
            }
        }
        if (found.len() as u64) < made {
            self.fault(&format!(
                "{made} calls were made and only {found:?} found",
                found = found.len()
            ));
        }
        for (number, held, passed_over) in found {
            if let Some(lower) = passed_over {
                self.fault(&format!("{number:?} was called before {lower:?}, who was present"));
            }
            if let Held::Called(due) = held
                && due != self.clock + CLAIM_MS + SLACK_MS
            {
                self.fault(&format!("{number:?} is called until {due} at {}", self.clock));
            }
            *self.called.entry(number).or_default() += 1;
            self.waiting.remove(&number);
            self.held.insert(number, held);
        }
        made
    }

    /// Capacity holds; and no slot stays free beyond the entry that freed it while somebody is surely there to take it.
    fn judge(&mut self, line: &LineView, healing: bool) {
        let figures = &line.figures;
        let slots = u64::from(figures.called) + u64::from(figures.inside);
        self.most_held = self.most_held.max(slots).max(self.held.len() as u64);
        if slots > CAPACITY || self.held.len() as u64 > slots || figures.excess > 0 {
            self.fault(&format!(
                "{} are in {slots} slots, {} in excess",
                self.held.len(),
                figures.excess
            ));
        }
        let overdue = self
            .held
            .iter()
            .find(|(_, held)| matches!(held, Held::Called(due) if *due <= self.clock));
        if let Some((number, _)) = overdue {
            self.fault(&format!("{number:?} holds a slot beyond the claim deadline"));
        }
        let present = self.waiting.iter().find(|(_, heard)| self.is_surely_present(heard));
        if let Some((number, _)) = present.filter(|_| slots < CAPACITY && !healing) {
            self.fault(&format!("a slot stays free while {number:?} waits"));
        }
    }

    fn is_surely_present(&self, heard: &Heard) -> bool {
        let within = |since: Option<u64>, span| since.is_some_and(|since| self.clock - since < span);
        within(heard.joined, FIRM_MS) || within(heard.marked, GENERATION_MS)
    }

    /// The first faults are enough.
    fn fault(&mut self, what: &str) {
        if self.faults.len() < 20 {
            self.faults
                .push(format!("entry {} of life {}: {what}", self.entries, self.lives));
        }
    }
}
