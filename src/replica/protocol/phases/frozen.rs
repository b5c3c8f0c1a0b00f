//! Frozen: the rooms stop before an entry that cannot be applied.
//!
//! Visitors inside go on by their passes, waiting visitors keep their places, and no visitor is called. The gate goes on when
//! an operator has the entry skipped, or when other gates have begun another log.

use std::ops::ControlFlow::{Break, Continue};
use std::time::Duration;

use super::transition::{Outcome, Transition, Turn};
use crate::replica::protocol::context::Context;
use crate::replica::protocol::step::{Ask, Asked};
use crate::replica::publish::Condition;
use crate::room::{Position, State};
use crate::store::Skips;

pub struct Frozen {
    /// The entry that cannot be applied.
    at: Position,
    /// The rooms before it, or from before they were loaded anew.
    old: Option<State>,
    /// Uptime of the next look for an entry that is to be skipped.
    look: Duration,
    /// The store did not take the operator's order to pass it over yet.
    refused: bool,
}

impl Frozen {
    pub fn new(context: &mut Context, at: Position, mut old: Option<State>, now: Duration) -> Self {
        // A gate that has just begun may have shown nothing of the log yet.
        if let Some(state) = &mut old {
            context.publish_first(state, now);
        }
        tracing::error!(position = ?at, "an entry cannot be applied: the rooms stand still before it; see `ropeline skip`");
        context.shared.freeze(now);
        Self {
            at,
            old,
            look: context.reader.asked() + LOOK_AGAIN,
            refused: false,
        }
    }

    /// Looks now and then whether the gate may go on. Only then is the snapshot loaded, which may be megabytes.
    pub fn next(&mut self, context: &mut Context, now: Duration) -> Turn {
        context.outgoing.drop_collected();
        if now < self.look {
            return Turn::Wait(self.look);
        }
        self.look = now + LOOK_AGAIN;
        Turn::Ask(Asked::Skips, Ask::Skips)
    }

    pub fn skips_read(self: Box<Self>, skips: &Skips) -> Outcome<Self> {
        let skipped = skips.positions.contains(&self.at);
        // Another log, or none any more.
        if skipped || skips.epoch != self.at.epoch {
            tracing::warn!(position = ?self.at, skipped, "the rooms go on");
            return Break(Transition::restart(self.old, None));
        }
        Continue(self)
    }

    /// The entry to pass over, if the store refused that and is to be asked again.
    pub fn retry_skip(&mut self) -> Option<Position> {
        std::mem::take(&mut self.refused).then_some(self.at)
    }

    /// The store did not take that the entry at `position` is to be passed over.
    pub fn skip_refused(&mut self, position: Position) {
        tracing::error!(
            at = ?self.at,
            "the store did not take what is to be passed over: it is said again"
        );
        self.refused = position == self.at;
    }

    /// The store took an entry that is to be passed over.
    pub fn look_now(&mut self) {
        self.look = Duration::ZERO;
    }

    pub fn condition(&self) -> Condition {
        Condition::Frozen { at: self.at }
    }
}

/// How often a frozen gate asks whether it may go on.
const LOOK_AGAIN: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests;
