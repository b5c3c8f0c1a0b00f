//! The findings of a report, as data: the names here are those of its JSON form (`docs/guides/audit.md`), and stay.

use serde::Serialize;

use super::series::{Points, Series};
use crate::charts::Spread;
use crate::dates::rfc3339;
use ropeline_ids::{Position, Wall};

/// The whole report.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Findings {
    /// Version of this form.
    pub format: u32,
    pub verdict: Verdict,
    pub covers: Covers,
    /// Differences from the filed state, in the order in which they were met; at most 1,000.
    pub faults: Vec<String>,
    pub checks: Checks,
    pub gates: Vec<Gate>,
    /// Changes with author and time; at most 10,000.
    pub changes: Vec<Change>,
    pub routine: Routine,
    /// Times without calls or entries; at most 1,000.
    pub interruptions: Vec<Interruption>,
    pub lines: Vec<Line>,
    /// What became of the visitor that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visitor: Option<Life>,
    /// Counts of findings that were too many to be listed; with any of them the history does not count as whole.
    pub not_listed: NotListed,
}

/// Changes that gates and programs make again and again: counted, including those that came too late to have an effect, and
/// not listed as changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Routine {
    /// Of the shop, from elsewhere.
    pub load_figures: u64,
    pub rehearsal_renewals: u64,
    /// The next windows of schedules, as gates work them out.
    pub schedule_windows: u64,
    pub draw_promises: u64,
}

/// How much of each kind was too much.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct NotListed {
    pub faults: u64,
    pub logs: u64,
    pub gates: u64,
    pub changes: u64,
    pub interruptions: u64,
    pub interventions: u64,
    pub votes_against: u64,
    /// Lines that were not followed; counted to a hundred thousand.
    pub lines: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Verdict {
    /// Nothing is missing or altered from a log's first start to the end, every entry was replayed, and all of it is listed.
    pub whole: bool,
    /// No visitor was called, or admitted, before a present one with a lower number.
    pub fair: bool,
    /// The first thing that is wrong.
    pub first_wrong: Option<String>,
    /// Everything that is wrong beside the faults; at most 1,000.
    pub wrong: Vec<String>,
    /// Acts of operators that touch who comes when, with their names; at most 10,000.
    pub interventions: Vec<Intervention>,
    /// The hash that was asked for: whether it is in this history, and how many entries follow it.
    pub expected: Option<Expected>,
}

/// An act of an operator or of a configuration file, or visitors who were let past a line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Intervention {
    /// `eviction`, `call beyond the capacity`, `bypass code`, `bypass network`, `open in an outage`, `mode off`,
    /// `shorter presence`, `shorter turn`, `shorter session`, `dates moved`, `lanes changed`, `stock lowered`, `draw changed`,
    /// `reset`, `room removed`, `healing ended`, `rehearsal` or `entry passed over`.
    pub kind: &'static str,
    /// Of the first, where `count` is of many.
    pub at: Stamp,
    pub room: String,
    /// The gate that wrote it down.
    pub gate: String,
    /// The operator by the name of their token, the configuration file, or the code.
    pub by: String,
    /// The operator's reason.
    pub reason: Option<String>,
    pub what: String,
    /// Visitors, where it is of some; otherwise 1.
    pub count: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Expected {
    pub hash: String,
    pub found: bool,
    pub position: Option<String>,
    pub entries_after: Option<u64>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Covers {
    pub from: Option<Stamp>,
    pub to: Option<Stamp>,
    pub files: u64,
    pub entries: u64,
    /// Entries behind a gap, up to the next state that was written down: their bytes are checked, they are not replayed.
    pub entries_not_replayed: u64,
    /// The chain before the first entry, and after the last.
    pub hash_before: String,
    pub hash: String,
    pub logs: Vec<Log>,
}

/// One epoch of the log.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Log {
    /// A text, since it is more than JSON's readers keep exactly.
    pub epoch: String,
    pub since: Option<String>,
    /// `first`, `whole`, `lost`, `nothing` or `elsewhere`: what it goes on from.
    pub goes_on_from: &'static str,
    /// Entries of the log before that were lost with the store.
    pub entries_lost: u64,
}

/// The comparisons of the replay.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Checks {
    /// States written down that came out again.
    pub states_matched: u64,
    /// Gates' words on a state that agree with the replay, and that do not.
    pub votes_matched: u64,
    pub votes_against: Vec<Dissent>,
    /// Visitors' items that the rooms passed over: late, repeated or of an unknown visitor.
    pub items_passed_over: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Dissent {
    pub gate: String,
    /// The state that it spoke of.
    pub position: String,
}

/// A place in the log, and the log's time there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Stamp {
    pub position: String,
    pub time: String,
    pub time_ms: u64,
}

/// What became of the visitor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Life {
    pub room: String,
    pub reference: String,
    /// Log and number; none where no entry of the history gave the number.
    pub number: Option<String>,
    /// At most 1,000, oldest first.
    pub stages: Vec<Stage>,
}

/// The entry after which the visitor stood there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Stage {
    pub at: Stamp,
    pub standing: &'static str,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Gate {
    pub gate: String,
    pub first: Stamp,
    pub last: Stamp,
    pub entries: u64,
    /// Entries that did not count: repeats, or said while off the roster.
    pub entries_ignored: u64,
    pub said_goodbye: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Change {
    pub at: Stamp,
    /// The gate that wrote it down: the one that was configured so, or through whose admin API it came.
    pub gate: String,
    pub room: String,
    pub revision: u64,
    pub what: String,
    /// The operator, by the name of their token; none where a configuration file said it.
    pub who: Option<String>,
    /// The operator's reason; may be empty.
    pub reason: Option<String>,
    /// False where a later change of the room came first.
    pub counted: bool,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Interruption {
    /// `silence`, `no root`, `alarm`, `adopting`, `healing` or `opening`.
    pub kind: &'static str,
    pub from: Stamp,
    /// `None` where it goes on at the end.
    pub to: Option<Stamp>,
    pub secs: f64,
}

/// One line of one room.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Line {
    pub room: String,
    /// Empty in a room with a single line.
    pub line: String,
    pub tally: Tally,
    /// The first hundred.
    pub inversions: Vec<Inversion>,
    /// From the number to the first call.
    pub waits: Spread,
    pub waits_by_cohort: Vec<Cohort>,
    pub waits_by_lane: Vec<Cohort>,
    /// Bars of the waits' distribution: (from second, visitors).
    pub waits_bars: Vec<(f64, u64)>,
    pub sessions: Sessions,
    pub capacity: Capacity,
    /// What came of the told intervals, by quarter of the line from the front.
    pub estimates: Vec<Outcomes>,
    pub advice: Vec<Advice>,
    pub over_time: Series,
    pub order: Points,
}

/// Counts over the whole history.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Tally {
    pub joins: u64,
    /// Of them virtual visitors of rehearsals.
    pub virtual_joins: u64,
    /// Calls, and those of them that were a number's second.
    pub calls: u64,
    pub calls_again: u64,
    pub claims: u64,
    /// Calls whose visitors did not come, and those of them that cost the place.
    pub no_shows: u64,
    pub places_spent: u64,
    /// Left the line, or their turn, by the button or taken out.
    pub left: u64,
    /// Numbers never called, without a word, and not in line at the end.
    pub gave_up: u64,
    pub waiting_at_end: u64,
    /// Marks of visitors whose turn was too long ago.
    pub late_marks: u64,
    /// Evictions by an operator, also of visitors inside and of unknown numbers.
    pub evicted: u64,
    /// Let past the line by code or network, or in an outage.
    pub bypasses: u64,
    /// Sessions beyond what the room gave out, and those of them whose number was never called.
    pub excess: u64,
    pub let_in_uncalled: u64,
    pub inversions: u64,
    pub numbers_given_twice: u64,
    /// Pieces of the stock that were bought, and calls for pieces that were not there.
    pub completed: u64,
    pub beyond_stock: u64,
    /// Calls whose visitor joined before the history at hand.
    pub waits_unknown: u64,
}

/// A visitor came before a present one with a lower number.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Inversion {
    pub at: Stamp,
    /// `called`, or `let in` without a call.
    pub kind: &'static str,
    pub lane: u8,
    pub number: String,
    /// The lowest number that was passed by.
    pub before: String,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cohort {
    pub name: String,
    #[serde(flatten)]
    pub waits: Spread,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Sessions {
    /// From the claim to the last renewal or the end.
    pub used: Spread,
    /// From the claim until the slot was free.
    pub held: Spread,
}

/// Told intervals whose outcome is known, and how many of them held the true wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Outcomes {
    pub known: u64,
    pub held: u64,
    pub held_percent: Option<u8>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Capacity {
    pub at_end: u32,
    pub most_slots: u64,
    /// Share of the slots in use while visitors waited, in percent; `None` if none ever did.
    pub used_while_waiting_percent: Option<f64>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Advice {
    /// As in the configuration.
    pub setting: &'static str,
    pub now: String,
    pub suggested: String,
    pub rule: String,
}

impl Line {
    /// Room and line in one name.
    #[must_use]
    pub fn place(&self) -> String {
        if self.line.is_empty() {
            self.room.clone()
        } else {
            format!("{}/{}", self.room, self.line)
        }
    }
}

impl Routine {
    /// In words; `None` where there was nothing of it.
    #[must_use]
    pub fn said(&self) -> Option<String> {
        counts(&[
            (self.load_figures, "load figures"),
            (self.rehearsal_renewals, "renewals of rehearsals"),
            (self.schedule_windows, "windows of schedules"),
            (self.draw_promises, "promises of draws"),
        ])
    }
}

impl NotListed {
    /// In words; `None` where everything is listed.
    #[must_use]
    pub fn said(&self) -> Option<String> {
        counts(&[
            (self.faults, "more faults"),
            (self.logs, "more logs"),
            (self.gates, "more gates"),
            (self.changes, "more changes"),
            (self.interruptions, "more pauses"),
            (self.interventions, "more interventions"),
            (self.votes_against, "more votes against"),
            (self.lines, "more lines"),
        ])
    }
}

/// Those of the counts that are not 0, in words.
fn counts(kinds: &[(u64, &str)]) -> Option<String> {
    let parts: Vec<String> = kinds
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

impl Stamp {
    #[must_use]
    pub fn new(position: Position, time: Wall) -> Self {
        Self {
            position: position.to_string(),
            time: rfc3339(time),
            time_ms: time.0,
        }
    }
}
