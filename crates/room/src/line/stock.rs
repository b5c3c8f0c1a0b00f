//! The sales of a line's stock: the completed visitors in the order of the log, and the number of slots whose piece is still
//! open.
//!
//! A number completes once, however often that is reported. A called visitor holds one piece until the session ends or the
//! turn is missed; a piece that was not bought goes to the next in line. `settled` are slots without a held piece: those of
//! visitors who have completed and are leaving, and sessions of the edition before.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::codec::{Codec, Read, Reader, Writer, codec};
use crate::lane::Lane;
use crate::lane::bits::Bits;
use crate::lane::slots::Moved;
use crate::settings::{MAX_STOCK, Settings};
use ropeline_ids::{Epoch, LaneId, Number, Place, Tag, Wall};

/// Most completions that a line remembers: the stock, and those beyond it. Further ones are not counted.
const MAX_WINNERS: u32 = MAX_STOCK + 65_536;

/// Winners in one shared piece of the list.
const PIECE: usize = 1_024;

/// A visitor who has completed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Winner {
    pub lane: LaneId,
    pub number: Number,
    /// The log's time of the completion.
    pub at: Wall,
    /// The account of the place, if the line knew it then.
    pub tag: Option<Tag>,
}

/// The visitors who have completed in one line, in the order of the log. Cheap to clone: all but the last piece stays shared.
#[derive(Clone, Debug, Default)]
pub struct Winners {
    pieces: Vec<Arc<Vec<Winner>>>,
    count: u32,
    /// Their numbers of each epoch as bits; follows from the list.
    has: BTreeMap<(LaneId, Epoch), Bits>,
}

impl Winners {
    /// How many have completed.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[must_use]
    pub fn has(&self, lane: LaneId, number: Number) -> bool {
        let of_epoch = self.has.get(&(lane, number.epoch));
        of_epoch.is_some_and(|bits| bits.get(Place(u64::from(number.n))))
    }

    /// From the one on before whom `skip` have completed.
    pub fn iter_from(&self, skip: usize) -> impl Iterator<Item = &Winner> {
        let pieces = self.pieces.get(skip / PIECE..).unwrap_or_default();
        pieces.iter().flat_map(|piece| piece.iter()).skip(skip % PIECE)
    }

    /// False for a visitor who has completed before, and when the list is full.
    pub(crate) fn add(&mut self, winner: Winner) -> bool {
        let Winner { lane, number, .. } = winner;
        let new = self.count < MAX_WINNERS
            && (self.has.entry((lane, number.epoch)).or_default()).set(Place(u64::from(number.n)));
        if new {
            match self.pieces.last_mut().filter(|piece| piece.len() < PIECE) {
                Some(piece) => Arc::make_mut(piece).push(winner),
                None => self.pieces.push(Arc::new(vec![winner])),
            }
            self.count += 1;
        }
        new
    }

    fn retain(&mut self, keeps: impl Fn(&Winner) -> bool) {
        let kept: Vec<Winner> = self.iter_from(0).filter(|winner| keeps(winner)).copied().collect();
        *self = Self::default();
        for winner in kept {
            self.add(winner);
        }
    }

    /// Those of an epoch; costs nothing if there are none.
    pub fn iter_of(&self, epoch: Epoch) -> impl Iterator<Item = &Winner> {
        let all = if self.has.keys().any(|(_, of)| *of == epoch) {
            0
        } else {
            usize::MAX
        };
        self.iter_from(all).filter(move |winner| winner.number.epoch == epoch)
    }
}

/// Some four bytes each, and an account's tag: runs of one lane and epoch, and in them by how much number and time differ from
/// those before.
impl Codec for Winners {
    fn write(&self, w: &mut Writer) {
        let all: Vec<&Winner> = self.iter_from(0).collect();
        let runs: Vec<&[&Winner]> = all.chunk_by(|a, b| of(a) == of(b)).collect();
        let mut before = (0, 0);
        w.list(runs.iter(), |w, run| {
            let (lane, epoch, tagged) = of(run[0]);
            w.put(&lane);
            w.put(&epoch);
            let count = u64::try_from(run.len()).expect("a length fits in 64 bits");
            w.var((count << 1) | u64::from(tagged));
            for winner in *run {
                let now = (u64::from(winner.number.n), winner.at.0);
                w.var(zigzag(before.0, now.0));
                w.var(zigzag(before.1, now.1));
                before = now;
                w.raw(winner.tag.as_ref().map_or(&[], |tag| &tag.0));
            }
        });
    }

    fn read(r: &mut Reader) -> Read<Self> {
        let mut winners = Self::default();
        let mut before = (0, 0);
        let mut last = None;
        for _ in 0..r.count()? {
            let (lane, epoch, length) = (r.get()?, r.get()?, r.var()?);
            let (count, tagged) = (length >> 1, length & 1 == 1);
            let run = (lane, epoch, tagged);
            // One run is one run: the same list has the same bytes.
            if count == 0 || last.replace(run) == Some(run) {
                return r.wrong();
            }
            for _ in 0..count {
                let now = (unzigzag(before.0, r.var()?), unzigzag(before.1, r.var()?));
                let Ok(n) = u32::try_from(now.0) else { return r.wrong() };
                let winner = Winner {
                    lane,
                    number: Number { epoch, n },
                    at: Wall(now.1),
                    tag: if tagged { Some(r.get()?) } else { None },
                };
                if !winners.add(winner) {
                    return r.wrong();
                }
                before = now;
            }
        }
        Ok(winners)
    }
}

/// The fields that all winners of a run share.
fn of(winner: &Winner) -> (LaneId, Epoch, bool) {
    (winner.lane, winner.number.epoch, winner.tag.is_some())
}

/// By how much `to` is above or below, small either way.
fn zigzag(from: u64, to: u64) -> u64 {
    let by = to.wrapping_sub(from);
    (by << 1) ^ if by >> 63 == 1 { u64::MAX } else { 0 }
}

fn unzigzag(from: u64, word: u64) -> u64 {
    from.wrapping_add((word >> 1) ^ if word & 1 == 1 { u64::MAX } else { 0 })
}

/// One line's account of its stock.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Shared with the views of the line until the next completion.
    winners: Arc<Winners>,
    /// By lane: visitors whose first place is below are of the edition before.
    since: Vec<Place>,
    /// Slots that no piece is held for; follows from the records.
    settled: u32,
}

codec! {
    struct Tally { winners, since } derived { settled };
}

impl Tally {
    pub fn winners(&self) -> &Arc<Winners> {
        &self.winners
    }

    pub fn is_nothing(&self) -> bool {
        self.winners.is_empty() && self.since.is_empty()
    }

    /// Slots that a piece is held for, of those there are.
    pub fn unfinished(&self, slots: u32) -> u32 {
        slots.saturating_sub(self.settled)
    }

    /// Pieces that are neither sold nor held.
    pub fn left(&self, stock: u32, slots: u32) -> u32 {
        stock
            .saturating_sub(self.winners.count)
            .saturating_sub(self.unfinished(slots))
    }

    /// Pieces that are neither sold nor held, for lines with this number of held slots; as many visitors may be called.
    pub fn reach(&self, settings: &Settings, slots: u32) -> u64 {
        settings
            .stock
            .map_or(u64::MAX, |stock| u64::from(self.left(stock, slots)))
    }

    /// Everything has been sold: no visitor can join or is called.
    pub fn is_sold_out(&self, settings: &Settings) -> bool {
        let sold = self.winners.count();
        settings.stock.is_some_and(|stock| sold >= stock)
    }

    /// Follows a change of a number's record: a piece is held for each visitor who takes a slot, until the slot is free.
    pub fn follow(&mut self, moved: Moved, lanes: &[Lane], at: (LaneId, Place)) {
        // PERF: nearly all lines sell nothing by stock.
        if moved != Moved::No && self.is_settled(lanes, at) {
            self.count_settled(moved == Moved::In);
        }
    }

    /// Whether a slot at this place is one that the stock waits for no more.
    pub fn is_settled(&self, lanes: &[Lane], (id, place): (LaneId, Place)) -> bool {
        if self.is_nothing() {
            return false;
        }
        let lane = lanes.get(usize::from(id.0));
        lane.is_some_and(|lane| {
            // A visitor's edition depends on the first place: a draw moves visitors over the bound.
            let came = lane.epochs.draws.came(place);
            self.settles((id, came), lane.epochs.came_at(came))
        })
    }

    /// Counts the settled slots anew, from the records.
    pub fn recount(&mut self, lanes: &[Lane]) {
        let held = (0..).map(LaneId).zip(lanes).flat_map(|(id, lane)| {
            let slots = lane.slots.iter().filter(|(_, record)| record.has_right());
            slots.map(move |(place, _)| (id, place))
        });
        let settled = held.filter(|at| self.is_settled(lanes, *at)).count();
        self.settled = u32::try_from(settled).unwrap_or(u32::MAX);
    }

    /// A new edition begins here: sales of the one before do not count for it.
    pub fn begin_edition(&mut self, settings: &Settings, lanes: &[Lane]) {
        let next = settings
            .stock
            .map(|_| lanes.iter().map(|lane| lane.epochs.next()).collect());
        self.begin(next.unwrap_or_default(), None);
        self.recount(lanes);
    }

    /// An edition that the log had lost is known again. Visitors who are called or inside may be of it, as visitors who come
    /// back from the lost log may: a piece is held for each until the session ends.
    pub fn regain_edition(&mut self, spared: Epoch, lanes: &[Lane]) {
        self.begin(Vec::new(), Some(spared));
        self.recount(lanes);
    }

    /// An epoch that the log had lost is known again in a lane. The sale may have begun before its numbers: a piece is held for
    /// all that the lane calls, rather than for too few.
    pub fn regain_lane(&mut self, id: LaneId, lanes: &[Lane]) {
        if self.forget_since(id) {
            self.recount(lanes);
        }
    }

    /// No piece is held for the slot of the number that came at a place.
    fn settles(&self, (lane, came): (LaneId, Place), number: Option<Number>) -> bool {
        let since = self.since.get(usize::from(lane.0));
        since.is_some_and(|since| came < *since) || number.is_some_and(|number| self.winners.has(lane, number))
    }

    /// A slot was taken, or freed, that is settled.
    pub fn count_settled(&mut self, held: bool) {
        self.settled = if held {
            self.settled.saturating_add(1)
        } else {
            self.settled.saturating_sub(1)
        };
    }

    /// False for a visitor who has completed before.
    pub fn complete(&mut self, winner: Winner) -> bool {
        !self.winners.has(winner.lane, winner.number) && Arc::make_mut(&mut self.winners).add(winner)
    }

    /// A new edition has begun, of places from `since` on in each lane; winners of `spared` epochs are of it.
    pub(super) fn begin(&mut self, since: Vec<Place>, spared: Option<Epoch>) {
        self.since = since;
        if !self.winners.is_empty() {
            Arc::make_mut(&mut self.winners).retain(|winner| spared.is_some_and(|epoch| winner.number.epoch >= epoch));
        }
    }

    /// From now on all visitors of the lane may be of this edition; false if that was so before.
    fn forget_since(&mut self, lane: LaneId) -> bool {
        let since = self.since.get_mut(usize::from(lane.0));
        let known = since.is_some_and(|since| std::mem::replace(since, Place(0)) > Place(0));
        if self.since.iter().all(|since| *since == Place(0)) {
            self.since.clear();
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn winner(n: u32) -> Winner {
        Winner {
            lane: LaneId(0),
            number: Number { epoch: Epoch(9), n },
            at: Wall(u64::from(n)),
            tag: None,
        }
    }

    fn winners(count: u32) -> Winners {
        let mut winners = Winners::default();
        assert!((0..count).all(|n| winners.add(winner(n * 7))));
        winners
    }

    #[test]
    fn a_number_completes_once_and_the_list_keeps_its_order() {
        let mut winners = winners(3_000);
        assert!(!winners.add(winner(7)) && winners.count() == 3_000);
        assert!(winners.has(LaneId(0), winner(7).number));
        assert!(!winners.has(LaneId(1), winner(7).number) && !winners.has(LaneId(0), winner(8).number));
        let from = |skip| winners.iter_from(skip).map(|winner| winner.number.n / 7).next();
        assert_eq!(
            [0, 1_023, 1_024, 2_999, 3_000, 9_999].map(from),
            [Some(0), Some(1_023), Some(1_024), Some(2_999), None, None]
        );
    }

    #[test]
    fn winners_come_back_from_bytes() {
        let back = read(&written(&winners(2_500))).unwrap();
        assert!(back.iter_from(0).eq(winners(2_500).iter_from(0)));
        let (mut lane, mut epoch) = (winner(3), winner(2));
        lane.lane = LaneId(2);
        epoch.number.epoch = Epoch(u64::MAX);
        let mut known = winner(6);
        known.tag = Some(Tag([7; 8]));
        let mut mixed = Winners::default();
        for one in [winner(5), known, winner(4), lane, epoch, winner(9)] {
            assert!(mixed.add(one));
        }
        assert!(read(&written(&mixed)).unwrap().iter_from(0).eq(mixed.iter_from(0)));
        assert_eq!(mixed.iter_of(Epoch(u64::MAX)).count(), 1);
        assert_eq!(
            (mixed.iter_of(Epoch(9)).count(), mixed.iter_of(Epoch(8)).count()),
            (5, 0)
        );
    }

    #[test]
    fn no_other_bytes_are_a_list_of_winners() {
        // Runs of lane 0 and epoch 9, each winner one number and one millisecond on.
        let runs = |counts: &[u64]| {
            let mut w = Writer::default();
            w.list(counts.iter(), |w, count| {
                w.u8(0);
                w.put(&Epoch(9));
                w.var(count << 1);
                w.raw(&[2, 2].repeat(usize::try_from(*count).expect("a test's few")));
            });
            w.bytes
        };
        assert_eq!(read(&runs(&[3])).unwrap().count(), 3);
        let mut again = runs(&[2]);
        again[6..8].fill(0);
        for (bytes, why) in [
            (runs(&[1, 2]), "two runs that are one"),
            (runs(&[0]), "an empty run"),
            (again, "a number twice"),
        ] {
            assert!(read(&bytes).is_err(), "{why}");
        }
    }

    #[test]
    fn a_winner_takes_a_few_bytes() {
        let mut winners = Winners::default();
        for n in 0..100_000_u32 {
            // Now one is quicker at the till, now another, ten a second.
            let number = Number {
                epoch: Epoch(1 << 55),
                n: n * 3 + n % 7 * 30,
            };
            winners.add(Winner {
                lane: LaneId(0),
                number,
                at: Wall(1_800_000_000_000 + u64::from(n) * 100),
                tag: None,
            });
        }
        assert_eq!(winners.count(), 100_000);
        let bytes = written(&winners).len();
        assert!(bytes < 400_000, "{bytes}");
    }

    fn written(winners: &Winners) -> Vec<u8> {
        let mut w = Writer::default();
        w.put(winners);
        w.bytes
    }

    fn read(bytes: &[u8]) -> Read<Winners> {
        Reader::new(bytes, "winners").get()
    }

    #[test]
    fn a_new_edition_begins_anew_but_for_those_who_were_spared() {
        let mut tally = Tally::default();
        for n in 0..5 {
            tally.complete(winner(n));
        }
        assert_eq!((tally.left(10, 3), tally.left(7, 3), tally.left(3, 0)), (2, 0, 0));
        tally.begin(vec![Place(50)], Some(Epoch(9)));
        assert_eq!(tally.winners().count(), 5);
        assert!(tally.settles((LaneId(0), Place(49)), None) && !tally.settles((LaneId(0), Place(50)), None));
        tally.begin(vec![Place(50)], None);
        assert!(tally.winners().is_empty() && !tally.winners().has(LaneId(0), winner(1).number));
    }
}
