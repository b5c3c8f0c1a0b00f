//! Load control: the calls that follow from figures, and equal decisions of all replicas.

mod faults;
mod hangs;

use proptest::prelude::*;
use ropeline_room::{
    Batch, Bounds, Change, Changed, Circuit, Controller, Effects, GateId, LineName, Linear, LoadControl, LoadView,
    Outside, Report, RoomChange, RoomName, Section, Settings, Times, Why,
};

use ropeline_room::testing::log::{LANE, Log, room, settings};

const CAPACITY: u32 = 1_000;

fn by(controller: Controller) -> Settings {
    Settings {
        load_control: Some(LoadControl::by(controller)),
        claim_deadline_ms: 60_000,
        grace_ms: 3_600_000,
        firm_within_ms: 1_800_000,
        ..settings(CAPACITY)
    }
}

pub fn linear() -> Settings {
    by(Controller::Linear(Linear::default()))
}

pub fn adaptive() -> Settings {
    by(Controller::Adaptive(Bounds::default()))
}

/// A gate's report of two seconds with this number of requests, their duration, and the number of failed ones.
pub fn report(requests: u32, took_ms: u64, errors: u32) -> Report {
    let mut times = Times::default();
    (0..requests - errors).for_each(|_| times.note(took_ms * 1_000));
    Report {
        span_ms: 2_000,
        requests,
        ended: requests,
        errors,
        answered: requests - errors,
        times,
        ..Report::default()
    }
}

pub fn say(log: &mut Log, ms: u64, report: Report) {
    let load = vec![(room(), report)];
    log.apply(
        ms,
        Batch {
            load,
            ..Batch::default()
        },
    );
}

pub fn load(log: &mut Log) -> LoadView {
    log.state.view().rooms[&room()].load.clone().unwrap()
}

/// Calls made while a gate reports so every two seconds.
pub fn calls(log: &mut Log, secs: u64, report: Report) -> u64 {
    let before = log.figures().calls;
    for second in 0..secs {
        if second % 2 == 0 {
            say(log, 1_000, report);
        } else {
            log.apply(1_000, Batch::default());
        }
    }
    log.figures().calls - before
}

pub fn give(log: &mut Log, figures: Option<Outside>) -> Changed {
    let change = RoomChange {
        room: room(),
        revision: 0,
        change: Change::Load(figures),
        who: None,
    };
    let rooms = vec![change];
    let Effects { changed, .. } = log.apply(
        0,
        Batch {
            rooms,
            ..Batch::default()
        },
    );
    changed[0]
}

#[test]
fn nobody_is_called_before_the_first_figures_and_after_the_last_have_run_out() {
    for settings in [linear(), adaptive()] {
        let mut log = Log::new(settings);
        log.join(500);
        log.pass(20_000);
        assert_eq!((log.figures().calls, load(&mut log).why), (0, Why::Figures));
        assert!(calls(&mut log, 6, report(4, 20, 0)) > 0);
        log.pass(9_000);
        let before = log.figures().calls;
        log.pass(2_000);
        assert_eq!((load(&mut log).why, load(&mut log).seen), (Why::Figures, None));
        log.pass(60_000);
        assert_eq!(log.figures().calls, before, "called on figures that hold no longer");
    }
}

#[test]
fn the_linear_controller_calls_fifty_a_step_at_rest_and_one_at_a_hundred_requests() {
    let mut log = Log::new(linear());
    log.join(900);
    let calls_in = |log: &mut Log, requests| {
        calls(log, 12, report(requests, 20, 0));
        calls(log, 10, report(requests, 20, 0))
    };
    // 100 requests in two seconds are 50 a second.
    let half = calls_in(&mut log, 100);
    assert!((250..=260).contains(&half), "{half}");
    let busy = calls_in(&mut log, 200);
    assert!((9..=11).contains(&busy), "{busy}");
    assert_eq!(load(&mut log).why, Why::Requests);
    calls(&mut log, 30, report(0, 20, 0));
    assert_eq!(load(&mut log).step_milli, 50_000);
}

#[test]
fn of_several_gates_requests_add_up_and_one_that_dies_is_left_out() {
    let mut log = Log::new(linear());
    log.join(900);
    say(&mut log, 500, report(100, 20, 0));
    log.gate = GateId(8);
    log.rejoin();
    say(&mut log, 500, report(100, 20, 0));
    log.gate = GateId(7);
    log.rejoin();
    say(&mut log, 2_000, report(100, 20, 0));
    let seen = load(&mut log).seen.unwrap();
    assert_eq!((seen.requests_milli, load(&mut log).gates), (100_000, 2));
    calls(&mut log, 12, report(100, 20, 0));
    let seen = load(&mut log).seen.unwrap();
    assert_eq!((seen.requests_milli, load(&mut log).gates), (50_000, 1));
}

#[test]
fn an_open_circuit_calls_nobody_and_one_gate_of_three_does_not_make_one() {
    for settings in [linear(), adaptive()] {
        let mut log = Log::new(settings);
        log.join(900);
        calls(&mut log, 4, report(4, 20, 0));
        let open = Report {
            circuit: Circuit::Open,
            ..report(4, 20, 0)
        };
        calls(&mut log, 3, open);
        assert_eq!((calls(&mut log, 20, open), load(&mut log).why), (0, Why::Circuit));
        for gate in [8, 9] {
            log.gate = GateId(gate);
            log.rejoin();
            say(&mut log, 1_000, report(4, 20, 0));
        }
        say(&mut log, 2_000, report(4, 20, 0));
        assert_ne!(load(&mut log).why, Why::Circuit);
    }
}

#[test]
fn the_adaptive_controller_stops_where_requests_fail_or_take_too_long_and_goes_on_after() {
    for (bad, why) in [
        (report(100, 20, 60), Why::Errors),
        (report(100, 4_000, 0), Why::Latency),
    ] {
        let mut log = Log::new(adaptive());
        log.join(900);
        assert!(calls(&mut log, 30, report(100, 20, 0)) > 20);
        calls(&mut log, 6, bad);
        assert_eq!((calls(&mut log, 20, bad), load(&mut log).why), (0, why));
        assert!(calls(&mut log, 60, report(100, 20, 0)) > 10);
    }
}

#[test]
fn figures_from_elsewhere_stand_in_the_place_of_measured_ones_while_they_last() {
    let mut log = Log::new(linear());
    log.join(900);
    calls(&mut log, 4, report(2, 20, 0));
    let busy = Outside {
        requests_per_second: 100,
        ttl_ms: 30_000,
        ..Outside::default()
    };
    let revision = log.state.view().rooms[&room()].revision;
    assert_eq!(give(&mut log, Some(busy)), Changed::Taken);
    assert_eq!(log.state.view().rooms[&room()].revision, revision);
    calls(&mut log, 3, report(2, 20, 0));
    assert!((9..=11).contains(&calls(&mut log, 10, report(2, 20, 0))));
    assert!(load(&mut log).outside.is_some());
    calls(&mut log, 20, report(2, 20, 0));
    assert!(load(&mut log).outside.is_none());
    assert!(calls(&mut log, 12, report(2, 20, 0)) > 100);
    give(&mut log, Some(busy));
    assert_eq!(give(&mut log, None), Changed::Taken);
    assert!(load(&mut log).outside.is_none());
}

#[test]
fn figures_that_cannot_be_or_of_a_room_that_goes_by_none_are_refused() {
    let fair = Outside {
        requests_per_second: 10,
        ttl_ms: 10_000,
        ..Outside::default()
    };
    let mut log = Log::new(settings(10));
    assert_eq!(give(&mut log, Some(fair)), Changed::Refused);
    let mut log = Log::new(linear());
    let wrong = [
        Outside { ttl_ms: 0, ..fair },
        Outside {
            ttl_ms: 3_600_001,
            ..fair
        },
        Outside {
            errors_permille: Some(1_001),
            ..fair
        },
    ];
    for wrong in wrong {
        assert_eq!(give(&mut log, Some(wrong)), Changed::Refused);
    }
    assert_eq!(give(&mut log, Some(fair)), Changed::Taken);
}

/// A minute in which of so many called all but one come, and leave again at once; then the calls of ten seconds.
fn calls_where_one_does_not_come(settings: Settings, of: u32, requests: u32) -> (Log, u64) {
    let mut log = Log::new(Settings {
        claim_deadline_ms: 3_000,
        ..settings
    });
    let numbers = log.join(20_000);
    let mut claimed = 0;
    for _ in 0..60 {
        say(&mut log, 1_000, report(requests, 20, 0));
        let calls = usize::try_from(log.figures().calls).unwrap();
        for number in &numbers[claimed..calls] {
            if number.n % of > 0 {
                log.claim(*number, true);
                log.leave(*number);
            }
        }
        claimed = calls;
    }
    let called = calls(&mut log, 10, report(requests, 20, 0));
    let figures = log.figures();
    assert!(figures.called + figures.inside <= CAPACITY);
    (log, called)
}

#[test]
fn as_many_more_are_called_as_do_not_come_within_the_capacity() {
    let (mut log, called) = calls_where_one_does_not_come(adaptive(), 3, 160);
    let share = load(&mut log).share_permille;
    assert!((500..=730).contains(&share), "{share}");
    let (_, where_most_come) = calls_where_one_does_not_come(adaptive(), 1_000_000, 160);
    let come = called * share / where_most_come;
    assert!((800..=1_100).contains(&come), "{called} in place of {where_most_come}");
}

#[test]
fn the_linear_controller_calls_by_its_table_whoever_comes() {
    // 10.8 a second at 80 requests.
    let (mut log, called) = calls_where_one_does_not_come(linear(), 3, 160);
    assert!((104..=112).contains(&called), "{called}");
    assert!(load(&mut log).share_permille < 730, "it is measured all the same");
}

#[test]
fn lines_of_a_room_share_what_is_allowed_by_turns() {
    let mut log = Log::new(linear());
    let line = |name: &str| Section {
        joins: vec![(LANE, 200)],
        ..Section::new(room(), LineName::new(name).unwrap())
    };
    for name in ["a", "b", "c"] {
        log.say(line(name));
    }
    for _ in 0..30 {
        say(&mut log, 1_000, report(200, 20, 0));
    }
    let view = log.state.view();
    let called = |name: &str| view.rooms[&room()].lines[&LineName::new(name).unwrap()].figures.calls;
    let called = ["a", "b", "c"].map(called);
    let all: u64 = called.iter().sum();
    assert!((28..=60).contains(&all), "{called:?}");
    assert!(called.iter().all(|calls| calls * 4 >= all), "{called:?}");
}

#[test]
fn a_report_for_a_room_that_is_not_there_or_goes_by_none_does_nothing() {
    let mut log = Log::new(settings(10));
    let load = vec![
        (room(), report(4, 20, 0)),
        (RoomName::new("nowhere").unwrap(), report(4, 20, 0)),
    ];
    log.apply(
        1_000,
        Batch {
            load,
            ..Batch::default()
        },
    );
    assert!(log.state.view().rooms[&room()].load.is_none());
}

#[derive(Clone, Debug)]
enum Step {
    Report(u32, u64, u32, bool, u64),
    Give(Option<(u32, Option<u32>, Option<u16>, u32)>),
    Join(u32),
    Come(u16),
    Capacity(u32),
    By(u8),
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..400_u32, 1..9_000_u64, 0..1_000_u32, any::<bool>(), 7..10_u64)
            .prop_map(|(requests, took, errors, open, gate)| {
                Step::Report(requests, took, errors.min(requests), open && errors > 800, gate)
            }),
        1 => prop::option::of((0..300_u32, any::<Option<u32>>(), prop::option::of(0..1_200_u16), 0..40_000_u32)).prop_map(Step::Give),
        2 => (1..60_u32).prop_map(Step::Join),
        3 => any::<u16>().prop_map(Step::Come),
        1 => (0..40_u32).prop_map(Step::Capacity),
        1 => (0..3_u8).prop_map(Step::By),
        4 => (0..6_000_u64).prop_map(Step::Pass),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// Never above the capacity, no call without valid figures, and a replica from the state's bytes goes on in the same way.
    #[test]
    fn whatever_is_reported_the_hard_limits_hold_and_replicas_agree(steps in prop::collection::vec(step(), 1..80)) {
        let mut log = Log::new(adaptive());
        let (mut capacity, mut numbers) = (CAPACITY, Vec::new());
        for step in steps {
            let before = log.state.view().rooms[&room()].lines.get(&LineName::ONLY).map_or(0, |line| line.figures.calls);
            let mut other = log.fork();
            match step {
                Step::Report(requests, took, errors, open, gate) => {
                    log.gate = GateId(gate);
                    log.rejoin();
                    let circuit = if open { Circuit::Open } else { Circuit::Closed };
                    say(&mut log, 700, Report { circuit, ..report(requests, took, errors) });
                }
                Step::Give(figures) => {
                    let figures = figures.map(|(requests_per_second, p95_ms, errors_permille, ttl_ms)| Outside {
                        requests_per_second, p95_ms, errors_permille, ttl_ms,
                    });
                    give(&mut log, figures);
                }
                Step::Join(count) => numbers.extend(log.join(count)),
                Step::Come(which) => {
                    if let Some(number) = numbers.get(usize::from(which) % numbers.len().max(1)) {
                        log.claim(*number, true);
                    }
                }
                Step::Capacity(new) => {
                    capacity = new;
                    let load_control = log.state.configured(&room()).unwrap().load_control;
                    log.change(Change::Configure(Settings { capacity, load_control, ..adaptive() }));
                }
                Step::By(which) => {
                    let settings = [adaptive(), linear(), settings(0)][usize::from(which)].clone();
                    log.change(Change::Configure(Settings { capacity, ..settings }));
                }
                Step::Pass(ms) => {
                    other.pass(ms);
                    log.pass(ms);
                    prop_assert_eq!(other.state.encode(), log.state.encode());
                }
            }
            let view = log.state.view();
            let seen = &view.rooms[&room()];
            let figures = seen.lines.get(&LineName::ONLY).map(|line| line.figures).unwrap_or_default();
            let new = figures.calls - before;
            prop_assert!(new == 0 || figures.called + figures.inside <= capacity);
            if let Some(load) = &seen.load {
                let holds = load.gates > 0 || load.outside.is_some();
                prop_assert_eq!(load.seen.is_some(), holds);
                prop_assert!(holds || load.step_milli == 0);
            }
            let again = log.fork();
            prop_assert_eq!(again.state.encode(), log.state.encode());
        }
    }
}
