//! Replays a history through the rooms, and collects faults and figures.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Options;
use super::Progress;
use super::findings::{Checks, Covers, Expected, Findings, Log, NotListed, Stamp};
use super::interventions::Interventions;
use super::life::Follower;
use super::line::books::Books;
use super::start::{Start, beginning, is_proved};
use super::trail::{Trail, Was};
use super::verdict::Grounds;
use super::votes::Votes;
use crate::archive::{Link, Step, Stored};
use crate::room::{Chain, Effects, Entry, Position, State, Wall};

/// See the module.
pub(super) struct Replay<'a> {
    expect: Option<Chain>,
    from: Option<Chain>,
    progress: &'a mut dyn FnMut(&Progress<'_>),
    /// `None` before the first state that is written down, and behind a gap.
    state: Option<State>,
    books: Books,
    trail: Trail,
    interventions: Interventions,
    follower: Option<Follower>,
    covers: Covers,
    checks: Checks,
    faults: Vec<String>,
    more: NotListed,
    /// The beginning of the first available log.
    begins: Option<(Link, Position, Chain)>,
    /// The state that the replay began from, while votes on it are counted.
    start: Option<Start>,
    /// Where the log before ended, for the first state of the next.
    before: Option<State>,
    votes: Votes,
    /// The predecessor of the last log, until its first state comes.
    link: Option<Link>,
    found: Option<(Position, u64)>,
    last: Option<(Position, Wall)>,
    file: (usize, usize),
}

impl<'a> Replay<'a> {
    pub fn new(options: &Options, progress: &'a mut dyn FnMut(&Progress<'_>)) -> Self {
        Self {
            expect: options.expect,
            from: options.from,
            progress,
            state: None,
            books: Books::new(options.room.clone()),
            trail: Trail::default(),
            interventions: Interventions::new(options.room.clone()),
            follower: options.visitor.clone().map(Follower::new),
            covers: Covers::default(),
            checks: Checks::default(),
            faults: Vec::new(),
            more: NotListed::default(),
            begins: None,
            start: None,
            before: None,
            votes: Votes::default(),
            link: None,
            found: None,
            last: None,
            file: (0, 0),
        }
    }

    pub fn step(&mut self, step: Step<'_>) {
        match step {
            Step::File { file, index, of } => {
                self.covers.files += 1;
                self.file = (index, of);
                self.tell(file);
            }
            Step::Begins {
                first, before, link, ..
            } => self.begin((first, before), link),
            Step::Base {
                file,
                position,
                chain,
                state,
            } => self.base(file, (position, chain), state),
            Step::Entry { file, stored } => {
                self.entry(file, stored);
                if self.covers.entries.is_multiple_of(TELL_EVERY) {
                    self.tell(file);
                }
            }
            Step::Fault(fault) => {
                // Entries behind a gap cannot be replayed until a stored state comes.
                self.state = None;
                self.fault(fault.to_string());
            }
        }
    }

    fn tell(&mut self, file: &str) {
        (self.progress)(&Progress {
            file,
            index: self.file.0,
            of: self.file.1,
            entries: self.covers.entries,
        });
    }

    fn fault(&mut self, fault: String) {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(fault);
        } else {
            self.more.faults += 1;
        }
    }

    fn begin(&mut self, (first, before): (Position, Chain), link: Link) {
        self.judge_start();
        self.begins.get_or_insert((link, first, before));
        self.before = self.state.take();
        self.link = Some(link);
        self.votes.begin();
        let (goes_on_from, entries_lost) = match link {
            Link::First => ("first", 0),
            Link::Whole => ("whole", 0),
            Link::Lost { entries } => ("lost", entries),
            Link::Nothing => ("nothing", 0),
            Link::Elsewhere => ("elsewhere", 0),
        };
        if self.covers.logs.len() >= MOST_LOGS {
            self.more.logs += 1;
        } else {
            self.covers.logs.push(Log {
                epoch: first.epoch.to_string(),
                since: None,
                goes_on_from,
                entries_lost,
            });
        }
    }

    /// Logs that only visitors' tickets named, and that are not here.
    fn lost_logs(&self) -> Vec<u64> {
        let is_here = |epoch: &u64| {
            let epoch = epoch.to_string();
            self.covers.logs.iter().any(|log| log.epoch == epoch)
        };
        let lost = self.state.iter().flat_map(State::lost_logs);
        lost.filter(|epoch| !is_here(epoch)).collect()
    }

    /// A state that was written down: proof of the replay so far, or where it begins again.
    fn base(&mut self, file: &str, (position, chain): (Position, Chain), bytes: &[u8]) {
        let state = State::decode(bytes);
        if let Some(own) = self.state.as_ref().filter(|own| own.position() == position) {
            if own.encode() == bytes {
                self.checks.states_matched += 1;
                return;
            }
            self.fault(format!(
                "{file}: the state at {position} is not the one that the entries lead to"
            ));
        }
        match state {
            Ok(state) if state.position() != position || state.chain() != chain => {
                self.fault(format!(
                    "{file}: the state written down is not the one before the entries"
                ));
            }
            Ok(mut state) => {
                self.judge_start();
                let link = self.link.take();
                let before = self.before.take();
                let proved = is_proved(&state, bytes, link, before.as_ref());
                self.start = (!proved).then(|| Start::new(file, position, bytes));
                if link == Some(Link::Nothing) && state.room_names().next().is_some() {
                    self.fault(format!(
                        "{file}: a log that begins from nothing has rooms before its first entry"
                    ));
                }
                self.votes.know(position, State::hash_of(bytes));
                let view = state.view();
                self.interventions.resume(&view);
                match (link, before) {
                    (Some(Link::Whole), Some(_)) => self.books.begin(&view),
                    // The books may be of long before.
                    _ => self.books.resume(&view),
                }
                self.state = Some(state);
            }
            Err(error) => self.fault(format!("{file}: the state at {position} cannot be read: {error}")),
        }
    }

    fn entry(&mut self, file: &str, stored: &Stored) {
        let Stored {
            entry,
            passed_over,
            chain,
        } = stored;
        self.cover(entry, *chain);
        if let Some(start) = &mut self.start {
            start.count(entry);
        }
        // Until it is back in its place the entry counts as one that was not replayed.
        self.covers.entries_not_replayed += 1;
        let Some(mut state) = self.state.take() else { return };
        if entry.previous != state.nonce() || state.position().sequence + 1 != entry.position.sequence {
            return self.fault(format!(
                "{file}: entry {} does not follow the one before it",
                entry.position
            ));
        }
        if *passed_over {
            state.pass_over(entry);
            self.interventions.passed_over(entry);
            return self.replayed(state);
        }
        // The rooms would leave it alone, and go on to its position all the same.
        let (version, not_run) = (state.version(), entry.version > state.version());
        let was = was(&state, entry);
        let applied = catch_unwind(AssertUnwindSafe(|| state.apply(entry)));
        let Ok(effects) = applied else {
            return self.fault(format!("{file}: entry {} cannot be applied", entry.position));
        };
        if state.position() != entry.position {
            return self.fault(format!(
                "{file}: entry {} is of a version that this one does not know",
                entry.position
            ));
        }
        if not_run {
            return self.fault(format!(
                "{file}: entry {} is of version {}, and the rooms before it run version {version}",
                entry.position, entry.version
            ));
        }
        self.check(file, &state, entry);
        self.note(&mut state, entry, &effects, &was);
        self.replayed(state);
    }

    fn replayed(&mut self, state: State) {
        self.covers.entries_not_replayed -= 1;
        self.state = Some(state);
    }

    /// All votes on the state that the replay began from are in.
    fn judge_start(&mut self) {
        if let Some(fault) = self.start.take().and_then(|start| start.fault()) {
            self.fault(fault);
        }
    }

    /// Where the history goes, whether or not it can be run.
    fn cover(&mut self, entry: &Entry, chain: Chain) {
        let covers = &mut self.covers;
        covers.entries += 1;
        if covers.from.is_none() {
            covers.from = Some(Stamp::new(entry.position, entry.time));
        }
        if let Some(log) = covers.logs.last_mut().filter(|log| log.since.is_none()) {
            log.since = Some(crate::dates::rfc3339(entry.time));
        }
        self.last = Some((entry.position, entry.time));
        if self.expect == Some(chain) {
            self.found = Some((entry.position, covers.entries));
        }
    }

    /// Compares the replay's own hash with the gates' votes.
    fn check(&mut self, file: &str, state: &State, entry: &Entry) {
        self.votes.vote(entry);
        if let Some(sequence) = self.votes.confirmed_another(state) {
            self.fault(format!(
                "{file}: most gates confirmed another state at {sequence} than the entries lead to"
            ));
        }
        if state.checkpoint().is_some() {
            self.votes.know(state.position(), state.hash());
        }
    }

    fn note(&mut self, state: &mut State, entry: &Entry, effects: &Effects, was: &Was) {
        let view = state.view();
        self.checks.items_passed_over += u64::from(effects.skipped);
        self.trail.entry(entry, effects, &view, was);
        self.interventions.entry(entry, effects, &view, was);
        self.books.entry(entry, effects, &view);
        if let Some(follower) = &mut self.follower {
            follower.entry(entry, &view);
        }
    }

    /// The findings, when all was walked through; `end` is where the history ends.
    pub fn end(mut self, end: Option<(Position, Chain)>) -> Findings {
        self.judge_start();
        if let Some((_, chain)) = end {
            self.covers.hash = chain.to_string();
        }
        self.covers.to = self.last.map(|(position, time)| Stamp::new(position, time));
        let lines = self.books.lines();
        let expected = self.expect.map(|hash| Expected {
            hash: hash.to_string(),
            found: self.found.is_some(),
            position: self.found.map(|(position, _)| position.to_string()),
            entries_after: self.found.map(|(_, entries)| self.covers.entries - entries),
        });
        if let Some((_, _, before)) = self.begins {
            self.covers.hash_before = before.to_string();
        }
        let unfair_draws = self.interventions.unfair_draws();
        let lost_logs = self.lost_logs();
        let disowned = self.votes.fault();
        self.checks.votes_matched = self.votes.matched;
        self.checks.votes_against = self.votes.against;
        let not_listed = NotListed {
            lines: self.books.not_followed(),
            gates: self.trail.more.gates,
            changes: self.trail.more.changes,
            interruptions: self.trail.more.interruptions,
            interventions: self.interventions.more,
            votes_against: self.votes.more,
            ..self.more
        };
        let grounds = Grounds {
            faults: &self.faults,
            covers: &self.covers,
            beginning: beginning(self.begins, self.from),
            lost_logs,
            disowned,
            expected,
            not_listed,
            lines: &lines,
            interventions: self.interventions.all(),
            unfair_draws,
        };
        let verdict = grounds.verdict();
        Findings {
            format: FORMAT,
            verdict,
            gates: self.trail.gates(),
            interruptions: self.trail.interruptions(),
            changes: self.trail.changes,
            routine: self.trail.routine,
            covers: self.covers,
            faults: self.faults,
            checks: self.checks,
            lines,
            visitor: self.follower.map(Follower::life),
            not_listed,
        }
    }
}

/// The configured settings of the rooms that an entry changes.
fn was(state: &State, entry: &Entry) -> Was {
    let rooms = entry.batch.rooms.iter().map(|change| &change.room);
    rooms
        .filter_map(|room| Some((room.clone(), state.configured(room)?.clone())))
        .collect()
}

/// Version of the findings' form.
const FORMAT: u32 = 1;

pub(super) const MOST_FAULTS: usize = 1_000;
const MOST_LOGS: usize = 10_000;

/// Entries between words on the progress.
const TELL_EVERY: u64 = 10_000;
