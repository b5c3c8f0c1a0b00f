//! One lane of a line: its epochs, its present visitors, the records of the called, and the horizon.
//!
//! The next called is always the lowest present place. The horizon follows the calls at a distance of `late_window` and never
//! passes a present visitor. A lane is cheap to clone: the published view is a clone.

pub(crate) mod bits;
pub(crate) mod drawn;
pub(crate) mod epoch;
pub(crate) mod paged;
pub(crate) mod presence;
pub(crate) mod record;
pub(crate) mod ring;
pub(crate) mod slots;
pub(crate) mod virtuals;

use std::ops::Range;

use crate::codec::codec;
use crate::draw::{AdmissionOrder, Hash};
use crate::lane::bits::Bits;
use crate::lane::epoch::{Epochs, Found};
use crate::lane::presence::Presence;
use crate::lane::record::{Call, Record};
use crate::lane::ring::Ring;
use crate::lane::slots::{Moved, Slots};
use crate::lane::virtuals::Virtuals;
use crate::line::accounts::Tags;
use crate::line::pulse::Pulse;
use crate::settings::Settings;
use ropeline_ids::{Clock, Edition, Epoch, Number, Place};

#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub epochs: Epochs,
    pub presence: Presence,
    pub slots: Slots,
    /// The accounts of the places.
    pub tags: Tags,
    /// Which places are virtual visitors'; among the fields of its room.
    pub virtuals: Virtuals,
    /// Places in gaps that proved to be issued.
    back: Bits,
    /// Places below are void.
    horizon: Place,
    /// How far the horizon may go once no visitor below is present.
    target: Place,
    /// One past the highest place called.
    head: Place,
    /// Where `next` was.
    issued: Ring,
    /// Where `head` was.
    called: Ring,
    /// How it has been calling, where it is one of several with names.
    pub pulse: Pulse,
}

codec! {
    struct Lane { epochs, presence, slots, tags, virtuals, back, horizon, target, head, issued, called, pulse } then derived;
}

impl Lane {
    /// A lane that issues numbers of `epoch` from `first` on.
    pub fn new(epoch: Epoch, first: u32) -> Self {
        let epochs = Epochs::new(epoch, first);
        let start = epochs.start();
        Self {
            presence: Presence::new(start),
            slots: Slots::default(),
            tags: Tags::default(),
            virtuals: Virtuals::default(),
            back: Bits::default(),
            horizon: start,
            target: start,
            head: start,
            issued: Ring::default(),
            called: Ring::default(),
            pulse: Pulse::default(),
            epochs,
        }
    }

    /// With the present visitors, which are derived from the rest.
    fn derived(mut self) -> Self {
        let missed = missed_from(&self.slots, self.presence.fresh());
        self.presence.derive(self.epochs.next(), missed);
        self
    }

    /// The horizon has passed the place.
    pub fn is_void(&self, place: Place) -> bool {
        place < self.horizon || self.epochs.is_void(place)
    }

    /// Waiting, or able to: neither void nor taken.
    pub fn is_in_line(&self, place: Place) -> bool {
        !self.is_void(place) && !self.presence.is_taken(place)
    }

    /// True for a place in a gap that proved to be issued.
    pub fn is_back(&self, place: Place) -> bool {
        self.back.get(place)
    }

    /// Numbers `count` newcomers and says the first number; `None` when the epoch has too few left.
    pub fn issue(&mut self, count: u32, settings: &Settings, now: Clock) -> Option<Number> {
        let from = self.epochs.next();
        let first = self.epochs.issue(count)?;
        self.presence.issue(from, self.epochs.next());
        self.issued.note(self.epochs.next(), settings.firm_within_ms, now);
        Some(first)
    }

    /// The place of a number that was issued here, or given back.
    pub fn place(&self, number: Number) -> Option<Place> {
        match self.epochs.find(number) {
            Found::Issued(place) => Some(place),
            Found::Gap(place) => self.is_back(place).then_some(place),
            Found::Lost | Found::Late | Found::Ahead => None,
        }
    }

    /// Like [`Lane::place`]; a genuine number in a gap is given its place back, unless the horizon has passed it.
    pub fn reclaim(&mut self, number: Number) -> Option<Place> {
        if let Found::Gap(place) = self.epochs.find(number)
            && !self.is_void(place)
        {
            self.back.set(place);
            self.epochs.give_back(place);
        }
        self.place(number)
    }

    /// Makes room for an epoch that only a ticket remembers, its numbers from `first` on. Its visitors have `late_window`
    /// from `from` on to come back.
    pub fn insert(&mut self, epoch: Epoch, first: u32, settings: &Settings, from: Clock) {
        let Some(base) = self.epochs.insert(epoch, first, self.horizon) else {
            return;
        };
        // Its visitors were to be called before those who are here. The marks in the ring would void them at once.
        self.horizon = self.horizon.min(base);
        self.target = self.target.min(base);
        self.called.clear();
        self.called.note(self.head, settings.late_window_ms, from);
    }

    /// Voids the numbers of a closed epoch below `number` that were not issued here; false when the epoch is not known.
    pub fn void_below(&mut self, number: Number) -> bool {
        let Some(gone) = self.epochs.void_below(number) else {
            return false;
        };
        self.presence.void(&gone);
        self.drop_missed(gone);
        true
    }

    /// One past the highest place called.
    pub fn head(&self) -> Place {
        self.head
    }

    /// The horizon: places below are void.
    pub fn horizon(&self) -> Place {
        self.horizon
    }

    /// A visitor in line checks in. False when the place is void or taken.
    pub fn mark(&mut self, place: Place) -> bool {
        let in_line = self.is_in_line(place);
        if in_line {
            self.presence.mark(place);
        }
        in_line
    }

    /// Calls the lowest present visitor.
    pub fn call(&mut self, call: Call, settings: &Settings, now: Clock) -> Option<(Place, Call)> {
        let place = self.presence.lowest()?;
        let call = self.call_at(place, call);
        if place >= self.head {
            self.head = Place(place.0 + 1);
            self.called.note(self.head, settings.late_window_ms, now);
        }
        Some((place, call))
    }

    /// Calls the visitor at a place, without moving the position of the calls.
    pub fn call_at(&mut self, place: Place, call: Call) -> Call {
        let count = match self.slots.get(place) {
            Some(Record::Missed { count, .. }) => count.saturating_add(1),
            _ => 1,
        };
        let call = Call { count, ..call };
        self.presence.take(place);
        self.slots.put(place, Some(Record::Called(call)));
        call
    }

    /// The called visitor did not come: back in line once, spent the second time.
    pub fn miss(&mut self, place: Place, call: Call) -> Moved {
        let void = self.is_void(place);
        let again = call.count < 2;
        self.virtuals.no_shows += u64::from(self.virtuals.places.get(place));
        // Below the horizon there are no bits left to clear, and nothing would ever take a record away again.
        if again && !void {
            self.presence.untake(place);
        }
        let record = match again {
            _ if void => None,
            true => Some(Record::Missed {
                at: call.at,
                count: call.count,
            }),
            false => Some(Record::Spent { at: call.at }),
        };
        let moved = self.slots.put(place, record);
        self.untag(place);
        if call.back {
            self.mark(place);
        }
        moved
    }

    /// Forgets the record of a number.
    pub fn forget(&mut self, place: Place) {
        self.slots.put(place, None);
        self.untag(place);
    }

    /// Forgets the account of a place that is void and holds no slot.
    pub fn untag(&mut self, place: Place) {
        if place < self.horizon && self.slots.get(place).is_none() {
            self.tags.put(place, None);
        }
    }

    /// One generation passes.
    pub fn turn(&mut self) {
        let missed = missed_from(&self.slots, self.presence.fresh());
        self.presence.turn(missed);
    }

    /// An entry begins: `fresh` follows the joins at `firm_within`.
    pub fn freshen(&mut self, settings: &Settings, now: Clock) {
        if let Some(fresh) = self.issued.ripe(settings.firm_within_ms, now) {
            self.presence.freshen(fresh);
        }
    }

    /// The horizon follows the calls at `late_window`, unless `held`. Says which epochs are forgotten, with their ends.
    pub fn follow(&mut self, settings: &Settings, held: bool, now: Clock) -> Vec<(Epoch, u32)> {
        if !held && let Some(ripe) = self.called.ripe(settings.late_window_ms, now) {
            self.target = self.target.max(ripe);
        }
        let to = self.presence.lowest().map_or(self.target, |low| low.min(self.target));
        if to > self.horizon { self.pass(to) } else { Vec::new() }
    }

    /// When the clock alone moves `fresh` or the horizon.
    pub fn next_due(&self, settings: &Settings, held_until: Clock) -> Option<Clock> {
        let fresh = self.issued.due(settings.firm_within_ms);
        let horizon = self.called.due(settings.late_window_ms).map(|due| due.max(held_until));
        fresh.into_iter().chain(horizon).min()
    }

    /// A new log begins: `epoch` issues from now on, and older visitors are present only with a mark.
    pub fn begin(&mut self, epoch: Epoch) {
        let lowest = self.epochs.open(epoch);
        // Visitors who joined the old log last may never have been answered: a mark shows whether they are present.
        self.issued.clear();
        self.presence.freshen(self.epochs.start());
        if lowest > self.horizon {
            self.target = self.target.max(lowest);
            self.pass(lowest);
        }
    }

    /// A new sale begins: waiting visitors lose their places. Returns the forgotten epochs with their ends.
    pub fn begin_sale(&mut self) -> Vec<(Epoch, u32)> {
        let next = self.epochs.next();
        self.epochs.draws.give_up();
        self.target = next;
        if next > self.horizon {
            self.pass(next)
        } else {
            Vec::new()
        }
    }

    /// The order in which the lane is called is drawn anew, among those it was closed for.
    pub fn draw(&mut self, edition: Edition, by: (AdmissionOrder, Hash)) {
        let Some(drawn) = self.epochs.draws.make(edition, by) else {
            return;
        };
        let (ranges, to) = (
            || drawn.stretches.ranges(),
            |place| drawn.stands(place).unwrap_or(place),
        );
        self.presence.draw(&drawn);
        self.slots.permute(ranges(), to);
        self.virtuals.places.permute(ranges(), to);
        self.tags.permute(ranges(), to);
        self.back.permute(ranges(), to);
        // Visitors called before may have any place now: the marks of the calls would void the others.
        let start = drawn.stretches.start();
        self.horizon = self.horizon.min(start);
        self.target = self.target.min(start);
        self.head = self.head.min(start);
        self.called.clear();
    }

    /// Forgets missed turns in places that are void from now on.
    fn drop_missed(&mut self, void: Range<Place>) {
        let records = self
            .slots
            .iter_from(void.start)
            .take_while(|(place, _)| *place < void.end);
        let missed = records.filter(|(_, record)| matches!(record, Record::Missed { .. } | Record::Spent { .. }));
        for place in missed.map(|(place, _)| place).collect::<Vec<_>>() {
            self.slots.put(place, None);
        }
    }

    /// Moves the horizon and forgets what lies below; sessions keep their records, and their epochs, until they end.
    fn pass(&mut self, to: Place) -> Vec<(Epoch, u32)> {
        self.drop_missed(self.horizon..to);
        let passed = self.tags.iter_from(self.horizon).take_while(|(place, _)| *place < to);
        let passed: Vec<Place> = passed.map(|(place, _)| place).collect();
        self.horizon = to;
        for place in passed {
            self.untag(place);
        }
        self.presence.drop_below(to);
        // A visitor who is still inside keeps the epoch that gives the place.
        let kept = self.slots.iter().next().map_or(to, |(place, _)| place.min(to));
        self.back.drop_below(kept);
        self.epochs.drop_below(kept)
    }
}

/// Fresh visitors who missed a turn: fresh or not, they are present only once they check in.
fn missed_from(slots: &Slots, fresh: Place) -> impl Iterator<Item = Place> {
    let records = slots.iter_from(fresh);
    records
        .filter(|(_, record)| matches!(record, Record::Missed { .. }))
        .map(|(place, _)| place)
}
