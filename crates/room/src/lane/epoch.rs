//! The epochs of a lane: the mapping from numbers to the lane's one axis of places.
//!
//! place(epoch, n) = base + n. A lane's first epoch begins at 2^52, which leaves room below for epochs that only tickets
//! remember and keeps every place exact in a browser's numbers. Behind an epoch's end lie places that were perhaps issued
//! and lost, its gap: 2^20 of them before the next epoch begins. A lost epoch goes half way into the free places where it
//! belongs, so that others still fit on either side.

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::codec::codec;
use crate::lane::bits::PAGE;
use crate::lane::drawn::{Draws, Stretches};
use ropeline_ids::{Edition, Epoch, Number, Place};

/// Base of the first epoch of a log begun from nothing.
pub(crate) const FIRST_BASE: u64 = 1 << 52;

/// Places behind a closed epoch's end that its numbers may still claim.
pub(crate) const GAP: u64 = 1 << 20;

/// Most epochs a lane tells apart; the oldest is dropped for one more.
pub(crate) const MAX_EPOCHS: usize = 1_000;

/// Bases are multiples of this, so that no two epochs share a chunk of pages.
const ALIGN: u64 = 1 << 18;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Epochs {
    /// In order of epoch and of base; the last one issues numbers. Never empty.
    spans: Vec<Span>,
    /// The newest epoch below the horizon.
    dropped: Option<Epoch>,
    /// The draws, which change the order in which numbers came.
    pub draws: Draws,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Span {
    epoch: Epoch,
    base: u64,
    /// Numbers below belong to a line of the same name that was forgotten.
    start: u64,
    /// One past the last place issued.
    end: u64,
    /// One past the last place issued or given back.
    given: u64,
    /// End of the gap.
    limit: u64,
    /// Places below were void when the horizon came down for an older epoch, and stay so.
    void: u64,
    /// Places behind the end and below this were void in the log that went on with the epoch elsewhere.
    gone: u64,
}

codec! {
    struct Epochs { dropped, spans, draws } where is_sound;
    struct Span { epoch, base, start, end, given, limit, void, gone } where is_rising;
}

/// Where an epoch's numbers lie on the axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub base: Place,
    /// Places below are void.
    pub from: Place,
    /// One past the last place issued or given back.
    pub given: Place,
    /// One past the last place that may be one of its numbers.
    pub limit: Place,
}

/// Where a genuine number stands on the axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    Issued(Place),
    /// Behind a closed epoch's end: perhaps issued, and lost.
    Gap(Place),
    /// Of an epoch that is not in the table but has room in it.
    Lost,
    /// Before the oldest epoch that is kept, or forgotten.
    Late,
    /// Not issued yet, as far as this replica knows.
    Ahead,
}

impl Epochs {
    /// A table with one epoch, whose first number is `first`.
    pub fn new(epoch: Epoch, first: u32) -> Self {
        let start = FIRST_BASE + u64::from(first);
        let span = Span::new(epoch, FIRST_BASE, start, FIRST_BASE + (1 << 32));
        Self {
            spans: vec![span],
            dropped: None,
            draws: Draws::default(),
        }
    }

    /// Where a number stands.
    pub fn find(&self, number: Number) -> Found {
        match self.came(number) {
            Found::Issued(place) => Found::Issued(self.draws.stands(place)),
            Found::Gap(place) => Found::Gap(self.draws.stands(place)),
            nowhere => nowhere,
        }
    }

    /// Where a number came, before any draw.
    pub fn came(&self, number: Number) -> Found {
        if self.dropped.is_some_and(|dropped| number.epoch <= dropped) {
            return Found::Late;
        }
        match self.spans.binary_search_by_key(&number.epoch, |span| span.epoch) {
            Ok(i) => self.spans[i].find(number.n, i + 1 == self.spans.len()),
            Err(i) if i == self.spans.len() => Found::Ahead,
            Err(i) => self.room_for(i).map_or(Found::Late, |_| Found::Lost),
        }
    }

    /// The number that stands at a place; `None` where no epoch lies.
    pub fn number(&self, place: Place) -> Option<Number> {
        self.came_at(self.draws.came(place))
    }

    /// The number that came at a place, before any draw.
    pub fn came_at(&self, place: Place) -> Option<Number> {
        let after = self.spans.partition_point(|span| span.base <= place.0);
        let span = after.checked_sub(1).and_then(|i| self.spans.get(i))?;
        let n = u32::try_from(place.0 - span.base).ok()?;
        Some(Number { epoch: span.epoch, n })
    }

    /// The next place to be issued.
    pub fn next(&self) -> Place {
        Place(self.current().end)
    }

    /// Where the issuing epoch begins; before it only visitors with a mark are present.
    pub fn start(&self) -> Place {
        Place(self.current().start)
    }

    /// Issues `count` numbers in a row and says the first; `None` when the epoch has too few left.
    pub fn issue(&mut self, count: u32) -> Option<Number> {
        let span = self.spans.last_mut().expect("a lane has an epoch");
        let end = span.end + u64::from(count);
        let n = u32::try_from(span.end - span.base).ok().filter(|_| end < span.limit)?;
        (span.end, span.given) = (end, end);
        Some(Number { epoch: span.epoch, n })
    }

    /// Closes the issuing epoch and begins `epoch` behind its gap. Says from where on places are kept: above the lowest only
    /// when the table was full.
    pub fn open(&mut self, epoch: Epoch) -> Place {
        let span = self.spans.last_mut().expect("a lane has an epoch");
        let base = (span.end + GAP).next_multiple_of(ALIGN);
        span.limit = base;
        self.spans.push(Span::new(epoch, base, base, base + (1 << 32)));
        if self.spans.len() > MAX_EPOCHS {
            self.dropped = Some(self.spans.remove(0).epoch);
        }
        Place(self.spans[0].base)
    }

    /// Makes room for a lost epoch and returns its base; `None` when there is no room or it is known. Its numbers below
    /// `first` are late, and so are those that the `horizon` has passed in the other epochs.
    pub fn insert(&mut self, epoch: Epoch, first: u32, horizon: Place) -> Option<Place> {
        let i = self.spans.binary_search_by_key(&epoch, |span| span.epoch).err()?;
        if i == self.spans.len() || self.dropped.is_some_and(|dropped| epoch <= dropped) {
            return None;
        }
        let base = self.room_for(i)?;
        let limit = self.spans[i].base;
        let start = (base + u64::from(first)).min(limit);
        // The horizon is about to move below all of them, and numbers that it has passed must not become valid again.
        for span in &mut self.spans {
            span.void = span.void.max(horizon.0.min(span.limit));
        }
        if let Some(before) = i.checked_sub(1).and_then(|i| self.spans.get_mut(i)) {
            before.limit = base;
        }
        self.spans.insert(i, Span::new(epoch, base, start, limit));
        Some(Place(base))
    }

    /// The horizon has passed the place, though it stands lower now.
    pub fn is_void(&self, place: Place) -> bool {
        let after = self.spans.partition_point(|span| span.base <= place.0);
        let span = after.checked_sub(1).and_then(|i| self.spans.get(i));
        span.is_some_and(|span| place.0 < span.void || (span.end..span.gone).contains(&place.0))
    }

    /// Notes that a place in a gap proved to be issued.
    pub fn give_back(&mut self, place: Place) {
        let after = self.spans.partition_point(|span| span.base <= place.0);
        if let Some(span) = after.checked_sub(1).and_then(|i| self.spans.get_mut(i)) {
            span.given = span.given.max(place.0 + 1);
        }
    }

    /// Voids the places behind a closed epoch's end that belong to numbers below `number`, and returns them.
    pub fn void_below(&mut self, number: Number) -> Option<Range<Place>> {
        let closed = self.spans.len() - 1;
        let span = self.spans[..closed]
            .iter_mut()
            .find(|span| span.epoch == number.epoch)?;
        // Places that are drawn are others' now.
        let drawn = self.draws.first_in(span.end..span.limit).unwrap_or(span.limit);
        let to = (span.base + u64::from(number.n)).min(drawn).max(span.end);
        span.gone = span.gone.max(to);
        span.given = span.given.max(to);
        Some(Place(span.end)..Place(to))
    }

    pub fn extent(&self, epoch: Epoch) -> Option<Extent> {
        let span = self.spans.iter().find(|span| span.epoch == epoch)?;
        // Behind numbers of its own, a forgotten part is not a beginning.
        let gone = if span.end == span.start { span.gone } else { 0 };
        Some(Extent {
            base: Place(span.base),
            from: Place(span.start.max(span.void).max(gone)),
            given: Place(span.given),
            limit: Place(span.limit),
        })
    }

    /// The line is closed for a draw: visitors at or behind the `horizon` who are not void are to be drawn.
    pub fn close(&mut self, horizon: Place) {
        self.close_oldest(self.spans.len(), horizon);
    }

    /// The same without the epoch that issues numbers.
    pub fn close_lost(&mut self, horizon: Place) {
        self.close_oldest(self.spans.len() - 1, horizon);
    }

    fn close_oldest(&mut self, count: usize, horizon: Place) {
        let ranges = self.spans.iter().take(count).flat_map(|span| {
            let from = span.start.max(span.void).max(horizon.0);
            [from..span.end, from.max(span.end).max(span.gone)..span.given]
        });
        self.draws.close(ranges);
    }

    /// The line is closed for a draw as another history closed it; not where an epoch is not known here.
    pub fn close_as(&mut self, runs: &[(Epoch, u32, u32)]) {
        let mut ranges = Vec::new();
        // An epoch that issues numbers has issued none elsewhere so far.
        let closed = self.spans.len() - 1;
        for (epoch, from, to) in runs {
            let Some(span) = self.spans[..closed].iter_mut().find(|span| span.epoch == *epoch) else {
                return;
            };
            let range = span.base + u64::from(*from)..(span.base + u64::from(*to)).min(span.limit);
            span.given = span.given.max(range.end);
            ranges.push(range);
        }
        let apart = ranges.windows(2).all(|pair| pair[0].end <= pair[1].start);
        if apart && ranges.iter().all(|range| range.start < range.end) {
            self.draws.close(ranges.into_iter());
        }
    }

    /// The numbers that are drawn in an edition, or to be drawn.
    pub fn drawn_runs(&self, edition: Edition) -> Vec<(Epoch, u32, u32)> {
        let stretches = self.draws.stretches(edition).into_iter().flat_map(Stretches::ranges);
        let run = |range: Range<Place>| {
            let Number { epoch, n } = self.came_at(range.start)?;
            let length = u32::try_from(range.end.0 - range.start.0).ok()?;
            Some((epoch, n, n.checked_add(length)?))
        };
        stretches.filter_map(run).collect()
    }

    /// Forgets closed epochs that lie below `place` with their gaps, and returns them with one past their highest number. A
    /// visitor whose present place is at or behind it may have come in front of it.
    pub fn drop_below(&mut self, place: Place) -> Vec<(Epoch, u32)> {
        let place = self.draws.drop_below(place);
        let gone = self
            .spans
            .iter()
            .take_while(|span| span.limit <= place.0)
            .count()
            .min(self.spans.len() - 1);
        let gone: Vec<_> = self.spans.drain(..gone).map(|span| span.ends()).collect();
        self.dropped = gone.last().map(|(epoch, _)| *epoch).or(self.dropped);
        gone
    }

    /// Epochs in the table, oldest first.
    pub fn known(&self) -> impl Iterator<Item = Epoch> {
        self.spans.iter().map(|span| span.epoch)
    }

    /// For each epoch one past the highest number issued or given back.
    pub fn ends(&self) -> impl Iterator<Item = (Epoch, u32)> {
        self.spans.iter().map(Span::ends)
    }

    /// At least one, in their order and apart.
    fn is_sound(&self) -> bool {
        let follows = |pair: &[Span]| pair[0].epoch < pair[1].epoch && pair[0].limit <= pair[1].base;
        let bounded = (1..=MAX_EPOCHS).contains(&self.spans.len());
        bounded && self.spans.windows(2).all(follows)
    }

    fn current(&self) -> &Span {
        self.spans.last().expect("a lane has an epoch")
    }

    /// Half way between the last used place of the epoch before span `i` and the base of span `i`.
    fn room_for(&self, i: usize) -> Option<u64> {
        let low = i.checked_sub(1).map_or(0, |before| self.spans[before].given);
        let high = self.spans[i].base;
        let base = (low + (high - low) / 2).next_multiple_of(PAGE);
        (base + PAGE <= high && self.spans.len() < MAX_EPOCHS).then_some(base)
    }
}

impl Span {
    /// An epoch that has issued nothing yet.
    fn new(epoch: Epoch, base: u64, start: u64, limit: u64) -> Self {
        Self {
            epoch,
            base,
            start,
            end: start,
            given: start,
            limit,
            void: 0,
            gone: 0,
        }
    }

    fn is_rising(&self) -> bool {
        [self.base, self.start, self.end, self.given, self.limit, 1 << 54].is_sorted()
    }

    fn find(&self, n: u32, issuing: bool) -> Found {
        let place = self.base + u64::from(n);
        match place {
            _ if place < self.start => Found::Late,
            _ if place < self.end => Found::Issued(Place(place)),
            _ if issuing => Found::Ahead,
            _ if place < self.limit => Found::Gap(Place(place)),
            _ => Found::Late,
        }
    }

    fn ends(&self) -> (Epoch, u32) {
        (self.epoch, u32::try_from(self.given - self.base).unwrap_or(u32::MAX))
    }
}
