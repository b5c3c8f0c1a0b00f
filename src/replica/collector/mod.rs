//! Collects the items since the last batch, each visitor's notes once, and cuts batches from them.
//!
//! Everything is bounded: joins by their permits, notes and changes by constants. A batch takes as much as fits under the
//! log's limit, lines by turns; the rest goes with the next.

mod joiners;
mod notes;
mod reports;
mod sizes;
mod work;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use self::reports::Reports;
use self::sizes::{CHANGE_BYTES, HEAD_BYTES, REDEEM_BYTES, SECTION_BYTES, Space, TAG_BYTES, change_bytes};
use self::work::{LineKey, MAX_NOTES, Work};
use crate::replica::inbox::{Changing, Join, Past, Redeeming, Unrecorded};
use crate::replica::waiters::{Newcomer, Waiters};
use crate::room::{
    Batch, Change, Edition, Joined, LineName, MAX_BATCH_BYTES, RehearsalId, Reported, RoomChange, RoomName, Who,
};

#[derive(Default)]
pub(super) struct Collector {
    lines: BTreeMap<LineKey, Work>,
    /// Number of joins so far.
    arrivals: u64,
    changes: VecDeque<Changing>,
    /// Joins by a code, in order of arrival.
    redeems: VecDeque<Redeeming>,
    /// Editions that tokens proved, the highest of each room.
    editions: BTreeMap<RoomName, Edition>,
    /// The gate's latest figures of its upstream, for each room with load control.
    load: Reports,
    /// Notes in all lines.
    notes: usize,
    /// The next batch starts behind the line that was served last, and takes visitors before virtual visitors.
    turn: Option<LineKey>,
    /// A request waits, or a slot may become free: the content should be sent at once.
    urgent: bool,
}

impl Collector {
    pub fn is_empty(&self) -> bool {
        !self.keeps_company() && self.load.is_empty()
    }

    /// True when the batch holds more than empty reports, which wait for the next batch.
    pub fn keeps_company(&self) -> bool {
        let idle = self.lines.is_empty() && self.changes.is_empty() && self.editions.is_empty();
        !idle || !self.redeems.is_empty() || self.load.tell()
    }

    /// Something that visitors did is in no batch yet.
    pub fn has_notes(&self) -> bool {
        self.notes > 0
    }

    /// Notes of people that no later request says again.
    pub fn final_notes(&self) -> usize {
        let people = self.lines.iter().filter(|((_, _, rehearsal), _)| rehearsal.is_none());
        let kinds = people.flat_map(|(_, work)| work.notes.keys());
        kinds.filter(|(kind, _)| kind.is_final()).count()
    }

    /// True when there is more than marks and renewals: those may wait a moment for company.
    pub fn is_urgent(&self) -> bool {
        self.urgent
    }

    pub fn join(&mut self, join: Join) {
        self.urgent = true;
        let work = self
            .lines
            .entry((join.room, join.line, join.arrival.rehearsal))
            .or_default();
        work.joiners
            .join((join.came, self.arrivals), join.lane, join.arrival, join.waiter);
        self.arrivals += 1;
    }

    /// Takes back each numbered join of a batch that stands behind a join whose request was given up and repeated, for the
    /// next batch: no visitor is numbered before an earlier one. The requests keep waiting.
    pub fn take_back(&mut self, joins: &mut [Vec<Newcomer>], joined: &[Joined]) {
        for (newcomers, joined) in joins.iter_mut().zip(joined) {
            let line = (joined.room.clone(), joined.line.clone(), None);
            if let (Some(work), Some(_)) = (self.lines.get_mut(&line), joined.first) {
                work.joiners.take_back(joined.lane, newcomers);
            }
        }
    }

    /// Bounded by the permits of the waiting requests.
    pub fn redeem(&mut self, redeeming: Redeeming) {
        self.urgent = true;
        self.redeems.push_back(redeeming);
    }

    /// Only counted, so a count that there is no room for is let go.
    pub fn bypassed(&mut self, (room, line, why, count): (RoomName, LineName, Past, u32)) {
        if count > 0 && self.lines.len() < MAX_NOTES {
            let work = self.lines.entry((room, line, None)).or_default();
            let counted = match why {
                Past::Outage => &mut work.bypasses,
                Past::Network => &mut work.networks,
            };
            *counted = counted.saturating_add(count);
        }
    }

    /// Takes the gate's reports.
    pub fn report(&mut self, reports: Vec<Reported>) {
        self.load.add(reports);
        self.urgent |= self.load.tell();
    }

    /// Records that a genuine token is of an edition above the room's. It is sent before any note of its visitor.
    pub fn regain(&mut self, room: RoomName, edition: Edition) {
        let highest = self.editions.entry(room).or_default();
        *highest = edition.max(*highest);
        self.urgent = true;
    }

    /// Refused at once when there is no room for it, or when it would never fit in a batch.
    pub fn change(&mut self, change: Changing) {
        self.urgent = true;
        let refused = match () {
            () if change_bytes(&change.change) > MAX_BATCH_BYTES / 2 => Unrecorded::Refused,
            () if self.changes.len() >= MAX_CHANGES => Unrecorded::Full,
            () => return self.changes.push_back(change),
        };
        if let Some(answer) = change.answer {
            let _ = answer.send(Err(refused));
        }
    }

    /// Takes the differences in the configured rooms: at most [`crate::room::MAX_ROOMS`], and as many removed rooms. They are
    /// sent before all operators' changes since the start, which may concern rooms that the log lacks so far.
    pub fn configure(&mut self, changes: Vec<(RoomName, Change)>) {
        for (room, change) in changes.into_iter().rev() {
            self.changes.push_front(Changing::unasked(room, change));
            self.urgent = true;
        }
    }

    /// Takes the differences of rooms whose configuration changed, in place of those that were to be sent for them.
    pub fn reconfigure(&mut self, changes: Vec<(RoomName, Change)>) {
        let about = |room: &RoomName| changes.iter().any(|(changed, _)| changed == room);
        self.changes.retain(|said| !said.is_of_file() || !about(&said.room));
        self.urgent |= !changes.is_empty();
        let changes = changes.into_iter();
        self.changes
            .extend(changes.map(|(room, change)| Changing::unasked(room, change)));
    }

    /// Whether changes of the configured rooms are still to be sent.
    pub fn says_of_file(&self) -> bool {
        self.changes.iter().any(Changing::is_of_file)
    }

    /// Takes changes of a batch back, before those that came since.
    pub fn change_again(&mut self, changes: Vec<Changing>) {
        for change in changes.into_iter().rev() {
            self.changes.push_front(change);
            self.urgent = true;
        }
    }

    /// The next batch and who waits for it. `revision` is the last of a room.
    pub fn cut(&mut self, revision: impl Fn(&RoomName) -> u64) -> (Batch, Waiters) {
        let mut batch = Batch::default();
        let mut waiters = Waiters::default();
        let mut space = Space(MAX_BATCH_BYTES - HEAD_BYTES);
        self.cut_editions(&revision, &mut space, &mut batch, &mut waiters);
        self.cut_changes(&revision, &mut space, &mut batch, &mut waiters);
        self.cut_redeems(&mut space, &mut batch, &mut waiters);
        self.load.cut(&mut space, &mut batch);
        for key in self.turns() {
            if !space.takes(SECTION_BYTES) {
                break;
            }
            let Some(work) = self.lines.get_mut(&key) else { continue };
            let before = work.notes();
            let section = work.cut(&key, &mut space, &mut waiters);
            self.notes -= before - work.notes();
            if work.is_empty() {
                self.lines.remove(&key);
            }
            batch.sections.extend(section);
            self.turn = Some((key.0, key.1, Some(RehearsalId([0xFF; 8]))));
        }
        self.urgent = self.keeps_company();
        (batch, waiters)
    }

    fn cut_editions(
        &mut self,
        revision: &dyn Fn(&RoomName) -> u64,
        space: &mut Space,
        batch: &mut Batch,
        waiters: &mut Waiters,
    ) {
        while space.takes(CHANGE_BYTES) {
            let Some((room, edition)) = self.editions.pop_first() else {
                return;
            };
            batch.rooms.push(RoomChange {
                revision: revision(&room),
                room,
                change: Change::Edition(edition),
                who: None,
            });
            waiters.changes.push(None);
        }
    }

    fn cut_changes(
        &mut self,
        revision: &dyn Fn(&RoomName) -> u64,
        space: &mut Space,
        batch: &mut Batch,
        waiters: &mut Waiters,
    ) {
        self.changes.retain(|said| !said.is_given_up());
        while let Some(next) = self.changes.front() {
            if !space.takes(change_bytes(&next.change) + next.who.as_ref().map_or(0, Who::bytes)) {
                return;
            }
            let Some(said) = self.changes.pop_front() else { return };
            // Two words of this gate on one room, as after an outage: the later one counts.
            let own = |earlier: &&RoomChange| {
                earlier.room == said.room && !matches!(earlier.change, Change::Edition(_) | Change::Renew(_))
            };
            let last = batch.rooms.iter().rev().find(own).map(|earlier| earlier.revision);
            let revision = last
                .or(said.over)
                .unwrap_or_else(|| revision(&said.room))
                .saturating_add(1);
            batch.rooms.push(RoomChange {
                room: said.room.clone(),
                revision,
                change: said.change.clone(),
                who: said.who.clone(),
            });
            waiters.changes.push(Some((said, revision)));
        }
    }

    /// A few go with each batch, so that they do not delay joins without a code. A redeem whose request was given up has used
    /// no code.
    fn cut_redeems(&mut self, space: &mut Space, batch: &mut Batch, waiters: &mut Waiters) {
        while batch.redeems.len() < MAX_REDEEMS
            && let Some(next) = self.redeems.pop_front()
        {
            if next.answer.is_closed() {
                continue;
            }
            if !space.takes(REDEEM_BYTES + TAG_BYTES * next.redeem.tags.len()) {
                return self.redeems.push_front(next);
            }
            batch.redeems.push(next.redeem.clone());
            waiters.redeems.push(next);
        }
    }

    /// Lines with something to say, those behind the one last served first; no more than a batch could hold.
    fn turns(&self) -> Vec<LineKey> {
        let most = MAX_BATCH_BYTES / SECTION_BYTES;
        let Some(turn) = &self.turn else {
            return self.lines.keys().take(most).cloned().collect();
        };
        let behind = self.lines.range((Bound::Excluded(turn), Bound::Unbounded));
        let before = self.lines.range((Bound::Unbounded, Bound::Included(turn)));
        behind.chain(before).map(|(key, _)| key.clone()).take(most).collect()
    }
}

/// Most joins by codes in one batch.
const MAX_REDEEMS: usize = 128;

/// Most operator's changes waiting, the configured rooms of a start among them.
const MAX_CHANGES: usize = 4_096;

#[cfg(test)]
mod reported;
#[cfg(test)]
mod tests;
