//! Catching up: a snapshot's state is brought to the end of the log by the entries that follow it.

use std::ops::ControlFlow::{Break, Continue};
use std::time::Duration;

use super::transition::{Basis, Origin, Outcome, Transition, Turn};
use crate::replica::protocol::checkpoints::Checkpoints;
use crate::replica::protocol::context::Context;
use crate::replica::protocol::step::{Ask, Asked};
use crate::replica::recover::{Applied, decode};
use crate::room::{Effects, Joined, Position, State};
use crate::store::{Exchanged, Snapshot};

pub struct CatchingUp {
    state: State,
    /// The start, for another try that stops before an entry that cannot be applied.
    base: Snapshot,
    stop_before: Option<Position>,
    clean: bool,
    torn: bool,
    last_known: u64,
    old: Option<State>,
    /// This gate's last serial and its answers, by the state at the start.
    answered: Option<(u64, Vec<Joined>)>,
    /// The effects of the batch under way, if it was read on the way.
    mine: Option<Effects>,
    checkpoints: Box<Checkpoints>,
}

impl CatchingUp {
    pub fn new(context: &mut Context, origin: Origin) -> Self {
        context.reader.archive_from(&origin.state);
        Self {
            state: origin.state,
            base: origin.base,
            stop_before: None,
            clean: origin.clean,
            torn: origin.torn,
            last_known: origin.last_known,
            old: origin.restart.old,
            answered: origin.answered,
            mine: None,
            checkpoints: Box::new(Checkpoints::after(origin.restart.disputed)),
        }
    }

    pub fn next(&self) -> Turn {
        let at = self.state.position();
        Turn::Ask(Asked::Exchange { appended: false }, Ask::Exchange { at, append: None })
    }

    pub fn read(mut self: Box<Self>, context: &mut Context, exchanged: Exchanged, now: Duration) -> Outcome<Self> {
        let alone = context.identity.alone();
        let (entries, more, newer) = match exchanged {
            Exchanged::Entries {
                entries, more, newer, ..
            } => (entries, more, newer),
            Exchanged::Moved if !alone => {
                context.odd("the log begins behind its snapshot", now);
                return Break(Transition::restart(self.old, self.checkpoints.disputed()));
            }
            Exchanged::Broken { epoch } if !alone && epoch > self.state.position().epoch => {
                let old = further(self.old, self.state);
                return Break(Transition::Follow { epoch, old });
            }
            Exchanged::Moved => return Break(self.ended_at(alone, 0)),
            Exchanged::Broken { epoch } => return Break(self.ended_at(alone, epoch)),
        };
        for entry in entries {
            if self.stop_before.is_some_and(|poison| entry.position >= poison) {
                return Break(self.halt_here(context, now));
            }
            match context.apply(&mut self.state, &entry, &mut self.checkpoints, now) {
                Applied::Done(effects) => {
                    let mine = context.outgoing.is_own(&context.identity, &entry);
                    self.mine = self.mine.or(mine.then_some(effects));
                }
                Applied::AnotherHistory => return Break(self.ended_at(alone, entry.position.epoch)),
                Applied::Panicked => return self.poisoned(entry.position),
                Applied::Newer(version) => return Break(Transition::FallBehind(version)),
            }
        }
        if let Some(version) = newer {
            return Break(Transition::FallBehind(version));
        }
        if more {
            return Continue(self);
        }
        Break(self.arrived(context, now))
    }

    /// The end of the log: from here on the gate lives on it.
    fn arrived(mut self, context: &mut Context, now: Duration) -> Transition {
        if self.stop_before.is_some() {
            return self.halt_here(context, now);
        }
        let at = self.state.position();
        if context.identity.alone() && (self.torn || !self.clean) {
            context.publish(&mut self.state, now);
            let basis = if self.torn {
                Basis::Torn(self.state)
            } else {
                Basis::Rooms(self.state)
            };
            return Transition::begin(at.epoch, self.last_known, basis);
        }
        if self.state.version() > context.identity.knows() {
            return Transition::FallBehind(self.state.version());
        }
        context.outgoing.arrive(&context.identity, self.old.take(), &self.state);
        context.reader.is_at_end(now);
        context.publish(&mut self.state, now);
        context.configure(&self.state);
        // Before the batch under way is answered, so that a request that is answered finds a live gate.
        context.shared.set_condition(context.live_condition());
        self.settle_met(context, now);
        Transition::Live(Box::new(self.state), self.checkpoints)
    }

    /// The batch under way may have been met on the way, or be in the state that this came from.
    fn settle_met(&mut self, context: &mut Context, now: Duration) {
        let serial = context.outgoing.serial_under_way();
        let known = self.answered.take();
        let known = known.filter(|(last, _)| serial.is_some_and(|serial| serial <= *last));
        match (self.mine.take(), known) {
            (Some(effects), _) if !effects.ignored => context.settle(&mut self.checkpoints, &effects, now),
            (_, Some((_, joined))) => {
                let effects = Effects {
                    joined,
                    ..Effects::default()
                };
                context.settle(&mut self.checkpoints, &effects, now);
            }
            _ => {
                let epoch = self.state.position().epoch;
                context.outgoing.send_again(self.state.version(), epoch);
            }
        }
    }

    /// The log ends here: a new one begins with the state that was read.
    fn ended_at(self, alone: bool, epoch: u64) -> Transition {
        let known = self.old.as_ref().map(State::position);
        let basis = match further(self.old, self.state) {
            // Later answers may be lost, unless this gate itself went on from there.
            Some(state) if alone && known != Some(state.position()) => Basis::Torn(state),
            Some(state) => Basis::Rooms(state),
            None => Basis::Nothing,
        };
        Transition::begin(epoch, self.last_known, basis)
    }

    /// Tries again up to the entry before, so that the rooms freeze as late as can be.
    fn poisoned(mut self: Box<Self>, at: Position) -> Outcome<Self> {
        let again = decode(&self.base);
        let Some(state) = again.filter(|_| self.stop_before.is_none()) else {
            return Break(Transition::Freeze(at, self.old));
        };
        self.state = state;
        self.stop_before = Some(at);
        Continue(self)
    }

    fn halt_here(mut self, context: &mut Context, now: Duration) -> Transition {
        let mut at = self.state.position();
        at.sequence += 1;
        context.publish(&mut self.state, now);
        Transition::Freeze(at, Some(self.state))
    }
}

/// The one of the former and the read state that has gone further. A state that awaits its root does not count.
fn further(old: Option<State>, read: State) -> Option<State> {
    let read = Some(read).filter(State::rooted);
    match (old, read) {
        (Some(old), Some(read)) if old.position() > read.position() => Some(old),
        (old, None) => old,
        (_, read) => read,
    }
}
