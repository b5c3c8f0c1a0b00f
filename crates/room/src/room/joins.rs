//! Who joins: numbered in the order in which they stand in a section.

use super::Room;
use crate::entry::Section;
use crate::entry::effects::{Effects, Pended};
use crate::settings::Mode;
use crate::state::context::Context;
use ropeline_ids::{LaneId, LineName, Number, PendingId};

impl Room {
    pub(super) fn number(&mut self, section: &Section, m: &mut Context, effects: &mut Effects) {
        for (lane, count) in &section.joins {
            let first = self.join(&section.line, *lane, *count, m);
            effects.answer(section, (*lane, *count), first);
        }
        for (lane, id) in &section.pending_joins {
            let joined = self.join_pending(&section.line, *lane, *id, m);
            effects.answer_pending(section, *lane, joined);
        }
        self.join_accounts(section, m, effects);
    }

    pub(super) fn join(&mut self, line: &LineName, lane: LaneId, count: u32, m: &mut Context) -> Option<Number> {
        let joinable = matches!(self.settings.mode, Mode::Auto | Mode::Hold);
        let configured = usize::from(lane.0) < self.settings.lane_weights.len();
        let left = m.joins_left.checked_sub(count).filter(|_| count > 0)?;
        if !joinable || !configured || !self.make(line, m) {
            return None;
        }
        let line = self
            .lines
            .get_mut(line)
            .filter(|line| !line.is_sold_out(&self.settings))?;
        let first = line.join(lane, count, &self.settings, m.clock)?;
        // Only now: a lane that issues no more must not use up the entry's joins for the others.
        m.joins_left = left;
        Some(first)
    }

    /// An id that was numbered before is answered with its number, whatever the mode.
    pub(super) fn join_pending(&mut self, line: &LineName, lane: LaneId, id: PendingId, m: &mut Context) -> Pended {
        if let Some((lane, number)) = self.pending.get(id, line) {
            return Pended::Numbered(lane, number);
        }
        if !self.pending.has_room(self.settings.firm_within_ms, m.clock) {
            return Pended::Later;
        }
        let Some(number) = self.join(line, lane, 1, m) else {
            return Pended::Refused;
        };
        self.pending.put(id, line, (lane, number), m.clock);
        Pended::Numbered(lane, number)
    }
}
