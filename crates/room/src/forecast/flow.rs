//! The hours to come in mean numbers: holders of slots go on as chances say, free slots are called, and those called go the same way
//! (a renewal process in discrete time).
//!
//! Steps get longer the further ahead they lie, since a forecast of an hour need not know the second. So a forecast of half a day
//! costs little more than one of ten minutes.

use std::collections::VecDeque;

use crate::forecast::ages::{ONE, SURE, class};
use crate::forecast::queue::Group;
use crate::forecast::stays::Chances;

/// One visitor, in the masses of a flow.
pub(crate) const MASS: u64 = 1 << 16;

/// Steps of the first width, and of each further one, which is twice as wide.
const FINE: usize = 128;
const COARSE: usize = 64;

/// Most steps of a forecast.
const STEPS: usize = FINE + 6 * COARSE;

/// Of those in line so many do not leave, however long it takes: one in three.
const PATIENT: u64 = 3;

/// The holders of slots now, and the calls that may be made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Start {
    /// Called visitors, by steps since the call.
    pub called: Vec<u64>,
    /// Active sessions, by steps of age.
    pub active: VecDeque<u64>,
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
    weight: u64,
    /// Those who come later.
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

/// A group of a lane on its way: the present, those of the first who are not passed yet and of whom they are the rest, and those who
/// stay to the end.
#[derive(Clone, Copy, Debug)]
struct Moving {
    mass: u64,
    stands: u64,
    stay: u64,
    age: u64,
    factor: u64,
}

/// When a step ends, in steps of the first width from the start.
pub(crate) fn end_of(step: usize) -> u64 {
    let count = |at: usize| u64::try_from(at).unwrap_or(u64::MAX);
    let Some(beyond) = step.checked_sub(FINE) else {
        return count(step) + 1;
    };
    let width = 2_u64 << (beyond / COARSE);
    let begun = count(FINE) + (width - 2) * count(COARSE);
    begun + (count(beyond % COARSE) + 1) * width
}

/// A part of a mass.
fn part(mass: u64, of: u64, whole: u64) -> u64 {
    let part = u128::from(mass) * u128::from(of) / u128::from(whole.max(1));
    u64::try_from(part).unwrap_or(u64::MAX)
}

impl LaneFlow {
    pub fn new(groups: &[Group], leaves: Vec<u64>, weight: u64, arrivals: Arrivals) -> Self {
        let moving = |group: &Group| Moving {
            mass: group.present * MASS,
            stands: group.present * MASS,
            stay: group.present * MASS / PATIENT,
            age: group.age,
            factor: group.factor,
        };
        Self {
            groups: groups.iter().map(moving).collect(),
            leaves,
            weight: weight.max(1),
            later: 0,
            arrivals,
            passed: 0,
            curve: Vec::new(),
        }
    }

    fn waits(&self) -> bool {
        self.later > 0 || self.groups.iter().any(|group| group.mass > 0)
    }

    fn is_done(&self) -> bool {
        self.groups.is_empty()
    }

    /// A step of those in line, so wide and so far ahead; leaving is more or less likely by the fraction `lean`.
    fn wait(&mut self, width: u64, at: u64, lean: (u64, u64)) {
        for group in &mut self.groups {
            group.age += width;
            let chance = self.leaves[class(group.age)] * group.factor / ONE * lean.0 / lean.1;
            // Those who would leave become fewer.
            let able = group.mass.saturating_sub(group.stay) * PATIENT / (PATIENT - 1);
            let left = part(able, (chance * width).min(SURE / 2), SURE);
            group.mass = group.mass.saturating_sub(left);
        }
        // The longer visitors have come, the longer they will.
        let come = self.arrivals.rate * (MASS / ONE) * width;
        self.later += part(come, self.arrivals.steps, self.arrivals.steps + at + 1);
    }

    /// Calls so many, if there are as many; says how many.
    fn call(&mut self, calls: u64) -> u64 {
        let mut left = calls;
        while let Some(first) = self.groups.front_mut() {
            if first.mass > left {
                let stands = part(first.stands, left, first.mass);
                first.stay -= part(first.stay, left, first.mass);
                first.mass -= left;
                first.stands -= stands;
                self.passed += stands;
                return calls;
            }
            left -= first.mass;
            self.passed += first.stands;
            self.groups.pop_front();
        }
        let later = left.min(self.later);
        self.later -= later;
        calls - (left - later)
    }
}

/// The line on its way through the steps.
#[derive(Debug)]
pub(crate) struct Flow {
    chances: Chances,
    /// More or less leaving than the chances say, as a fraction.
    leaving: (u64, u64),
    called: Vec<u64>,
    active: VecDeque<u64>,
    due: VecDeque<u64>,
    capacity: u64,
    tokens: Option<Tokens>,
    width: u64,
}

impl Flow {
    pub fn new(start: Start, chances: Chances, leaving: (u64, u64)) -> Self {
        Self {
            chances,
            leaving,
            called: start.called,
            active: start.active,
            due: start.due,
            capacity: start.capacity * MASS,
            tokens: start.tokens,
            width: 1,
        }
    }

    /// Works out the passed of each lane by the end of each step, until all have been, or the steps run out.
    pub fn run(mut self, lanes: &mut [LaneFlow]) {
        let mut held = self.called.iter().chain(&self.active).chain(&self.due).sum::<u64>();
        for step in 0..STEPS {
            if lanes.iter().all(LaneFlow::is_done) {
                return;
            }
            if step >= FINE && (step - FINE).is_multiple_of(COARSE) {
                self.widen();
            }
            let at = end_of(step) - self.width;
            held = held.saturating_sub(self.go_on(at));
            for lane in lanes.iter_mut() {
                lane.wait(self.width, at, self.leaving);
            }
            held += self.call(self.capacity.saturating_sub(held), lanes);
            for lane in lanes.iter_mut() {
                lane.curve.push(lane.passed);
            }
        }
    }

    /// Calls into free slots; says how many.
    fn call(&mut self, free: u64, lanes: &mut [LaneFlow]) -> u64 {
        let allowed = self.tokens.map_or(u64::MAX, |tokens| tokens.now + tokens.step);
        let calls = free.min(allowed);
        // Some are called a second time.
        let recall = self.chances.recall;
        let first = share(lanes, calls - part(calls, recall, SURE));
        let made = first + part(first, recall, SURE);
        if let Some(tokens) = &mut self.tokens {
            // A bucket holds no more than a step's, and the fraction of a token.
            tokens.now = (allowed - made.min(allowed)).min(MASS);
        }
        self.called[0] += made;
        made
    }

    /// One step of those who hold slots; says how many become free.
    fn go_on(&mut self, at: u64) -> u64 {
        let level = self.chances.level_at(at);
        let mut free = self.due.pop_front().unwrap_or(0);
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
        free += self.later(self.chances.delay, ends);
        free += self.later(self.chances.idle_steps, idles);
        free
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
        self.called = pairs(&self.called, |one, two| one + two).collect();
        self.active = pairs(self.active.make_contiguous(), |one, two| one + two).collect();
        self.due = pairs(self.due.make_contiguous(), |one, two| one + two).collect();
        if let Some(tokens) = &mut self.tokens {
            tokens.step *= 2;
        }
        self.chances.widen();
    }
}

/// Each two neighbours made one; the last one alone with nothing.
pub(crate) fn pairs(of: &[u64], join: impl Fn(u64, u64) -> u64) -> impl Iterator<Item = u64> {
    of.chunks(2)
        .map(move |pair| join(pair[0], pair.get(1).copied().unwrap_or(0)))
}

/// Calls so many, shared among the lanes by their weights; says how many.
fn share(lanes: &mut [LaneFlow], calls: u64) -> u64 {
    let mut made = 0;
    // What an emptied lane leaves over is for the others.
    for _ in 0..=lanes.len() {
        let left = calls - made;
        let weights: u64 = lanes.iter().filter(|lane| lane.waits()).map(|lane| lane.weight).sum();
        if left < MASS / 1_024 || weights == 0 {
            break;
        }
        for lane in lanes.iter_mut().filter(|lane| lane.waits()) {
            made += lane.call(part(left, lane.weight, weights));
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::ages::CLASSES;

    fn lane_with(present: u64, weight: u64, leaving: u64) -> LaneFlow {
        let group = Group {
            present,
            age: 0,
            factor: ONE,
        };
        LaneFlow::new(&[group], vec![leaving; CLASSES], weight, Arrivals::default())
    }

    fn lane(present: u64) -> LaneFlow {
        lane_with(present, 1, 0)
    }

    /// A room whose slots are all held by active sessions.
    fn full(capacity: u64) -> Start {
        Start {
            called: vec![0],
            active: [capacity * MASS].into(),
            capacity,
            ..Start::default()
        }
    }

    fn empty(capacity: u64) -> Start {
        Start {
            called: vec![0],
            capacity,
            ..Start::default()
        }
    }

    /// How many have been passed by the end of each step.
    fn run<const N: usize>(start: Start, chances: Chances, mut lanes: [LaneFlow; N]) -> [Vec<u64>; N] {
        Flow::new(start, chances, (1, 1)).run(&mut lanes);
        lanes.map(|lane| lane.curve)
    }

    /// The step by whose end so many have been passed.
    fn when(curve: &[u64], passed: u64) -> u64 {
        end_of(curve.partition_point(|sum| *sum < passed * MASS))
    }

    #[test]
    fn steps_end_later_and_later_and_their_widths_double() {
        let mut end = 0;
        for step in 0..STEPS {
            let width = end_of(step) - end;
            let want = step.checked_sub(FINE).map_or(1, |beyond| 2 << (beyond / COARSE));
            assert_eq!(width, want, "{step}");
            end = end_of(step);
        }
        assert_eq!(end_of(0), 1);
        assert_eq!(end, 128 + 64 * (2 + 4 + 8 + 16 + 32 + 64));
    }

    #[test]
    fn two_neighbours_make_a_pair_and_the_last_one_stays_alone() {
        let sum = |of: &[u64]| pairs(of, |one, two| one + two).collect::<Vec<_>>();
        assert_eq!(sum(&[1, 2, 3, 4]), [3, 7]);
        assert_eq!(sum(&[1, 2, 3]), [3, 3]);
        assert!(sum(&[]).is_empty());
    }

    #[test]
    fn free_slots_are_called_into_at_once() {
        let [curve] = run(empty(10), Chances::steady(0), [lane(25)]);
        assert_eq!(curve[0], 10 * MASS);
        let [curve] = run(empty(10), Chances::steady(0), [lane(7)]);
        assert_eq!(curve, [7 * MASS]);
    }

    #[test]
    fn slots_are_freed_as_often_as_sessions_end() {
        // A slot is called into for a step, and then held for twenty in the mean.
        let [curve] = run(full(100), Chances::steady(SURE / 20), [lane(100_000)]);
        for step in [30, 100, 127, 140] {
            let want = 100 * MASS * end_of(step) / 21;
            assert!(curve[step].abs_diff(want) < want / 20, "{step}: {} {want}", curve[step]);
        }
    }

    #[test]
    fn a_place_is_passed_when_as_many_slots_were_freed() {
        let [curve] = run(full(100), Chances::steady(SURE / 20), [lane(400)]);
        for ahead in [50, 100, 399] {
            let want = ahead * 21 / 100;
            assert!(when(&curve, ahead).abs_diff(want) <= 1 + want / 20, "{ahead}");
        }
        assert_eq!(curve.last(), Some(&(400 * MASS)));
    }

    #[test]
    fn a_slot_that_is_due_is_called_into_at_its_step() {
        let start = Start {
            due: [0, 0, 0, 2 * MASS, 0, MASS].into(),
            capacity: 3,
            ..empty(3)
        };
        let [curve] = run(start, Chances::steady(0), [lane(10)]);
        let sums = [0, 0, 0, 2, 2, 3, 3].map(|count| count * MASS);
        assert_eq!(curve[..7], sums);
    }

    #[test]
    fn a_room_above_its_capacity_calls_only_once_it_is_below() {
        let start = Start {
            due: vec![MASS; 10].into(),
            ..empty(4)
        };
        let [curve] = run(start, Chances::steady(0), [lane(100)]);
        let sums = [0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 4].map(|count| count * MASS);
        assert_eq!(curve[..11], sums);
    }

    #[test]
    fn a_called_visitor_who_does_not_come_frees_the_slot() {
        let start = Start {
            called: vec![0; 3],
            ..empty(1)
        };
        let mut chances = Chances::steady(0);
        chances.claim = vec![0; 3];
        let [curve] = run(start, chances, [lane(3)]);
        assert_eq!(curve, [1, 1, 1, 2, 2, 2, 3].map(|count| count * MASS));
    }

    #[test]
    fn tokens_limit_calls_exactly() {
        let start = Start {
            tokens: Some(Tokens {
                now: 3 * MASS,
                step: MASS / 2,
            }),
            ..empty(1_000)
        };
        let [curve] = run(start, Chances::steady(0), [lane(100_000)]);
        let steps = (0..STEPS).take_while(|step| end_of(*step) < 1_990);
        for step in steps {
            assert_eq!(curve[step], 3 * MASS + end_of(step) * MASS / 2, "{step}");
        }
    }

    #[test]
    fn tokens_are_not_saved_up_while_the_room_is_full() {
        let start = Start {
            due: [vec![0; 49], vec![100 * MASS]].concat().into(),
            tokens: Some(Tokens { now: 0, step: MASS }),
            ..empty(100)
        };
        let [curve] = run(start, Chances::steady(0), [lane(1_000)]);
        assert_eq!([curve[48], curve[49], curve[50]], [0, 2 * MASS, 3 * MASS]);
    }

    #[test]
    fn second_calls_pass_nobody() {
        let start = |step| Start {
            tokens: Some(Tokens { now: 0, step }),
            ..empty(100_000)
        };
        let mut chances = Chances::steady(0);
        chances.recall = SURE / 4;
        let [all] = run(start(MASS), Chances::steady(0), [lane(1_000)]);
        let [first] = run(start(MASS), chances, [lane(1_000)]);
        // What a token leaves over is used in the next step.
        assert!(
            first[100] < all[100] * 82 / 100 && first[100] > all[100] * 3 / 4,
            "{}",
            first[100]
        );
    }

    #[test]
    fn lanes_pass_as_their_weights_say() {
        let lanes = [lane_with(10_000, 1, 0), lane_with(10_000, 3, 0)];
        let [one, three] = run(full(100), Chances::steady(SURE / 20), lanes);
        for step in [10, 100, 200] {
            assert!((one[step] * 3).abs_diff(three[step]) < MASS, "{step}");
        }
    }

    #[test]
    fn an_empty_lane_leaves_all_calls_to_the_other() {
        let [alone] = run(full(100), Chances::steady(SURE / 20), [lane(500)]);
        let lanes = [lane_with(0, 3, 0), lane_with(500, 1, 0)];
        let [none, other] = run(full(100), Chances::steady(SURE / 20), lanes);
        assert!(none.iter().all(|passed| *passed == 0));
        assert_eq!(other[..alone.len()], alone);
    }

    #[test]
    fn a_lane_that_is_emptied_leaves_its_calls_to_the_other() {
        let lanes = [lane_with(100, 3, 0), lane_with(1_000, 1, 0)];
        let [short, long] = run(full(100), Chances::steady(SURE / 20), lanes);
        let [alone] = run(full(100), Chances::steady(SURE / 20), [lane(1_100)]);
        for step in [60, 120] {
            assert_eq!(short[step], 100 * MASS);
            assert!((short[step] + long[step]).abs_diff(alone[step]) < MASS, "{step}");
        }
    }

    #[test]
    fn those_who_come_later_take_calls_of_other_lanes() {
        let quiet = [lane(0), lane(1_000)];
        let mut busy = quiet.clone();
        busy[0].arrivals = Arrivals {
            rate: 2 * ONE,
            steps: 10_000,
        };
        let [_, quiet] = run(full(100), Chances::steady(SURE / 20), quiet);
        let [later, busy] = run(full(100), Chances::steady(SURE / 20), busy);
        assert!(busy[100] < quiet[100] * 3 / 4, "{} {}", busy[100], quiet[100]);
        // They are not among those who wait now.
        assert!(later.iter().all(|passed| *passed == 0));
    }

    #[test]
    fn leaving_ahead_shortens_the_wait() {
        let with = |leaving| {
            let [curve] = run(full(100), Chances::steady(SURE / 20), [lane_with(1_000, 1, leaving)]);
            when(&curve, 800)
        };
        let waits = [0, SURE / 1_000, SURE / 100].map(with);
        assert!(waits.is_sorted_by(|more, less| more > less), "{waits:?}");
        // One of three stays, however long it takes.
        assert!(with(SURE / 2) * 3 >= waits[0] - 3, "{waits:?}");
    }

    #[test]
    fn no_mass_is_lost_or_made() {
        let mut chances = Chances::steady(SURE / 90);
        chances.claim = vec![SURE / 5; 7];
        chances.idle = vec![SURE / 70; 2_048];
        (chances.idle_steps, chances.delay, chances.recall) = (10, 3, SURE / 9);
        let start = Start {
            called: vec![MASS; 7],
            active: vec![MASS / 3; 90].into(),
            due: vec![MASS / 2; 40].into(),
            capacity: 60,
            tokens: None,
        };
        let mut flow = Flow::new(start, chances, (1, 1));
        let mut lanes = [lane_with(700, 2, SURE / 500), lane_with(3_000, 5, SURE / 300)];
        let held = |flow: &Flow| flow.called.iter().chain(&flow.active).chain(&flow.due).sum::<u64>();
        for step in 0..STEPS {
            if step >= FINE && (step - FINE).is_multiple_of(COARSE) {
                let before = held(&flow);
                flow.widen();
                assert_eq!(held(&flow), before, "{step}");
            }
            let before = held(&flow);
            let free = flow.go_on(end_of(step));
            assert_eq!(held(&flow) + free, before, "{step}");
            lanes.iter_mut().for_each(|lane| lane.wait(1, end_of(step), (1, 1)));
            let room = flow.capacity.saturating_sub(held(&flow));
            let made = flow.call(room, &mut lanes);
            assert!(made <= room, "{step}");
            assert_eq!(held(&flow) + free, before + made, "{step}");
            for (lane, present) in lanes.iter().zip([700, 3_000]) {
                let stands: u64 = lane.groups.iter().map(|group| group.stands).sum();
                assert_eq!(stands + lane.passed, present * MASS, "{step}");
            }
        }
        assert!(lanes.iter().all(LaneFlow::is_done));
    }

    #[test]
    fn the_largest_room_is_counted_without_overflow() {
        let most = u64::from(u32::MAX);
        let tokens = Tokens {
            now: most * MASS,
            step: most * MASS / 6,
        };
        for tokens in [None, Some(tokens)] {
            let start = Start { tokens, ..full(most) };
            let [curve] = run(start, Chances::steady(SURE * 15 / 16), [lane_with(most, 1, SURE)]);
            assert!(curve.is_sorted());
            assert_eq!(curve.last(), Some(&(most * MASS)));
        }
    }
}
