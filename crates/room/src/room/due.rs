//! What a room knows of its lines without looking at each: how many they hold, and when something is due.

use super::Room;
use crate::state::context::Context;
use ropeline_ids::LineName;

impl Room {
    /// Brings what the room counts over all lines up to date with one.
    pub(super) fn count(&mut self, name: &LineName) {
        let Some(line) = self.lines.get_mut(name) else { return };
        self.counts = self.counts.less(line.counted);
        line.counted = line.counts();
        self.counts = self.counts.plus(line.counted);
    }

    pub(super) fn plan(&mut self, name: &LineName, m: &Context) {
        let Some(line) = self.lines.get_mut(name) else { return };
        line.allowance = self.load.as_ref().map(|load| load.allowance);
        let due = line.next_due(&self.settings, m, name.is_only());
        if due == line.scheduled {
            return;
        }
        if let Some(before) = std::mem::replace(&mut line.scheduled, due) {
            self.dues.remove(&(before, name.clone()));
        }
        self.dues.extend(due.map(|due| (due, name.clone())));
    }

    /// Finds the lines of which something is due now.
    pub(super) fn wake(&mut self, m: &Context) {
        while let Some((_, name)) = self.dues.first().filter(|(due, _)| *due <= m.clock).cloned() {
            self.plan(&name, m);
            let Some(line) = self.lines.get_mut(&name) else { return };
            // Planned anew, it may be due later after all: then it is left alone, as on a replica that never had the
            // earlier date.
            if let Some(due) = line.scheduled.take_if(|due| *due <= m.clock) {
                self.dues.remove(&(due, name.clone()));
                self.active.insert(name);
            }
        }
    }
}
