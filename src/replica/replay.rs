//! Applies a stored log again, from the first snapshot to the last entry. The rooms must come out as the snapshots on the way have
//! them: only then is the log its own audit trail.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::recover::{follows, guarded};
use crate::room::{Encoded, Epoch, Joined, LaneId, LineName, Number, Position, RoomName, State, StateHash, Wall};
use crate::store::{Damage, Kept, KeptPart, ReadError, Snapshot};
use crate::time;

/// The result of a replay. Everything proved means [`Report::proved`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    pub parts: u32,
    /// Lives of the log: one more for each unclean start.
    pub epochs: u32,
    pub entries: u64,
    /// Items in them that the rooms passed over.
    pub skipped: u64,
    /// Visitors numbered.
    pub joins: u64,
    /// Snapshots of the same log that equal the replayed state.
    pub snapshots_matched: u32,
    pub first: Wall,
    pub last: Wall,
    /// The last entry applied, and SHA-256 of the state after it.
    pub position: Position,
    pub hash: StateHash,
    /// Places where one history ends and the next does not start from its end, because of a damaged file or a lost disk.
    pub gaps: Vec<Gap>,
    /// Differences from the record: any of them means that the log, or this version, must not be trusted.
    pub faults: Vec<Fault>,
    pub took: Duration,
}

/// The history before `file` does not lead to the state that it starts from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gap {
    pub file: String,
    pub before: Position,
    pub after: Position,
}

/// Something that is not as written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    #[error(transparent)]
    Damage(#[from] Damage),
    #[error("{file}: entry {position:?} does not follow the one before it")]
    Chain { file: String, position: Position },
    #[error("{file}: entry {position:?} cannot be applied")]
    Poison { file: String, position: Position },
    #[error("{file}: the state at {position:?} is not the one written down")]
    State { file: String, position: Position },
}

/// Given from time to time while a replay runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Progress<'a> {
    pub file: &'a str,
    pub part: u32,
    pub parts: u32,
    pub entries: u64,
    pub time: Wall,
}

/// Why a replay cannot start.
pub type ReplayError = ReadError;

impl Report {
    /// The log holds together from its first snapshot to its last entry, and gives the state written down.
    #[must_use]
    pub fn proved(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Replays the kept log in `folder` without changing a byte of it. The gate must be stopped, or `folder` must be a copy.
pub fn replay(folder: &Path, progress: &mut dyn FnMut(&Progress<'_>)) -> Result<Report, ReplayError> {
    let started = time::uptime();
    let kept = Kept::open(folder)?;
    let mut run = Run {
        report: Report::default(),
        latest: None,
        state: None,
        highest: BTreeMap::new(),
        skips: kept.skips().unwrap_or_default(),
        progress,
    };
    match kept.snapshot() {
        Ok(latest) => run.latest = latest,
        Err(damage) => run.report.faults.push(damage.into()),
    }
    for file in kept.files() {
        run.report.parts += 1;
        match kept.part(file) {
            Ok(part) => run.part(&part, kept.files().len()),
            Err(damage) => {
                run.state = None;
                run.report.faults.push(damage.into());
            }
        }
    }
    run.end();
    run.report.took = time::uptime().saturating_sub(started);
    Ok(run.report)
}

struct Run<'a> {
    report: Report,
    /// The snapshot file, until the replay has come by its position.
    latest: Option<Snapshot>,
    /// `None` before the first part, and after one that could not be run to its end.
    state: Option<State>,
    /// The last number of each lane.
    highest: BTreeMap<(RoomName, LineName, LaneId), Number>,
    /// Entries that an operator had passed over.
    skips: Vec<Position>,
    progress: &'a mut dyn FnMut(&Progress<'_>),
}

impl Run<'_> {
    fn part(&mut self, part: &KeptPart, parts: usize) {
        self.enter(part);
        let Some(mut state) = self.state.take() else { return };
        self.match_latest(&state);
        let mut sequence = part.base.position.sequence;
        loop {
            let entries = match part.read(sequence) {
                Ok(entries) if entries.is_empty() => break,
                Ok(entries) => entries,
                Err(damage) => return self.report.faults.push(damage.into()),
            };
            for entry in entries {
                sequence = entry.position.sequence;
                if !self.entry(&part.file, &mut state, &entry) {
                    return;
                }
            }
            let parts = u32::try_from(parts).unwrap_or(u32::MAX);
            let Report {
                parts: part_number,
                entries,
                last,
                ..
            } = self.report;
            (self.progress)(&Progress {
                file: &part.file,
                part: part_number,
                parts,
                entries,
                time: last,
            });
        }
        self.state = Some(state);
    }

    /// Takes up the part's first state: the one that the part before led to, or a gap and the one written down.
    fn enter(&mut self, part: &KeptPart) {
        let base = &part.base;
        let position = base.position;
        if self.report.first == Wall::default() {
            self.report.first = base.time;
        }
        self.report.last = base.time;
        let reached = self.state.take();
        let same_life = reached
            .as_ref()
            .is_some_and(|state| state.position().epoch == position.epoch);
        self.report.epochs += u32::from(!same_life);
        let reached = reached.map(|mut state| {
            let before = state.position();
            if !same_life {
                state.go_on(position.epoch, base.hash());
            }
            (before, state)
        });
        match reached {
            Some((_, state)) if state.hash() == base.hash() => {
                self.report.snapshots_matched += 1;
                self.state = Some(state);
                return;
            }
            Some((before, _)) if same_life && before == position => {
                self.report.faults.push(Fault::State {
                    file: part.file.clone(),
                    position,
                });
            }
            Some((before, _)) => self.report.gaps.push(Gap {
                file: part.file.clone(),
                before,
                after: position,
            }),
            None => {}
        }
        match State::decode(&base.state) {
            Ok(state) => self.state = Some(state),
            Err(error) => {
                let damage = Damage {
                    file: part.file.clone(),
                    reason: error.to_string(),
                };
                self.report.faults.push(damage.into());
            }
        }
    }

    /// Applies one entry; false when the part cannot be run further.
    fn entry(&mut self, file: &str, state: &mut State, entry: &Encoded) -> bool {
        let position = entry.position;
        if !follows(state, entry) {
            self.report.faults.push(Fault::Chain {
                file: file.to_owned(),
                position,
            });
            return false;
        }
        if self.skips.contains(&position) {
            state.pass_over(entry);
            self.report.entries += 1;
            return true;
        }
        let Some(effects) = guarded(State::apply, state, entry) else {
            self.report.faults.push(Fault::Poison {
                file: file.to_owned(),
                position,
            });
            return false;
        };
        for joined in effects.all_joined() {
            self.report.joins += self.newly(joined);
        }
        self.report.entries += 1;
        self.report.skipped += u64::from(effects.skipped);
        self.report.last = entry.time;
        self.match_latest(state);
        true
    }

    /// How many of the numbers are new; a pending id that comes again is answered with the one it has.
    fn newly(&mut self, joined: &Joined) -> u64 {
        let Some(first) = joined.first else { return 0 };
        let last = Number {
            n: first.n.saturating_add(joined.count.saturating_sub(1)),
            ..first
        };
        let lane = (joined.room.clone(), joined.line.clone(), joined.lane);
        let highest = self.highest.entry(lane).or_insert(Number { epoch: Epoch(0), n: 0 });
        if last <= *highest {
            return 0;
        }
        *highest = last;
        u64::from(joined.count)
    }

    /// Compares with the snapshot file when the replay has reached its position.
    fn match_latest(&mut self, state: &State) {
        let Some(latest) = self.latest.take_if(|latest| latest.position == state.position()) else {
            return;
        };
        if state.hash() == latest.hash() {
            self.report.snapshots_matched += 1;
        } else {
            self.report.faults.push(Fault::State {
                file: "snapshot".to_owned(),
                position: latest.position,
            });
        }
    }

    fn end(&mut self) {
        if let Some(state) = &self.state {
            self.report.position = state.position();
            self.report.hash = state.hash();
        }
        // A snapshot beyond the log's end: the disk lost entries that it had promised to keep.
        if let Some(latest) = self.latest.take_if(|latest| latest.position > self.report.position) {
            let gap = Gap {
                file: "snapshot".to_owned(),
                before: self.report.position,
                after: latest.position,
            };
            self.report.gaps.push(gap);
        }
    }
}
