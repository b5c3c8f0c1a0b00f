//! Collects what has come in since the last batch, each visitor's notes once, and cuts batches from it.
//!
//! Everything is bounded: joins by their permits, notes and changes by constants. A batch takes what fits under the log's limit,
//! lines by turns; the rest goes with the next.

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
    /// How often somebody has joined.
    arrivals: u64,
    changes: VecDeque<Changing>,
    /// Who joins by a code, in order of arrival.
    redeems: VecDeque<Redeeming>,
    /// Editions that tokens proved, the highest of each room.
    editions: BTreeMap<RoomName, Edition>,
    /// What the gate saw of its upstream last, for each room that goes by it.
    load: Reports,
    /// Notes in all lines.
    notes: usize,
    /// Behind whatever is of the line last served; the next batch starts there, and has people before virtual visitors.
    turn: Option<LineKey>,
    /// Somebody waits, or a slot may come free: what is here should go at once.
    urgent: bool,
}

impl Collector {
    pub fn is_empty(&self) -> bool {
        !self.keeps_company() && self.load.is_empty()
    }

    /// True when there is more than reports of nothing: those go with whatever is said next.
    pub fn keeps_company(&self) -> bool {
        let idle = self.lines.is_empty() && self.changes.is_empty() && self.editions.is_empty();
        !idle || !self.redeems.is_empty() || self.load.tell()
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

    /// Of those whom a batch numbered, each behind somebody who gave up and asked again goes with the next batch too: so
    /// nobody stands before who came first. Whoever waits goes on waiting.
    pub fn take_back(&mut self, joins: &mut [Vec<Newcomer>], joined: &[Joined]) {
        for (newcomers, joined) in joins.iter_mut().zip(joined) {
            let line = (joined.room.clone(), joined.line.clone(), None);
            if let (Some(work), Some(_)) = (self.lines.get_mut(&line), joined.first) {
                work.joiners.take_back(joined.lane, newcomers);
            }
        }
    }

    /// Bounded by the permits of those who wait.
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

    /// Takes what the gate saw.
    pub fn report(&mut self, reports: Vec<Reported>) {
        self.load.add(reports);
        self.urgent |= self.load.tell();
    }

    /// A genuine token is of an edition above the room's. It goes before whatever its visitor does.
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

    /// Takes what differs in the configured rooms, at most [`crate::room::MAX_ROOMS`] and as many that are gone. It goes
    /// before whatever an operator has said since the start: that is about rooms which the log may not have yet.
    pub fn configure(&mut self, changes: Vec<(RoomName, Change)>) {
        for (room, change) in changes.into_iter().rev() {
            self.changes.push_front(Changing::unasked(room, change));
            self.urgent = true;
        }
    }

    /// Takes what differs in rooms that are configured otherwise now, in the place of what was to be said of them.
    pub fn reconfigure(&mut self, changes: Vec<(RoomName, Change)>) {
        let about = |room: &RoomName| changes.iter().any(|(changed, _)| changed == room);
        self.changes.retain(|said| !said.is_of_file() || !about(&said.room));
        self.urgent |= !changes.is_empty();
        let changes = changes.into_iter();
        self.changes
            .extend(changes.map(|(room, change)| Changing::unasked(room, change)));
    }

    /// Whether something is still to be said of the configured rooms.
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

    /// A few with each batch, so that they keep nobody else. Whoever gave up has used no code.
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
