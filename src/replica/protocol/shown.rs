//! What others are shown of the rooms, and of how the gate stands to its log.
//!
//! Before a log's rooms can be shown, what is configured stands in for them with nobody in it.

use std::time::Duration;

use super::{Phase, Protocol};
use crate::replica::publish::Condition;
use crate::room::State;

impl Protocol {
    /// Shows the rooms of `state`. A log begun from nothing lacks those of this gate until what it says of them is read back:
    /// what stands in for them is shown meanwhile, so that nobody is refused.
    pub(super) fn publish(&mut self, state: &mut State, now: Duration) {
        let lacks = |state: &State| self.rooms.iter().any(|(room, _)| state.configured(room).is_none());
        if !(self.rooms_stand_in() && lacks(state)) {
            self.shared.publish(state.view(), now);
        }
    }

    /// Shows the rooms as the log has them, whatever it lacks.
    pub(super) fn end_standing_in(&mut self, now: Duration) {
        if self.rooms_stand_in()
            && let Phase::Live(state) = &mut self.phase
        {
            self.shared.publish(state.view(), now);
        }
        self.show_condition();
    }

    /// A gate that finds a log without a root at its start shows the rooms as it could read them: who waits sees the place,
    /// and who is inside is known.
    pub(super) fn show_what_was(&mut self, now: Duration) {
        if self.rooms_stand_in()
            && let Phase::Rootless(healing) = &mut self.phase
            && let Some(old) = &mut healing.old
        {
            self.shared.publish(old.view(), now);
        }
    }

    /// How the gate stands to its log. It lives on one only when that one's rooms are shown.
    pub(super) fn show_condition(&self) {
        self.shared.set_condition(match &self.phase {
            // Read anew in the middle of a life, the rooms are as they were a moment ago.
            Phase::Starting(_) | Phase::CatchingUp(_) if self.joined => self.shared.condition(),
            Phase::Starting(_) | Phase::CatchingUp(_) => Condition::Starting,
            Phase::Beginning(_) => Condition::Healing {
                left: Duration::from_secs(15),
                missing: 0,
            },
            Phase::Rootless(healing) => healing.condition(),
            Phase::Live(_) if self.rooms_stand_in() => Condition::Starting,
            Phase::Live(_) => Condition::Live,
            Phase::Frozen { at, .. } => Condition::Frozen { at: *at },
            Phase::Behind { version } => Condition::Behind { version: *version },
            Phase::Ended => return,
        });
    }

    /// No state of a log has been shown yet.
    fn rooms_stand_in(&self) -> bool {
        self.shared.load().position.incarnation == 0
    }
}
