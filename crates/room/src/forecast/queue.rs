//! What a lane learns of those who wait: in cohorts by when they joined, how many leave.

use crate::forecast::ages::{CLASSES, ONE, Rate, SURE, class};
use crate::forecast::flow::Arrivals;
use crate::lane::Lane;
use ropeline_ids::{Clock, Place};

/// Most cohorts of a lane; the smallest neighbours are joined.
const COHORTS: usize = 64;

/// Visitors who left, in parts of [`ONE`], that count in full; with more of them old ones fade.
const MANY: u64 = 2_048 * ONE;

/// Steps of the mean of arrivals: about two minutes.
const MEMORY: u64 = 24;

/// Visitors who joined one after another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cohort {
    pub from: Place,
    pub joined: Clock,
    /// Present when last counted.
    pub present: u64,
    /// Those who have left, and those who would have by their age, in parts of [`ONE`].
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
            steps: 0,
            since: Clock(0),
        }
    }

    pub fn watch(&mut self, lane: &Lane, (step_ms, grace_steps): (u64, u64), passed_ms: u64, now: Clock) {
        let passed = passed_ms.saturating_mul(ONE) / step_ms;
        let next = lane.epochs.next();
        let came = next.0.saturating_sub(self.next.0);
        if passed > 0 {
            self.note_arrivals(came.saturating_mul(ONE).saturating_mul(ONE) / passed, now);
        }
        if came > 0 || self.cohorts.is_empty() {
            let from = if self.cohorts.is_empty() { Place(0) } else { self.next };
            self.cohorts.push(Cohort {
                from,
                joined: now,
                present: 0,
                left: 0,
                expected: 0,
                known: false,
            });
        }
        self.next = next;
        self.count(lane, (step_ms, grace_steps), passed, now);
        self.tidy(lane);
        self.fade();
    }

    /// So many came in a step, in parts of [`ONE`].
    fn note_arrivals(&mut self, rate: u64, now: Clock) {
        self.steps = (self.steps + 1).min(MEMORY);
        self.arrivals = (self.arrivals * (self.steps - 1) + rate) / self.steps;
        if self.arrivals < ONE / 64 {
            (self.since, self.steps) = (now, 0);
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
                cohort.expected += cohort.present * passed * chance / SURE;
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
            rate: self.arrivals,
            steps: now.since(self.since) / step_ms,
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
