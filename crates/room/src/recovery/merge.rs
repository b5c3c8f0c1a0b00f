//! The content that a replica of a lost history brings back: batches for the log in which the rooms go on.
//!
//! For each epoch of which the replica has read more: the visitors who have completed, those who are present, the open
//! sessions, the numbers that are used up, and each horizon. For the epochs before, whose visitors went on in those logs: the
//! same without the horizon. Called visitors come as present, in front of all others: an issued pass is honoured by its own
//! date and opens the session as excess, as after any lost call.

use crate::entry::{Adopt, Batch, Change, RoomChange};
use crate::lane::Lane;
use crate::lane::epoch::Extent;
use crate::lane::record::{Record, Session};
use crate::line::one_place::rank;
use crate::recovery::packer::{List, Packer};
use crate::room::Room;
use crate::state::State;
use crate::state::rooms::MAX_ROOMS;
use ropeline_ids::{Edition, Epoch, LaneId, Number, Place, RoomName, Tag};

/// Changes of one batch: with the longest names and messages they take half of a batch's limit.
const CHANGES: usize = 30;

/// Parts of draws in one batch, each with eight lanes of 64 stretches at most.
const DRAWS: usize = 4;

/// Rooms in one batch that come with their texts.
const ADDITIONS: usize = 2;

/// A state whose log was lost, and the one in which the rooms go on.
pub(crate) struct Merge<'a> {
    pub lost: &'a State,
    pub now: &'a State,
}

impl Merge<'_> {
    /// The batches of [`State::adoption`].
    pub fn batches(&self) -> Vec<Batch> {
        let mut batches = Vec::new();
        let whole = self.fits();
        for (adopt, further) in self.changed() {
            let mut of_epoch = self.bring(adopt, further);
            // An epoch of which a part stays behind has not been brought to its end.
            if let Some(adopt) = last(&mut of_epoch).filter(|_| further && whole) {
                adopt.whole = true;
            }
            batches.extend(
                of_epoch
                    .into_iter()
                    .filter(|batch| further || !batch.sections.is_empty()),
            );
        }
        self.bring_codes_back(&mut batches);
        self.bring_rooms(&mut batches);
        if let Some(adopt) = last(&mut batches) {
            adopt.done = true;
        }
        batches
    }

    /// Epochs whose numbers differ from those in `now`, oldest first, and whether this state has read more of the epoch's own
    /// log: the last is such a one. Visitors of older epochs were called and left in that log too.
    fn changed(&self) -> Vec<(Adopt, bool)> {
        let issuing = Epoch(self.now.position().epoch);
        let epochs = self.lost.past().ends(self.lost.position().sequence);
        let mut changed: Vec<_> = epochs
            .take_while(|(epoch, ..)| *epoch < issuing)
            .map(|(epoch, sequence, floor)| {
                let adopt = Adopt {
                    epoch,
                    sequence,
                    floor,
                    ..Adopt::default()
                };
                (adopt, self.now.ended_at(epoch).is_none_or(|known| known < sequence))
            })
            .collect();
        let newest = changed.iter().rposition(|(_, further)| *further);
        changed.truncate(newest.map_or(0, |newest| newest + 1));
        changed
    }

    /// One epoch, in all lines of all rooms but those that `now` has in a later edition.
    fn bring(&self, adopt: Adopt, further: bool) -> Vec<Batch> {
        let mut packer = Packer::new(adopt);
        for (name, room) in self.lost.rooms().iter() {
            let stands = self
                .now
                .rooms()
                .get(name)
                .is_none_or(|other| other.edition() <= room.edition());
            for (line, of) in room.lines().filter(|_| stands) {
                packer.turn_to(name, line);
                let lacking = room.completions_for(self.now.rooms().get(name), line, adopt.epoch);
                for done in lacking {
                    packer.complete(done);
                }
                for (id, lane) in (0..).map(LaneId).zip(of.lanes()) {
                    if let Some(extent) = lane.epochs.extent(adopt.epoch) {
                        let unheard = |number: Number| room.is_unheard(line, (id, number));
                        bring_lane(&mut packer, (id, lane), (adopt.epoch, extent), &unheard);
                        bring_accounts(&mut packer, id, lane, (adopt.epoch, extent), &unheard);
                        if further {
                            bring_horizon(&mut packer, id, lane, (adopt.epoch, extent));
                        }
                    }
                }
            }
        }
        packer.finish()
    }

    /// The rooms that `now` lacks, operators' later changes, such as a stop, and lost editions; they go before the numbers,
    /// some in each batch.
    fn bring_rooms(&self, batches: &mut Vec<Batch>) {
        // They were set in the newest of the epochs.
        let Some(newest) = batches.last().and_then(|batch| batch.adopt) else {
            return;
        };
        let changes = self
            .lost
            .rooms()
            .iter()
            .flat_map(|(name, room)| self.brought(name, room));
        let changes: Vec<RoomChange> = changes.collect();
        let adopt = Some(Adopt { whole: false, ..newest });
        let batch = |changes: &[RoomChange]| Batch {
            adopt,
            rooms: changes.to_vec(),
            ..Batch::default()
        };
        let kinds = changes.chunk_by(|a, b| at_once(a) == at_once(b));
        let parts = kinds.flat_map(|kind| kind.chunks(kind.first().map_or(CHANGES, at_once)));
        batches.splice(..0, parts.map(batch));
    }

    /// The changes that create a room of another history, or update it, with its operator's settings and the edition that it
    /// was reset to.
    fn brought(&self, name: &RoomName, room: &Room) -> Vec<RoomChange> {
        let other = self.now.rooms().get(name);
        let change = |revision, change| RoomChange {
            room: name.clone(),
            revision,
            change,
            who: None,
        };
        let added = self.lost.additions().get(name);
        let add = |revision| {
            added.map(|added| RoomChange {
                who: added.who.clone(),
                ..change(revision, Change::Add(Box::new(added.again())))
            })
        };
        // One revision each; the last change gets the room's.
        let made = other.is_none().then(|| {
            let revision = room.revision().saturating_sub(1);
            let configured = || change(revision, Change::Configure(room.configured().clone()));
            add(revision).unwrap_or_else(configured)
        });
        let older = other.is_none_or(|other| room.worded() > other.worded() && other.overrides() != room.overrides());
        let revision = other
            .map_or(0, |other| other.revision().saturating_add(1))
            .max(room.revision());
        let unknown = other.is_some() && self.now.additions().get(name).is_none();
        let text = add(revision).filter(|_| unknown);
        let revision = revision.saturating_add(u64::from(text.is_some()));
        let set = older.then(|| change(revision, Change::Override(room.overrides().clone())));
        let after = revision.saturating_add(u64::from(older));
        let part = |(revision, (sale, lanes))| {
            let (edition, sale) = (room.edition(), Box::new(sale));
            change(revision, Change::Sale { edition, sale, lanes })
        };
        let sale = room.sale_for(other);
        let drawn = (after..).zip(sale).map(part);
        let lower = other.map_or(Edition(0), Room::edition) < room.edition();
        let regained = lower.then(|| change(room.revision(), Change::Edition(room.edition())));
        let said = made.into_iter().chain(text).chain(set);
        said.chain(regained).chain(drawn).collect()
    }

    /// The codes that are spent here, before the numbers that they were good for.
    fn bring_codes_back(&self, batches: &mut Vec<Batch>) {
        let Some(newest) = batches.last().and_then(|batch| batch.adopt) else {
            return;
        };
        let adopt = Some(Adopt { whole: false, ..newest });
        let lacking = self
            .lost
            .rooms()
            .iter()
            .flat_map(|(name, room)| room.codes_for(name, self.now.rooms().get(name)));
        let parts = lacking.map(|brought| Batch {
            adopt,
            spent_codes: vec![brought],
            ..Batch::default()
        });
        batches.splice(..0, parts.collect::<Vec<_>>());
    }

    /// Whether `now` can have all rooms of this state.
    fn fits(&self) -> bool {
        let lacking = self
            .lost
            .rooms()
            .iter()
            .filter(|(name, _)| self.now.rooms().get(name).is_none());
        self.now.rooms().len() + lacking.count() <= MAX_ROOMS
    }
}

/// How many changes of this kind fit in a batch.
fn at_once(change: &RoomChange) -> usize {
    match change.change {
        // Much longer than any other word.
        Change::Sale { .. } => DRAWS,
        Change::Add(_) => ADDITIONS,
        _ => CHANGES,
    }
}

fn last(batches: &mut [Batch]) -> Option<&mut Adopt> {
    batches.last_mut().and_then(|batch| batch.adopt.as_mut())
}

type Wanted = fn(&Record) -> bool;

/// One lane: used-up numbers, visitors inside and present visitors. Virtual visitors are left out: their rehearsal may be over.
/// A number that was given for a pending id and not shown since is left out too: its visitor either comes with it, or comes
/// with the id and gets another number, and then the first one is unused.
fn bring_lane(
    packer: &mut Packer,
    (id, lane): (LaneId, &Lane),
    (epoch, extent): (Epoch, Extent),
    unheard: &dyn Fn(Number) -> bool,
) {
    // Where a draw was made, an epoch's visitors may stand among another's.
    let drawn = lane.epochs.draws.was_made();
    let (from, to) = if drawn {
        (Place(0), Place(u64::MAX))
    } else {
        (extent.base, extent.limit)
    };
    let mut put = |list, places: &mut dyn Iterator<Item = Place>| {
        let mut numbers: Vec<Number> = places
            .filter(|place| !lane.virtuals.places.get(*place))
            .filter_map(|place| number_at((epoch, extent), lane.epochs.draws.came(place)))
            .collect();
        if drawn {
            numbers.sort_unstable();
        }
        for number in numbers {
            if list != List::Marks || !unheard(number) {
                packer.put(list, id, number);
            }
        }
    };
    let records = || lane.slots.iter_from(from).take_while(|(place, _)| *place < to);
    let lists: [(List, Wanted); 4] = [
        (List::Taken, is_over),
        (List::Spent, is_spent),
        (List::Reopens, is_open),
        (List::Marks, is_called),
    ];
    for (list, wanted) in lists {
        let records = records().filter(|(_, record)| wanted(record));
        put(list, &mut records.map(|(place, _)| place));
    }
    let taken = lane.presence.taken().ones(from, to);
    put(List::Taken, &mut taken.filter(|place| lane.slots.get(*place).is_none()));
    put(List::Marks, &mut lane.presence.present().ones(from, to));
}

/// Brings back the accounts of the live places, once their numbers are known.
fn bring_accounts(
    packer: &mut Packer,
    id: LaneId,
    lane: &Lane,
    (epoch, extent): (Epoch, Extent),
    unheard: &dyn Fn(Number) -> bool,
) {
    if lane.tags.total() == 0 {
        return;
    }
    let live = lane
        .tags
        .iter_from(Place(0))
        .filter(|(place, _)| rank(lane, id, *place).is_some());
    let mut numbers: Vec<(Number, Tag)> = live
        .filter_map(|(place, tag)| Some((number_at((epoch, extent), lane.epochs.draws.came(place))?, tag)))
        .filter(|(number, _)| !unheard(*number))
        .collect();
    numbers.sort_unstable();
    for (number, tag) in numbers {
        packer.bind(id, number, tag);
    }
}

/// Brings back the horizon. That of an epoch that has gone no further may have passed visitors who came back in the other
/// log.
fn bring_horizon(packer: &mut Packer, id: LaneId, lane: &Lane, (epoch, extent): (Epoch, Extent)) {
    // Places behind it may still be free for another epoch.
    let drawn = lane.epochs.draws.first_in(extent.base.0..extent.limit.0);
    let drawn = drawn.map_or(extent.given, Place);
    let void = extent.from.max(lane.horizon()).min(extent.given).min(drawn);
    if void > extent.base
        && let Some(number) = number_at((epoch, extent), void)
    {
        packer.put(List::Voids, id, number);
    }
}

/// A place beyond the range of numbers was never issued.
fn number_at((epoch, extent): (Epoch, Extent), place: Place) -> Option<Number> {
    let within = (extent.base..extent.limit).contains(&place);
    let n = u32::try_from(place.0.checked_sub(extent.base.0)?).ok()?;
    within.then_some(Number { epoch, n })
}

/// Also a session that ends in a moment.
fn is_over(record: &Record) -> bool {
    matches!(
        record,
        Record::Over { .. } | Record::Inside(Session { ending: true, .. })
    )
}

fn is_open(record: &Record) -> bool {
    matches!(record, Record::Inside(session) if !session.ending)
}

fn is_called(record: &Record) -> bool {
    matches!(record, Record::Called(_))
}

/// Called twice. Who still has something of the second call comes in another list too.
fn is_spent(record: &Record) -> bool {
    match record {
        Record::Spent { .. } => true,
        Record::Called(call) => call.count > 1,
        Record::Inside(session) => session.count > 1 && !session.ending,
        Record::Missed { .. } | Record::Over { .. } => false,
    }
}
