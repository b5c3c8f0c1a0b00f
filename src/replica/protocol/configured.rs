//! What is said of the configured rooms, and when: at the start of a life, when others are configured, and when this gate takes
//! over from the one before it.

use std::time::Duration;

use super::{Protocol, UnderWay};
use crate::replica::options::Charge;
use crate::replica::rooms;
use crate::room::{BreaksDraw, Change, RoomName, Settings, State};

impl Protocol {
    /// Says what differs in the configured rooms: at the start of a life all of it, later on the rooms that a log begun
    /// from nothing lacks, as does a gate that has not taken over yet.
    pub(super) fn configure(&mut self, state: &State) {
        let lacking = |room: &RoomName| state.configured(room).is_none();
        let only_lacking = self.joined || self.charge == Charge::Before;
        if !self.joined {
            self.warn_of_schedules(state);
            self.warn_of_draws(state);
        }
        let mut changes = rooms::changes(state, &self.rooms, |_| self.alone);
        changes.retain(|(room, _)| !only_lacking || lacking(room));
        let changes = self.sayable(changes, Some(state));
        self.collector.configure(changes);
    }

    /// The gate is on the roster, and what it is configured with was said and read back, whether or not the log took it:
    /// visitors are numbered from here on.
    pub(super) fn open_up(&mut self, now: Duration) {
        let says = |sent: &UnderWay| !sent.append.batch.rooms.is_empty();
        let unsaid = self.collector.says_of_file() || self.under_way.as_ref().is_some_and(says);
        if self.joined && !unsaid && !self.shared.opened() {
            // The log may have taken less than was said.
            self.end_standing_in(now);
            self.shared.open();
        }
    }

    /// Rooms keep a draw whose line is closed, and the opening that one is promised for, whatever this gate is configured with.
    fn warn_of_draws(&self, state: &State) {
        for (room, settings) in &self.rooms {
            match state.breaks_draw(room, settings) {
                None => {}
                Some(BreaksDraw::Due) => tracing::warn!(
                    %room,
                    "the room's opening is over and its draw is not made yet: how it calls and by which beacon stay until it is \
                     made; what is configured here counts with the first reload after that"
                ),
                Some(BreaksDraw::Opening) => tracing::warn!(
                    %room,
                    "the room's draw is promised for another opening than the configured one, and that opening stays: it can be moved \
                     to at least 5 s from now (ropeline rooms set --opens-at, or a reload)"
                ),
            }
        }
    }

    /// Takes other rooms for the configured ones. What was said of those before may be on its way still, so whatever differs
    /// from it is said too, not only what differs from the log.
    pub fn reconfigure(&mut self, configured: Vec<(RoomName, Settings)>) {
        let before = std::mem::replace(&mut self.rooms, configured);
        let state = self.state();
        let gives_up = |room: &RoomName| self.alone || before.iter().any(|(name, _)| name == room);
        let mut changes = state
            .map(|state| rooms::changes(state, &self.rooms, gives_up))
            .unwrap_or_default();
        let version = state.map_or(self.options.knows, State::version);
        let is_added = |room: &RoomName| state.is_some_and(|state| state.additions().get(room).is_some());
        for change in rooms::differences(&before, &self.rooms, version) {
            let stays = change.1 == Change::Remove && is_added(&change.0);
            if !changes.contains(&change) && !stays {
                changes.push(change);
            }
        }
        let changes = self.sayable(changes, state);
        self.collector.reconfigure(changes);
    }

    /// This gate has the say so far from here on. What the log has of its rooms by then, whoever said it last, is made what is
    /// configured here.
    pub fn has_the_say(&mut self, charge: Charge) {
        self.charge = self.charge.max(charge);
        self.compare = true;
    }

    /// The log is read to its end: what it has of the configured rooms is known, but for what is on its way.
    pub(super) fn compare_rooms(&mut self) {
        if !self.compare || self.under_way.is_some() || self.collector.says_of_file() {
            return;
        }
        let Some(state) = self.live_state() else { return };
        let mut changes = rooms::changes(state, &self.rooms, |_| self.alone);
        if self.charge == Charge::Before {
            changes.retain(|(room, _)| state.configured(room).is_none());
        }
        let changes = self.sayable(changes, Some(state));
        self.compare = false;
        self.collector.reconfigure(changes);
    }

    /// Rooms that are gone stay while the gate before has visitors in them, and where other gates have them too.
    fn sayable(&self, mut changes: Vec<(RoomName, Change)>, state: Option<&State>) -> Vec<(RoomName, Change)> {
        let others = |state: &State| state.roster().any(|gate| gate.id != self.gate);
        let shared = !self.alone && state.is_none_or(others);
        changes.retain(|(room, change)| {
            let is_kept = *change == Change::Remove && (shared || self.charge < Charge::Own);
            if is_kept && self.charge == Charge::Own {
                tracing::warn!(%room, "a room that is not configured here stays: other gates share the rooms");
            }
            !is_kept
        });
        changes
    }
}
