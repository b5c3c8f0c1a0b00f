//! The configured rooms are others now: what is said of them, and that it goes in the order of what is known here.

use super::Protocol;
use crate::replica::rooms;
use crate::room::{Change, RoomName, Settings, State};

impl Protocol {
    /// Takes other rooms for the configured ones. What was said of those before may be on its way still, so whatever differs
    /// from it is said too, not only what differs from the log.
    pub fn reconfigure(&mut self, configured: Vec<(RoomName, Settings)>) {
        let before = std::mem::replace(&mut self.rooms, configured);
        let state = self.state();
        let mut changes = state
            .map(|state| rooms::changes(state, &self.rooms))
            .unwrap_or_default();
        let version = state.map_or(self.options.knows, State::version);
        for change in rooms::differences(&before, &self.rooms, version) {
            if !changes.contains(&change) {
                changes.push(change);
            }
        }
        let alone = self.alone || state.is_some_and(|state| !state.roster().any(|gate| gate.id != self.gate));
        changes.retain(|(room, change)| {
            let kept = !alone && *change == Change::Remove;
            if kept {
                tracing::warn!(%room, "a room that is not configured here stays: other gates share the rooms");
            }
            !kept
        });
        self.collector.reconfigure(changes);
    }
}
