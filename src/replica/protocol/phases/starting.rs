//! Starting: nothing is known of the log, or it is to be loaded anew.

use std::time::Duration;

use super::transition::{Basis, Origin, Restart, Transition, Turn};
use crate::replica::protocol::context::Context;
use crate::replica::protocol::step::{Ask, Asked};
use crate::replica::recover::decode;
use crate::room::NEWEST;
use crate::store::Loaded;

#[derive(Default)]
pub struct Starting {
    /// Uptime before which the log is left alone.
    again: Duration,
    /// The store answered once that it is empty; one that just came up may do so too early.
    empty: bool,
    restart: Restart,
}

impl Starting {
    pub fn new(restart: Restart) -> Self {
        Self {
            restart,
            ..Self::default()
        }
    }

    /// The store is empty: it is asked again after a pause.
    pub fn again(now: Duration) -> Self {
        Self {
            again: now + EMPTY_AGAIN,
            empty: true,
            restart: Restart::default(),
        }
    }

    /// There was no log when the store was asked.
    pub fn finds_nothing(&self) -> bool {
        self.empty
    }

    pub fn next(&self, now: Duration) -> Turn {
        if self.again > now {
            return Turn::Wait(self.again);
        }
        Turn::Ask(Asked::Load, Ask::Load)
    }

    pub fn loaded(self, context: &mut Context, loaded: Loaded) -> Transition {
        let Loaded {
            epoch,
            time,
            skips,
            snapshots,
            clean,
            torn,
            last_known,
        } = loaded;
        context.reader.loaded(time, skips);
        let alone = context.identity.alone();
        // A snapshot that is intact and cannot be read is of a later version. (Alone, there is another way: a new log.)
        let unreadable = !alone && !snapshots.is_empty();
        let found = snapshots.into_iter().find_map(|base| Some((decode(&base)?, base)));
        if unreadable && found.is_none() {
            return Transition::FallBehind(NEWEST + 1);
        }
        // On a shared store others may just have begun the first log.
        if found.is_some() || (alone && epoch != 0) {
            context.finds_log();
        }
        if let Some((state, base)) = found {
            let answered = state.answered(context.identity.gate());
            return Transition::CatchUp(Box::new(Origin {
                answered: answered.map(|(serial, joined)| (serial, joined.to_vec())),
                state,
                base,
                clean,
                torn,
                last_known,
                restart: self.restart,
            }));
        }
        let old = self.restart.old;
        if epoch != 0 && !alone {
            return Transition::Follow { epoch, old };
        }
        if !alone && !self.empty && old.is_none() && !context.is_first_start() {
            tracing::info!("the store is empty: asking again in three seconds, in case it is just coming up");
            return Transition::AskAgain;
        }
        let basis = match old {
            Some(state) => Basis::Rooms(state),
            None => Basis::Nothing,
        };
        Transition::begin(epoch, last_known, basis)
    }
}

/// After an empty answer, a gate without a state asks again after this time: a store may answer before it has read its data,
/// and a log begun in that gap would replace the one that is about to appear.
const EMPTY_AGAIN: Duration = Duration::from_secs(3);
