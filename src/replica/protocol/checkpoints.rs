//! Snapshots while the gate runs, and the agreement on which of them may be built upon.
//!
//! A gate alone saves its own when one is due. Gates that share a log each hash their state at every checkpoint and vote;
//! one of them, by its rank on the roster, saves the confirmed snapshot. A gate whose hash is not the confirmed one takes its
//! rooms from the log again; so do all when no hash has a majority, and vote once more.

use std::time::Duration;

use super::identity::Identity;
use crate::replica::recover::snapshot;
use crate::room::{Batch, Clock, Entry, IDLE_TICK_MS, State, StateHash, Vote};
use crate::store::Snapshot;

/// Where the gate stands with snapshots and votes on the log that it reads.
#[derive(Default)]
pub(super) struct Checkpoints {
    /// The room's clock at the last snapshot, the bytes of entries since, and whether they changed anything.
    clock: Clock,
    bytes: u64,
    changed: bool,
    /// Uptime at which it was last logged that snapshots are not saved; `None` while they are.
    failing: Option<Duration>,
    /// The root that the first batch of a log of its own names.
    root: Option<StateHash>,
    /// The state at the last checkpoint of a shared log.
    own: Option<Own>,
    /// Items for the next batch: a vote, and the note that a snapshot was saved.
    vote: Option<Vote>,
    saved: Option<u64>,
    /// The checkpoint that was computed anew, because the votes were undecided.
    disputed: Option<u64>,
    /// Uptime at which the confirmation of a checkpoint was seen.
    confirmed: Option<(u64, Duration)>,
    /// The last snapshot that a gate reported as saved, and the room's clock then.
    kept: Option<(u64, Clock)>,
}

struct Own {
    sequence: u64,
    hash: StateHash,
    /// `None` once it is saved.
    snapshot: Option<Snapshot>,
}

/// How this gate's state at the last checkpoint compares with the other gates'.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Agreement {
    /// It is theirs, or that is not known yet.
    Holds,
    /// Most gates have another one.
    Outvoted,
    /// No state has a majority.
    Disputed,
}

impl Checkpoints {
    /// Without knowledge of the log, except for a checkpoint that was computed anew.
    pub fn after(disputed: Option<u64>) -> Self {
        Self {
            disputed,
            ..Self::default()
        }
    }

    /// A log of its own begins from `state` with this hash, for which the first batch votes; the batch names it as its root
    /// if the log `goes_on` from another.
    pub fn of_own_log(state: &State, hash: StateHash, goes_on: bool) -> Self {
        Self {
            clock: state.clock(),
            root: goes_on.then_some(hash),
            vote: Some(Vote {
                sequence: 0,
                hash,
                again: false,
            }),
            ..Self::default()
        }
    }

    /// The checkpoint that was computed anew.
    pub fn disputed(&self) -> Option<u64> {
        self.disputed
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

    /// The next batch's items about checkpoints.
    pub fn say(&mut self) -> Batch {
        Batch {
            vote: self.vote.take(),
            saved: self.saved.take(),
            root: self.root,
            ..Batch::default()
        }
    }

    /// A batch of this gate was read back.
    pub fn said(&mut self, batch: &Batch) {
        self.root = self.root.filter(|_| batch.root.is_none());
    }

    pub fn is_urgent(&self) -> bool {
        self.vote.is_some() || self.saved.is_some()
    }

    /// A gate alone is to save its state, at this room clock.
    pub fn is_due(&self, identity: &Identity, clock: Clock) -> bool {
        let options = identity.options();
        let every = u64::try_from(options.snapshot_every.as_millis()).unwrap_or(u64::MAX);
        (self.changed && clock.since(self.clock) >= every) || self.bytes >= options.snapshot_bytes
    }

    /// The confirmed snapshot of a shared log, if this gate is to save it now; it may wait where the gate is `left_alone`.
    pub fn due_shared(&self, state: &State, identity: &Identity, left_alone: bool, now: Duration) -> Option<Snapshot> {
        let (sequence, hash) = state.confirmed()?;
        let (seen, at) = self.confirmed?;
        let own = self.own.as_ref();
        let own = own.filter(|own| own.sequence == sequence && own.hash == hash)?;
        let rank = u32::try_from(state.rank(identity.gate(), sequence)?).unwrap_or(u32::MAX);
        let due = at + SAVE_APART.saturating_mul(rank);
        if seen != sequence || now < due || state.saved() >= Some(sequence) {
            return None;
        }
        let young = |(_, at): (u64, Clock)| state.clock().since(at) < IDLE_SAVE_MS;
        if left_alone && !self.changed && self.kept.is_some_and(young) {
            return None;
        }
        own.snapshot.clone()
    }

    /// A snapshot was saved at this room clock; a gate that shares its log says so.
    pub fn saved(&mut self, sequence: u64, clock: Clock, alone: bool) {
        self.start_over(clock, None);
        if !alone {
            self.saved = Some(sequence);
        }
    }

    /// A snapshot could not be saved. True when that is worth a line in the gate's own log.
    pub fn not_saved(&mut self, clock: Clock, now: Duration) -> bool {
        let logged = self.failing;
        let logged = logged.filter(|logged| now.saturating_sub(*logged) < LOG_AGAIN);
        self.start_over(clock, logged.or(Some(now)));
        logged.is_none()
    }

    fn start_over(&mut self, clock: Clock, failing: Option<Duration>) {
        (self.clock, self.bytes, self.changed, self.failing) = (clock, 0, false, failing);
        if let Some(own) = &mut self.own {
            own.snapshot = None;
        }
    }

    /// The log was read to its end: compares this gate's state with the others', and votes unless it `is_voting` already.
    pub fn agree(&mut self, state: &State, identity: &Identity, is_voting: bool, now: Duration) -> Agreement {
        if let Some(saved) = state.saved()
            && self.kept.is_none_or(|(kept, _)| kept != saved)
        {
            (self.kept, self.changed) = (Some((saved, state.clock())), false);
        }
        let Some(own) = self.own.as_ref().filter(|_| !identity.alone()) else {
            return Agreement::Holds;
        };
        let (sequence, hash) = (own.sequence, own.hash);
        if let Some((confirmed, by_most)) = state.confirmed() {
            if sequence == confirmed && hash != by_most {
                tracing::error!(
                    sequence,
                    "this gate's rooms are not what most gates have: loading them anew"
                );
                self.own = None;
                return Agreement::Outvoted;
            }
            if self.confirmed.is_none_or(|(seen, _)| seen != confirmed) {
                self.confirmed = Some((confirmed, now));
            }
        }
        let disputed = state.disputed() == Some(sequence);
        if disputed && self.disputed != Some(sequence) {
            tracing::error!(
                sequence,
                "the gates' rooms differ and none has a majority: working them out anew"
            );
            self.disputed = Some(sequence);
            self.own = None;
            return Agreement::Disputed;
        }
        let said = state.roster().find(|gate| gate.id == identity.gate());
        let said = said.and_then(|gate| gate.vote);
        let new = said.is_none_or(|vote| vote.sequence < sequence);
        let again = disputed && said.is_some_and(|vote| vote.sequence == sequence && !vote.again);
        if (new || again) && !is_voting {
            self.vote = Some(Vote { sequence, hash, again });
        }
        if state.saved() >= Some(sequence)
            && let Some(own) = &mut self.own
        {
            own.snapshot = None;
        }
        Agreement::Holds
    }
}

/// Bytes of an entry around its batch, about.
const ENTRY_BYTES: u64 = 64;

/// How long a gate that is left alone leaves a confirmed snapshot unsaved, where nothing but ticks came since the last.
const IDLE_SAVE_MS: u64 = 120_000;

/// How often it is logged that snapshots are not saved.
const LOG_AGAIN: Duration = Duration::from_secs(60);

/// Delay by which each further rank of the roster saves a confirmed snapshot that no gate has saved.
const SAVE_APART: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::GateId;
    use crate::room::testing::Hand;

    /// Sequences that a gate with this log votes on within an hour and a half without visitors.
    fn voted(alone: bool) -> Vec<u64> {
        let mut log = Hand::new(GateId(1));
        let mut checkpoints = Checkpoints::of_own_log(&log.state, log.state.hash(), false);
        let mut voted = Vec::new();
        for _ in 0..1_350 {
            voted.extend(checkpoints.say().vote.map(|vote| vote.sequence));
            let (entry, _) = log.say(4_000, Batch::default());
            checkpoints.entry(&entry, &log.state, alone);
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
