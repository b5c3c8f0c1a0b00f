//! The context of the entry under way: the clock, and the facts that apply to the whole log.

use std::sync::Arc;

use crate::codec::{Codec, Read, Reader, Writer};
use crate::entry::Entry;
use crate::lane::record::SLACK_MS;
use crate::settings::Settings;
use crate::state::past::Past;
use crate::state::roster::SILENCE_MS;
use ropeline_ids::{Clock, Epoch, LaneId, Number, Wall};

#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub clock: Clock,
    /// The entry's own time, for dates that people see.
    pub time: Wall,
    /// Milliseconds from the entry before to this one.
    pub silent_ms: u64,
    /// How long the store took to answer the entry's gate the last time.
    pub lag_ms: u64,
    /// The log was begun from nothing, and another may have been lost before it: visitors who are inside by passes of that
    /// one may come to any room. See [`Healing::suspect`](crate::recovery::healing::Healing::suspect).
    pub unproven: bool,
    /// No visitor is called before, not even by an operator: a gate brings an epoch back, or the rooms stand still. The end
    /// of time while the end is not known.
    pub barred_until: Clock,
    /// No horizon moves before: a gate fell silent, and its visitors could not check in.
    pub held_until: Clock,
    /// Up to this time the log has the notes of every gate of the roster.
    pub notes_until: Clock,
    /// When a gate was last heard that left the roster without a goodbye.
    pub fell_silent: Option<Clock>,
    /// The epoch that the entry under way brings back.
    pub adopts: Option<Epoch>,
    /// Numbers that this entry may still issue.
    pub joins_left: u32,
    /// Numbers that accounts gave up for better ones, until the effects take them.
    pub given_up: Vec<(LaneId, Number)>,
    pub past: Arc<Past>,
}

/// Most visitors that one entry numbers: a bound on memory, far above what a gate can receive between two batches.
const MAX_JOINS: u32 = 1 << 20;

/// Snapshots have the milliseconds here for which a log that proves nothing once waited.
const UNPROVEN: u64 = 5_000;

impl Context {
    /// Before the first entry of a log, or from a snapshot; the state computes the fields that apply until the next entry.
    pub fn new((clock, time): (Clock, Wall), unproven: bool, past: Arc<Past>) -> Self {
        Self {
            clock,
            time,
            silent_ms: 0,
            lag_ms: 0,
            unproven,
            barred_until: Clock(0),
            held_until: Clock(0),
            notes_until: Clock(0),
            fell_silent: None,
            adopts: None,
            joins_left: MAX_JOINS,
            given_up: Vec::new(),
            past,
        }
    }

    /// Advances to the next entry, `passed_ms` milliseconds after the last.
    pub fn go_on(&mut self, entry: &Entry, passed_ms: u64) {
        self.clock = self.clock.plus(passed_ms);
        self.time = entry.time;
        self.silent_ms = passed_ms;
        self.lag_ms = u64::from(entry.batch.lag_us / 1_000);
        self.joins_left = MAX_JOINS;
        self.given_up.clear();
    }

    /// The longest gap between two entries of a log in which visitors wait. Gates write four times a second then, and a slow store takes up
    /// to three answers for a gate's next entry. A longer gap means that the store was away.
    pub fn patience_ms(&self) -> u64 {
        1_000 + 3 * self.lag_ms.min(1_000)
    }

    /// What is due by then can be parked: gates stop forwarding [`SLACK_MS`] before, and until then the log has their notes. A
    /// gate that left silently may have forwarded requests until it did: as long as any of these may be less than `idle_after`
    /// ago, nothing is.
    pub fn parks_until(&self, settings: &Settings) -> Clock {
        let idle_ms = settings.active.map_or(0, |active| active.idle_after_ms);
        let may_act = |since: Clock| self.clock < since.plus(SILENCE_MS + idle_ms + SLACK_MS);
        if self.fell_silent.is_some_and(may_act) {
            return Clock(0);
        }
        self.notes_until.plus(SLACK_MS).min(self.clock)
    }

    pub fn is_barred(&self) -> bool {
        self.clock < self.barred_until
    }

    pub fn holds(&self) -> bool {
        self.clock < self.held_until
    }

    /// Notes that an unknown epoch exists.
    pub fn learn(&mut self, epoch: Epoch) {
        Arc::make_mut(&mut self.past).learn(epoch);
    }
}

/// Its state between two entries.
impl Codec for Context {
    fn write(&self, w: &mut Writer) {
        w.put(&(self.clock, self.time));
        w.put(&Clock(if self.unproven { UNPROVEN } else { 0 }));
        w.put(&self.past);
    }

    fn read(r: &mut Reader) -> Read<Self> {
        let at = r.get()?;
        let unproven = r.get::<Clock>()? != Clock(0);
        Ok(Self::new(at, unproven, r.get()?))
    }
}
