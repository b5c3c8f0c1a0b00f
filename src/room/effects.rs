//! How the effects of an entry are put together while it is applied.

use super::entry::{Changed, Effects, Joined, Pended, Section};
use super::ids::{LaneId, Number};

impl Effects {
    /// What every kind of join was answered.
    pub fn all_joined(&self) -> impl Iterator<Item = &Joined> {
        let joined = self.joined.iter().chain(&self.pending_joined);
        joined.chain(&self.tagged_joined)
    }

    pub(super) fn skip(&mut self, items: u32) {
        self.skipped = self.skipped.saturating_add(items);
    }

    pub(super) fn change(&mut self, changed: Changed) {
        self.skip(u32::from(changed != Changed::Taken));
        self.changed.push(changed);
    }

    /// Answers a join; one that nobody could be numbered for counts as skipped.
    pub(super) fn answer(&mut self, section: &Section, (lane, count): (LaneId, u32), first: Option<Number>) {
        self.skip(u32::from(first.is_none()));
        self.joined.push(Joined {
            room: section.room.clone(),
            line: section.line.clone(),
            lane,
            first,
            count,
            later: false,
        });
    }

    pub(super) fn answer_pending(&mut self, section: &Section, asked: LaneId, pended: Pended) {
        let joined = self.pended(section, asked, pended);
        self.pending_joined.push(joined);
    }

    pub(super) fn answer_tagged(&mut self, section: &Section, asked: LaneId, pended: Pended) {
        let joined = self.pended(section, asked, pended);
        self.tagged_joined.push(joined);
    }

    fn pended(&mut self, section: &Section, asked: LaneId, pended: Pended) -> Joined {
        let (lane, first) = match pended {
            Pended::Numbered(lane, number) => (lane, Some(number)),
            Pended::Refused | Pended::Later => (asked, None),
        };
        self.skip(u32::from(first.is_none()));
        Joined {
            room: section.room.clone(),
            line: section.line.clone(),
            lane,
            first,
            count: 1,
            later: pended == Pended::Later,
        }
    }
}
