//! Flows of rooms whose hours to come can be told by hand.

use super::*;
use crate::forecast::ages::CLASSES;

fn lane_with(present: u64, weight: u64, leaving: u64) -> LaneFlow {
    let group = Group {
        kind: Kind::Stream,
        is_untried: false,
        came: present,
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
    let active = [capacity * MASS].into();
    with(capacity, vec![0], active)
}

fn empty(capacity: u64) -> Start {
    with(capacity, vec![0], VecDeque::new())
}

/// A room with holders of one kind.
fn with(capacity: u64, called: Vec<u64>, active: VecDeque<u64>) -> Start {
    Start {
        holders: vec![Holders { called, active }],
        capacity,
        ..Start::default()
    }
}

/// How many have been passed by the end of each step.
fn run<const N: usize>(start: Start, chances: Chances, mut lanes: [LaneFlow; N]) -> [Vec<u64>; N] {
    Flow::new(start, vec![chances]).run(&mut lanes);
    lanes.map(|lane| lane.curve)
}

/// The step by whose end so many have been passed.
fn when(curve: &[u64], passed: u64) -> u64 {
    end_of(curve.partition_point(|sum| *sum < passed * MASS))
}

#[test]
fn steps_end_later_and_later_and_get_wider_twice() {
    let mut end = 0;
    for step in 0..STEPS {
        let width = end_of(step) - end;
        let want = match step {
            0..FINE => 1,
            FINE..MIDDLE => 2,
            MIDDLE..STEADY => WIDEST,
            STEADY.. => FAR << ((step - STEADY) / COARSE),
        };
        assert_eq!(width, want, "{step}");
        end = end_of(step);
    }
    assert_eq!(end_of(0), 1);
    assert_eq!(end, 128 + 64 * 2 + 256 * 4 + 64 * (16 + 32 + 64 + 128 + 256));
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
    let start = with(1, vec![0; 3], VecDeque::new());
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
        [Lean::Fast, Lean::Likely, Lean::Slow].map(|lean| {
            let lane = lane_with(1_000, 1, leaving).leaning(lean, SURE / 4, [Kind::Stream; 2]);
            let [curve] = run(full(100), Chances::steady(SURE / 20), [lane]);
            when(&curve, 800)
        })
    };
    let [all, some, many] = [0, SURE / 1_000, SURE / 100].map(with);
    assert_eq!(all, [all[0]; 3]);
    for (less, more) in all.iter().zip(&some).chain(some.iter().zip(&many)) {
        assert!(less > more, "{all:?} {some:?} {many:?}");
    }
    // So many stay, however long it takes.
    let [fast, likely, slow] = with(SURE / 2);
    let of = |wait: u64, by: u64| wait.abs_diff(all[0] * by / 30) <= 3;
    assert!(
        of(fast, 5) && of(likely, 12) && of(slow, 20),
        "{fast} {likely} {slow} {all:?}"
    );
}

#[test]
fn no_mass_is_lost_or_made() {
    let mut chances = Chances::steady(SURE / 90);
    chances.claim = vec![SURE / 5; 7];
    chances.idle = vec![SURE / 70; 2_048];
    (chances.idle_steps, chances.delay, chances.recall) = (10, 3, SURE / 9);
    let start = Start {
        due: vec![MASS / 2; 40].into(),
        ..with(60, vec![MASS; 7], vec![MASS / 3; 90].into())
    };
    let mut flow = Flow::new(start, vec![chances]);
    let mut lanes = [lane_with(700, 2, SURE / 500), lane_with(3_000, 5, SURE / 300)];
    let held = |flow: &Flow| flow.held();
    for step in 0..STEPS {
        if step >= FINE && (step - FINE).is_multiple_of(COARSE) {
            let before = held(&flow);
            flow.widen();
            assert_eq!(held(&flow), before, "{step}");
        }
        let before = held(&flow);
        let free = flow.go_on(end_of(step));
        assert_eq!(held(&flow) + free, before, "{step}");
        for lane in &mut lanes {
            lane.wait(1, end_of(step));
        }
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

#[test]
fn a_new_crowd_may_behave_as_the_quicker_visitors_or_as_the_slower() {
    let group = Group {
        kind: Kind::Crowd,
        is_untried: true,
        came: 10,
        present: 10,
        age: 0,
        factor: ONE,
    };
    let new = LaneFlow::new(&[group], vec![0; CLASSES], 1, Arrivals::default());
    let calls = |lean: Lean, by_slot: [Kind; 2]| {
        let [stream, crowd] = new.leaning(lean, 0, by_slot).call(10 * MASS);
        [stream / MASS, crowd / MASS]
    };
    let stays = [Kind::Stream, Kind::Crowd];
    assert_eq!(calls(Lean::Likely, stays), [5, 5]);
    assert_eq!(calls(Lean::Fast, stays), [10, 0]);
    assert_eq!(calls(Lean::Slow, stays), [0, 10]);
    let never_comes = [Kind::Crowd, Kind::Stream];
    assert_eq!(calls(Lean::Fast, never_comes), [0, 10]);
    // A crowd that is known behaves as it does.
    let group = Group {
        is_untried: false,
        ..group
    };
    let known = LaneFlow::new(&[group], vec![0; CLASSES], 1, Arrivals::default());
    assert_eq!(known.leaning(Lean::Fast, 0, stays).call(10 * MASS), [0, 10 * MASS]);
}
