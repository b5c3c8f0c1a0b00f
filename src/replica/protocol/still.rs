//! Rooms that stand still: before an entry that cannot be applied, or because the log runs a later machine.
//!
//! Those inside go on by their passes, whoever waits keeps the place, and nobody is called. A frozen gate goes on when an
//! operator has the entry passed over, or when the others have begun another log; one that fell behind, when it is upgraded.

use std::time::Duration;

use super::{Ask, Asked, Phase, Protocol, Step};
use crate::replica::collector::Collector;
use crate::room::{Position, State};
use crate::store::Skips;

impl Protocol {
    pub(super) fn freeze(&mut self, at: Position, mut old: Option<Box<State>>, now: Duration) {
        // A gate that has just begun may have shown nothing of the log yet.
        if let Some(state) = old.as_mut().filter(|_| self.shared.load().position.incarnation == 0) {
            self.shared.publish(state.view(), now);
        }
        tracing::error!(position = ?at, "an entry cannot be applied: the rooms stand still before it; see `ropeline skip`");
        let unsaid = false;
        self.stand_still(Phase::Frozen { at, old, unsaid }, now);
    }

    pub(super) fn fall_behind(&mut self, version: u16, now: Duration) {
        tracing::error!(
            version,
            "the log goes on with a machine version that this binary lacks: upgrade this gate"
        );
        self.stand_still(Phase::Behind { version }, now);
    }

    fn stand_still(&mut self, phase: Phase, now: Duration) {
        self.shared.freeze(now);
        self.enter(phase, now);
        // Whoever waits is told to come again.
        self.under_way = None;
        self.collector = Collector::default();
    }

    /// A frozen gate looks now and then whether it may go on. Only then does it load the snapshot, which may be megabytes.
    pub(super) fn look_for_skip(&mut self, now: Duration) -> Step {
        // Dropping a message answers it.
        self.collector = Collector::default();
        if now < self.exchanged + SKIP_AGAIN {
            return Step::Wait(self.exchanged + SKIP_AGAIN);
        }
        self.exchanged = now;
        self.ask(Asked::Skips, Ask::Skips)
    }

    pub(super) fn skips_read(&mut self, skips: &Skips, now: Duration) {
        let Phase::Frozen { at, old, unsaid } = &mut self.phase else {
            return;
        };
        let skipped = skips.positions.contains(at);
        // Another log, or none any more.
        if skipped || skips.incarnation != at.incarnation {
            tracing::warn!(position = ?at, skipped, "the rooms go on");
            let old = old.take().map(|old| *old);
            self.restart(old, now);
        } else if std::mem::take(unsaid) {
            self.skip = Some(*at);
        }
    }

    /// The store did not take what an operator wants passed over: a gate that still stands before that entry says it again
    /// after its next look.
    pub(super) fn skip_not_noted(&mut self) {
        let position = self.skip.take();
        if let Phase::Frozen { at, unsaid, .. } = &mut self.phase {
            tracing::error!(
                ?at,
                "the store did not take what is to be passed over: it is said again"
            );
            *unsaid = position == Some(*at);
        }
    }

    pub(super) fn skip_noted(&mut self, now: Duration) {
        self.skip = None;
        // A frozen gate looks at once.
        self.exchanged = now.saturating_sub(Duration::from_secs(60));
    }
}

/// How often a frozen gate asks whether it may go on.
const SKIP_AGAIN: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests;
