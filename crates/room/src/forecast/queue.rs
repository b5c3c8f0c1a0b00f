//! What a lane learns of its waiting visitors: how many leave, in cohorts by the time of the join, and how many arrive.

use crate::forecast::ages::{CLASSES, ONE, Rate, SURE, class};
use crate::forecast::flow::Arrivals;
use crate::lane::Lane;
use ropeline_ids::{Clock, Place};

/// Most cohorts of a lane; the smallest neighbours are joined.
const COHORTS: usize = 64;

/// A crowd that comes in one step, and into how many cohorts it is cut.
const CROWD: u64 = 400;
const PARTS: u64 = 8;

/// Visitors who left, in parts of [`ONE`], that count in full; with more of them old ones fade.
const MANY: u64 = 2_048 * ONE;

/// Steps of the mean of arrivals: about two minutes.
const MEMORY: u64 = 24;
const LATELY: u64 = 6;

/// Visitors who joined one after another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cohort {
    pub from: Place,
    pub joined: Clock,
    /// Present when last counted.
    pub present: u64,
    /// Members who left, and how many were expected to by their age, in parts of [`ONE`].
    left: u64,
    expected: u64,
    /// Counted once at least.
    known: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Queue {
    cohorts: Vec<Cohort>,
    /// By class of age.
    leaves: Vec<Rate>,
    /// Places issued when last counted, and how many come in a step, in parts of [`ONE`].
    next: Place,
    arrivals: u64,
    /// The same of the last half minute.
    lately: u64,
    /// Steps that it is the mean of.
    steps: u64,
    /// Since when visitors come.
    since: Clock,
}

/// Cohorts as a forecast takes them: present, age in steps, and the factor of its chances to leave, in parts of [`ONE`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub present: u64,
    pub age: u64,
    pub factor: u64,
}

impl Queue {
    pub fn new(lane: &Lane) -> Self {
        Self {
            cohorts: Vec::new(),
            leaves: vec![Rate::default(); CLASSES],
            next: lane.epochs.next(),
            arrivals: 0,
            lately: 0,
            steps: 0,
            since: Clock(0),
        }
    }

    pub fn watch(&mut self, lane: &Lane, (step_ms, grace_steps): (u64, u64), passed_ms: u64, now: Clock) {
        let passed = passed_ms.saturating_mul(ONE) / step_ms;
        let next = lane.epochs.next();
        // Places free before a new epoch are nobody's.
        let from = self.next.max(lane.epochs.start());
        let came = next.0.saturating_sub(from.0);
        if let Some(rate) = came.saturating_mul(ONE * ONE).checked_div(passed) {
            self.note_arrivals(rate, now);
        }
        if self.cohorts.is_empty() {
            let lowest = lane.presence.lowest().unwrap_or(next);
            self.add(lowest, next, now);
        } else if came > 0 {
            self.add(self.next, next, now);
        }
        self.next = next;
        self.count(lane, (step_ms, grace_steps), passed, now);
        self.tidy(lane);
        self.fade();
    }

    /// Visitors in these places joined now. A crowd becomes several cohorts, since the one that calls are in teaches nothing.
    fn add(&mut self, from: Place, next: Place, now: Clock) {
        let crowd = next.0.saturating_sub(from.0);
        let parts = if crowd < CROWD { 1 } else { PARTS };
        self.cohorts.extend((0..parts).map(|part| Cohort {
            from: Place(from.0 + crowd * part / parts),
            joined: now,
            present: 0,
            left: 0,
            expected: 0,
            known: false,
        }));
    }

    /// So many came in a step, in parts of [`ONE`].
    fn note_arrivals(&mut self, rate: u64, now: Clock) {
        if self.steps == 0 {
            self.since = now;
        }
        self.steps = (self.steps + 1).min(MEMORY);
        self.arrivals = (self.arrivals * (self.steps - 1) + rate) / self.steps;
        let steps = self.steps.min(LATELY);
        self.lately = (self.lately * (steps - 1) + rate) / steps;
        if self.arrivals < ONE / 64 {
            self.steps = 0;
        }
    }

    /// Counts who is present of each cohort.
    fn count(&mut self, lane: &Lane, (step_ms, grace_steps): (u64, u64), passed: u64, now: Clock) {
        let chances = self.chances(grace_steps);
        let head = lane.head();
        let ends = self
            .cohorts
            .iter()
            .skip(1)
            .map(|cohort| cohort.from)
            .chain([self.next])
            .collect::<Vec<_>>();
        let mut below = self
            .cohorts
            .first()
            .map_or(0, |cohort| lane.presence.ahead(cohort.from));
        for (cohort, end) in self.cohorts.iter_mut().zip(ends) {
            let until = lane.presence.ahead(end);
            let present = until - below;
            below = until;
            if cohort.known && cohort.from >= head {
                let class = class(now.since(cohort.joined) / step_ms);
                let rate = &mut self.leaves[class];
                let left = cohort.present.saturating_sub(present) * ONE;
                rate.exposure += cohort.present * passed;
                rate.events += left;
                let chance = chances[class];
                cohort.left += left;
                cohort.expected += (cohort.present * passed).saturating_mul(chance) / SURE;
                if cohort.left + cohort.expected > 256 * ONE {
                    cohort.left -= cohort.left / 64;
                    cohort.expected -= cohort.expected / 64;
                }
            }
            cohort.present = present;
            cohort.known = true;
        }
    }

    fn tidy(&mut self, lane: &Lane) {
        let horizon = lane.presence.lowest().unwrap_or(self.next);
        // Those before the first who waits are over.
        let over = self
            .cohorts
            .iter()
            .skip(1)
            .take_while(|cohort| cohort.from <= horizon)
            .count();
        self.cohorts.drain(..over);
        while self.cohorts.len() > COHORTS {
            let pairs = self.cohorts.windows(2).enumerate().skip(1);
            let smallest = pairs.min_by_key(|(_, pair)| pair[0].present + pair[1].present);
            let Some((at, _)) = smallest else { return };
            let second = self.cohorts.remove(at + 1);
            let first = &mut self.cohorts[at];
            let all = (first.present + second.present).max(1);
            let later = second.joined.since(first.joined).saturating_mul(second.present) / all;
            first.joined = first.joined.plus(later);
            first.present += second.present;
            first.left += second.left;
            first.expected += second.expected;
        }
    }

    pub fn groups(&self, step_ms: u64, now: Clock) -> Vec<Group> {
        let group = |cohort: &Cohort| Group {
            present: cohort.present,
            age: now.since(cohort.joined) / step_ms,
            factor: (cohort.left + 8 * ONE).saturating_mul(ONE) / (cohort.expected + 8 * ONE),
        };
        self.cohorts.iter().map(group).collect()
    }

    /// How many come in a step, in parts of [`ONE`], and for how many steps they have.
    pub fn arrivals(&self, step_ms: u64, now: Clock) -> Arrivals {
        Arrivals {
            // A rush that is over does not go on, and one that falls goes on for a shorter time.
            rate: self.arrivals.min(self.lately * 3 / 2),
            steps: now.since(self.since) / step_ms * self.lately.min(self.arrivals) / self.arrivals.max(1),
        }
    }

    fn fade(&mut self) {
        let all = self.leaves.iter().map(|rate| rate.events).sum::<u64>();
        if all > MANY {
            self.leaves.iter_mut().for_each(|rate| rate.fade(128));
        }
    }

    /// By how much more or less may leave than the chances say, in parts of `SURE`.
    pub fn doubt(&self) -> u64 {
        let all = self.leaves.iter().map(|rate| rate.events).sum::<u64>() / ONE;
        SURE / 4 + SURE / (all + 1).isqrt()
    }

    /// The chance to leave in one step, by class of age. At ages that nobody has reached yet it falls as the age grows.
    pub fn chances(&self, grace_steps: u64) -> Vec<u64> {
        let missed = coarse(grace_steps * 3 / 4);
        let mut last = 64;
        let mut chances = vec![0; CLASSES];
        for coarse in 0..CLASSES / WIDE {
            let classes = coarse * WIDE..(coarse + 1) * WIDE;
            let all = self.leaves[classes.clone()]
                .iter()
                .fold(Rate::default(), |sum, rate| Rate {
                    events: sum.events + rate.events,
                    exposure: sum.exposure + rate.exposure,
                });
            // Who closes the page is missed only after the grace: as many as say that they leave.
            let prior = if coarse == missed { last * 2 } else { last - last / 16 };
            last = all.chance(prior, 10).max(1);
            chances[classes].fill(last);
        }
        chances
    }
}

/// Classes of age that are taken together.
const WIDE: usize = 4;

fn coarse(age: u64) -> usize {
    class(age) / WIDE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::record::Call;
    use crate::settings::Settings;
    use ropeline_ids::{Epoch, Wall};

    const STEP_MS: u64 = 5_000;
    const GRACE_STEPS: u64 = 48;

    /// A lane and what is learnt of it.
    struct Line {
        lane: Lane,
        queue: Queue,
        now: Clock,
    }

    impl Line {
        fn new() -> Self {
            let lane = Lane::new(Epoch(1), 0);
            let queue = Queue::new(&lane);
            let now = Clock(1_000_000_000);
            let mut line = Self { lane, queue, now };
            line.look(0);
            line
        }

        fn join(&mut self, count: u32) {
            let settings = Settings::default();
            self.lane.issue(count, &settings, self.now).expect("numbers are left");
        }

        /// So many of the last in line leave.
        fn leave(&mut self, count: u64) {
            let next = self.lane.epochs.next();
            let mut place = next.0;
            for _ in 0..count {
                place -= 1;
                while !self.lane.presence.is_present(Place(place)) {
                    place -= 1;
                }
                self.lane.presence.void(&(Place(place)..Place(place + 1)));
            }
        }

        fn call(&mut self, count: u64) {
            let call = Call {
                deadline: self.now,
                at: Wall(0),
                count: 1,
                back: false,
            };
            for _ in 0..count {
                self.lane.call(call, &Settings::default(), self.now);
            }
        }

        fn step(&mut self) {
            self.now = self.now.plus(STEP_MS);
            self.look(STEP_MS);
        }

        fn look(&mut self, passed_ms: u64) {
            let steps = (STEP_MS, GRACE_STEPS);
            self.queue.watch(&self.lane, steps, passed_ms, self.now);
        }

        fn present(&self) -> u64 {
            let groups = self.queue.groups(STEP_MS, self.now);
            groups.iter().map(|group| group.present).sum()
        }

        fn left(&self) -> u64 {
            self.queue.leaves.iter().map(|rate| rate.events).sum::<u64>() / ONE
        }
    }

    #[test]
    fn groups_hold_all_who_wait_each_with_its_age() {
        let mut line = Line::new();
        line.join(30);
        line.step();
        line.step();
        line.join(20);
        line.step();
        line.leave(5);
        line.step();
        let groups = line.queue.groups(STEP_MS, line.now);
        let seen: Vec<_> = groups.iter().map(|group| (group.present, group.age)).collect();
        assert_eq!(seen, [(30, 3), (15, 1)]);
    }

    #[test]
    fn those_who_leave_are_counted_by_age_and_expected_to_go_on() {
        let mut line = Line::new();
        line.join(5_000);
        line.step();
        let before = line.queue.chances(GRACE_STEPS)[10];
        for _ in 0..15 {
            let gone = line.present() / 50;
            line.leave(gone);
            line.step();
        }
        assert_eq!(line.left(), 5_000 - line.present());
        let chances = line.queue.chances(GRACE_STEPS);
        assert!(before < SURE / 500);
        assert!((SURE / 55..SURE / 45).contains(&chances[10]), "{}", chances[10]);
        // At ages that nobody has reached it falls, but for those who are missed only after the grace.
        assert!(chances[90] < chances[50] && chances[20] < chances[15]);
        let missed = class(GRACE_STEPS * 3 / 4);
        assert!(chances[missed].abs_diff(chances[missed - WIDE] * 2) <= 2, "{chances:?}");
    }

    #[test]
    fn a_call_is_no_leave() {
        let mut line = Line::new();
        line.join(1_000);
        line.step();
        for _ in 0..10 {
            line.call(20);
            line.step();
        }
        assert_eq!((line.present(), line.left()), (800, 0));
    }

    #[test]
    fn a_cohort_that_leaves_more_than_others_is_known_for_it() {
        let mut line = Line::new();
        line.join(5_000);
        line.step();
        line.join(5_000);
        line.step();
        for _ in 0..12 {
            line.leave(60);
            line.step();
        }
        let groups = line.queue.groups(STEP_MS, line.now);
        assert!(groups[0].factor < ONE / 2, "{groups:?}");
        assert!(groups[groups.len() - 2].factor > ONE, "{groups:?}");
    }

    #[test]
    fn cohorts_are_bounded_and_lose_nobody() {
        let mut line = Line::new();
        for round in 0..300 {
            line.join(1 + round % 7);
            line.step();
            assert!(line.queue.cohorts.len() <= COHORTS);
            assert_eq!(line.present(), line.lane.presence.waiting());
        }
        let ages: Vec<u64> = line
            .queue
            .groups(STEP_MS, line.now)
            .iter()
            .map(|group| group.age)
            .collect();
        assert!(ages.is_sorted_by(|older, younger| older >= younger), "{ages:?}");
    }

    #[test]
    fn cohorts_that_were_called_are_forgotten() {
        let mut line = Line::new();
        for _ in 0..20 {
            line.join(10);
            line.step();
        }
        line.call(155);
        line.step();
        assert_eq!((line.present(), line.queue.cohorts.len()), (45, 5));
    }

    #[test]
    fn doubt_shrinks_with_those_who_left() {
        let mut line = Line::new();
        let before = line.queue.doubt();
        line.join(10_000);
        line.step();
        line.leave(99);
        line.step();
        assert_eq!(before, SURE / 4 + SURE);
        assert_eq!(line.queue.doubt(), SURE / 4 + SURE / 10);
    }

    #[test]
    fn arrivals_are_as_many_as_came_in_the_last_minutes() {
        let mut line = Line::new();
        for _ in 0..400 {
            line.join(10);
            line.step();
        }
        let Arrivals { rate, steps } = line.queue.arrivals(STEP_MS, line.now);
        assert!((ONE * 9..=ONE * 10).contains(&rate), "{rate}");
        assert!((395..=400).contains(&steps), "{steps}");
        (0..1_000).for_each(|_| line.step());
        let Arrivals { rate, steps } = line.queue.arrivals(STEP_MS, line.now);
        assert!(rate < ONE / 64, "{rate}");
        assert!(steps <= 30, "{steps}");
    }

    #[test]
    fn a_look_in_which_no_time_has_passed_says_nothing_of_arrivals() {
        let mut line = Line::new();
        line.join(1_000);
        line.look(0);
        assert_eq!(line.queue.arrivals(STEP_MS, line.now).rate, 0);
        assert_eq!(line.present(), 1_000);
    }

    #[test]
    fn places_before_a_new_epoch_are_no_arrivals() {
        let mut line = Line::new();
        line.join(10);
        line.step();
        let before = line.queue.arrivals(STEP_MS, line.now).rate;
        line.lane.begin(Epoch(2));
        line.join(10);
        line.step();
        let after = line.queue.arrivals(STEP_MS, line.now).rate;
        assert!(after < before * 2, "{before} {after}");
    }

    #[test]
    fn a_crowd_that_waited_for_a_week_unwatched_is_counted_without_overflow() {
        let mut line = Line::new();
        line.join(u32::MAX - 1);
        line.step();
        line.now = line.now.plus(7 * 24 * 3_600_000);
        line.look(7 * 24 * 3_600_000);
        line.step();
        assert_eq!(line.present(), u64::from(u32::MAX - 1));
    }
}
