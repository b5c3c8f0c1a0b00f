//! The ledgers of all lines, and the distribution of entries to them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ledger::{COHORTS, Happened, Ledger};
use super::visits::{Now, Who};
use crate::charts::{Histogram, secs};
use crate::report::advice;
use crate::report::findings::{Capacity, Cohort, Line, Outcomes};
use crate::room::{
    Change, Changed, Clock, Effects, Entry, EstimatesHeld, LaneId, LineName, Lines, Number, QUARTERS, Redeem, Redeemed,
    RoomName, RoomView, Section, Settings, View,
};

/// See the module.
#[derive(Debug, Default)]
pub(in crate::report) struct Books {
    /// Only this room's lines are followed, if one is named.
    only: Option<RoomName>,
    lines: BTreeMap<(RoomName, LineName), Kept>,
    seen: Option<Arc<View>>,
    entries: u64,
    /// Lines beyond those that are followed.
    not_followed: BTreeSet<(RoomName, LineName)>,
}

#[derive(Debug)]
struct Kept {
    ledger: Ledger,
    settings: Settings,
    estimates: Estimates,
}

/// What came of the told intervals, by quarter: as the line counts now, and what lines before it counted, since a line begins anew
/// with each state that does not follow from the entries.
#[derive(Debug, Default)]
struct Estimates {
    before: [EstimatesHeld; QUARTERS],
    now: [EstimatesHeld; QUARTERS],
}

impl Estimates {
    fn follow(&mut self, told: [EstimatesHeld; QUARTERS]) {
        if told.iter().zip(&self.now).any(|(now, was)| now.known < was.known) {
            self.before = self.sums();
        }
        self.now = told;
    }

    fn sums(&self) -> [EstimatesHeld; QUARTERS] {
        std::array::from_fn(|at| self.before[at].plus(self.now[at]))
    }
}

impl Books {
    pub fn new(only: Option<RoomName>) -> Self {
        Self {
            only,
            ..Self::default()
        }
    }

    /// Goes on from a state that does not follow from the available entries.
    pub fn resume(&mut self, view: &Arc<View>) {
        self.seen = Some(Arc::clone(view));
        for (room, of) in view.rooms.iter().filter(|(room, _)| follows(self.only.as_ref(), room)) {
            for (line, line_view) in of.lines.iter() {
                let now = now(view, of);
                if let Some(kept) = open(&mut self.lines, &mut self.not_followed, (room, line), of) {
                    kept.ledger.resume(line_view, now);
                }
            }
        }
    }

    /// A new log begins from where the one before ended: who was present there stays so, for as long.
    pub fn begin(&mut self, view: &Arc<View>) {
        self.seen = Some(Arc::clone(view));
    }

    /// An entry was applied, which made `view`.
    pub fn entry(&mut self, entry: &Entry, effects: &Effects, view: &Arc<View>) {
        let before = self.seen.replace(Arc::clone(view));
        let clock = before.as_ref().map_or(Clock(0), |before| before.clock);
        let nothing = Lines::default();
        for (room, of) in view.rooms.iter().filter(|(room, _)| follows(self.only.as_ref(), room)) {
            let was = before.as_ref().and_then(|before| before.rooms.get(room));
            if was.is_some_and(|was| Arc::ptr_eq(was, of)) {
                continue;
            }
            let seen = was.map_or(&nothing, |was| &was.lines);
            for (line, line_view, was) in of.lines.changed_since(seen) {
                let Some(kept) = open(&mut self.lines, &mut self.not_followed, (room, line), of) else {
                    continue;
                };
                if kept.settings != of.settings {
                    kept.settings = of.settings.clone();
                }
                kept.estimates.follow(line_view.told());
                kept.ledger.entry(&Happened {
                    position: entry.position,
                    now: now(view, of),
                    before: clock,
                    sections: sections(entry, effects, room, line),
                    evicted: evicted(entry, effects, room, line),
                    given_up: given_up(effects, room, line),
                    joined: joined(effects, room, line),
                    redeemed: redeemed(entry, effects, room, line),
                    edition: of.edition,
                    regained: of.spared.is_some(),
                    view: line_view,
                    was: was.map(|was| &**was),
                });
            }
        }
        self.entries += 1;
        if self.entries.is_multiple_of(SWEEP) {
            self.sweep(view);
        }
    }

    /// Closes the books of lines that are no more.
    fn sweep(&mut self, view: &View) {
        for ((room, line), kept) in &mut self.lines {
            let there = view.rooms.get(room).is_some_and(|of| of.lines.get(line).is_some());
            if !there {
                kept.ledger.close(view.clock);
            }
        }
    }

    /// How many lines were too many to be followed.
    pub fn not_followed(&self) -> u64 {
        self.not_followed.len() as u64
    }

    /// All lines, by room and name.
    pub fn lines(&self) -> Vec<Line> {
        self.lines
            .iter()
            .map(|((room, line), kept)| found(room, line, kept))
            .collect()
    }
}

fn follows(only: Option<&RoomName>, room: &RoomName) -> bool {
    only.is_none_or(|only| only == room)
}

fn now<'a>(view: &View, of: &'a RoomView) -> Now<'a> {
    Now {
        clock: view.clock,
        time: view.time,
        settings: &of.settings,
    }
}

/// The line's books, begun if there is room for them.
fn open<'a>(
    lines: &'a mut BTreeMap<(RoomName, LineName), Kept>,
    not_followed: &mut BTreeSet<(RoomName, LineName)>,
    (room, line): (&RoomName, &LineName),
    of: &RoomView,
) -> Option<&'a mut Kept> {
    let name = (room.clone(), line.clone());
    let many = lines.len();
    if many >= MOST_LINES && !lines.contains_key(&name) {
        if not_followed.len() < MOST_COUNTED {
            not_followed.insert(name);
        }
        return None;
    }
    Some(lines.entry(name).or_insert_with(|| Kept {
        ledger: Ledger::new(of.edition, many >= DETAILED_LINES),
        settings: of.settings.clone(),
        estimates: Estimates::default(),
    }))
}

/// The sections of the entry for the line, if the entry counted.
fn sections<'a>(entry: &'a Entry, effects: &Effects, room: &RoomName, line: &LineName) -> Vec<&'a Section> {
    if effects.ignored {
        return Vec::new();
    }
    let sections = entry.batch.sections.iter();
    sections
        .filter(|section| section.room == *room && section.line == *line)
        .collect()
}

/// Visitors whom operators removed from the line.
fn evicted(entry: &Entry, effects: &Effects, room: &RoomName, line: &LineName) -> Vec<(LaneId, Number)> {
    let changes = entry.batch.rooms.iter().zip(&effects.changed);
    let taken = changes.filter(|(change, changed)| **changed == Changed::Taken && change.room == *room);
    let evictions = taken.filter_map(|(change, _)| match &change.change {
        Change::Evict(eviction) if eviction.line == *line => Some((eviction.lane, eviction.number)),
        _ => None,
    });
    evictions.collect()
}

fn given_up(effects: &Effects, room: &RoomName, line: &LineName) -> Vec<Who> {
    let all = effects.given_up.iter();
    let here = all.filter(|given_up| given_up.room == *room && given_up.line == *line);
    here.map(|given_up| (given_up.lane, given_up.number)).collect()
}

fn joined<'a>(effects: &'a Effects, room: &RoomName, line: &LineName) -> Vec<&'a crate::room::Joined> {
    effects
        .all_joined()
        .filter(|joined| joined.room == *room && joined.line == *line)
        .collect()
}

fn redeemed<'a>(
    entry: &'a Entry,
    effects: &'a Effects,
    room: &RoomName,
    line: &LineName,
) -> Vec<(&'a Redeem, &'a Redeemed)> {
    let shown = entry.batch.redeems.iter().zip(&effects.redeemed);
    shown
        .filter(|(redeem, _)| redeem.room == *room && redeem.line == *line)
        .collect()
}

fn found(room: &RoomName, line: &LineName, kept: &Kept) -> Line {
    let ledger = &kept.ledger;
    let mut tally = ledger.tally;
    let first_calls = tally.calls - tally.calls_again;
    tally.gave_up = tally
        .joins
        .saturating_sub(first_calls - tally.waits_unknown.min(first_calls))
        .saturating_sub(tally.left + tally.waiting_at_end);
    let cohort = |name: &str, waits: &Histogram| Cohort {
        name: name.to_owned(),
        waits: waits.spread(),
    };
    let cohorts = COHORTS.iter().zip(&ledger.by_cohort);
    let lanes = ledger.by_lane.iter().enumerate();
    let bars = ledger.waits.bars().into_iter();
    Line {
        room: room.to_string(),
        line: line.to_string(),
        tally,
        inversions: ledger.inversions.clone(),
        waits: ledger.waits.spread(),
        waits_by_cohort: cohorts
            .filter(|(_, waits)| waits.count() > 0)
            .map(|((name, _), waits)| cohort(name, waits))
            .collect(),
        waits_by_lane: lanes
            .map(|(lane, waits)| cohort(&format!("lane {lane}"), waits))
            .collect(),
        waits_bars: bars.map(|(from, count)| (secs(from), count)).collect(),
        sessions: ledger.sessions(),
        capacity: Capacity {
            at_end: kept.settings.capacity,
            most_slots: ledger.usage.most_slots,
            used_while_waiting_percent: ledger.usage.percent(),
        },
        estimates: kept.estimates.sums().map(outcomes).to_vec(),
        advice: advice::of(&kept.settings, &ledger.sessions(), &ledger.series),
        over_time: ledger.series.clone(),
        order: ledger.points.clone(),
    }
}

fn outcomes(of: EstimatesHeld) -> Outcomes {
    Outcomes {
        known: of.known,
        held: of.held,
        held_percent: of.percent(),
    }
}

/// Lines whose books are kept at once, and those of them in full detail.
const MOST_LINES: usize = 10_000;
const DETAILED_LINES: usize = 200;

/// Most lines beyond them that are counted.
const MOST_COUNTED: usize = 100_000;

/// Entries between looks for lines that are no more.
const SWEEP: u64 = 1_024;
