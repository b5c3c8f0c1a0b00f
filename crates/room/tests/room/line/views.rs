//! The request path's views: frames, places, estimates, and the parts that two views share.

use std::sync::Arc;

use ropeline_room::{
    Batch, CallOrder, Change, Estimate, LaneId, LineName, LineView, Mode, Number, Overrides, Root, Section, Settings,
    Wall,
};

use ropeline_room::testing::log::{LANE, Log, only, room, settings};

fn line(log: &mut Log) -> Arc<LineView> {
    Arc::clone(&log.state.view().rooms[&room()].lines[&LineName::ONLY])
}

/// Where a frame says that a place's visitor stands: present visitors ahead, exact or up to the run.
fn ahead_in_frame(view: &LineView, place: u64) -> (u64, u64) {
    let frame = view.frame(LANE);
    let offset = usize::try_from(place - frame.base).unwrap();
    let bit = |i: usize| frame.bits.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1);
    let exact = |to: usize| u64::try_from((0..to).filter(|i| bit(*i)).count()).unwrap();
    if offset < 4_096 {
        return (exact(offset), exact(offset));
    }
    let run = (offset - 4_096) / 4_096;
    let before: u64 = frame.counts[..run].iter().map(|count| u64::from(*count)).sum();
    (
        exact(4_096) + before,
        exact(4_096) + before + u64::from(frame.counts.get(run).copied().unwrap_or(0)),
    )
}

#[test]
fn everybody_finds_their_own_place_in_the_one_frame() {
    let mut log = Log::new(settings(0));
    let people = log.join(20_000);
    for i in (0..20_000).step_by(7) {
        log.leave(people[i]);
    }
    let view = line(&mut log);
    for i in [1, 2, 100, 4_094, 4_097, 5_000, 12_300, 19_998] {
        let ahead = log.ahead(people[i]).unwrap();
        let place = view.place(LANE, people[i]).unwrap();
        let (low, high) = ahead_in_frame(&view, place);
        assert!(low <= ahead && ahead <= high, "{i}: {ahead} in {low}..={high}");
        assert!(i >= 4_096 || low == high, "the front is exact");
    }
    let frame = view.frame(LANE);
    assert_eq!((frame.bits.len(), frame.counts.len(), frame.base % 64), (512, 4, 0));
    let counted: u32 = frame.bits.iter().map(|byte| byte.count_ones()).sum();
    let runs: u64 = frame.counts.iter().map(|count| u64::from(*count)).sum();
    assert_eq!(u64::from(counted) + runs, log.figures().waiting);
}

#[test]
fn a_frame_of_nobody_is_empty_and_one_beyond_reach_is_cut() {
    let mut log = Log::new(settings(0));
    let person = log.join(1)[0];
    log.leave(person);
    let frame = line(&mut log).frame(LANE);
    assert!(frame.bits.is_empty() && frame.counts.is_empty());
    assert!(line(&mut log).frame(LaneId(5)).bits.is_empty());
    log.join(1);
    log.mark(Number {
        epoch: ropeline_room::Epoch(77),
        n: 3,
    });
    let frame = line(&mut log).frame(LANE);
    assert_eq!(
        (frame.bits, frame.counts.len()),
        (vec![0b1000], 0),
        "the lost epoch lies far ahead of the present one"
    );
}

#[test]
fn places_rise_over_epochs_and_fit_a_browsers_numbers() {
    let mut log = Log::new(settings(0));
    let old = log.join(2)[1];
    log.state.begin(5_000, Root::Own);
    log.rejoin();
    let new = log.join(1)[0];
    let view = line(&mut log);
    let places = [old, new].map(|number| view.place(LANE, number).unwrap());
    assert!(places[0] < places[1] && places[1] < 1 << 53);
    assert_eq!(view.place(LANE, Number { n: 7, ..new }), None);
    assert_eq!(view.epochs(LANE), [old.epoch, new.epoch]);
}

/// Calls one visitor a second for a minute.
fn calling(settings: Settings, lanes: &[LaneId]) -> Log {
    let mut log = Log::new(Settings {
        rate_per_minute: Some(60),
        grace_ms: 4_000_000,
        ..settings
    });
    let joins = lanes.iter().map(|lane| (*lane, 1_000)).collect();
    let first = log.say(Section { joins, ..only() }).joined[0].first.unwrap();
    let marks = lanes.iter().flat_map(|lane| {
        (0..1_000).map(|n| {
            (
                *lane,
                Number {
                    n: first.n + n,
                    ..first
                },
            )
        })
    });
    log.say(Section {
        marks: marks.collect(),
        ..only()
    });
    log.pass(60_000);
    log
}

#[test]
fn an_estimate_comes_from_the_calls_of_late_and_the_people_ahead() {
    let mut log = calling(settings(1_000), &[LANE]);
    let view = line(&mut log);
    let now = log.now();
    let Some(Estimate { low_secs, high_secs }) = view.estimate(LANE, 99, now) else {
        panic!("none")
    };
    assert!(
        (75..=100).contains(&low_secs) && (100..=140).contains(&high_secs),
        "{low_secs} to {high_secs}"
    );
    assert_eq!(view.last_call(), Some(Wall(log.time)));
    log.change(Change::Override(Overrides {
        mode: Some(Mode::Hold),
        ..Overrides::default()
    }));
    assert_eq!(line(&mut log).estimate(LANE, 99, now), None, "nobody is being called");
}

#[test]
fn an_estimate_counts_the_other_lanes_turns_but_not_more_than_wait_there() {
    let weights = Settings {
        lane_weights: vec![1, 3],
        ..settings(10_000)
    };
    let mut log = calling(weights, &[LANE, LaneId(1)]);
    let view = line(&mut log);
    let low = |lane, ahead| view.estimate(lane, ahead, view.clock).map(|estimate| estimate.low_secs);
    assert!(
        low(LANE, 99).is_some_and(|secs| (330..=400).contains(&secs)),
        "{:?}",
        low(LANE, 99)
    );
    assert!(
        low(LaneId(1), 98).is_some_and(|secs| (105..=132).contains(&secs)),
        "{:?}",
        low(LaneId(1), 98)
    );
    let all = low(LANE, 899);
    assert!(
        all.is_some_and(|secs| secs <= 1_900),
        "no more than everybody who waits: {all:?}"
    );
}

/// A line of 200 from which a rate calls one a second, and an operator so many more, for 50 minutes. Says how many outcomes of told
/// intervals are known, and of 100 how many held.
fn with_orders(log: &mut Log, ordered: u32) -> (u64, u64) {
    log.join(200);
    for _ in 0..3_000 {
        log.apply(1_000, Batch::default());
        log.join(1 + ordered);
        if ordered > 0 {
            log.change(Change::Call(CallOrder {
                line: LineName::ONLY,
                lane: None,
                count: ordered,
                beyond: true,
            }));
        }
    }
    let told = line(log).told();
    let known = told.iter().map(|quarter| quarter.known).sum();
    let held: u64 = told.iter().map(|quarter| quarter.held).sum();
    (known, held * 100 / known)
}

#[test]
fn a_line_whose_intervals_do_not_hold_tells_no_estimate() {
    let rated = || {
        Log::new(Settings {
            rate_per_minute: Some(60),
            session_ms: 600_000,
            firm_within_ms: 4_000_000,
            grace_ms: 4_000_000,
            ..settings(1_000_000)
        })
    };
    let mut log = rated();
    let (known, percent) = with_orders(&mut log, 0);
    assert!(known >= 384 && percent >= 80, "{known} {percent}");
    let now = log.now();
    assert!(line(&mut log).estimate(LANE, 99, now).is_some());
    // No forecast knows of an operator's calls, so the waits are a fourth of those told.
    let mut log = rated();
    let (known, percent) = with_orders(&mut log, 3);
    assert!(known >= 384 && percent < 60, "{known} {percent}");
    let now = log.now();
    assert_eq!(line(&mut log).estimate(LANE, 99, now), None);
}

#[test]
fn lines_that_nothing_happened_to_are_shared_between_views() {
    let mut log = Log::new(settings(1));
    let named = |name: &str| Section::new(room(), LineName::new(name).unwrap());
    for name in ["a", "b"] {
        log.say(Section {
            joins: vec![(LANE, 5)],
            ..named(name)
        });
    }
    let before = log.state.view();
    log.say(Section {
        joins: vec![(LANE, 5)],
        ..named("a")
    });
    let after = log.state.view();
    let same = |name: &str| {
        let name = LineName::new(name).unwrap();
        Arc::ptr_eq(&before.rooms[&room()].lines[&name], &after.rooms[&room()].lines[&name])
    };
    assert_eq!((same("a"), same("b")), (false, true));
    log.apply(250, Batch::default());
    let later = log.state.view();
    assert!(
        Arc::ptr_eq(&after.rooms[&room()], &later.rooms[&room()]),
        "time alone changes no room"
    );
}

#[test]
fn time_goes_on_faster_the_more_hangs_on_it() {
    let mut log = Log::new(settings(1));
    assert_eq!(log.state.tick_ms(), 4_800);
    let people = log.join(2);
    assert_eq!(log.state.tick_ms(), 250);
    log.leave(people[1]);
    assert_eq!(log.state.tick_ms(), 1_000);
    log.leave(people[0]);
    assert_eq!(log.state.tick_ms(), 4_800);
}
