//! From what the log has to a state at its end: a snapshot that decodes, and the entries that follow it.

use std::mem::take;
use std::time::Duration;

use super::begin::From;
use super::rootless::Healing;
use super::{Ask, Asked, Phase, Protocol, Step};
use crate::replica::recover::{Applied, apply_next, decode, snapshot};
use crate::replica::waiters::Waiters;
use crate::room::{Effects, Joined, Position, State, VERSION};
use crate::store::{Exchanged, Loaded, Snapshot};

/// Nothing is known of the log, or it is to be looked at anew.
#[derive(Default)]
pub(super) struct Starting {
    /// Uptime before which the log is left alone.
    pub again: Duration,
    /// It said once that there is nothing; a store that just came up may say so too soon.
    empty: bool,
    /// The state before, if the log is another one now: what it knows more is brought along.
    old: Option<State>,
}

/// A state on its way to the end of the log.
pub(super) struct CatchingUp {
    pub state: State,
    /// What it came from, for another try that stops before an entry that cannot be applied.
    base: Snapshot,
    stop_before: Option<Position>,
    /// The log's last life ended properly, or is not over.
    clean: bool,
    /// The log is not the last: see [`Loaded::torn`].
    torn: bool,
    last_known: u64,
    old: Option<State>,
    /// This gate's last serial and what it was given, as the state that this comes from says.
    answered: Option<(u64, Vec<Joined>)>,
    /// What the batch under way came to, if it was met on the way.
    mine: Option<Effects>,
}

impl Protocol {
    /// Looks at the log anew; `old` is what this gate knew.
    pub(super) fn restart(&mut self, old: Option<State>, now: Duration) {
        self.root_now = false;
        let starting = Starting {
            old,
            ..Starting::default()
        };
        self.enter(Phase::Starting(Box::new(starting)), now);
    }

    pub(super) fn loaded(&mut self, mut loaded: Loaded, now: Duration) {
        self.skips = std::mem::take(&mut loaded.skips);
        let Phase::Starting(starting) = self.take_phase() else {
            return;
        };
        self.time = loaded.time;
        let snapshots = std::mem::take(&mut loaded.snapshots);
        // What proves to be whole and cannot be read is of a later version. (Alone, there is another way: a new log.)
        let unreadable = !self.alone && !snapshots.is_empty();
        let found = snapshots.into_iter().find_map(|base| Some((decode(&base)?, base)));
        if unreadable && found.is_none() {
            return self.fall_behind(VERSION + 1, now);
        }
        if let Some((state, base)) = found {
            self.checkpoint.forget();
            self.archive_from(&state);
            let catching_up = CatchingUp {
                answered: self.answered(&state),
                state,
                base,
                stop_before: None,
                clean: loaded.clean,
                torn: loaded.torn,
                last_known: loaded.last_known,
                old: starting.old,
                mine: None,
            };
            self.enter(Phase::CatchingUp(Box::new(catching_up)), now);
            return;
        }
        if loaded.incarnation != 0 && !self.alone {
            let healing = Healing::new(loaded.incarnation, starting.old);
            self.enter(Phase::Rootless(Box::new(healing)), now);
            return;
        }
        if !self.alone && !starting.empty && starting.old.is_none() {
            tracing::info!("the store is empty: asking again in three seconds, in case it is just coming up");
            let starting = Starting {
                again: now + EMPTY_AGAIN,
                empty: true,
                old: None,
            };
            self.enter(Phase::Starting(Box::new(starting)), now);
            return;
        }
        let from = match starting.old {
            Some(state) => From::Rooms(state),
            None => From::Nothing { new: loaded.new },
        };
        self.prepare(loaded.incarnation, loaded.last_known, from, now);
    }

    pub(super) fn read_on(&mut self, now: Duration) -> Step {
        let Phase::CatchingUp(catching_up) = &self.phase else {
            return Step::Wait(now);
        };
        let at = catching_up.state.position();
        self.ask(Asked::Exchange { appended: false }, Ask::Exchange { at, append: None })
    }

    pub(super) fn caught_up_by(&mut self, exchanged: Exchanged, now: Duration) {
        let Phase::CatchingUp(mut going) = self.take_phase() else {
            return;
        };
        let (entries, more, newer) = match exchanged {
            Exchanged::Entries {
                entries, more, newer, ..
            } => (entries, more, newer),
            Exchanged::Moved if !self.alone => {
                self.odd("the log begins behind its snapshot", now);
                return self.restart(going.old, now);
            }
            Exchanged::Broken { incarnation } if !self.alone && incarnation > going.state.position().incarnation => {
                return self.follow(incarnation, further(going.old, going.state), now);
            }
            Exchanged::Moved => return self.ended_at(*going, 0, now),
            Exchanged::Broken { incarnation } => return self.ended_at(*going, incarnation, now),
        };
        for entry in entries {
            if going.stop_before.is_some_and(|poison| entry.position >= poison) {
                return self.stand_before(going.state, now);
            }
            match apply_next(self.apply, &mut going.state, &entry, &self.skips, self.options.knows) {
                Applied::Done(effects) => {
                    let mine = self.met(&entry);
                    going.mine = going.mine.or(mine.then_some(effects));
                    self.note_entry(&entry, &going.state, now);
                }
                Applied::AnotherHistory => return self.ended_at(*going, entry.position.incarnation, now),
                Applied::Panicked => return self.poisoned(*going, entry.position, now),
                Applied::Newer(version) => return self.fall_behind(version, now),
            }
        }
        if let Some(version) = newer {
            return self.fall_behind(version, now);
        }
        if !more {
            return self.arrived(*going, now);
        }
        self.phase = Phase::CatchingUp(going);
    }

    /// The end of the log: from here on the gate lives on it.
    fn arrived(&mut self, going: CatchingUp, now: Duration) {
        let CatchingUp {
            mut state,
            clean,
            torn,
            last_known,
            old,
            answered,
            mine,
            ..
        } = going;
        if going.stop_before.is_some() {
            return self.stand_before(state, now);
        }
        if self.alone && (torn || !clean) {
            let seen = state.position().incarnation;
            self.publish(&mut state, now);
            let from = if torn { From::Torn(state) } else { From::Rooms(state) };
            return self.prepare(seen, last_known, from, now);
        }
        if state.version() > self.options.knows {
            return self.fall_behind(state.version(), now);
        }
        let incarnation = state.position().incarnation;
        self.bring_back(old, &state);
        self.hello |= state.answered(self.gate).is_none();
        self.heard = now;
        self.publish(&mut state, now);
        self.configure(&state);
        self.enter(Phase::Live(Box::new(state)), now);
        self.settle_met(mine, answered, incarnation, now);
    }

    /// Works out what this gate knows of earlier logs and this one has lost.
    fn bring_back(&mut self, old: Option<State>, state: &State) {
        let elsewhere = |old: &State| old.position().incarnation != state.position().incarnation;
        // A part of an earlier adoption may be what the new log lacks.
        let lost = [self.lost.take(), old].into_iter().flatten().filter(elsewhere);
        let mut visitors = take(&mut self.outbox);
        visitors.retain(|(batch, _)| batch.adopt.is_none());
        for lost in lost {
            let batches = lost.adoption(state);
            if !batches.is_empty() {
                tracing::warn!(
                    batches = batches.len(),
                    "bringing back what this gate knows and the log has lost"
                );
                self.outbox
                    .extend(batches.into_iter().map(|batch| (batch, Waiters::default())));
                self.lost = Some(lost);
            }
        }
        // What visitors did since goes behind it, however often the log is lost meanwhile.
        self.outbox.extend(visitors);
    }

    /// A log that goes no further: a new one begins with what was read.
    fn ended_at(&mut self, going: CatchingUp, incarnation: u64, now: Duration) {
        let CatchingUp {
            state, old, last_known, ..
        } = going;
        let known = old.as_ref().map(State::position);
        let from = match further(old, state) {
            // What was answered after it may be lost, unless this gate has lived on it.
            Some(state) if self.alone && known != Some(state.position()) => From::Torn(state),
            Some(state) => From::Rooms(state),
            None => From::Nothing { new: false },
        };
        self.prepare(incarnation, last_known, from, now);
    }

    /// Tries again up to the entry before, so that what stands still is as late as can be.
    fn poisoned(&mut self, going: CatchingUp, at: Position, now: Duration) {
        let again = decode(&going.base);
        let Some(state) = again.filter(|_| going.stop_before.is_none()) else {
            return self.freeze(at, going.old.map(Box::new), now);
        };
        let catching_up = CatchingUp {
            state,
            stop_before: Some(at),
            ..going
        };
        self.phase = Phase::CatchingUp(Box::new(catching_up));
    }

    fn stand_before(&mut self, mut state: State, now: Duration) {
        let mut at = state.position();
        at.sequence += 1;
        self.publish(&mut state, now);
        self.freeze(at, Some(Box::new(state)), now);
    }

    /// The state of a root, from which its log is applied.
    pub(super) fn apply_from(
        &mut self,
        state: State,
        answered: Option<(u64, Vec<Joined>)>,
        old: Option<State>,
        now: Duration,
    ) {
        self.archive_from(&state);
        let catching_up = CatchingUp {
            base: snapshot(&state, self.time),
            state,
            stop_before: None,
            clean: true,
            torn: false,
            last_known: 0,
            old,
            answered,
            mine: None,
        };
        self.enter(Phase::CatchingUp(Box::new(catching_up)), now);
    }

    /// This gate's last serial on the roster of `state`, and what it was given.
    pub(super) fn answered(&self, state: &State) -> Option<(u64, Vec<Joined>)> {
        state
            .answered(self.gate)
            .map(|(serial, joined)| (serial, joined.to_vec()))
    }
}

/// Of what a gate knew and what it has read, whichever has gone further. A state that awaits its root is none.
fn further(old: Option<State>, read: State) -> Option<State> {
    let read = Some(read).filter(State::rooted);
    match (old, read) {
        (Some(old), Some(read)) if old.position() > read.position() => Some(old),
        (old, None) => old,
        (_, read) => read,
    }
}

/// Told that there is nothing, a gate that knows nothing asks again after this: a store may be up before it has read what
/// it held, and a log begun in that gap would take the place of the one that is about to be there.
const EMPTY_AGAIN: Duration = Duration::from_secs(3);
