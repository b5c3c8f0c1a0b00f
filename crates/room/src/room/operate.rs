//! A room's operators: what they did is noted, and whom they let in is called.

use std::sync::Arc;

use super::Room;
use crate::entry::commands::{Audited, CallOrder, Deed, MAX_CALL, Order, Who};
use crate::entry::eviction::Eviction;
use crate::settings::Mode;
use crate::settings::schedule::Phase;
use ropeline_ids::Wall;

impl Room {
    /// Takes a visitor out with the entry under way; false where there is no such line.
    pub fn order_eviction(&mut self, eviction: &Eviction) -> bool {
        let known = self.lines.contains_key(&eviction.line);
        if known {
            self.active.insert(eviction.line.clone());
            self.evicting.push(eviction.clone());
        }
        known
    }

    /// As it is before or after a change.
    pub fn audited(&self) -> Audited {
        let rule = self.schedule().map(|schedule| schedule.rule.as_str());
        Audited::of(&self.settings, self.mode(), &self.overrides, rule)
    }

    /// Takes note of a change; one of the oldest is forgotten for it.
    pub fn note_order(&mut self, revision: u64, (who, deed): (Option<Who>, Deed), at: Wall) {
        let who = who.map(|who| who.bounded());
        Arc::make_mut(&mut self.orders).note(Order {
            at,
            revision,
            who,
            deed,
        });
        self.picture = None;
    }

    /// Lets visitors in at the end of the entry. False where nobody can be called: the room is closed, not open yet or off,
    /// its order is not drawn yet, or there is no such line or lane.
    pub fn order_calls(&mut self, order: &CallOrder, revision: u64) -> bool {
        let able = matches!(self.settings.mode, Mode::Auto | Mode::Hold);
        // Held for its opening: the shop behind it may not be there yet.
        let forms = self.stage().is_some_and(|stage| stage.phase == Phase::Prequeue);
        let undrawn = self.configured.draw.is_some() && self.sale.is_open(self.stage().as_ref());
        let counted = (1..=MAX_CALL).contains(&order.count);
        let Some(line) = self.lines.get_mut(&order.line) else {
            return false;
        };
        let lane = order.lane.is_none_or(|lane| line.lane(lane).is_some());
        if !able || forms || undrawn || !counted || !lane {
            return false;
        }
        line.ordered.push((revision, order.clone()));
        self.active.insert(order.line.clone());
        true
    }
}
