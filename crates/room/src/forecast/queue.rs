//! What a lane learns of its waiting visitors: how many leave, in cohorts by the time of the join, and how many arrive.

#[cfg(test)]
mod tests;

use crate::forecast::ages::{CLASSES, ONE, Rate, SURE, class};
use crate::forecast::crowds::{Crowds, Kind};
use crate::forecast::flow::Arrivals;
use crate::forecast::stays::Lean;
use crate::lane::Lane;
use ropeline_ids::{Clock, Place};

/// Most cohorts of a lane; the smallest neighbours are joined.
const COHORTS: usize = 64;

/// A crowd that comes in one step, and into how many cohorts it is cut.
const CROWD: u64 = 400;
const PARTS: u64 = 8;

/// Visitors who left, in parts of [`ONE`], that count in full; with more of them old ones fade.
const MANY: u64 = 2_048 * ONE;

/// Departures of each class that what is supposed of it weighs.
const SUPPOSED: u64 = 5;

/// Steps of the mean of arrivals: about two minutes.
const MEMORY: u64 = 24;
const LATELY: u64 = 6;

/// Visitors who joined one after another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cohort {
    pub from: Place,
    pub joined: Clock,
    /// The doubling of those ahead of it then.
    depth: u8,
    /// Present when first counted, and when last.
    came: u64,
    pub present: u64,
    share: Share,
    /// Counted once at least.
    known: bool,
}

/// Visitors who left, and how many were expected to, in parts of [`ONE`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Share {
    left: u64,
    expected: u64,
}

impl Share {
    /// Who is back had not left.
    fn note(&mut self, (left, back): (u64, u64), expected: u64, most: u64) {
        self.left = (self.left + left).saturating_sub(back);
        self.expected += expected;
        if self.left + self.expected > most {
            self.left -= self.left / 64;
            self.expected -= self.expected / 64;
        }
    }

    /// How many times as many leave as expected, in parts of [`ONE`]; before anything is known as many times as `prior` says.
    fn factor(self, prior: u64) -> u64 {
        (self.left + 8 * prior).saturating_mul(ONE) / (self.expected + 8 * ONE)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Queue {
    cohorts: Vec<Cohort>,
    /// By class of age.
    leaves: Vec<Rate>,
    /// By the number of visitors ahead at the join: departures, and how many were expected by age.
    depths: Vec<Share>,
    /// Places issued when last counted, and how many come in a step, in parts of [`ONE`].
    next: Place,
    arrivals: u64,
    /// The same of the last half minute.
    lately: u64,
    /// Steps that it is the mean of.
    steps: u64,
    /// Since when visitors come.
    since: Clock,
    /// Calls have passed the places below.
    head: Place,
    pub crowds: Crowds,
}

/// Takes so many departures back, those at the highest ages first: who is present again had not left.
fn undo(leaves: &mut [Rate], mut back: u64) {
    for rate in leaves.iter_mut().rev() {
        let part = back.min(rate.events);
        rate.events -= part;
        back -= part;
    }
}

/// Cohorts as a forecast takes them: who came and who is present, age in steps, and the factor of its chances to leave, in parts of [`ONE`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub kind: Kind,
    /// Of a crowd that is not known yet (see [`Crowds::is_untried`]).
    pub is_untried: bool,
    pub came: u64,
    pub present: u64,
    pub age: u64,
    pub factor: u64,
}

impl Queue {
    /// `is_new`: all waiting visitors have joined since the last look.
    pub fn new(lane: &Lane, is_new: bool) -> Self {
        Self {
            cohorts: Vec::new(),
            leaves: vec![Rate::default(); CLASSES],
            depths: vec![Share::default(); usize::from(DEPTHS)],
            next: if is_new {
                lane.epochs.start()
            } else {
                lane.epochs.next()
            },
            arrivals: 0,
            lately: 0,
            steps: 0,
            since: Clock(0),
            head: Place(0),
            crowds: Crowds::default(),
        }
    }

    pub fn watch(&mut self, lane: &Lane, (step_ms, grace_steps): (u64, u64), passed_ms: u64, now: Clock) {
        let passed = passed_ms.saturating_mul(ONE) / step_ms;
        let next = lane.epochs.next();
        // Places free before a new epoch are nobody's.
        let from = self.next.max(lane.epochs.start());
        let came = next.0.saturating_sub(from.0);
        let rate = came.saturating_mul(ONE * ONE).checked_div(passed);
        self.crowds
            .note(from..next, rate.unwrap_or(came.saturating_mul(ONE)), self.arrivals);
        if let Some(rate) = rate {
            self.note_arrivals(rate, now);
        }
        if self.cohorts.is_empty() {
            let lowest = lane.presence.lowest().unwrap_or(next);
            self.add(lane, lowest, next, now);
        } else if came > 0 {
            self.add(lane, self.next, next, now);
        }
        self.next = next;
        self.count(lane, (step_ms, grace_steps), passed, now);
        self.tidy(lane);
        self.fade();
    }

    /// Visitors in these places joined now. A crowd becomes several cohorts, since the one that calls are in teaches nothing.
    fn add(&mut self, lane: &Lane, from: Place, next: Place, now: Clock) {
        let crowd = next.0.saturating_sub(from.0);
        let parts = if crowd < CROWD { 1 } else { PARTS };
        self.cohorts.extend((0..parts).map(|part| {
            let from = Place(from.0 + crowd * part / parts);
            Cohort {
                from,
                joined: now,
                depth: depth(lane.presence.ahead(from)),
                came: 0,
                present: 0,
                share: Share::default(),
                known: false,
            }
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
        self.head = head;
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
                let back = present.saturating_sub(cohort.present) * ONE;
                rate.exposure += cohort.present * passed;
                rate.events += left;
                let expected = (cohort.present * passed).saturating_mul(chances[class]) / SURE;
                cohort.share.note((left, back), expected, 256 * ONE);
                self.depths[usize::from(cohort.depth)].note((left, back), expected, 2_048 * ONE);
                undo(&mut self.leaves[..=class], back);
            }
            if !cohort.known {
                cohort.came = present;
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
            let is_alike = |pair: &[Cohort]| self.crowds.kind(pair[0].from) == self.crowds.kind(pair[1].from);
            let pairs = self
                .cohorts
                .windows(2)
                .enumerate()
                .skip(1)
                .filter(|(_, pair)| is_alike(pair));
            let smallest = pairs.min_by_key(|(_, pair)| pair[0].present + pair[1].present);
            let Some((at, _)) = smallest else { return };
            let second = self.cohorts.remove(at + 1);
            let first = &mut self.cohorts[at];
            let all = (first.present + second.present).max(1);
            let later = second.joined.since(first.joined).saturating_mul(second.present) / all;
            first.joined = first.joined.plus(later);
            first.came += second.came;
            first.present += second.present;
            first.share.left += second.share.left;
            first.share.expected += second.share.expected;
        }
    }

    pub fn groups(&self, step_ms: u64, now: Clock) -> Vec<Group> {
        let group = |cohort: &Cohort| Group {
            kind: self.crowds.kind(cohort.from),
            is_untried: self.crowds.is_untried(cohort.from, self.head),
            // Of a cohort that calls are in, who was called did not leave.
            came: if cohort.from < self.head {
                cohort.present
            } else {
                cohort.came
            },
            present: cohort.present,
            age: now.since(cohort.joined) / step_ms,
            factor: cohort.share.factor(self.depths[usize::from(cohort.depth)].factor(ONE)),
        };
        self.cohorts.iter().map(group).collect()
    }

    /// How many come in a step, in parts of [`ONE`], and for how many steps they have.
    pub fn arrivals(&self, step_ms: u64, now: Clock) -> Arrivals {
        Arrivals {
            // A rush that is over does not go on, and one that falls goes on for a shorter time. More than lately came may be chance.
            rate: self.arrivals.min(
                self.lately
                    .saturating_add((self.lately.saturating_mul(ONE) / LATELY).isqrt()),
            ),
            steps: (now.since(self.since) / step_ms).saturating_mul(self.lately.min(self.arrivals))
                / self.arrivals.max(1),
        }
    }

    fn fade(&mut self) {
        let all = self.leaves.iter().map(|rate| rate.events).sum::<u64>();
        if all > MANY {
            self.leaves.iter_mut().for_each(|rate| rate.fade(128));
        }
    }

    /// By how much more or less may leave than the chances say, in parts of `SURE`. While few have left, hardly anybody may.
    pub fn doubt(&self, lean: Lean) -> u64 {
        let all = 1 + self.leaves.iter().map(|rate| rate.events).sum::<u64>() / ONE;
        let doubt = SURE / 4 + SURE / all.isqrt();
        match lean {
            Lean::Slow => doubt.max(SURE / 4 + 4 * SURE / all),
            Lean::Likely | Lean::Fast => doubt,
        }
    }

    /// The chance to leave in one step, by class of age. At ages that nobody has reached yet it falls as the age grows.
    pub fn chances(&self, grace_steps: u64) -> Vec<u64> {
        let missed = coarse(grace_steps * 3 / 4);
        let (mut last, mut with_missed) = (64, 0);
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
            if coarse == missed {
                with_missed = last * 2;
            }
            let prior = if (missed..missed + 2).contains(&coarse) {
                last.max(with_missed)
            } else {
                last - last / 16
            };
            last = all.chance(prior, SUPPOSED).max(1);
            chances[classes].fill(last);
        }
        chances
    }
}

/// Doublings of those ahead that are told apart.
const DEPTHS: u8 = 24;

fn depth(ahead: u64) -> u8 {
    let doublings = ahead.checked_ilog2().unwrap_or(0);
    u8::try_from(doublings).unwrap_or(DEPTHS).min(DEPTHS - 1)
}

/// Classes of age that are taken together.
const WIDE: usize = 4;

fn coarse(age: u64) -> usize {
    class(age) / WIDE
}
