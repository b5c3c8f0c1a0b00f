//! What is learnt of lanes whose visitors are known.

use super::*;
use crate::lane::record::Call;
use crate::settings::Settings;
use ropeline_ids::{Epoch, Wall};

const STEP_MS: u64 = 5_000;
const GRACE_STEPS: u64 = 48;

impl Queue {
    pub fn bytes(&self) -> usize {
        let cohorts = self.cohorts.capacity() * size_of::<Cohort>();
        let leaves = self.leaves.capacity() * size_of::<Rate>();
        cohorts + leaves + self.depths.capacity() * size_of::<Share>() + self.crowds.bytes()
    }
}

/// A lane and what is learnt of it.
struct Line {
    lane: Lane,
    queue: Queue,
    now: Clock,
}

impl Line {
    fn new() -> Self {
        let lane = Lane::new(Epoch(1), 0);
        let queue = Queue::new(&lane, true);
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
fn the_first_missed_are_expected_behind_the_grace_also_once_ages_before_it_are_known() {
    let mut line = Line::new();
    line.join(5_000);
    for _ in 0..GRACE_STEPS - 1 {
        line.step();
        line.leave(line.present() / 100);
    }
    let chances = line.queue.chances(GRACE_STEPS);
    let [before, behind] = [GRACE_STEPS / 2, GRACE_STEPS + 4].map(|age| chances[class(age)]);
    assert!(behind * 4 > before * 7, "{before} {behind}");
}

#[test]
fn those_who_join_as_far_back_as_others_leave_like_them() {
    let mut line = Line::new();
    line.join(100);
    line.step();
    line.join(5_000);
    for _ in 0..12 {
        line.step();
        line.leave(60);
    }
    // A newcomer, and one who joined at the front.
    line.join(1);
    line.step();
    let groups = line.queue.groups(STEP_MS, line.now);
    let (front, new) = (groups[0], groups[groups.len() - 1]);
    assert_eq!((front.present, new.present), (100, 1));
    assert!(front.factor < ONE && new.factor > ONE, "{groups:?}");
}

#[test]
fn those_who_waited_before_the_first_look_at_an_old_line_are_no_crowd() {
    let mut line = Line::new();
    line.join(500);
    for is_new in [true, false] {
        line.queue = Queue::new(&line.lane, is_new);
        line.look(0);
        assert_eq!(line.queue.crowds.is_empty(), !is_new);
        assert_eq!(line.present(), 500);
    }
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
    let groups = line.queue.groups(STEP_MS, line.now);
    assert_eq!(groups.iter().map(|group| group.came).sum::<u64>(), line.present());
    let ages: Vec<u64> = groups.iter().map(|group| group.age).collect();
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
    let before = [Lean::Fast, Lean::Slow].map(|lean| line.queue.doubt(lean));
    line.join(10_000);
    line.step();
    line.leave(99);
    line.step();
    // Before anybody has left, hardly anybody may.
    assert_eq!(before, [SURE / 4 + SURE, SURE / 4 + 4 * SURE]);
    let after = [Lean::Fast, Lean::Slow].map(|lean| line.queue.doubt(lean));
    assert_eq!(after, [SURE / 4 + SURE / 10; 2]);
}

#[test]
fn who_is_present_again_had_not_left() {
    let mut line = Line::new();
    line.join(1_000);
    line.step();
    let last = line.lane.epochs.next().0;
    line.leave(100);
    line.step();
    let left = line.left();
    (last - 100..last - 40).for_each(|place| line.lane.presence.mark(Place(place)));
    line.step();
    assert_eq!((left, line.left(), line.present()), (100, 40, 960));
    (last - 40..last).for_each(|place| line.lane.presence.mark(Place(place)));
    (0..5).for_each(|_| line.step());
    // The group is as one that nobody has left.
    let groups = line.queue.groups(STEP_MS, line.now);
    assert!(groups[7].present == 125 && groups[7].factor <= ONE, "{groups:?}");
    // More than ever left are back.
    undo(&mut line.queue.leaves, u64::MAX);
    assert_eq!(line.left(), 0);
}

#[test]
fn a_group_knows_how_many_came() {
    let mut line = Line::new();
    line.join(50);
    line.step();
    line.leave(20);
    line.step();
    let groups = line.queue.groups(STEP_MS, line.now);
    assert_eq!((groups[0].came, groups[0].present), (50, 30));
    line.call(10);
    line.step();
    let groups = line.queue.groups(STEP_MS, line.now);
    assert_eq!((groups[0].came, groups[0].present), (20, 20));
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
