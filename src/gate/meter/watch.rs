//! One room's requests, from when they are sent until their answer's head is here.

use std::array;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

use crate::room::{Report, STEPS, Times, Visitor};
use crate::time;

use super::witnesses::{CELLS, Witnesses};

/// What sessions of a room met since the last report. PERF: a few additions to counters that cores share.
#[derive(Debug)]
pub struct RoomMeter {
    times: [AtomicU32; STEPS],
    ended: AtomicU32,
    errors: AtomicU32,
    in_flight: AtomicU32,
    /// Requests looked at in this report, by whose they are: visitors share a cell by chance.
    looked: [AtomicU8; CELLS],
    /// Of them those under way, whichever report looked at them first: what hangs weighs no more than what fails.
    under_way: [AtomicU8; CELLS],
    /// Who met a failure of late, and who an answer that was late.
    failed: Witnesses,
    late: Witnesses,
    /// Whoever gives up after so long has found the shop slow.
    late_us: u64,
}

/// Requests of one visitor that are looked at in one report. SECURITY: one session that asks for what is slow, or fails,
/// weighs no more than a few others.
const MOST_OF_ONE: u8 = 4;

/// A request under way. Dropped before its end, it was given up by its client.
#[derive(Debug)]
pub struct Watched {
    meter: Arc<RoomMeter>,
    cell: usize,
    since: Duration,
    /// How long it takes is the shop's doing alone: it has no body that its client has yet to send.
    timed: bool,
    over: bool,
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
            under_way: array::from_fn(|_| AtomicU8::new(0)),
            failed: Witnesses::default(),
            late: Witnesses::default(),
            late_us,
        }
    }

    /// Whether one for this bound would be the same.
    #[must_use]
    pub fn is_of(&self, late_us: u64) -> bool {
        self.late_us == late_us
    }

    /// A session's request is sent; `None` where enough of that visitor's are looked at.
    #[must_use]
    pub fn watch(self: &Arc<Self>, visitor: &Visitor, timed: bool) -> Option<Watched> {
        let cell = cell_of(visitor);
        let counts = [&self.looked[cell], &self.under_way[cell]];
        if counts.iter().any(|count| count.load(Ordering::Relaxed) >= MOST_OF_ONE) {
            return None;
        }
        for count in counts {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.in_flight.fetch_add(u32::from(timed), Ordering::Relaxed);
        Some(Watched {
            meter: Arc::clone(self),
            cell,
            since: time::uptime(),
            timed,
            over: false,
        })
    }

    /// What was seen since the last time; span, load and circuit are for the caller to say.
    pub fn take(&self) -> Report {
        let looked = self.looked.iter().map(|cell| cell.swap(0, Ordering::Relaxed));
        let seen = looked.filter(|requests| *requests > 0).count();
        let mut times = array::from_fn(|step| self.times[step].swap(0, Ordering::Relaxed));
        let late = &mut times[Times::step(self.late_us)..];
        keep(late, self.late.believed(seen, late.iter().sum()));
        Report {
            ended: self.ended.swap(0, Ordering::Relaxed),
            errors: self.failed.believed(seen, self.errors.swap(0, Ordering::Relaxed)),
            in_flight: self.in_flight.load(Ordering::Relaxed),
            times: Times::of(times),
            ..Report::default()
        }
    }

    fn answered(&self, took_us: u64, cell: usize) {
        let step = Times::step(took_us);
        self.ended.fetch_add(1, Ordering::Relaxed);
        self.times[step].fetch_add(1, Ordering::Relaxed);
        if step >= Times::step(self.late_us) {
            self.late.note(cell);
        }
    }
}

/// Of these times so many are told, the shorter ones first.
fn keep(times: &mut [u32], most: u32) {
    let mut left = most;
    for count in times {
        *count = (*count).min(left);
        left -= *count;
    }
}

/// Lines begin their numbers alike: the line and the lane count too. PERF: without a hasher's set-up.
fn cell_of(visitor: &Visitor) -> usize {
    let spread = |hash: u32, byte: u8| hash.wrapping_mul(31).wrapping_add(byte.into());
    let line = visitor.line.as_str().bytes().fold(u32::from(visitor.lane.0), spread);
    visitor.number.n.wrapping_add(line.wrapping_mul(2_654_435_761)) as usize % CELLS
}

impl Watched {
    /// The head of the answer is here, or there will be none by the shop's fault; `None`: by the client's.
    pub fn over(mut self, failed: Option<bool>) {
        self.over = true;
        match failed {
            // What fails at once says nothing of how long requests take, and what fails late is told by that.
            Some(true) => {
                self.meter.ended.fetch_add(1, Ordering::Relaxed);
                self.meter.errors.fetch_add(1, Ordering::Relaxed);
                self.meter.failed.note(self.cell);
            }
            Some(false) if self.timed => self.meter.answered(self.took_us(), self.cell),
            Some(false) => {
                self.meter.ended.fetch_add(1, Ordering::Relaxed);
            }
            None => {}
        }
    }

    fn took_us(&self) -> u64 {
        let took = time::uptime().saturating_sub(self.since);
        u64::try_from(took.as_micros()).unwrap_or(u64::MAX)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.meter.under_way[self.cell].fetch_sub(1, Ordering::Relaxed);
        if !self.timed {
            return;
        }
        self.meter.in_flight.fetch_sub(1, Ordering::Relaxed);
        // SECURITY: never a shorter time, or a stranger could make the shop look fast by giving up.
        let took_us = self.took_us();
        if !self.over && took_us >= self.meter.late_us {
            self.meter.answered(took_us, self.cell);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::{LaneId, LineName, Number, RoomName};

    fn visitor(n: u32) -> Visitor {
        Visitor {
            room: RoomName::new("shop").unwrap(),
            line: LineName::ONLY,
            lane: LaneId(0),
            number: Number {
                era: crate::room::Era(1),
                n,
            },
            rehearsal: None,
        }
    }

    #[test]
    fn what_is_under_way_is_counted_until_its_answer_or_its_client_is_gone() {
        let meter = Arc::new(RoomMeter::new(u64::MAX));
        let watched: Vec<Watched> = (0..3).filter_map(|n| meter.watch(&visitor(n), true)).collect();
        assert_eq!(meter.take().in_flight, 3);
        let mut watched = watched.into_iter();
        watched.next().unwrap().over(Some(false));
        watched.next().unwrap().over(Some(true));
        drop(watched);
        let report = meter.take();
        assert_eq!((report.in_flight, report.ended, report.errors), (0, 2, 1));
        assert_eq!(report.times.total(), 1, "a failure is no time");
        assert_eq!(meter.take(), Report::default());
    }

    #[test]
    fn whoever_gives_up_late_has_found_the_shop_slow_and_early_says_nothing() {
        for (late_us, ended) in [(0, 1), (u64::MAX, 0)] {
            let meter = Arc::new(RoomMeter::new(late_us));
            drop(meter.watch(&visitor(1), true));
            assert_eq!(meter.take().ended, ended);
        }
    }

    #[test]
    fn a_body_that_its_client_sends_slowly_is_no_slow_shop() {
        let meter = Arc::new(RoomMeter::new(0));
        let watched = meter.watch(&visitor(1), false).unwrap();
        assert_eq!(meter.take().in_flight, 0);
        watched.over(Some(false));
        drop(meter.watch(&visitor(1), false));
        let report = meter.take();
        assert_eq!((report.ended, report.times.total()), (1, 0));
    }

    #[test]
    fn one_session_is_looked_at_a_few_times_in_each_report() {
        let meter = Arc::new(RoomMeter::new(0));
        for _ in 0..2 {
            for _ in 0..100 {
                if let Some(watched) = meter.watch(&visitor(7), true) {
                    watched.over(Some(true));
                }
            }
            meter.watch(&visitor(8), true).unwrap().over(Some(false));
            let report = meter.take();
            assert_eq!(
                (report.errors, report.ended),
                (MOST_OF_ONE.into(), u32::from(MOST_OF_ONE) + 1)
            );
        }
    }

    #[test]
    fn what_hangs_weighs_no_more_than_a_few_requests_however_long_it_does() {
        let meter = Arc::new(RoomMeter::new(3_000_000));
        let mut hanging = Vec::new();
        for _ in 0..30 {
            hanging.extend((0..10).filter_map(|_| meter.watch(&visitor(1), true)));
            assert_eq!(meter.take().in_flight, u32::from(MOST_OF_ONE));
        }
        hanging.clear();
        assert_eq!(meter.take().in_flight, 0);
        assert!(meter.watch(&visitor(1), true).is_some());
    }

    #[test]
    fn lines_that_begin_their_numbers_alike_are_all_looked_at() {
        let meter = Arc::new(RoomMeter::new(3_000_000));
        let first_of = |line: u32| Visitor {
            line: LineName::new(&format!("event-{line}")).unwrap(),
            ..visitor(1)
        };
        let looked = (0..500).filter_map(|line| meter.watch(&first_of(line), true)).count();
        assert!(looked > 300, "{looked}");
    }

    /// Three hundred reports in which thirty visitors are answered well twice and the first few of them meet something four times:
    /// how often that was told.
    fn told_where_some_meet(few: u32, late_us: u64, meets: impl Fn(Watched)) -> u64 {
        let (meter, mut told) = (Arc::new(RoomMeter::new(late_us)), 0);
        for _ in 0..300 {
            for n in 0..30 {
                (0..2).for_each(|_| meter.watch(&visitor(few + n), false).unwrap().over(Some(false)));
            }
            for n in 0..few {
                (0..4).for_each(|_| meets(meter.watch(&visitor(n), true).unwrap()));
            }
            let report = meter.take();
            assert_eq!(report.ended, 60 + 4 * few);
            told += u64::from(report.errors) + report.times.total();
        }
        told
    }

    #[test]
    fn a_page_that_fails_is_no_shop_that_fails_however_often_one_or_two_ask_for_it() {
        let fails = |few| told_where_some_meet(few, u64::MAX, |watched| watched.over(Some(true)));
        assert_eq!((fails(1), fails(2), fails(3)), (0, 0, 300 * 12));
    }

    #[test]
    fn a_page_that_takes_too_long_is_no_slow_shop_however_often_one_or_two_ask_for_it() {
        let late = |few| told_where_some_meet(few, 0, |watched| watched.over(Some(false)));
        assert_eq!((late(1), late(2), late(3)), (0, 0, 300 * 12));
        let given_up = |few| told_where_some_meet(few, 0, drop);
        assert_eq!((given_up(1), given_up(2), given_up(3)), (0, 0, 300 * 12));
    }
}
