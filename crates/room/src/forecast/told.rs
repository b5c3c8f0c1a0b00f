//! How many of the told intervals held, by quarter of the line.
//!
//! Now and then the interval of one place in the middle of each quarter is noted. When calls pass that place, or the interval has ended
//! without, it is known whether it held. So a room knows what its estimates are worth while it tells them.

use std::collections::VecDeque;

use crate::forecast::errors::place;
use crate::lane::Lane;
use ropeline_ids::{Clock, Place};

/// Parts of a line, from the front.
pub const QUARTERS: usize = 4;

/// Intervals are noted so often at least, and so many times within a wait.
const OFTEN_MS: u64 = 30_000;
const IN_A_WAIT: u64 = 48;

/// Noted intervals of a quarter whose outcome does not count yet.
const OPEN: usize = 128;

/// Told of a quarter that count in full; with more of them old ones count less. An outcome is known only at the end of a wait, so a
/// few misses are mostly over when they are known.
const MEMORY: u32 = 256;

/// Estimates are told while so many of a hundred intervals of a line hold, or fewer outcomes than these are known.
const LEAST_PERCENT: u32 = 70;
const ENOUGH: u64 = 384;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Told {
    pub shares: Shares,
    /// By quarter, in the order of noting.
    open: [VecDeque<Open>; QUARTERS],
    due: Clock,
}

/// By quarter of the line, from the front.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Shares([EstimatesHeld; QUARTERS]);

/// What came of the intervals of one quarter of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EstimatesHeld {
    /// Intervals whose outcome is known, and how many of them held.
    pub known: u64,
    pub held: u64,
    /// The share that held lately, in millionths.
    lately: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Open {
    lane: usize,
    place: Place,
    at: Clock,
    low: u64,
    high: u64,
    holds: Option<bool>,
}

impl Open {
    fn settle(&mut self, lanes: &[Lane], now: Clock) {
        let waited = now.since(self.at);
        let passed = lanes.get(self.lane).is_none_or(|lane| lane.head() > self.place);
        if self.holds.is_none() && (passed || waited > self.high) {
            self.holds = Some((self.low..=self.high).contains(&waited));
        }
    }
}

impl EstimatesHeld {
    fn note(&mut self, holds: bool) {
        self.known = self.known.saturating_add(1);
        self.held += u64::from(holds);
        let weight = u32::try_from(self.known).unwrap_or(MEMORY).min(MEMORY);
        let now = if holds { 1_000_000 } else { 0 };
        self.lately = (self.lately * (weight - 1) + now) / weight;
    }

    /// Of 100 intervals how many held, of all; `None` while no outcome is known.
    #[must_use]
    pub fn percent(self) -> Option<u8> {
        let percent = self.held.saturating_mul(100).checked_div(self.known)?;
        u8::try_from(percent).ok()
    }

    /// Of 100 intervals how many held lately; `None` while no outcome is known.
    #[must_use]
    pub fn lately_percent(self) -> Option<u8> {
        let percent = u8::try_from(self.lately / 10_000).ok()?;
        (self.known > 0).then_some(percent)
    }

    /// Those of two lines together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let weight = |share: Self| u128::from(share.known) * u128::from(share.lately);
        let known = self.known.saturating_add(other.known);
        let lately = (weight(self) + weight(other)) / u128::from(known.max(1));
        Self {
            known,
            held: self.held.saturating_add(other.held),
            lately: u32::try_from(lately).unwrap_or(u32::MAX),
        }
    }
}

/// The quarter of a line of so many in which a visitor with so many ahead stands.
fn quarter(ahead: u64, waiting: u64) -> usize {
    let quarter = u128::from(ahead) * 4 / u128::from(waiting.max(1));
    usize::try_from(quarter).unwrap_or(QUARTERS).min(QUARTERS - 1)
}

impl Shares {
    /// Whether so many intervals hold, as far as is known. Quarters weigh alike, as they have equally many visitors. One answer for
    /// the whole line: a page works out waits between those of a few places.
    pub fn are_worth_telling(self) -> bool {
        let known = self.0.iter().filter(|quarter| quarter.known > 0);
        let count = u32::try_from(known.clone().count()).unwrap_or(1);
        let outcomes: u64 = known.clone().map(|quarter| quarter.known).sum();
        let lately: u32 = known.map(|quarter| quarter.lately).sum();
        outcomes < ENOUGH || lately >= LEAST_PERCENT * 10_000 * count
    }

    pub fn quarters(self) -> [EstimatesHeld; QUARTERS] {
        self.0
    }
}

impl Told {
    /// An operator changed something: what was told before is not held against the forecast.
    pub fn forget_open(&mut self) {
        self.open.iter_mut().for_each(VecDeque::clear);
    }

    pub fn settle(&mut self, lanes: &[Lane], now: Clock) {
        let Shares(shares) = &mut self.shares;
        for (open, share) in self.open.iter_mut().zip(shares) {
            for one in open.iter_mut() {
                one.settle(lanes, now);
            }
            // In the order of noting. Otherwise early misses would count first: a place that is passed too early is known sooner than one
            // whose interval holds.
            while let Some(holds) = open.front().and_then(|first| first.holds) {
                share.note(holds);
                open.pop_front();
            }
        }
    }

    pub fn is_due(&self, now: Clock) -> bool {
        now >= self.due
    }

    /// Notes the interval of one place of each quarter; `told` says it, in milliseconds, of a lane and so many ahead.
    pub fn note(&mut self, lanes: &[Lane], told: impl Fn(usize, u64) -> Option<(u64, u64)>, now: Clock) {
        let mut longest = 0;
        for (at, lane) in lanes.iter().enumerate() {
            let waiting = lane.presence.waiting();
            for quarter in 0..QUARTERS {
                let middle = waiting / 8 + waiting / 4 * u64::try_from(quarter).unwrap_or(0);
                let Some(place) = place(lane, middle) else { continue };
                let ahead = lane.presence.ahead(place);
                // A line of two has no four quarters.
                if self::quarter(ahead, waiting) != quarter {
                    continue;
                }
                let Some((low, high)) = told(at, ahead) else { continue };
                longest = longest.max(high);
                if self.open[quarter].len() < OPEN {
                    self.open[quarter].push_back(Open {
                        lane: at,
                        place,
                        at: now,
                        low,
                        high,
                        holds: None,
                    });
                }
            }
        }
        self.due = now.plus(OFTEN_MS.max(longest / IN_A_WAIT));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::record::Call;
    use crate::settings::Settings;
    use ropeline_ids::{Epoch, Wall};

    const NOW: Clock = Clock(1_000_000);

    impl Told {
        pub fn bytes(&self) -> usize {
            let open = self.open.iter().map(VecDeque::capacity);
            open.sum::<usize>() * size_of::<Open>()
        }
    }

    /// A lane in which one visitor is called in each second, and what is noted of it.
    struct Line {
        lane: Lane,
        told: Told,
        now: Clock,
    }

    impl Line {
        fn new(waiting: u32) -> Self {
            let mut lane = Lane::new(Epoch(1), 0);
            lane.issue(waiting, &Settings::default(), NOW);
            Self {
                lane,
                told: Told::default(),
                now: NOW,
            }
        }

        /// Notes intervals that are `told`, by the true wait, then goes on for so many seconds.
        fn go_on(&mut self, seconds: u64, told: impl Fn(u64) -> Option<(u64, u64)>) {
            let lanes = std::slice::from_ref(&self.lane);
            self.told.note(lanes, |_, ahead| told(ahead * 1_000), self.now);
            let call = Call {
                deadline: self.now,
                at: Wall(0),
                count: 1,
                back: false,
            };
            for _ in 0..seconds {
                self.now = self.now.plus(1_000);
                self.lane.call(call, &Settings::default(), self.now);
                self.told.settle(std::slice::from_ref(&self.lane), self.now);
            }
        }

        fn quarters(&self) -> [(u64, u64); QUARTERS] {
            self.told.shares.quarters().map(|share| (share.known, share.held))
        }
    }

    #[test]
    fn an_interval_with_the_true_wait_in_it_holds_in_each_quarter() {
        let mut line = Line::new(800);
        line.go_on(800, |wait| Some((wait * 9 / 10, wait * 11 / 10 + 1_000)));
        assert_eq!(line.quarters(), [(1, 1); QUARTERS]);
    }

    #[test]
    fn an_interval_that_is_too_early_or_too_late_does_not() {
        let mut line = Line::new(800);
        line.go_on(400, |wait| Some((0, wait / 2)));
        // None has been passed behind the middle, and all intervals are over.
        assert_eq!(line.quarters(), [(1, 0); QUARTERS]);
        let mut line = Line::new(800);
        line.go_on(800, |wait| Some((wait * 2, wait * 3)));
        assert_eq!(line.quarters(), [(1, 0); QUARTERS]);
    }

    #[test]
    fn outcomes_count_in_the_order_of_noting() {
        let mut line = Line::new(800);
        line.go_on(10, |wait| Some((wait * 9 / 10, wait * 11 / 10 + 1_000)));
        // Noted later and known at once.
        line.go_on(1, |_| Some((0, 0)));
        assert_eq!(line.quarters(), [(0, 0); QUARTERS]);
        line.go_on(789, |_| None);
        assert_eq!(line.quarters(), [(2, 1); QUARTERS]);
    }

    #[test]
    fn what_an_operator_changed_is_held_against_nobody() {
        let mut line = Line::new(800);
        line.go_on(0, |_| Some((0, 1)));
        line.told.forget_open();
        line.go_on(800, |_| None);
        assert_eq!(line.quarters(), [(0, 0); QUARTERS]);
    }

    #[test]
    fn longer_waits_are_noted_more_rarely_and_what_is_open_is_bounded() {
        let mut line = Line::new(800);
        line.go_on(0, |_| Some((0, 60_000)));
        assert!(!line.told.is_due(NOW.plus(29_999)) && line.told.is_due(NOW.plus(30_000)));
        line.go_on(0, |_| Some((0, 4_800_000)));
        assert!(!line.told.is_due(NOW.plus(99_999)) && line.told.is_due(NOW.plus(100_000)));
        (0..OPEN).for_each(|_| line.go_on(0, |_| Some((0, 60_000))));
        assert!(line.told.open.iter().all(|open| open.len() == OPEN));
    }

    #[test]
    fn estimates_are_told_until_they_are_known_to_be_worth_too_little() {
        let mut shares = Shares::default();
        let mut note = |count: u64, holds: fn(u64, usize) -> bool| {
            for at in 0..count {
                for (quarter, share) in shares.0.iter_mut().enumerate() {
                    share.note(holds(at, quarter));
                }
            }
            shares.are_worth_telling()
        };
        let all = u64::try_from(QUARTERS).unwrap();
        assert!(note(ENOUGH / all - 1, |_, _| false), "not enough is known");
        assert!(!note(1, |_, _| false));
        assert!(note(2 * u64::from(MEMORY), |_, _| true), "it has become better");
        assert!(note(20, |_, _| false), "a few misses");
        assert!(!note(3 * u64::from(MEMORY), |at, _| at % 10 < 6), "six of ten");
        assert!(
            note(3 * u64::from(MEMORY), |_, quarter| quarter > 0),
            "three quarters of four"
        );
    }

    #[test]
    fn lines_together_weigh_by_what_is_known() {
        let share = |known: u64, right: u64| {
            let mut share = EstimatesHeld::default();
            (0..known).for_each(|at| share.note(at < right));
            share
        };
        let both = share(100, 100).plus(share(300, 0));
        assert_eq!((both.percent(), both.lately_percent()), (Some(25), Some(25)));
        let none = EstimatesHeld::default();
        assert_eq!((none.plus(none).percent(), none.lately_percent()), (None, None));
        assert_eq!(share(9, 9).plus(none).lately_percent(), Some(100));
    }

    #[test]
    fn a_line_of_a_few_has_not_all_quarters() {
        let mut line = Line::new(3);
        line.go_on(0, |_| Some((0, 60_000)));
        let open: Vec<usize> = line.told.open.iter().map(VecDeque::len).collect();
        assert_eq!(open, [1, 0, 0, 0]);
    }

    #[test]
    fn a_line_has_four_quarters() {
        let quarters = [0, 24, 25, 49, 50, 74, 75, 99, 100, u64::MAX].map(|ahead| quarter(ahead, 100));
        assert_eq!(quarters, [0, 0, 1, 1, 2, 2, 3, 3, 3, 3]);
        assert_eq!(quarter(0, 0), 0);
    }
}
