//! A shop with a capacity cliff that moves, as `docs/reports/load-control-research.md` describes it.
//!
//! Requests are served by processor sharing over a number of workers; beyond ten times as many requests as workers the
//! work done falls, requests time out, and the work done for them is lost. Whole numbers only, and no clock: the caller
//! says when it is. A request costs the logarithm of those under way.

use std::collections::{BTreeSet, VecDeque};

/// The capacity of a shop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cliff {
    /// Requests that are served side by side at full speed, in thousandths of a worker; 0 is a shop that is down.
    pub workers_milli: u64,
    /// Above this many requests for each worker the work done falls.
    pub knee: u64,
    /// The lowest value that it falls to, in thousandths of the workers' capacity.
    pub floor_permille: u64,
    /// Requests under way at most; one more fails at once.
    pub most: usize,
    /// A request that has been there for so long fails.
    pub timeout_us: u64,
}

impl Default for Cliff {
    /// Twelve workers, and the other figures of `docs/reports/load-control-research.md`.
    fn default() -> Self {
        Self {
            workers_milli: 12_000,
            knee: 10,
            floor_permille: 500,
            most: 2_000,
            timeout_us: 10_000_000,
        }
    }
}

/// A request that is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    pub id: u64,
    /// When it came, and when it was over.
    pub from_us: u64,
    pub at_us: u64,
    pub answered: bool,
}

/// A shop with the requests under way in it.
#[derive(Debug)]
pub struct Shop {
    cliff: Cliff,
    now_us: u64,
    /// How far each request under way has come since the shop began, in nanoseconds of work.
    served_ns: u64,
    /// The remainder in fractions of a nanosecond, by divisor.
    rest: u64,
    /// Requests by the work that everybody has had when they are done.
    due: BTreeSet<(u64, u64, u64)>,
    /// Requests in the order in which they came; those done may still stand here.
    came: VecDeque<(u64, u64, u64)>,
}

impl Shop {
    #[must_use]
    pub fn new(cliff: Cliff) -> Self {
        Self {
            cliff,
            now_us: 0,
            served_ns: 0,
            rest: 0,
            due: BTreeSet::new(),
            came: VecDeque::new(),
        }
    }

    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.due.len()
    }

    /// Requests under way that came until then, the oldest first: by whom, and when.
    pub fn since(&self, until_us: u64) -> impl Iterator<Item = (u64, u64)> {
        let late = self.came.iter().take_while(move |(.., from_us)| *from_us <= until_us);
        let under_way = late.filter(|came| self.due.contains(came));
        under_way.map(|(_, id, from_us)| (*id, *from_us))
    }

    /// The cliff moves; requests in a shop that goes down fail. Time has to have been advanced to that moment.
    pub fn move_to(&mut self, workers_milli: u64, over: &mut Vec<Done>) {
        self.cliff.workers_milli = workers_milli;
        self.rest = 0;
        if workers_milli == 0 {
            self.came.clear();
            for (_, id, from_us) in std::mem::take(&mut self.due) {
                over.push(self.done(id, from_us, false));
            }
        }
    }

    /// A request with this amount of work arrives; false if it fails at once.
    pub fn arrive(&mut self, id: u64, work_us: u64) -> bool {
        if self.cliff.workers_milli == 0 || self.due.len() >= self.cliff.most {
            return false;
        }
        let due = self.served_ns.saturating_add(work_us.max(1).saturating_mul(1_000));
        self.due.insert((due, id, self.now_us));
        self.came.push_back((due, id, self.now_us));
        self.rest = 0;
        true
    }

    /// When the next request is over, if none comes before.
    #[must_use]
    pub fn next_us(&self) -> Option<u64> {
        let first = self.due.first().map(|(due, ..)| {
            let (speed, parts) = self.speed();
            let missing = due.saturating_sub(self.served_ns).saturating_mul(parts);
            let ns = missing.saturating_sub(self.rest).div_ceil(speed.max(1));
            self.now_us.saturating_add(ns.div_ceil(1_000).max(1))
        });
        let oldest = self.came.iter().find(|came| self.due.contains(came));
        let late = oldest.map(|(.., from_us)| from_us.saturating_add(self.cliff.timeout_us));
        first.into_iter().chain(late).min()
    }

    /// Time passes; tells which requests are over meanwhile, in the order in which that came.
    pub fn advance(&mut self, to_us: u64, over: &mut Vec<Done>) {
        while let Some(next_us) = self.next_us().filter(|next_us| *next_us <= to_us) {
            self.pass(next_us);
            self.take_done(over);
            self.take_late(over);
        }
        self.pass(to_us);
    }

    fn pass(&mut self, to_us: u64) {
        let ns = to_us.saturating_sub(self.now_us).saturating_mul(1_000);
        self.now_us = self.now_us.max(to_us);
        if self.due.is_empty() {
            self.rest = 0;
            return;
        }
        let (speed, parts) = self.speed();
        let work = ns.saturating_mul(speed).saturating_add(self.rest);
        self.served_ns = self.served_ns.saturating_add(work / parts);
        self.rest = work % parts;
    }

    fn take_done(&mut self, over: &mut Vec<Done>) {
        while let Some((_, id, from_us)) = self.due.first().copied().filter(|(due, ..)| *due <= self.served_ns) {
            self.due.pop_first();
            self.rest = 0;
            over.push(self.done(id, from_us, true));
        }
    }

    /// Drops requests that have been there for too long, and the oldest finished ones.
    fn take_late(&mut self, over: &mut Vec<Done>) {
        while let Some(came) = self.came.front().copied() {
            let (.., id, from_us) = came;
            let under_way = self.due.contains(&came);
            if under_way && from_us.saturating_add(self.cliff.timeout_us) > self.now_us {
                return;
            }
            self.came.pop_front();
            if self.due.remove(&came) {
                self.rest = 0;
                over.push(self.done(id, from_us, false));
            }
        }
    }

    fn done(&self, id: u64, from_us: u64, answered: bool) -> Done {
        Done {
            id,
            from_us,
            at_us: self.now_us,
            answered,
        }
    }

    /// The speed of each request, as a fraction.
    fn speed(&self) -> (u64, u64) {
        let (workers, count) = (
            self.cliff.workers_milli,
            u64::try_from(self.due.len()).unwrap_or(u64::MAX),
        );
        let here = count.saturating_mul(1_000).max(1);
        if here <= workers {
            return (1, 1);
        }
        let knee = workers.saturating_mul(self.cliff.knee);
        let done_permille = (knee.saturating_mul(1_000) / here).clamp(self.cliff.floor_permille.min(1_000), 1_000);
        // Nanoseconds of a request's life times a million stay far below the range of 64 bits.
        let parts = workers.saturating_mul(done_permille).saturating_mul(1_000) / here;
        (parts.max(1), 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cliff(workers: u64) -> Cliff {
        Cliff {
            workers_milli: workers * 1_000,
            ..Cliff::default()
        }
    }

    /// Requests of 100 ms each, one every `every_us` microseconds for a minute: answered per second, and the slowest.
    fn run(workers: u64, every_us: u64) -> (usize, u64) {
        let (mut shop, mut over) = (Shop::new(cliff(workers)), Vec::new());
        for id in 0..60_000_000 / every_us {
            shop.advance(id * every_us, &mut over);
            shop.arrive(id, 100_000);
        }
        let answered = over.iter().filter(|done| done.answered);
        let slowest = answered.clone().map(|done| done.at_us - done.from_us).max();
        (answered.count() / 60, slowest.unwrap_or(0))
    }

    #[test]
    fn below_its_workers_a_request_takes_as_long_as_its_work() {
        let (answered, slowest) = run(10, 12_500);
        assert!(
            (79..=80).contains(&answered) && slowest <= 100_001,
            "{answered} {slowest}"
        );
    }

    #[test]
    fn beyond_the_cliff_less_is_answered_and_it_takes_far_longer() {
        let (full, _) = run(10, 10_100);
        let (over, slowest) = run(10, 5_000);
        assert!(full >= 97, "{full}");
        assert!(over * 10 < full * 6, "{over} of {full}");
        assert!(slowest > 3_000_000, "{slowest}");
    }

    #[test]
    fn requests_that_share_the_workers_share_them_evenly() {
        let (mut shop, mut over) = (Shop::new(cliff(1)), Vec::new());
        assert!(shop.arrive(1, 100_000) && shop.arrive(2, 100_000));
        shop.advance(199_000, &mut over);
        assert!(over.is_empty());
        shop.advance(201_000, &mut over);
        assert_eq!(over.len(), 2);
    }

    #[test]
    fn who_waits_too_long_fails_and_so_does_everybody_in_a_shop_that_goes_down() {
        let (mut shop, mut over) = (Shop::new(cliff(1)), Vec::new());
        assert!(shop.arrive(1, 20_000_000));
        shop.advance(10_000_000, &mut over);
        assert_eq!((over.len(), over[0].answered, over[0].at_us), (1, false, 10_000_000));
        assert!(shop.arrive(2, 1_000));
        shop.move_to(0, &mut over);
        assert_eq!((over.len(), over[1].answered), (2, false));
        assert!(!shop.arrive(3, 1) && shop.next_us().is_none());
    }

    #[test]
    fn one_more_than_the_most_fails_at_once() {
        let mut shop = Shop::new(Cliff { most: 2, ..cliff(1) });
        assert!(shop.arrive(1, 1) && shop.arrive(2, 1) && !shop.arrive(3, 1));
    }
}
