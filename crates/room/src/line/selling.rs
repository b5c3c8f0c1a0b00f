//! A line sells its stock: completions are counted once, and nobody is called whom the stock cannot serve.

use super::Line;
use crate::entry::Completion;
use crate::lane::era::Found;
use crate::lane::record::{EndedBy, Record};
use crate::line::deadlines::Due;
use crate::line::stock::Winner;
use crate::room::edition::{Current, is_reset};
use crate::settings::Settings;
use crate::state::context::Context;
use ropeline_ids::{Era, LaneId};

impl Line {
    /// Pieces that nobody has and nobody holds: as many may be called.
    pub fn reach(&self, settings: &Settings) -> u64 {
        let left = |stock| u64::from(self.tally.left(stock, self.slots()));
        settings.stock.map_or(u64::MAX, left)
    }

    /// Everything has been sold: nobody joins, nobody is called.
    pub fn is_sold_out(&self, settings: &Settings) -> bool {
        let sold = self.tally.winners().count();
        settings.stock.is_some_and(|stock| sold >= stock)
    }

    /// Whether a slot at this place is one that the stock waits for no more.
    fn is_settled(&self, due: Due) -> bool {
        // PERF: nearly all lines sell nothing by stock.
        if self.tally.is_nothing() {
            return false;
        }
        let lane = self.lanes.get(usize::from(due.0.0));
        lane.is_some_and(|lane| {
            // Which sale somebody is of goes by where they came: a draw moves them over the bound.
            let came = lane.eras.draws.came(due.1);
            self.tally.is_settled((due.0, came), lane.eras.came_at(came))
        })
    }

    /// A slot was given to this place.
    pub fn hold_piece(&mut self, due: Due) {
        if self.is_settled(due) {
            self.tally.count_settled(true);
        }
    }

    /// The slot of this place is free again.
    pub fn free_piece(&mut self, due: Due) {
        if self.is_settled(due) {
            self.tally.count_settled(false);
        }
    }

    /// Counts the settled slots anew, from the records.
    pub fn recount_pieces(&mut self) {
        let held = |record: &Record| matches!(record, Record::Called(_) | Record::Inside(_));
        let lanes = (0..).map(LaneId).zip(&self.lanes);
        let held = lanes.flat_map(|(id, lane)| {
            let slots = lane.slots.iter().filter(move |(_, record)| held(record));
            slots.map(move |(place, _)| (id, place))
        });
        let settled = held.filter(|due| self.is_settled(*due)).count();
        self.tally.recount(u32::try_from(settled).unwrap_or(u32::MAX));
    }

    /// A new edition begins here: what was sold in the one before does not count for it.
    pub fn begin_stock(&mut self, settings: &Settings) {
        let next = settings
            .stock
            .map(|_| self.lanes.iter().map(|lane| lane.eras.next()).collect());
        self.tally.begin(next.unwrap_or_default(), None);
        self.recount_pieces();
    }

    /// An edition that the log had lost is known again. Whoever was called or is inside may be of it, as whoever comes back
    /// from the lost log: a piece is held for each until the session ends.
    pub fn regain_stock(&mut self, spared: Era) {
        self.tally.begin(Vec::new(), Some(spared));
        self.recount_pieces();
    }

    /// An era that the log had lost is known again in a lane. The sale may have begun before its numbers: a piece is held for
    /// all that the lane calls, rather than for too few.
    pub fn regain_lane(&mut self, id: LaneId) {
        if self.tally.forget_since(id) {
            self.recount_pieces();
        }
    }

    /// A visitor has completed: counted once, and the session ends after its grace. What is brought back was sold by the
    /// settings of then, and where something was sold before more is counted, though the stock be taken out.
    pub fn complete(&mut self, done: &Completion, settings: &Settings, current: Current, m: &mut Context) -> bool {
        let sells = settings.stock.is_some() || m.adopts.is_some() || !self.tally.winners().is_empty();
        let of_sale = sells && !is_reset(done.edition, done.number, current.edition, current.spared);
        let counted = of_sale && self.count_completion(done, settings, m);
        // What the log before knew of the session comes in lists of its own.
        if m.adopts.is_some() {
            if counted {
                self.use_up(done.lane, done.number, None, settings, m);
            }
            return counted;
        }
        let ended = if of_sale {
            self.end_completed(done, settings, m)
        } else {
            self.end(&done.end(), settings, m)
        };
        counted || ended
    }

    fn count_completion(&mut self, done: &Completion, settings: &Settings, m: &mut Context) -> bool {
        let (id, number) = (done.lane, done.number);
        // Whether or not its era is still told apart, the visitor was here; only a number that nobody has was not.
        let place = self
            .known_lane(id, number, settings, m)
            .and_then(|lane| lane.reclaim(number));
        // What was sold in a lane that is not there yet, or no more, is sold.
        let brought = m.adopts.is_some();
        let issued = self
            .lane(id)
            .map_or(brought, |lane| lane.eras.find(number) != Found::Ahead);
        let known = || self.lanes.get(usize::from(id.0)).and_then(|lane| lane.tags.get(place?));
        let winner = Winner {
            lane: id,
            number,
            at: done.at.unwrap_or(m.time),
            tag: done.tag.or_else(known),
        };
        let unsettled = place.is_some_and(|place| self.holds_slot((id, place)) && !self.is_settled((id, place)));
        let new = issued && self.tally.complete(winner);
        if new && unsettled {
            self.tally.count_settled(true);
        }
        new
    }

    /// The session of one who has completed: it ends as by the shop's answer, and is not opened again. One that the rooms
    /// do not know, or know no more, leaves a number that is used up.
    fn end_completed(&mut self, done: &Completion, settings: &Settings, m: &Context) -> bool {
        let Some(lane) = self.lane(done.lane) else { return false };
        let Some(place) = lane.place(done.number) else {
            return false;
        };
        let in_line = lane.is_in_line(place);
        let count = match lane.slots.get(place).copied() {
            Some(Record::Called(_) | Record::Inside(_)) => return self.end(&done.end(), settings, m),
            Some(
                Record::Over {
                    end: EndedBy::Idling,
                    count,
                    ..
                }
                | Record::Missed { count, .. },
            ) => count,
            Some(Record::Spent { .. }) => 2,
            None if in_line => 1,
            Some(Record::Over { .. }) | None => return false,
        };
        self.leave_over((done.lane, place), EndedBy::Word, count, settings, m);
        true
    }

    fn holds_slot(&self, (id, place): Due) -> bool {
        let record = self.lanes.get(usize::from(id.0)).and_then(|lane| lane.slots.get(place));
        matches!(record, Some(Record::Called(_) | Record::Inside(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Hash;
    use crate::lane::era::Eras;
    use crate::lane::record::Call;
    use crate::state::past::Past;
    use ropeline_ids::Edition;
    use ropeline_ids::{Clock, Place, Wall};

    /// Where one comes decides which sale one is of, and not where a draw puts one.
    #[test]
    fn a_draw_changes_nothing_of_what_is_held() {
        let settings = Settings {
            stock: Some(50),
            ..Settings::default()
        };
        let mut line = Line::new(&settings, &Past::new(Era(1)), Clock(0));
        line.join(LaneId(0), 40, &settings, Clock(0));
        let start = line.lanes[0].eras.start();
        let call = Call {
            deadline: Clock(9),
            at: Wall(0),
            count: 1,
            back: false,
        };
        for at in 0..10 {
            line.lanes[0].presence.take(Place(start.0 + at));
            line.keep((LaneId(0), Place(start.0 + at)), Record::Called(call));
        }
        line.figures.called = 10;
        line.tally.begin(vec![Place(start.0 + 5)], None);
        line.recount_pieces();
        line.close_draw(Eras::close);
        assert_eq!(line.tally.unfinished(line.slots()), 5);
        line.draw(Edition(0), |_, _| Hash([7; 32]), Clock(0));
        let moved = |place: Place| line.lanes[0].slots.get(place).is_none();
        assert!((0..10).any(|at| moved(Place(start.0 + at))));
        line.recount_pieces();
        assert_eq!(line.tally.unfinished(line.slots()), 5);
    }
}
