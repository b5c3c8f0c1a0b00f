//! Recovery after a log was lost: the root that a new log waits for, the epochs that gates bring back, and the codes that may
//! have been used in the lost part.

pub(crate) mod adopting;
pub(crate) mod codes_cutoff;
pub(crate) mod healing;
pub(crate) mod merge;
pub(crate) mod packer;

use std::sync::Arc;

use crate::codec::codec;
use crate::entry::effects::Effects;
use crate::entry::{Adopt, Entry, Spoke, StateHash};
use crate::recovery::adopting::Adopting;
use crate::recovery::codes_cutoff::CodesCutoff;
use crate::state::context::Context;
use crate::state::roster::Roster;
use crate::version::REPORTS_BEHIND_THE_ROOT;
use ropeline_ids::{Clock, GateId, Wall};

/// The known losses of a log, and the gates that bring them back.
#[derive(Debug)]
pub(crate) struct Recovery {
    /// The root that is waited for: until it comes the rooms stand still.
    awaits: Option<StateHash>,
    adopting: Adopting,
    codes: CodesCutoff,
}

codec! {
    struct Recovery { awaits, adopting, codes };
}

impl Recovery {
    /// Of a log begun from nothing.
    pub fn new(codes_are_known: bool) -> Self {
        Self {
            awaits: None,
            adopting: Adopting::default(),
            codes: CodesCutoff::new(codes_are_known),
        }
    }

    pub fn adopting(&self) -> &Adopting {
        &self.adopting
    }

    pub fn codes_mut(&mut self) -> &mut CodesCutoff {
        &mut self.codes
    }

    /// False from the beginning of a log that gates share to its root.
    pub fn rooted(&self) -> bool {
        self.awaits.is_none()
    }

    /// A new log begins, with a root to wait for or with none.
    pub fn begin(&mut self, awaits: Option<StateHash>) {
        self.adopting.clear();
        self.awaits = awaits;
    }

    /// An entry names a root; true if it is the one that is waited for.
    pub fn take_root(&mut self, root: Option<StateHash>) -> bool {
        let is = root == self.awaits;
        if is {
            self.awaits = None;
        }
        is
    }

    /// Runs before the sections of an entry that brings back an epoch: the epoch is known from now on, and no visitor is
    /// called. True if so.
    pub fn adopt(&mut self, entry: &Entry, roster: &Roster, m: &mut Context, effects: &mut Effects) -> bool {
        let Some(adopt) = entry.batch.adopt else { return false };
        if adopt.epoch >= m.past.epoch() {
            effects.skip(1);
            return false;
        }
        m.adopts = Some(adopt.epoch);
        Arc::make_mut(&mut m.past).learn(adopt.epoch);
        self.adopting.forget(roster);
        self.adopting.wait(entry.gate, m.clock);
        m.barred_until = m.barred_until.max(self.adopting.until().unwrap_or(m.clock));
        true
    }

    /// After its sections: if that was the last of them, the calls go on with the next entry. True if nothing lacks any more.
    pub fn adopted(&mut self, entry: &Entry, m: &mut Context) -> bool {
        let brought = m.adopts.take();
        let Some(adopt) = entry.batch.adopt.filter(|_| brought.is_some()) else {
            return false;
        };
        let mut healed = false;
        if adopt.whole {
            let past = Arc::make_mut(&mut m.past);
            past.note_end(adopt.epoch, adopt.sequence);
            // Only now: a line that the gate still has may hold lower numbers.
            past.raise([(adopt.epoch, adopt.floor)].into_iter());
            healed = !past.lacks_an_epoch();
        }
        if adopt.done {
            self.adopting.done(entry.gate);
        }
        healed
    }

    /// Until when no visitor is called, because a gate brings an epoch back or the rooms stand still.
    pub fn barred_until(&mut self, roster: &Roster, alarm: bool) -> Clock {
        self.adopting.forget(roster);
        match self.adopting.until() {
            _ if !self.rooted() || alarm => Clock(u64::MAX),
            until => until.unwrap_or_default(),
        }
    }

    /// A log of which gates were not heard begins, or one that has read further: they may know of codes that were used.
    pub fn miss(&mut self, entry: &Entry, silent: Vec<GateId>, m: &Context) {
        let read = m.past.before().map(|(epoch, sequence)| (epoch.0, sequence));
        let further = |spoke: &&Spoke| Some((spoke.position.epoch, spoke.position.sequence)) > read;
        let ahead = entry.batch.spoke.as_ref().filter(further).map(|_| entry.gate);
        for gate in silent.into_iter().chain(ahead) {
            self.codes.miss(gate, entry.time);
        }
    }

    /// An entry that counts says what its gate knew of the logs before: the gate brings that back, or has nothing to bring.
    ///
    /// A root or a tick that a gate appended before it had read the root may stand behind the root. The gate did not know
    /// then what this log has lost.
    pub fn believe(&mut self, entry: &Entry, version: u16) {
        let batch = &entry.batch;
        let has_read = batch.hello || batch.applied > 0 || version < REPORTS_BEHIND_THE_ROOT;
        let brings = |adopt: Adopt| !adopt.done;
        if has_read && !batch.adopt.is_some_and(brings) {
            self.codes.hear(entry.gate);
        }
    }

    /// The end of the log that the rooms come from is lost: single-use codes issued until now may have been used in it.
    pub fn doubt_codes(&mut self, now: Wall) {
        self.codes.all(now);
    }
}
