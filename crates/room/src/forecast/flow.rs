//! The hours to come, in mean numbers: who holds a slot goes on as chances say, what becomes free is called, and those called go
//! the same way (a renewal process in discrete time).

use std::collections::VecDeque;

use crate::forecast::ages::{ONE, SURE};
use crate::forecast::queue::Group;
use crate::forecast::stays::Chances;

/// One visitor, in the masses of a flow.
pub(crate) const MASS: u64 = 1 << 16;

/// Most steps that are worked out.
const STEPS: usize = 960;

/// Who holds a slot now, and what may become free.
#[derive(Clone, Debug, Default)]
pub(crate) struct Start {
    /// Called visitors, by steps since the call.
    pub called: Vec<u64>,
    /// Active sessions, by steps of age.
    pub active: VecDeque<u64>,
    /// Slots that become free in each step.
    pub due: Vec<u64>,
    pub capacity: u64,
    /// Calls that may be made now, and in each step, where something else than slots limits them.
    pub tokens: Option<(u64, u64)>,
}

/// A lane, as a flow takes it.
#[derive(Clone, Debug)]
pub(crate) struct LaneFlow {
    groups: VecDeque<Moving>,
    weight: u64,
    /// Those who come later.
    later: u64,
    arrivals: u64,
    /// Arrivals have gone on for so many steps.
    since: u64,
    passed: u64,
    /// Passed by the end of each step.
    pub curve: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Moving {
    /// Present, and how many of those present at first they stand for.
    mass: u64,
    stands: u64,
    age: u64,
    factor: u64,
    /// Of those present at first, who stay to the end.
    stay: u64,
}

impl LaneFlow {
    pub fn new(groups: &[Group], weight: u64, (arrivals, since): (u64, u64)) -> Self {
        let moving = |group: &Group| Moving {
            mass: group.present * MASS,
            stands: group.present * MASS,
            age: group.age,
            factor: group.factor,
            stay: group.present * MASS / 3,
        };
        Self {
            groups: groups.iter().map(moving).collect(),
            weight: weight.max(1),
            later: 0,
            arrivals,
            since,
            passed: 0,
            curve: Vec::new(),
        }
    }

    fn waiting(&self) -> u64 {
        self.groups.iter().map(|group| group.mass).sum::<u64>() + self.later
    }

    fn leave(&mut self, chances: &[u64], lean: (u64, u64)) {
        for group in &mut self.groups {
            group.age += 1;
            let chance = chances[crate::forecast::ages::class(group.age)];
            let chance = (chance * group.factor / ONE * lean.0 / lean.1).min(SURE / 2);
            // Those who would leave become fewer.
            let movable = group.mass.saturating_sub(group.stay) * 3 / 2;
            group.mass -= movable.min(group.mass) * chance / SURE;
        }
    }

    /// Calls so many, if there are as many; says how many.
    fn call(&mut self, calls: u64) -> u64 {
        let mut left = calls;
        while let Some(first) = self.groups.front_mut() {
            if first.mass <= left {
                left -= first.mass;
                self.passed += first.stands;
                self.groups.pop_front();
                continue;
            }
            if left == 0 {
                return calls;
            }
            let stands = u64::try_from(u128::from(first.stands) * u128::from(left) / u128::from(first.mass)).unwrap_or(0);
            first.mass -= left;
            first.stands -= stands;
            first.stay -= u64::try_from(u128::from(first.stay) * u128::from(left) / u128::from(first.mass + left)).unwrap_or(0);
            self.passed += stands;
            return calls;
        }
        let later = left.min(self.later);
        self.later -= later;
        calls - (left - later)
    }

    pub fn is_done(&self) -> bool {
        self.groups.is_empty()
    }
}

pub(crate) struct Flow<'a> {
    pub chances: &'a Chances,
    pub leaves: Vec<Vec<u64>>,
    /// Steps from falling idle to the end.
    pub idle_steps: usize,
    /// Leaving, times the first by the second.
    pub lean: (u64, u64),
    called: Vec<u64>,
    active: VecDeque<u64>,
    due: VecDeque<u64>,
    capacity: u64,
    tokens: Option<(u64, u64)>,
    /// The chance of a session that falls idle to be used again.
    back: u64,
}

impl<'a> Flow<'a> {
    pub fn new(start: &Start, chances: &'a Chances, leaves: Vec<Vec<u64>>, idle_steps: usize, lean: (u64, u64)) -> Self {
        Self {
            chances,
            leaves,
            idle_steps,
            lean,
            called: start.called.clone(),
            active: start.active.clone(),
            due: start.due.iter().copied().collect(),
            capacity: start.capacity * MASS,
            tokens: start.tokens.map(|(now, step)| (now, step)),
            back: chances.back.first().copied().unwrap_or(0),
        }
    }

    /// The passed of each lane by the end of each step, until all have been, or the steps run out.
    pub fn run(mut self, lanes: &mut [LaneFlow]) {
        let mut held = self.called.iter().chain(&self.active).chain(&self.due).sum::<u64>();
        for at in 0..STEPS {
            let at = u64::try_from(at).unwrap_or(0);
            if lanes.iter().all(LaneFlow::is_done) {
                return;
            }
            let free = self.step(self.level(at));
            held = held.saturating_sub(free);
            for (lane, leaves) in lanes.iter_mut().zip(&self.leaves) {
                lane.leave(leaves, self.lean);
                lane.later += lane.arrivals * (MASS / ONE) * lane.since / (lane.since + at + 1);
            }
            let tokens = match &mut self.tokens {
                Some((now, step)) => {
                    *now += *step;
                    *now
                }
                None => u64::MAX,
            };
            let calls = self.capacity.saturating_sub(held).min(tokens);
            let first = calls - calls * self.chances.recall / SURE;
            let made = share(lanes, first);
            let made = made + made * self.chances.recall / SURE;
            if let Some((now, _)) = &mut self.tokens {
                *now -= made.min(*now);
                *now = (*now).min(MASS);
            }
            held += made;
            self.called[0] += made;
            for lane in lanes.iter_mut() {
                lane.curve.push(lane.passed);
            }
        }
    }

    /// By how much more or less often sessions end in a step to come: as now, and the trend goes on for a while.
    fn level(&self, at: u64) -> u64 {
        let (level, trend) = self.chances.level;
        let hold = self.chances.hold.max(1);
        let at = at * 6 * hold / (at + 6 * hold);
        let level = if trend >= ONE {
            level + (trend - ONE) * at * 3 / (4 * hold)
        } else {
            level * ONE / (ONE + (ONE - trend) * at * 3 / (4 * hold))
        };
        level.clamp(ONE / 3, ONE * 3)
    }

    /// One step of those who hold slots; says how many become free.
    fn step(&mut self, level: u64) -> u64 {
        let mut free = self.due.pop_front().unwrap_or(0);
        let mut came = 0;
        let last = self.called.len() - 1;
        for at in (0..=last).rev() {
            let mass = std::mem::take(&mut self.called[at]);
            if mass == 0 {
                continue;
            }
            let claims = mass * self.chances.claim[at] / SURE;
            came += claims;
            if at == last {
                free += mass - claims;
            } else {
                self.called[at + 1] = mass - claims;
            }
        }
        let (mut ends, mut idles) = (0, 0);
        for (age, mass) in self.active.iter_mut().enumerate() {
            if *mass == 0 {
                continue;
            }
            let (Some(end), Some(idle)) = (self.chances.end.get(age), self.chances.idle.get(age)) else {
                free += std::mem::take(mass);
                continue;
            };
            let ended = *mass * end / SURE * level / ONE;
            let fell = *mass * idle / SURE * level / ONE;
            let fell = fell - fell * self.back / SURE;
            ends += ended;
            idles += fell;
            *mass -= (ended + fell).min(*mass);
            // What is left of a visitor, smaller than counts.
            if *mass < 4 {
                ends += std::mem::take(mass);
            }
        }
        self.active.push_front(came);
        while self.active.back() == Some(&0) {
            self.active.pop_back();
        }
        self.later(usize::try_from(self.chances.delay).unwrap_or(0), ends, &mut free);
        self.later(self.idle_steps, idles, &mut free);
        free
    }

    fn later(&mut self, steps: usize, mass: u64, free: &mut u64) {
        if steps == 0 {
            *free += mass;
            return;
        }
        if self.due.len() < steps {
            self.due.resize(steps, 0);
        }
        self.due[steps - 1] += mass;
    }
}

/// Calls so many, shared among the lanes by their weights; says how many.
fn share(lanes: &mut [LaneFlow], calls: u64) -> u64 {
    let mut made = 0;
    for _ in 0..=lanes.len() {
        let left = calls - made;
        let open: Vec<bool> = lanes.iter().map(|lane| lane.waiting() > 0).collect();
        let weights: u64 = lanes.iter().zip(&open).filter(|(_, open)| **open).map(|(lane, _)| lane.weight).sum();
        if left < 8 || weights == 0 {
            return made;
        }
        for (lane, _) in lanes.iter_mut().zip(&open).filter(|(_, open)| **open) {
            made += lane.call(left * lane.weight / weights);
        }
    }
    made
}
