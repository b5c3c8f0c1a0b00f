//! The events in the log, judged by rules that are independent of the room's.
//!
//! The log is read entry by entry. The gates' reports (joins, marks, leaves) are taken from the entries' bytes; the room's
//! actions (calls, held slots) are read from the replica's view after each entry, as the gate itself read it. Between the two
//! stands a calculation in plain maps that shares nothing with `room`: its own clock, and for each number the time of its
//! last sign of life. From these follows which visitors were **surely present**, whatever the room believes: joined less than
//! `firm_within` ago, or marked less than `grace`/2 ago and not absent from a turn since. The room may count more visitors as
//! present (a mark is good for up to two generations), never fewer. So a visitor who was surely present and still waits after
//! an entry that called a later number was passed over: an exact inversion, with no tolerance for timing. `ropeline replay`,
//! the visitors' tickets and the shop's sessions show that the gate acted on this log; all of them must be found in it.
//!
//! A log that gates share may lose entries that were read, or begin anew from a gate that read further than this ledger did.
//! Then the ledger goes on from the root, drops facts that are not certain any more, and judges on.

use std::collections::{BTreeMap, BTreeSet};

use ropeline::room::{Encoded, Entry, LaneId, LineName, LineView, Number, PendingId, Section, Standing, State, Wall};

use super::gate::room;
use super::people::{CLAIM_MS, FIRM_MS, GENERATION_MS, SLACK_MS};

const LANE: LaneId = LaneId(0);

/// Entries between two looks at everybody in line.
const SWEEP_EVERY: u64 = 200;

/// The damage of a fault to visitors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A place is lost or wrong.
    Place,
    /// A number is given twice.
    Twice,
    /// A visitor was called before a present visitor with a lower number.
    Inversion,
    /// A visitor was called beyond the capacity.
    Over,
    Other,
}

/// The results of reading a log.
#[derive(Default)]
pub struct Ledger {
    capacity: u64,
    /// The gate has the log to itself: it never loses entries that were read.
    alone: bool,
    /// Every number issued, every one called and how often, and every one taken out of line by its visitor.
    pub issued: BTreeSet<Number>,
    pub called: BTreeMap<Number, u32>,
    pub left: BTreeSet<Number>,
    pub entries: u64,
    pub lives: u64,
    pub claims: u64,
    pub no_shows: u64,
    pub most_held: u64,
    /// Sessions beyond the capacity that gates cut off from the log had honoured.
    pub most_excess: u64,
    /// Slots that a missed turn or an end set free and that a visitor took, and how many of them in the same entry.
    pub refilled: u64,
    pub faults: Vec<(Kind, String)>,
    /// Entries that gates had read and this ledger had not, as far as it can tell.
    pub unread: u64,
    /// The store's time of each entry, and whether it left a visitor waiting whom the room might have called.
    kept_waiting: Vec<(u64, bool)>,
    clock: u64,
    time: Option<u64>,
    waiting: BTreeMap<Number, Heard>,
    held: BTreeMap<Number, Held>,
    pending: BTreeMap<PendingId, Number>,
    calls: u64,
    /// Times between two entries of one life while a visitor waited, in log time.
    ticks: Vec<u64>,
}

/// The last sign of life of a visitor in line, by the ledger's clock.
#[derive(Clone, Copy, Default)]
struct Heard {
    joined: Option<u64>,
    marked: Option<u64>,
}

/// A visitor with a slot.
#[derive(Clone, Copy)]
enum Held {
    /// The count of the call, and the clock until which it holds unless claimed.
    Called(u8, u64),
    Inside,
}

impl Ledger {
    /// A ledger of a log that several gates share.
    pub fn shared(capacity: u64) -> Self {
        Self {
            capacity,
            ..Self::default()
        }
    }

    /// A ledger of a log that one gate has to itself.
    pub fn alone(capacity: u64) -> Self {
        Self {
            alone: true,
            ..Self::shared(capacity)
        }
    }

    /// The longest time between two entries of one life while a visitor waited, in log time.
    pub fn longest_tick_ms(&self) -> u64 {
        self.ticks.iter().copied().max().unwrap_or_default()
    }

    /// The results, in one line.
    pub fn tells(&self) -> String {
        let mut ticks = self.ticks.clone();
        ticks.sort_unstable();
        let tick = |thousandths: usize| ticks.get(ticks.len() * thousandths / 1_000).copied();
        format!(
            "{} entries in {} lives, {} joins, {} calls, {} claims, {} no-shows, {} slots refilled at once, at most {} held; \
             ticks {} ms at most, {} ms in all but one of a thousand",
            self.entries,
            self.lives,
            self.issued.len(),
            self.called.values().sum::<u32>(),
            self.claims,
            self.no_shows,
            self.refilled,
            self.most_held,
            self.longest_tick_ms(),
            tick(999).unwrap_or_default(),
        )
    }

    /// The longest time after `since`, by the store's clock, in which a visitor waited and none was called although a slot
    /// was free; only pauses that begin within `within_ms`.
    pub fn pause_ms(&self, since: u64, within_ms: u64) -> u64 {
        let (mut last, mut longest) = (since, 0);
        for (at, kept_waiting) in self.kept_waiting.iter().filter(|(at, _)| *at > since) {
            if last < since + within_ms {
                longest = longest.max(at.saturating_sub(last));
            }
            if !kept_waiting {
                last = *at;
            }
        }
        longest
    }

    /// A shared log begins anew from `state`. `lost` says that it is older than what this ledger has read.
    pub fn new_root(&mut self, state: &mut State, lost: bool) {
        self.lives += 1;
        let view = state.view();
        self.clock = view.clock.0;
        for heard in self.waiting.values_mut() {
            heard.joined = heard.joined.filter(|_| !lost);
            heard.marked = heard.marked.filter(|_| !lost);
        }
        let Some(line) = view
            .rooms
            .get(&room())
            .and_then(|room| room.line(&LineName::ONLY).cloned())
        else {
            (self.waiting, self.held, self.calls) = Default::default();
            return;
        };
        self.calls = line.figures.calls;
        for (number, heard) in std::mem::take(&mut self.waiting) {
            self.find(&line, number, heard);
        }
        self.release(&line);
        self.in_order(&line);
    }

    /// Puts a number where the room has it.
    fn find(&mut self, line: &LineView, number: Number, heard: Heard) {
        match line.standing(LANE, number, line.clock) {
            Standing::Waiting(_) => drop(self.waiting.insert(number, heard)),
            Standing::Called(called) => {
                self.held
                    .insert(number, Held::Called(called.call.count, called.deadline.0 + SLACK_MS));
                self.note_call(number, called.call.count);
            }
            Standing::Inside(inside) => {
                self.held.insert(number, Held::Inside);
                self.note_call(number, inside.call.count);
            }
            Standing::Late | Standing::Ended | Standing::Unknown => {}
        }
    }

    /// Notes the calls of visitors whom it did not see in line: in a log that gates share, one entry may bring a visitor back and call
    /// them at once.
    fn note_others(&mut self, line: &LineView) {
        let others: Vec<(Number, u8)> = self
            .issued
            .iter()
            .filter_map(|number| match line.standing(LANE, *number, line.clock) {
                Standing::Called(called) => Some((*number, called.call.count)),
                Standing::Inside(inside) => Some((*number, inside.call.count)),
                _ => None,
            })
            .collect();
        for (number, count) in others {
            self.note_call(number, count);
        }
    }

    fn note_call(&mut self, number: Number, count: u8) {
        let times = self.called.entry(number).or_default();
        *times = (*times).max(u32::from(count));
    }

    /// The log begins anew, from the state that the gate came back with: every visitor in line must be in line, in the same
    /// order, and every visitor with a slot must hold it.
    pub fn new_life(&mut self, state: &mut State) {
        self.lives += 1;
        let view = state.view();
        if self.lives > 1 && view.clock.0 != self.clock {
            self.fault(
                Kind::Other,
                &format!("the clock went from {} to {} with a restart", self.clock, view.clock.0),
            );
        }
        self.clock = view.clock.0;
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
            self.fault(Kind::Place, "the line is gone after a restart");
        }
    }

    /// Everybody in line is in line still, in the order of their numbers.
    fn sweep(&mut self, line: &LineView) {
        let standing = |number: &Number| line.standing(LANE, *number, line.clock);
        let here = |number: &&Number| !matches!(standing(number), Standing::Waiting(_));
        let gone: Vec<Number> = self.waiting.keys().filter(here).copied().collect();
        for number in gone {
            let what = format!("{number:?} waited and is {:?}", standing(&number));
            self.fault(Kind::Place, &what);
        }
        self.in_order(line);
    }

    fn in_order(&mut self, line: &LineView) {
        let (mut last, mut faults) = (None, Vec::new());
        for number in self.waiting.keys() {
            let place = line.place(LANE, *number);
            if place.is_none() || place <= last {
                faults.push(format!("{number:?} stands at {place:?}, behind {last:?}"));
            }
            last = place;
        }
        for fault in &faults {
            self.fault(Kind::Place, fault);
        }
    }

    pub fn entry(&mut self, state: &mut State, entry: &Encoded) {
        self.entries += 1;
        let passed = self.time.map_or(0, |time| entry.time.0.saturating_sub(time));
        let clock = self.clock + passed.min(5_000);
        if entry.position.sequence > 1 && !self.waiting.is_empty() {
            self.ticks.push(passed);
        }
        self.time = Some(entry.time.0);
        let effects = state.apply(entry);
        // The clock of a shared log stands while the log has no root.
        let in_time = effects.clock.0 == clock || (!self.alone && (self.clock..=clock).contains(&effects.clock.0));
        if !in_time || (effects.ignored && self.alone) {
            let what = format!("{:?}: not applied, or at {:?}", entry.position, effects.clock);
            self.fault(Kind::Other, &what);
        }
        self.clock = effects.clock.0;
        // A repeated entry counts once, and an entry of a gate that is not on the roster does not count.
        if effects.ignored {
            return self.look(state, entry.time, &[]);
        }
        self.said(entry);
        for joined in &effects.joined {
            let Some(first) = joined.first else { continue };
            for n in first.n..first.n + joined.count {
                self.issue(Number { n, ..first });
            }
        }
        let pending = entry.batch.sections.iter().flat_map(|section| &section.pending_joins);
        for (joined, (_, id)) in effects.pending_joined.iter().zip(pending) {
            if let Some(first) = joined
                .first
                .filter(|first| self.pending.insert(*id, *first) != Some(*first))
            {
                self.issue(first);
            }
        }
        self.look(state, entry.time, &entry.batch.sections);
    }

    /// Compares the room's actions at an entry with its content.
    fn look(&mut self, state: &mut State, time: Wall, said: &[Section]) {
        let view = state.view();
        let Some(line) = view.rooms.get(&room()).and_then(|room| room.line(&LineName::ONLY)) else {
            return;
        };
        if !self.alone {
            self.find_again(line, said);
        }
        let before = self.held.len();
        self.release(line);
        let freed = before - self.held.len();
        let calls = self.call(line);
        self.refilled += calls.min(freed as u64);
        let heals = view.rooms.values().any(|room| view.healing_of(room).is_some());
        let able = view.rooted && !view.alarm && !heals;
        self.judge(line, calls, able);
        let full = u64::from(line.figures.called) + u64::from(line.figures.inside) >= self.capacity;
        let kept_waiting = calls == 0 && !(able && (full || line.figures.waiting == 0));
        self.kept_waiting.push((time.0, kept_waiting));
        if self.entries.is_multiple_of(SWEEP_EVERY) {
            self.sweep(line);
        }
    }

    /// Tickets and passes restore data that the log had lost; and a gate that was cut off opens a session again whose turn
    /// the room took for missed.
    fn find_again(&mut self, line: &LineView, said: &[Section]) {
        for section in said {
            for (_, number) in &section.marks {
                if !self.waiting.contains_key(number) && !self.held.contains_key(number) {
                    let marked = Some(self.clock);
                    self.find(line, *number, Heard { joined: None, marked });
                }
            }
            let claims = section.claims.iter().map(|claim| claim.number);
            let reopens = section.reopens.iter().map(|(_, number)| *number);
            for number in reopens.chain(claims) {
                let inside = matches!(line.standing(LANE, number, line.clock), Standing::Inside(_));
                if inside && !self.held.contains_key(&number) {
                    self.waiting.remove(&number);
                    self.find(line, number, Heard::default());
                }
            }
        }
    }

    /// Records the reports of visitors and gates.
    fn said(&mut self, entry: &Entry) {
        for section in &entry.batch.sections {
            for (_, number) in &section.marks {
                if let Some(heard) = self.waiting.get_mut(number) {
                    heard.marked = Some(self.clock);
                }
                if self.issued.contains(number) {
                    continue;
                }
                if self.alone {
                    self.fault(Kind::Other, &format!("{number:?} checks in and was never issued"));
                } else {
                    self.unread += 1;
                    self.issued.insert(*number);
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
            self.fault(Kind::Twice, &format!("{number:?} is issued twice"));
        }
        if self.issued.last() != Some(&number) {
            let what = format!("{number:?} is issued behind {:?}", self.issued.last());
            self.fault(Kind::Place, &what);
        }
        self.waiting.insert(
            number,
            Heard {
                joined: Some(self.clock),
                marked: None,
            },
        );
    }

    /// Visitors who have lost their slot, and whose turn is missed: they are in line again, without a sign of life.
    fn release(&mut self, line: &LineView) {
        let mut released = Vec::new();
        for (number, held) in &mut self.held {
            let standing = line.standing(LANE, *number, line.clock);
            match (standing, *held) {
                // Back in time for the second turn: the first is missed, and this one given, in one entry.
                (Standing::Called(called), Held::Called(before, _)) if called.call.count > before => {
                    released.push((*number, standing));
                }
                (Standing::Called(called), _) => {
                    *held = Held::Called(called.call.count, called.deadline.0 + SLACK_MS);
                }
                (Standing::Inside(_), _) => *held = Held::Inside,
                (Standing::Waiting(_) | Standing::Late, Held::Called(_, due)) if self.clock < due => {}
                _ => released.push((*number, standing)),
            }
        }
        for (number, standing) in released {
            self.held.remove(&number);
            if let Standing::Waiting(_) | Standing::Called(_) = standing {
                self.waiting.insert(number, Heard::default());
            }
            let missed = matches!(standing, Standing::Waiting(_) | Standing::Late | Standing::Called(_));
            self.no_shows += u64::from(missed);
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
                    let held = Held::Called(called.call.count, called.deadline.0 + SLACK_MS);
                    found.push((*number, called.call.count, held, passed_over));
                }
                Standing::Inside(inside) => found.push((*number, inside.call.count, Held::Inside, passed_over)),
                _ if self.is_surely_present(heard) => passed_over = passed_over.or(Some(*number)),
                _ => {}
            }
        }
        let unknown = made.saturating_sub(found.len() as u64);
        if unknown > 0 {
            self.note_others(line);
        }
        if unknown > 0 && self.alone {
            let what = format!("{unknown} of {made} calls were made of nobody in line");
            self.fault(Kind::Other, &what);
        }
        for (number, count, held, passed_over) in found {
            if let Some(lower) = passed_over {
                let what = format!("{number:?} was called before {lower:?}, who was present");
                self.fault(Kind::Inversion, &what);
            }
            if let Held::Called(_, due) = held
                && due != self.clock + CLAIM_MS + SLACK_MS
            {
                let what = format!("{number:?} is called until {due} at {}", self.clock);
                self.fault(Kind::Other, &what);
            }
            self.note_call(number, count);
            self.waiting.remove(&number);
            self.held.insert(number, held);
        }
        made
    }

    /// Capacity holds; and no slot stays free beyond the entry that freed it while a visitor is surely present to take it.
    fn judge(&mut self, line: &LineView, calls: u64, able: bool) {
        let (figures, held) = (&line.figures, self.held.len() as u64);
        let slots = u64::from(figures.called) + u64::from(figures.inside);
        self.most_held = self.most_held.max(slots).max(held);
        // Passes that gates honoured without the log are sessions above the capacity, beyond which no visitor is called.
        let excess = if self.alone { 0 } else { u64::from(figures.excess) };
        self.most_excess = self.most_excess.max(excess);
        let over = slots > self.capacity && (calls > 0 || slots > self.capacity + excess);
        if over || held > slots || (self.alone && figures.excess > 0) {
            let what = format!(
                "{held} are in {slots} slots, {} in excess, {calls} called",
                figures.excess
            );
            self.fault(Kind::Over, &what);
        }
        let overdue = self
            .held
            .iter()
            .find(|(_, held)| matches!(held, Held::Called(_, due) if *due <= self.clock));
        if let Some((number, _)) = overdue {
            self.fault(
                Kind::Other,
                &format!("{number:?} holds a slot beyond the claim deadline"),
            );
        }
        let present = self.waiting.iter().find(|(_, heard)| self.is_surely_present(heard));
        if let Some((number, _)) = present.filter(|_| slots < self.capacity && able) {
            self.fault(Kind::Other, &format!("a slot stays free while {number:?} waits"));
        }
    }

    fn is_surely_present(&self, heard: &Heard) -> bool {
        let within = |since: Option<u64>, span| since.is_some_and(|since| self.clock - since < span);
        within(heard.joined, FIRM_MS) || within(heard.marked, GENERATION_MS)
    }

    fn fault(&mut self, kind: Kind, what: &str) {
        let what = format!("entry {} of life {}: {what}", self.entries, self.lives);
        self.faults.push((kind, what));
    }
}
