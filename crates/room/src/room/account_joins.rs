//! Joins of visitors with an account: one place for each.

use std::sync::Arc;

use super::Room;
use crate::entry::Section;
use crate::entry::effects::{Effects, Pended};
use crate::line::accounts::Tagged;
use crate::state::context::Context;
use ropeline_ids::LineName;

impl Room {
    pub(super) fn join_accounts(&mut self, section: &Section, m: &mut Context, effects: &mut Effects) {
        for tagged in &section.tagged {
            let joined = self.join_tagged(&section.line, tagged, m);
            effects.answer_tagged(section, tagged.lane, joined);
        }
    }

    /// An account that has a place is answered with it, whatever the mode; one whose pending ticket was numbered before it
    /// was known whose that is has that number from now on. An id that an account was numbered with is refused to others.
    fn join_tagged(&mut self, line: &LineName, tagged: &Tagged, m: &mut Context) -> Pended {
        let Tagged { lane, tags, id } = tagged;
        if tags.is_empty() {
            return match id {
                Some(id) => self.join_pending(line, *lane, *id, m),
                None => self
                    .join(line, *lane, 1, m)
                    .map_or(Pended::Refused, |number| Pended::Numbered(*lane, number)),
            };
        }
        if let Some(answer) = self.account_before(line, tagged, m) {
            return answer;
        }
        let known = id.is_none_or(|id| self.pending.get(id, line).is_some());
        if !known && !self.pending.has_room(self.settings.firm_within_ms, m.clock) {
            return Pended::Later;
        }
        let Some(number) = self.join(line, *lane, 1, m) else {
            return Pended::Refused;
        };
        let settings = Arc::clone(&self.settings);
        if let Some(line) = self.lines.get_mut(line) {
            line.bind(*lane, number, tags, &settings, m);
        }
        if let Some(id) = id {
            self.pending.put(*id, line, (*lane, number), m.clock);
        }
        Pended::Numbered(*lane, number)
    }

    /// What an account is told that is given no new number: it has one, its id was another's, or there is no room for its tag.
    fn account_before(&mut self, line: &LineName, tagged: &Tagged, m: &mut Context) -> Option<Pended> {
        let tags = &tagged.tags;
        let settings = Arc::clone(&self.settings);
        let before = tagged.id.and_then(|id| self.pending.get(id, line));
        let line = self.lines.get_mut(line)?;
        let has = line.number_of(tags);
        // Bound again: it may have to be under another tag from now on, or be the better of two.
        for (lane, number) in has.into_iter().chain(before) {
            line.bind(lane, number, tags, &settings, m);
        }
        if let Some((lane, number)) = line.number_of(tags) {
            return Some(Pended::Numbered(lane, number));
        }
        // SECURITY: else one proof of work would be good for as many accounts as come with it.
        let owner = before.and_then(|(lane, number)| line.owner(lane, number));
        if owner.is_some_and(|owner| !tags.contains(&owner)) {
            return Some(Pended::Refused);
        }
        (!line.has_room()).then_some(Pended::Later)
    }
}
