//! One room's requests, from when they are sent until their answer's head arrives.

use std::array;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::room::{Report, STEPS, Times, Visitor};
use crate::time;

use super::answering::Answering;
use super::under_way::{Hanging, MOST_OF_ONE, UnderWay};
use super::witnesses::{CELLS, ENOUGH, Met, Witnesses};

/// The results of a room's sessions since the last report. PERF: a few additions to counters that cores share.
#[derive(Debug)]
pub struct RoomMeter {
    times: [AtomicU32; STEPS],
    ended: AtomicU32,
    errors: AtomicU32,
    in_flight: AtomicU32,
    /// Requests measured in this report, by visitor, and whether one of them was answered: visitors share a cell by chance.
    looked: [AtomicU8; CELLS],
    /// When the latest answered request had been sent, by visitor; 0: none.
    answered_us: [AtomicU64; CELLS],
    /// Requests under way, measured or not: hanging ones weigh no more than failed ones.
    under_way: UnderWay,
    /// Visitors with a recent failure, and visitors with a late answer.
    failed: Witnesses,
    late: Witnesses,
    answering: Answering,
    /// An answer that takes this long is late, even before it has arrived and when its client is gone.
    late_us: u64,
}

/// Beside the count of requests: one of them was answered.
const ANSWERED: u8 = 0x80;

/// A request under way. Dropped before its end, it was given up by its client.
#[derive(Debug)]
pub struct Watched {
    meter: Arc<RoomMeter>,
    cell: usize,
    slot: usize,
    since: Duration,
    /// How long it takes is the shop's doing alone: it has no body that its client has yet to send.
    timed: bool,
    /// Its outcome counts. For a request that is not measured, only hanging and being answered count.
    looked_at: bool,
    /// Its outcome: whether it failed, or who gave it up.
    end: Option<End>,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Answered,
    Failed,
    ByClient,
}

impl RoomMeter {
    #[must_use]
    pub fn new(late_us: u64) -> Self {
        Self {
            times: array::from_fn(|_| AtomicU32::new(0)),
            ended: AtomicU32::new(0),
            errors: AtomicU32::new(0),
            in_flight: AtomicU32::new(0),
            looked: array::from_fn(|_| AtomicU8::new(0)),
            answered_us: array::from_fn(|_| AtomicU64::new(0)),
            under_way: UnderWay::default(),
            failed: Witnesses::default(),
            late: Witnesses::default(),
            answering: Answering::default(),
            late_us,
        }
    }

    /// Whether one for this bound would be the same.
    #[must_use]
    pub fn is_of(&self, late_us: u64) -> bool {
        self.late_us == late_us
    }

    /// A session's request is sent; `None` where enough of that visitor's are under way.
    #[must_use]
    pub fn watch(self: &Arc<Self>, visitor: &Visitor, timed: bool) -> Option<Watched> {
        let (cell, since) = (cell_of(visitor), time::uptime());
        let looked_at = self.looked[cell].load(Ordering::Relaxed) & !ANSWERED < MOST_OF_ONE;
        let slot = self.under_way.raise(cell, micros(since), timed, looked_at)?;
        self.looked[cell].fetch_add(u8::from(looked_at), Ordering::Relaxed);
        self.in_flight
            .fetch_add(u32::from(timed && looked_at), Ordering::Relaxed);
        Some(Watched {
            meter: Arc::clone(self),
            cell,
            slot,
            since,
            timed,
            looked_at,
            end: None,
        })
    }

    /// The report since the last one; span, load and whether the upstream can be reached are for the caller to add.
    pub fn take(&self) -> Report {
        self.take_at(micros(time::uptime()))
    }

    fn take_at(&self, now_us: u64) -> Report {
        let until_us = now_us.checked_sub(self.late_us);
        let hanging = until_us.map_or_else(Vec::new, |until_us| self.under_way.take_hanging(until_us));
        let others = hanging.iter().filter(|hangs| !hangs.looked_at).count();
        let in_flight = self.in_flight.load(Ordering::Relaxed);
        for hangs in hanging.iter().filter(|hangs| hangs.is_new) {
            self.note_late(now_us.saturating_sub(hangs.since_us), hangs.cell);
        }
        let mut seen: [u8; CELLS] = array::from_fn(|cell| self.looked[cell].swap(0, Ordering::Relaxed));
        let answered = seen.iter().filter(|looked| **looked & ANSWERED > 0).count();
        for hangs in &hanging {
            seen[hangs.cell] |= 1;
        }
        let looked_at = seen.iter().filter(|looked| **looked > 0).count();
        let late = self.late.turn();
        let mut times = array::from_fn(|step| self.times[step].swap(0, Ordering::Relaxed));
        let of_late = &mut times[Times::step(self.late_us)..];
        keep(of_late, late.believed(looked_at, of_late.iter().sum()));
        let errors = self.errors.swap(0, Ordering::Relaxed);
        Report {
            ended: self.ended.swap(0, Ordering::Relaxed),
            errors: self.failed.turn().believed(looked_at, errors),
            in_flight: in_flight.saturating_add(u32::try_from(others).unwrap_or(u32::MAX)),
            hanging: self.believed_to_hang(hanging, late),
            answered: u32::try_from(answered).unwrap_or(u32::MAX),
            times: Times::of(times),
            circuit: self.answering.circuit(now_us / 1_000),
            ..Report::default()
        }
    }

    /// Number of visitors whose requests are believed to hang: the number that must meet a late answer, or at least half of
    /// the visitors who were answered or hang since theirs was sent.
    fn believed_to_hang(&self, mut hanging: Vec<Hanging>, late: Met) -> u32 {
        // Of one visitor the request that was sent last counts: visitors answered since say more of the upstream now.
        hanging.sort_unstable_by_key(|hangs| (hangs.cell, std::cmp::Reverse(hangs.since_us)));
        hanging.dedup_by_key(|hangs| hangs.cell);
        let visitors = u32::try_from(hanging.len()).unwrap_or(u32::MAX);
        let by_many = visitors >= ENOUGH || late.is_met_by_many();
        let are_half = |hangs: &Hanging| {
            let since = self
                .answered_us
                .iter()
                .filter(|at_us| at_us.load(Ordering::Relaxed) > hangs.since_us);
            since.count() <= hanging.len()
        };
        let looks_for_it = |hangs: &Hanging| late.is_looked_for() && self.late.is_often(hangs.cell);
        let believed = hanging
            .iter()
            .filter(|hangs| (by_many && !looks_for_it(hangs)) || are_half(hangs));
        u32::try_from(believed.count()).unwrap_or(u32::MAX)
    }

    fn note_late(&self, took_us: u64, cell: usize) {
        self.times[Times::step(took_us)].fetch_add(1, Ordering::Relaxed);
        self.late.note(cell);
    }

    fn note_time(&self, took_us: u64, cell: usize) {
        let step = Times::step(took_us);
        if step >= Times::step(self.late_us) {
            return self.note_late(took_us, cell);
        }
        self.times[step].fetch_add(1, Ordering::Relaxed);
    }

    /// A request is over; `counted`: it was late already, and has been counted so.
    fn over(&self, watched: &Watched, counted: bool) {
        let now = time::uptime();
        let (cell, took_us, now_ms) = (
            watched.cell,
            micros(now.saturating_sub(watched.since)),
            micros(now) / 1_000,
        );
        let told = watched.looked_at && watched.timed && !counted;
        match watched.end {
            Some(End::Answered) => {
                self.looked[cell].fetch_or(ANSWERED, Ordering::Relaxed);
                self.answering.answered(now_ms);
                self.answered_us[cell].fetch_max(micros(watched.since), Ordering::Relaxed);
                if told {
                    self.note_time(took_us, cell);
                }
            }
            // A request that fails at once does not show how long requests take, and one that fails late counts by that.
            Some(End::Failed) if watched.looked_at => {
                self.errors.fetch_add(1, Ordering::Relaxed);
                self.failed.note(cell);
                self.answering.failed(cell, now_ms);
            }
            Some(End::Failed | End::ByClient) => return,
            // SECURITY: never a shorter time, or a stranger could make the shop look fast by giving up.
            None if !watched.timed || took_us < self.late_us => return,
            None if told => self.note_late(took_us, cell),
            None => {}
        }
        self.ended.fetch_add(u32::from(watched.looked_at), Ordering::Relaxed);
    }
}

/// Keeps at most this many of the times, the shorter ones first.
fn keep(times: &mut [u32], most: u32) {
    let mut left = most;
    for count in times {
        *count = (*count).min(left);
        left -= *count;
    }
}

/// Lines begin with the same numbers, so the line and the lane count too. PERF: without a hasher's set-up.
fn cell_of(visitor: &Visitor) -> usize {
    let spread = |hash: u32, byte: u8| hash.wrapping_mul(31).wrapping_add(byte.into());
    let line = visitor.line.as_str().bytes().fold(u32::from(visitor.lane.0), spread);
    visitor.number.n.wrapping_add(line.wrapping_mul(2_654_435_761)) as usize % CELLS
}

impl Watched {
    /// The head of the answer has arrived, or there will be none by the shop's fault; `None`: by the client's.
    pub fn over(mut self, failed: Option<bool>) {
        self.end = Some(match failed {
            Some(true) => End::Failed,
            Some(false) => End::Answered,
            None => End::ByClient,
        });
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let counted = self.meter.under_way.lower(self.cell, self.slot);
        self.meter
            .in_flight
            .fetch_sub(u32::from(self.timed && self.looked_at), Ordering::Relaxed);
        self.meter.over(self, counted);
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
