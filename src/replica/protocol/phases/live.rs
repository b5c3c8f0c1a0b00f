//! Live: the log has its root and was read to its end. Batches are cut, sent, read back, applied, published and answered, and time
//! goes on.

use std::ops::ControlFlow::{Break, Continue};
use std::time::Duration;

use super::transition::{Basis, Outcome, Transition, Turn};
use crate::replica::protocol::checkpoints::{Agreement, Checkpoints};
use crate::replica::protocol::context::Context;
use crate::replica::protocol::pace::{IDLE, Pace, REST_MOST};
use crate::replica::protocol::step::{Ask, Asked, Saving};
use crate::replica::protocol::upkeep::Upkeep;
use crate::replica::recover::{Applied, snapshot};
use crate::room::{Batch, Encoded, State};
use crate::store::{Exchanged, Occasion, Snapshot, Unavailable};

pub struct Live {
    state: State,
    checkpoints: Checkpoints,
    pace: Pace,
    upkeep: Upkeep,
}

impl Live {
    pub fn new(state: State, checkpoints: Checkpoints) -> Self {
        Self {
            state,
            checkpoints,
            pace: Pace::default(),
            upkeep: Upkeep::default(),
        }
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    /// Speaks to the log if it is time to.
    pub fn next(&mut self, context: &mut Context, now: Duration) -> Turn {
        context.shared.attention.look(now);
        if let Some(turn) = self.keep_snapshot(context, now) {
            return turn;
        }
        self.pace.look(&context.outgoing, now);
        let (soonest, due) = (
            self.pace.soonest(context, &self.state),
            self.pace.due(context, &self.state, &self.checkpoints, now),
        );
        if due > now {
            if soonest > now {
                return Turn::Rest(soonest.min(now + REST_MOST));
            }
            let asked = context.is_left_alone(&self.state, now) && !context.shared.attention.sleep(now);
            return Turn::Wait(if asked { now } else { due.min(now + IDLE) });
        }
        if let Some(epoch) = context.take_foreign_epoch(&self.state, now) {
            tracing::warn!(
                epoch,
                "a genuine token is of an epoch above the rooms' own: a new log begins above it"
            );
            return Turn::BeginAbove(epoch);
        }
        context.outgoing.spare_adoption(&self.state);
        context.outgoing.forget_uses(&context.shared.load(), now);
        self.upkeep.keep_up(context, &self.state, now);
        self.cut_batch(context, now);
        context.reader.asks(now);
        context.shared.sent(now);
        let at = self.state.position();
        let append = context.outgoing.unacknowledged();
        let appended = append.is_some();
        Turn::Ask(Asked::Exchange { appended }, Ask::Exchange { at, append })
    }

    /// Cuts the next batch, for the log to take as often as it must be sent.
    fn cut_batch(&mut self, context: &mut Context, now: Duration) {
        let idle = !context.outgoing.is_under_way();
        if !idle
            || !self
                .pace
                .has_something_to_say(context, &self.state, &self.checkpoints, now)
        {
            return;
        }
        let agreed = self
            .state
            .agreed()
            .filter(|version| *version <= context.identity.knows());
        let beside = Batch {
            goodbye: context.leaving.wants_goodbye(),
            raise: agreed,
            ..self.checkpoints.say()
        };
        let view = context.shared.load();
        let waiting = context
            .outgoing
            .cut(&mut context.identity, &view, &self.state, &beside, now);
        self.pace.cut(waiting);
    }

    /// Saves a snapshot if one is due.
    fn keep_snapshot(&self, context: &Context, now: Duration) -> Option<Turn> {
        let identity = &context.identity;
        let snapshot = if identity.alone() {
            let is_due = self.checkpoints.is_due(identity, context.shared.load().clock);
            (is_due && !context.outgoing.is_under_way()).then(|| snapshot(&self.state, context.reader.time()))
        } else {
            let left_alone = context.is_left_alone(&self.state, now);
            self.checkpoints.due_shared(&self.state, identity, left_alone, now)
        }?;
        let saving = Saving::Checkpoint(snapshot.position.sequence);
        let occasion = Occasion::Checkpoint;
        Some(Turn::Ask(Asked::Save(saving), Ask::Save { snapshot, occasion }))
    }

    pub fn snapshot_saved(&mut self, context: &Context, sequence: u64) {
        context.shared.counts.saved();
        let clock = context.shared.load().clock;
        self.checkpoints.saved(sequence, clock, context.identity.alone());
    }

    pub fn snapshot_not_saved(&mut self, context: &Context, reason: &Unavailable, now: Duration) {
        let clock = context.shared.load().clock;
        if self.checkpoints.not_saved(clock, now) {
            tracing::warn!(%reason, "a snapshot could not be saved; the one before is kept");
        }
    }

    /// The snapshot that a clean start goes on from.
    pub fn last_snapshot(&self, context: &Context) -> Snapshot {
        snapshot(&self.state, context.reader.time())
    }

    /// Gives this log up for one above `epoch`.
    pub fn begin_above(self, epoch: u64) -> Transition {
        let seen = self.state.position().epoch;
        Transition::begin(seen, epoch, Basis::Rooms(self.state))
    }

    /// Publishes the rooms as the log has them, even where some are missing.
    pub fn end_placeholders(&mut self, context: &Context, now: Duration) {
        context.publish_first(&mut self.state, now);
        context.shared.set_condition(context.live_condition());
    }

    pub fn read(
        self: Box<Self>,
        context: &mut Context,
        appended: bool,
        exchanged: Exchanged,
        now: Duration,
    ) -> Outcome<Self> {
        let alone = context.identity.alone();
        let own = self.state.position().epoch;
        match exchanged {
            Exchanged::Entries {
                entries,
                log_bytes,
                more,
                newer,
            } => {
                context.shared.counts.log_holds(log_bytes);
                if appended {
                    context.outgoing.acknowledge();
                }
                self.take_entries(context, entries, more, newer, now)
            }
            Exchanged::Broken { epoch } if epoch <= own => {
                tracing::error!("the log is not what it was: a new one begins with the rooms as the gates have them");
                Break(Transition::begin(epoch, 0, Basis::Rooms(self.state)))
            }
            Exchanged::Moved => {
                if !alone {
                    tracing::warn!("this gate was away for longer than the log keeps: loading the snapshot");
                }
                self.load_anew(true)
            }
            Exchanged::Broken { .. } if alone => self.load_anew(false),
            Exchanged::Broken { epoch } => {
                tracing::warn!(epoch, "the log has begun anew");
                Break(Transition::Follow {
                    epoch,
                    old: Some(self.state),
                })
            }
        }
    }

    fn take_entries(
        mut self: Box<Self>,
        context: &mut Context,
        entries: Vec<Encoded>,
        more: bool,
        newer: Option<u16>,
        now: Duration,
    ) -> Outcome<Self> {
        let changed = !entries.is_empty();
        let mut mine = None;
        for entry in entries {
            match context.apply(&mut self.state, &entry, &mut self.checkpoints, now) {
                Applied::Done(effects) => {
                    context.shared.counts.applied(&effects);
                    if mine.is_none() && context.outgoing.is_own(&context.identity, &entry) {
                        mine = Some(effects);
                    }
                }
                Applied::AnotherHistory => {
                    tracing::error!(position = ?entry.position, "the log tells another history");
                    return self.another_history(context);
                }
                // A half applied state is unusable: when it is read anew, the rooms freeze before the entry.
                Applied::Panicked => return self.load_anew(false),
                Applied::Newer(version) => return Break(Transition::FallBehind(version)),
            }
        }
        if changed {
            context.publish(&mut self.state, now);
        }
        context.shared.set_condition(context.live_condition());
        if let Some(version) = newer {
            return Break(Transition::FallBehind(version));
        }
        if let Some(effects) = mine {
            context.settle(&mut self.checkpoints, &effects, now);
        }
        if !context.outgoing.is_under_way() && !more {
            context.shared.read_back(now);
        }
        self.pace.read(more);
        self.open_up(context, now);
        if more {
            return Continue(self);
        }
        self.agree_on_checkpoints(context, now)
    }

    /// The entry after this gate's own names another nonce: this history ends with the entries read so far, and a new one
    /// begins.
    fn another_history(self: Box<Self>, context: &Context) -> Outcome<Self> {
        if context.identity.alone() {
            return self.load_anew(false);
        }
        let seen = self.state.position().epoch;
        Break(Transition::begin(seen, 0, Basis::Rooms(self.state)))
    }

    fn load_anew(self: Box<Self>, with_rooms: bool) -> Outcome<Self> {
        let Self { state, checkpoints, .. } = *self;
        let old = with_rooms.then_some(state);
        Break(Transition::restart(old, checkpoints.disputed()))
    }

    /// The gate is on the roster, and its configuration was sent and read back, whether or not the log took it: visitors are
    /// numbered from here on.
    fn open_up(&mut self, context: &mut Context, now: Duration) {
        let outgoing = &context.outgoing;
        if outgoing.has_joined() && !outgoing.says_of_rooms() && !context.shared.opened() {
            // The log may have taken less than was sent.
            self.end_placeholders(context, now);
            context.shared.open();
        }
    }

    /// The log was read to its end: votes, and takes the rooms from the log again if this gate's are not the others'.
    fn agree_on_checkpoints(mut self: Box<Self>, context: &mut Context, now: Duration) -> Outcome<Self> {
        let (identity, version) = (&context.identity, self.state.version());
        if version > identity.knows() {
            return Break(Transition::FallBehind(version));
        }
        let is_voting = context.outgoing.is_voting();
        match self.checkpoints.agree(&self.state, identity, is_voting, now) {
            Agreement::Holds => self.compare_rooms(context),
            Agreement::Outvoted => {
                context.shared.counts.outvoted();
                return self.load_anew(false);
            }
            // The rooms are kept in case the store goes in just this moment.
            Agreement::Disputed => return self.load_anew(true),
        }
        Continue(self)
    }

    /// The log's version of the configured rooms is known, except for changes on their way.
    fn compare_rooms(&self, context: &mut Context) {
        context.configured.runs(self.state.version());
        let busy = context.outgoing.is_under_way() || context.outgoing.collector.says_of_file();
        if context.configured.wants_comparison() && !busy {
            let changes = context.configured.compare(&context.identity, &self.state);
            context.outgoing.collector.reconfigure(changes);
        }
    }
}
