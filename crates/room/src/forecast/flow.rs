//! The hours to come in mean numbers: holders of slots go on as chances say, free slots are called, and those called go the same way
//! (a renewal process in discrete time).
//!
//! Steps get longer further ahead, since a forecast of an hour need not know the second.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::forecast::ages::{ONE, SURE, class};
use crate::forecast::crowds::Kind;
use crate::forecast::queue::Group;
use crate::forecast::stays::{Chances, Lean};

/// One visitor, in the masses of a flow.
pub(crate) const MASS: u64 = 1 << 16;

/// Steps of one width, of two, and of four. Wider ones would be too slow: a slot is called once a step at most.
const FINE: usize = 128;
const COARSE: usize = 64;
const MIDDLE: usize = FINE + COARSE;
const WIDEST: u64 = 4;

/// From here on, 20 times a slot's time ahead, calls go on at the pace of the last steps. Steps are 16 wide, and then twice as wide each
/// time.
const STEADY: usize = MIDDLE + 256;
const LAST: usize = 128;
const FAR: u64 = 16;

/// Most steps of a forecast.
const STEPS: usize = STEADY + 5 * COARSE;

/// Visitors of one kind who hold slots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holders {
    /// Called visitors, by steps since the call.
    pub called: Vec<u64>,
    /// Active sessions, by steps of age.
    pub active: VecDeque<u64>,
}

/// The holders of slots now, and the calls that may be made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Start {
    /// By kind, as many as there are chances.
    pub holders: Vec<Holders>,
    /// Slots that become free in each step.
    pub due: VecDeque<u64>,
    pub capacity: u64,
    pub tokens: Option<Tokens>,
}

/// Calls that something else than slots allows, in masses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tokens {
    pub now: u64,
    pub step: u64,
}

/// One lane of a forecast.
#[derive(Clone, Debug)]
pub(crate) struct LaneFlow {
    groups: VecDeque<Moving>,
    /// The chance to leave in one step, by class of age.
    leaves: Vec<u64>,
    /// More or less leaving than these say, as a fraction.
    leaving: (u64, u64),
    weight: u64,
    /// Later arrivals who wait.
    later: u64,
    arrivals: Arrivals,
    passed: u64,
    /// Passed by the end of each step.
    pub curve: Vec<u64>,
}

/// How many come in a step, in parts of [`ONE`], and for how many steps they have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Arrivals {
    pub rate: u64,
    pub steps: u64,
}

/// A group of a lane on its way through the steps. `came` is how many joined, `mass` who is still present, `stands` how many of the
/// group's first members are not passed yet, and `stay` how many never leave.
#[derive(Clone, Copy, Debug)]
struct Moving {
    /// Halves of it that behave as crowds before.
    crowd: u64,
    is_untried: bool,
    came: u64,
    mass: u64,
    stands: u64,
    stay: u64,
    /// How many times as likely as the chances say the others leave, in parts of [`ONE`].
    haste: u64,
    age: u64,
    factor: u64,
}

/// When a step ends, in steps of the first width from the start.
pub(crate) fn end_of(step: usize) -> u64 {
    let count = |at: usize| u64::try_from(at).unwrap_or(u64::MAX);
    let end = |at: usize| count(at) + 1;
    let middle = count(FINE) + 2 * count(COARSE);
    let steady = middle + WIDEST * count(STEADY - MIDDLE);
    match step {
        0..FINE => end(step),
        FINE..MIDDLE => count(FINE) + 2 * end(step - FINE),
        MIDDLE..STEADY => middle + WIDEST * end(step - MIDDLE),
        STEADY.. => {
            let far = step - STEADY;
            let width = FAR << (far / COARSE);
            steady + (width - FAR) * count(COARSE) + width * end(far % COARSE)
        }
    }
}

/// A part of a mass.
fn part(mass: u64, of: u64, whole: u64) -> u64 {
    let part = u128::from(mass) * u128::from(of) / u128::from(whole.max(1));
    u64::try_from(part).unwrap_or(u64::MAX)
}

impl LaneFlow {
    pub fn new(groups: &[Group], leaves: Vec<u64>, weight: u64, arrivals: Arrivals) -> Self {
        let moving = |group: &Group| Moving {
            // Which is likelier is not known of a new crowd.
            crowd: if group.is_untried { 1 } else { group.kind.as_halves() },
            is_untried: group.is_untried,
            came: group.came * MASS,
            mass: group.present * MASS,
            stands: group.present * MASS,
            stay: 0,
            haste: ONE,
            age: group.age,
            factor: group.factor,
        };
        Self {
            groups: groups.iter().map(moving).collect(),
            leaves,
            leaving: (1, 1),
            weight: weight.max(1),
            later: 0,
            arrivals,
            passed: 0,
            curve: Vec::new(),
        }
    }

    /// The same lane as this forecast supposes: with more or less leaving by its doubt, so many who never leave, arrivals for so long,
    /// and new crowds that behave as the quicker visitors do, or as the slower.
    pub fn leaning(&self, lean: Lean, doubt: u64, [quicker, slower]: [Kind; 2]) -> Self {
        let mut lane = Self {
            arrivals: lean.arrivals(self.arrivals),
            leaving: lean.leaving(doubt),
            ..self.clone()
        };
        for group in &mut lane.groups {
            group.stay = lean.patient(group.mass, group.came);
            group.haste = part(ONE, group.mass, group.mass - group.stay);
        }
        for group in lane.groups.iter_mut().filter(|group| group.is_untried) {
            group.crowd = match lean {
                Lean::Likely => group.crowd,
                Lean::Fast => quicker.as_halves(),
                Lean::Slow => slower.as_halves(),
            };
        }
        lane
    }

    /// No further visitor is expected.
    pub fn is_closed(&self) -> bool {
        self.arrivals.rate == 0
    }

    fn waits(&self) -> bool {
        self.later > 0 || self.groups.iter().any(|group| group.mass > 0)
    }

    fn is_done(&self) -> bool {
        self.groups.is_empty()
    }

    /// A step of those in line, so wide and so far ahead.
    fn wait(&mut self, width: u64, at: u64) {
        let (times, by) = self.leaving;
        for group in &mut self.groups {
            group.age += width;
            let chance = self.leaves[class(group.age)] * group.factor / ONE * times / by;
            // The patient ones stay, so the others become fewer.
            let others = group.mass.saturating_sub(group.stay);
            let left = part(part(others, group.haste, ONE), (chance * width).min(SURE / 2), SURE);
            group.mass -= left.min(others);
        }
        // Arrivals go on for so many steps, and thin out behind them.
        let come = self.arrivals.rate * (MASS / ONE) * width;
        self.later += part(come, self.arrivals.steps, self.arrivals.steps.max(at + 1));
    }

    /// Calls so many, if there are as many; says how many of each kind.
    fn call(&mut self, calls: u64) -> Made {
        let mut left = calls;
        let mut made = Made::default();
        while let Some(first) = self.groups.front_mut() {
            if first.mass > left {
                let stands = part(first.stands, left, first.mass);
                first.stay -= part(first.stay, left, first.mass);
                first.mass -= left;
                first.stands -= stands;
                self.passed += stands;
                add(&mut made, first.crowd, left);
                return made;
            }
            left -= first.mass;
            add(&mut made, first.crowd, first.mass);
            self.passed += first.stands;
            self.groups.pop_front();
        }
        let later = left.min(self.later);
        self.later -= later;
        made[Kind::Stream.at()] += later;
        made
    }
}

/// Calls of each kind, in masses.
type Made = [u64; 2];

/// Calls of which so many halves are of crowds.
fn add(made: &mut Made, crowd: u64, calls: u64) {
    let of_crowds = calls * crowd / 2;
    made[Kind::Crowd.at()] += of_crowds;
    made[Kind::Stream.at()] += calls - of_crowds;
}

/// The holders of slots of one kind, and what they do.
#[derive(Debug)]
struct Party {
    chances: Chances,
    called: Vec<u64>,
    active: VecDeque<u64>,
}

/// The line on its way through the steps.
#[derive(Debug)]
pub(crate) struct Flow {
    /// One, or one of each kind.
    parties: Vec<Party>,
    due: VecDeque<u64>,
    capacity: u64,
    tokens: Option<Tokens>,
    width: u64,
}

impl Party {
    /// One step; returns how many slots become free at once, how many sessions end by a word, and how many fall idle.
    fn go_on(&mut self, at: u64) -> [u64; 3] {
        let mut free = 0;
        let mut came = 0;
        let last = self.called.len() - 1;
        for at in (0..=last).rev() {
            let mass = std::mem::take(&mut self.called[at]);
            let claims = part(mass, self.chances.claim[at], SURE);
            came += claims;
            match self.called.get_mut(at + 1) {
                Some(next) => *next = mass - claims,
                None => free += mass - claims,
            }
        }
        let level = self.chances.level_at(at);
        let (mut ends, mut idles) = (0, 0);
        for (age, mass) in self.active.iter_mut().enumerate() {
            let (Some(end), Some(idle)) = (self.chances.end.get(age), self.chances.idle.get(age)) else {
                free += std::mem::take(mass);
                continue;
            };
            let scale = |chance: u64| *mass * (chance * level / ONE).min(SURE * 7 / 16) / SURE;
            let (ended, fell) = (scale(*end), scale(*idle));
            (ends, idles) = (ends + ended, idles + fell);
            *mass -= ended + fell;
            // The last of a visitor, too small to go on.
            if *mass < MASS / 4_096 {
                ends += std::mem::take(mass);
            }
        }
        self.active.push_front(came);
        while self.active.back() == Some(&0) {
            self.active.pop_back();
        }
        [free, ends, idles]
    }

    /// From now on steps are twice as wide.
    fn widen(&mut self) {
        self.called = pairs(&self.called, |one, two| one + two).collect();
        self.active = pairs(self.active.make_contiguous(), |one, two| one + two).collect();
        self.chances.widen();
    }
}

impl Flow {
    /// The chances are those of each kind, or of all alike.
    pub fn new(start: Start, chances: Vec<Chances>) -> Self {
        let party = |(chances, holders): (Chances, Holders)| Party {
            chances,
            called: holders.called,
            active: holders.active,
        };
        Self {
            parties: chances.into_iter().zip(start.holders).map(party).collect(),
            due: start.due,
            capacity: start.capacity * MASS,
            tokens: start.tokens,
            width: 1,
        }
    }

    /// Works out the passed of each lane by the end of each step, until all have been, or the steps run out.
    pub fn run(mut self, lanes: &mut [LaneFlow]) {
        let mut held = self.held();
        let mut lately = 0;
        for step in 0..STEPS {
            if lanes.iter().all(LaneFlow::is_done) {
                return;
            }
            if step >= STEADY {
                self.go_steadily(step, lately, lanes);
                continue;
            }
            if step == FINE || step == MIDDLE {
                self.widen();
            }
            let at = end_of(step) - self.width;
            held = held.saturating_sub(self.go_on(at));
            for lane in lanes.iter_mut() {
                lane.wait(self.width, at);
            }
            let made = self.call(self.capacity.saturating_sub(held), lanes);
            held += made;
            lately += if step < STEADY - LAST { 0 } else { made };
            for lane in lanes.iter_mut() {
                lane.curve.push(lane.passed);
            }
        }
    }

    fn held(&self) -> u64 {
        let holders = self
            .parties
            .iter()
            .flat_map(|party| party.called.iter().chain(&party.active));
        holders.chain(&self.due).sum()
    }

    /// A far step: as many calls as in the last steps, and only those in line are followed.
    fn go_steadily(&self, step: usize, lately: u64, lanes: &mut [LaneFlow]) {
        let begin = end_of(step - 1);
        let width = end_of(step) - begin;
        let calls = part(lately, width, WIDEST * u64::try_from(LAST).unwrap_or(1));
        for lane in lanes.iter_mut() {
            lane.wait(width, begin);
        }
        share(lanes, calls - part(calls, self.recall(), SURE));
        for lane in lanes.iter_mut() {
            lane.curve.push(lane.passed);
        }
    }

    /// The chance of a call to be a second one.
    fn recall(&self) -> u64 {
        self.parties.first().map_or(0, |party| party.chances.recall)
    }

    /// Calls into free slots; says how many.
    fn call(&mut self, free: u64, lanes: &mut [LaneFlow]) -> u64 {
        let allowed = self.tokens.map_or(u64::MAX, |tokens| tokens.now + tokens.step);
        let calls = free.min(allowed);
        // Some are called a second time.
        let recall = self.recall();
        let first = share(lanes, calls - part(calls, recall, SURE));
        let last = self.parties.len() - 1;
        let mut made = 0;
        for (kind, first) in first.into_iter().enumerate() {
            let calls = first + part(first, recall, SURE);
            self.parties[kind.min(last)].called[0] += calls;
            made += calls;
        }
        if let Some(tokens) = &mut self.tokens {
            // A bucket holds no more than a step's, and the fraction of a token.
            tokens.now = (allowed - made.min(allowed)).min(MASS);
        }
        made
    }

    /// One step of the holders of slots; returns how many slots become free.
    fn go_on(&mut self, at: u64) -> u64 {
        let mut all = self.due.pop_front().unwrap_or(0);
        for at_party in 0..self.parties.len() {
            let party = &mut self.parties[at_party];
            let [free, ends, idles] = party.go_on(at);
            let (delay, idle_steps) = (party.chances.delay, party.chances.idle_steps);
            all += free + self.later(delay, ends) + self.later(idle_steps, idles);
        }
        all
    }

    /// Slots that become free so many steps later; those that do at once.
    fn later(&mut self, steps: u64, mass: u64) -> u64 {
        let steps = usize::try_from(steps / self.width).unwrap_or(0);
        if steps == 0 {
            return mass;
        }
        if self.due.len() < steps {
            self.due.resize(steps, 0);
        }
        self.due[steps - 1] += mass;
        0
    }

    /// From now on steps are twice as wide.
    fn widen(&mut self) {
        self.width *= 2;
        self.parties.iter_mut().for_each(Party::widen);
        self.due = pairs(self.due.make_contiguous(), |one, two| one + two).collect();
        if let Some(tokens) = &mut self.tokens {
            tokens.step *= 2;
        }
    }
}

/// Each two neighbours made one; the last one alone with nothing.
pub(crate) fn pairs(of: &[u64], join: impl Fn(u64, u64) -> u64) -> impl Iterator<Item = u64> {
    of.chunks(2)
        .map(move |pair| join(pair[0], pair.get(1).copied().unwrap_or(0)))
}

/// Calls so many, shared among the lanes by their weights; says how many of each kind.
fn share(lanes: &mut [LaneFlow], calls: u64) -> Made {
    let mut made = Made::default();
    // What an emptied lane leaves over is for the others.
    for _ in 0..=lanes.len() {
        let left = calls - made.iter().sum::<u64>();
        let weights: u64 = lanes.iter().filter(|lane| lane.waits()).map(|lane| lane.weight).sum();
        if left < MASS / 1_024 || weights == 0 {
            break;
        }
        for lane in lanes.iter_mut().filter(|lane| lane.waits()) {
            let [stream, crowd] = lane.call(part(left, lane.weight, weights));
            made = [made[0] + stream, made[1] + crowd];
        }
    }
    made
}
