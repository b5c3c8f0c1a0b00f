//! Snapshots while the gate runs, and the agreement on which of them may be built upon.
//!
//! A gate alone saves its own when one is due. Gates that share a log each hash their state at every checkpoint and vote;
//! the one whose turn it is saves the confirmed snapshot. A gate whose hash is not the confirmed one takes its rooms from
//! the log again; so do all when no hash has a majority, and vote once more.

use std::time::Duration;

use super::{Ask, Asked, Phase, Protocol, Saving, Step};
use crate::replica::recover::snapshot;
use crate::room::{Batch, Clock, Entry, IDLE_TICK_MS, State, StateHash, Vote};
use crate::store::{Occasion, Snapshot, Unavailable};

/// Where the gate stands with snapshots and votes.
#[derive(Default)]
pub(super) struct Checkpoint {
    /// Since the last snapshot of a gate alone.
    clock: Clock,
    bytes: u64,
    changed: bool,
    /// Uptime at which it was last said that snapshots are not saved; `None` while they are.
    failing: Option<Duration>,
    /// What the first batch of a log of its own names as its root.
    root: Option<StateHash>,
    /// The state at the last checkpoint of a shared log.
    own: Option<Own>,
    vote: Option<Vote>,
    saved: Option<u64>,
    /// The checkpoint that was worked out anew, because the votes were undecided.
    again: Option<u64>,
    /// Uptime at which the confirmation of a checkpoint was seen.
    confirmed: Option<(u64, Duration)>,
    /// The last snapshot that a gate said it has saved, and the room's clock then.
    kept: Option<(u64, Clock)>,
}

struct Own {
    sequence: u64,
    hash: StateHash,
    /// `None` once it is saved.
    snapshot: Option<Snapshot>,
}

impl Checkpoint {
    /// A log of its own begins from the state of this hash, which the first batch votes on; it names it as its root if the
    /// log `goes_on` from another.
    pub fn begin(&mut self, state: &State, hash: StateHash, goes_on: bool) {
        *self = Self {
            clock: state.clock(),
            root: goes_on.then_some(hash),
            vote: Some(Vote {
                sequence: 0,
                hash,
                again: false,
            }),
            ..Self::default()
        };
    }

    /// What was said of another log, or of a state that is no more, is not said again.
    pub fn forget(&mut self) {
        let again = self.again.take();
        *self = Self {
            again,
            ..Self::default()
        };
    }

    /// An entry was applied.
    pub fn entry(&mut self, entry: &Entry, state: &State, alone: bool) {
        let idle = entry.batch.sections.is_empty() && entry.batch.rooms.is_empty();
        self.changed |= !idle;
        if alone {
            self.bytes += ENTRY_BYTES + if idle { 0 } else { entry.batch.encoded_len() as u64 };
            self.changed |= state.tick_ms() < IDLE_TICK_MS;
            // An archive keeps this state: the log says that it is genuine.
            if let Some(sequence) = state.checkpoint().filter(|_| state.landmark()) {
                self.vote = Some(Vote {
                    sequence,
                    hash: state.hash(),
                    again: false,
                });
            }
            return;
        }
        if let Some(sequence) = state.checkpoint() {
            let snapshot = snapshot(state, entry.time);
            self.own = Some(Own {
                sequence,
                hash: snapshot.hash(),
                snapshot: Some(snapshot),
            });
        }
    }

    /// What the next batch says of checkpoints.
    pub fn say(&mut self) -> (Option<Vote>, Option<u64>, Option<StateHash>) {
        (self.vote.take(), self.saved.take(), self.root)
    }

    pub fn said(&mut self, batch: &Batch) {
        self.root = self.root.filter(|_| batch.root.is_none());
    }

    pub fn is_urgent(&self) -> bool {
        self.vote.is_some() || self.saved.is_some()
    }
}

impl Protocol {
    /// Saves a snapshot if one is due.
    pub(super) fn keep_snapshot(&mut self, now: Duration) -> Option<Step> {
        let Phase::Live(state) = &self.phase else { return None };
        if self.alone {
            let clock = self.shared.load().clock;
            let every = u64::try_from(self.options.snapshot_every.as_millis()).unwrap_or(u64::MAX);
            let kept = &self.checkpoint;
            let due = (kept.changed && clock.since(kept.clock) >= every) || kept.bytes >= self.options.snapshot_bytes;
            if !due || self.under_way.is_some() {
                return None;
            }
            let snapshot = snapshot(state, self.time);
            let saving = Saving::Checkpoint(snapshot.position.sequence);
            return Some(self.save(saving, snapshot, Occasion::Checkpoint));
        }
        let (sequence, hash) = state.confirmed()?;
        let (seen, at) = self.checkpoint.confirmed?;
        let own = self
            .checkpoint
            .own
            .as_ref()
            .filter(|own| own.sequence == sequence && own.hash == hash)?;
        let rank = u32::try_from(state.rank(self.gate, sequence)?).unwrap_or(u32::MAX);
        let due = at + SAVE_APART.saturating_mul(rank);
        if seen != sequence || now < due || state.saved() >= Some(sequence) {
            return None;
        }
        let young = |(_, at): (u64, Clock)| state.clock().since(at) < IDLE_SAVE_MS;
        if self.is_left_alone(now) && !self.checkpoint.changed && self.checkpoint.kept.is_some_and(young) {
            return None;
        }
        let snapshot = own.snapshot.clone()?;
        Some(self.save(Saving::Checkpoint(sequence), snapshot, Occasion::Checkpoint))
    }

    fn save(&mut self, saving: Saving, snapshot: Snapshot, occasion: Occasion) -> Step {
        self.ask(Asked::Save(saving), Ask::Save { snapshot, occasion })
    }

    pub(super) fn save_last(&mut self) -> Option<Step> {
        let Phase::Live(state) = &self.phase else { return None };
        let last = snapshot(state, self.time);
        Some(self.save(Saving::Last, last, Occasion::Last))
    }

    pub(super) fn snapshot_saved(&mut self, saving: Saving) {
        match saving {
            Saving::Root(hash) => self.root_saved(hash),
            Saving::Last => self.end(),
            Saving::Checkpoint(sequence) => {
                self.shared.counts.saved();
                self.start_over(None);
                if !self.alone {
                    self.checkpoint.saved = Some(sequence);
                }
            }
        }
    }

    /// A snapshot was not taken. True when there is nothing more to do about it.
    pub(super) fn not_saved(&mut self, saving: Saving, reason: &Unavailable, now: Duration) -> bool {
        match saving {
            Saving::Root(_) => return false,
            Saving::Last => {
                tracing::warn!(%reason, "the last snapshot could not be saved; the next start begins a new log");
                self.end();
            }
            Saving::Checkpoint(_) => {
                let said = self.checkpoint.failing;
                let said = said.filter(|said| now.saturating_sub(*said) < SAY_AGAIN);
                if said.is_none() {
                    tracing::warn!(%reason, "a snapshot could not be saved; the one before is kept");
                }
                self.start_over(said.or(Some(now)));
            }
        }
        true
    }

    fn end(&mut self) {
        self.close_archive();
        self.phase = Phase::Ended;
    }

    fn start_over(&mut self, failing: Option<Duration>) {
        let clock = self.shared.load().clock;
        let kept = &mut self.checkpoint;
        (kept.clock, kept.bytes, kept.changed, kept.failing) = (clock, 0, false, failing);
        if let Some(own) = &mut kept.own {
            own.snapshot = None;
        }
    }

    /// After reading: votes, and takes the rooms from the log again if this gate's are not the others'.
    pub(super) fn agree_on_checkpoints(&mut self, now: Duration) {
        let Phase::Live(state) = &self.phase else { return };
        if state.version() > self.options.knows {
            return self.fall_behind(state.version(), now);
        }
        if let Some(saved) = state.saved()
            && self.checkpoint.kept.is_none_or(|(kept, _)| kept != saved)
        {
            (self.checkpoint.kept, self.checkpoint.changed) = (Some((saved, state.clock())), false);
        }
        let Some(own) = self.checkpoint.own.as_ref().filter(|_| !self.alone) else {
            return;
        };
        if let Some((sequence, hash)) = state.confirmed() {
            if own.sequence == sequence && own.hash != hash {
                tracing::error!(
                    sequence,
                    "this gate's rooms are not what most gates have: loading them anew"
                );
                self.shared.counts.outvoted();
                self.checkpoint.own = None;
                return self.restart(None, now);
            }
            if self.checkpoint.confirmed.is_none_or(|(seen, _)| seen != sequence) {
                self.checkpoint.confirmed = Some((sequence, now));
            }
        }
        let disputed = state.disputed() == Some(own.sequence);
        let kept = state.saved() >= Some(own.sequence);
        if disputed && self.checkpoint.again != Some(own.sequence) {
            tracing::error!(
                sequence = own.sequence,
                "the gates' rooms differ and none has a majority: working them out anew"
            );
            self.checkpoint.again = Some(own.sequence);
            self.checkpoint.own = None;
            let Phase::Live(state) = self.take_phase() else { return };
            // Kept in case the store goes in just this moment.
            return self.restart(Some(*state), now);
        }
        let said = state
            .roster()
            .find(|gate| gate.id == self.gate)
            .and_then(|gate| gate.vote);
        let new = said.is_none_or(|vote| vote.sequence < own.sequence);
        let anew = disputed && said.is_some_and(|vote| vote.sequence == own.sequence && !vote.again);
        if (new || anew)
            && self
                .under_way
                .as_ref()
                .is_none_or(|sent| sent.append.batch.vote.is_none())
        {
            self.checkpoint.vote = Some(Vote {
                sequence: own.sequence,
                hash: own.hash,
                again: anew,
            });
        }
        if let Some(own) = self.checkpoint.own.as_mut().filter(|_| kept) {
            own.snapshot = None;
        }
    }

    /// The machine version that all on the roster have known for long enough, if this gate knows it too.
    pub(super) fn agreed(&self) -> Option<u16> {
        let version = self.live_state()?.agreed()?;
        (version <= self.options.knows).then_some(version)
    }
}

/// Bytes of an entry around its batch, about.
const ENTRY_BYTES: u64 = 64;

/// How long a gate that is left alone leaves a confirmed snapshot unsaved, where nothing but ticks came since the last.
const IDLE_SAVE_MS: u64 = 120_000;

/// How often it is said that snapshots are not saved.
const SAY_AGAIN: Duration = Duration::from_secs(60);

/// How much later each rank of the roster saves a confirmed snapshot that nobody has saved.
const SAVE_APART: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::GateId;
    use crate::room::testing::Hand;

    /// The sequences that a gate with this log votes on within an hour and a half, in which nobody comes.
    fn voted(alone: bool) -> Vec<u64> {
        let mut log = Hand::new(GateId(1));
        let mut checkpoint = Checkpoint::default();
        let mut voted = Vec::new();
        checkpoint.begin(&log.state, log.state.hash(), false);
        for _ in 0..1_350 {
            voted.extend(checkpoint.say().0.map(|vote| vote.sequence));
            let (entry, _) = log.say(4_000, Batch::default());
            checkpoint.entry(&entry, &log.state, alone);
        }
        voted
    }

    #[test]
    fn a_gate_alone_votes_on_the_first_state_and_on_the_first_checkpoint_of_an_hour() {
        let voted = voted(true);
        assert_eq!(voted.len(), 2, "{voted:?}");
        // An entry every four seconds: the hour turns with the 900th, and a checkpoint falls every three.
        assert!(voted[0] == 0 && (900..905).contains(&voted[1]), "{voted:?}");
    }
}
