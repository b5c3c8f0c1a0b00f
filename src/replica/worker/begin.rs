//! A new log where the old one ended: after an unclean start, when the store lost its history, or below a foreign era.

use std::sync::atomic::Ordering;

use super::{From, NewLog, Saved, Turn, Worker};
use crate::log::{Beginning, Begun, Unavailable, next_incarnation};
use crate::replica::recover::{Outcome, Recovered, recover, snapshot};
use crate::room::{Root, State};

impl Worker {
    /// Readies a new log above `last_known`, with what it starts from as its root.
    pub(super) fn prepare(&mut self, seen: u64, last_known: u64, from: From) -> Result<(), Unavailable> {
        let last_known = last_known.max(seen).max(self.state.position().incarnation);
        let random = getrandom::u32().unwrap_or_default();
        let incarnation = next_incarnation(last_known, self.time, random)
            .ok_or_else(|| Unavailable(format!("no incarnation is left above {last_known}")))?;
        match from {
            From::Rooms => self.state.begin(incarnation, Root::Own),
            From::Nothing { new } => self.state = State::empty(incarnation, new),
        }
        let root = snapshot(&self.state, self.time);
        self.root = (from == From::Rooms).then(|| root.hash());
        self.beginning = Some(NewLog {
            seen,
            incarnation,
            beginning: Beginning::Root(root),
        });
        if let Some(sent) = &mut self.under_way {
            sent.append.batch.hello = true;
        }
        self.hello = true;
        Ok(())
    }

    pub(super) fn begin(&mut self) -> Result<Turn, Unavailable> {
        let Some(new) = &self.beginning else {
            return Ok(Turn::Done);
        };
        match self.log.begin(new.seen, &new.beginning)? {
            Begun::Begun => {
                tracing::info!(incarnation = new.incarnation, "a new log has begun");
                self.beginning = None;
                self.saved = Saved {
                    clock: self.shared.load().clock,
                    ..Saved::default()
                };
                self.publish();
                Ok(Turn::Done)
            }
            Begun::Lost { .. } => self.reload(),
        }
    }

    /// Takes the rooms from the log again, because its history went on without this replica.
    pub(super) fn reload(&mut self) -> Result<Turn, Unavailable> {
        self.beginning = None;
        let Recovered {
            state,
            outcome,
            incarnation,
            last_known,
            time,
            ..
        } = recover(self.log.as_mut(), self.apply)?;
        let Some(state) = state else {
            return Err(Unavailable("there is nothing to load".into()));
        };
        self.state = state;
        self.time = time;
        self.hello = true;
        match outcome {
            Outcome::Poisoned => return Ok(Turn::Frozen),
            Outcome::Ended => self.prepare(incarnation, last_known, From::Rooms)?,
            Outcome::Complete | Outcome::Unclean => {}
        }
        if let Some(sent) = &mut self.under_way {
            sent.append.batch.hello = true;
        }
        self.publish();
        Ok(Turn::Done)
    }

    /// The highest era seen elsewhere, if it is above this log.
    pub(super) fn foreign(&self) -> Option<u64> {
        let era = self.shared.foreign.load(Ordering::Relaxed);
        let possible = next_incarnation(era, self.time, u32::MAX).is_some();
        (era > self.state.position().incarnation && possible).then_some(era)
    }
}
