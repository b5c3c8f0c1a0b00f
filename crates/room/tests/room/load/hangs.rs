//! Load control with shops that hang, with many requests under way and with few.

use ropeline_room::{GateId, Outside, Report, Settings, Times, Why};

use crate::load::faults::patient;
use crate::load::{adaptive, calls, give, linear, load, report, say};
use ropeline_room::testing::log::Log;

/// Two seconds in which so many requests were sent and none was answered, with so many under way, each of another visitor.
fn hanging(requests: u32, in_flight: u32) -> Report {
    Report {
        ended: 0,
        in_flight,
        hanging: in_flight,
        answered: 0,
        times: Times::default(),
        ..report(requests, 20, 0)
    }
}

#[test]
fn a_shop_that_answers_nothing_is_not_taken_for_an_idle_one() {
    let mut log = Log::new(adaptive());
    log.join(900);
    assert!(calls(&mut log, 30, report(100, 20, 0)) > 20);
    calls(&mut log, 6, hanging(60, 200));
    assert_eq!(
        (calls(&mut log, 20, hanging(0, 200)), load(&mut log).why),
        (0, Why::Latency)
    );
    assert!(load(&mut log).seen.unwrap().silent);
    let mut log = Log::new(linear());
    log.join(900);
    calls(&mut log, 20, report(20, 20, 0));
    calls(&mut log, 6, hanging(0, 200));
    // No request is sent any more, so the rate of requests would be zero.
    assert!((9..=11).contains(&calls(&mut log, 10, hanging(0, 200))));
    assert_eq!(load(&mut log).why, Why::Latency);
}

#[test]
fn one_page_that_hangs_is_no_shop_that_hangs() {
    let mut log = Log::new(adaptive());
    log.join(900);
    calls(&mut log, 10, report(4, 20, 0));
    assert!(calls(&mut log, 10, hanging(0, 2)) > 0);
    assert!(!load(&mut log).seen.unwrap().silent);
}

/// Calls a step after the shop began to hang with so many requests under way, look by look.
fn steps_while_hanging(settings: Settings, visitors: u32) -> Vec<u64> {
    let mut log = Log::new(settings);
    log.join(5_000);
    calls(&mut log, 40, report(26, 20, 0));
    let mut steps = vec![load(&mut log).step_milli];
    // The report before anything is late has a third of the requests.
    calls(
        &mut log,
        2,
        Report {
            in_flight: visitors,
            ..report(8, 20, 0)
        },
    );
    steps.push(load(&mut log).step_milli);
    for _ in 0..20 {
        calls(&mut log, 2, hanging(0, visitors));
        steps.push(load(&mut log).step_milli);
    }
    steps
}

#[test]
fn few_requests_that_hang_are_load_from_the_first_and_one_alone_stops_nobody() {
    for visitors in [1, 3, 10] {
        let steps = steps_while_hanging(linear(), visitors);
        assert!(steps.is_sorted_by(|a, b| a >= b), "{visitors}: {steps:?}");
        assert!(steps[4] < steps[0] && steps[20] == 1_000, "{visitors}: {steps:?}");
    }
    let (one, three) = (steps_while_hanging(linear(), 1), steps_while_hanging(linear(), 3));
    assert!(three[3] < one[3], "{one:?} {three:?}");
    let (one, three) = (steps_while_hanging(patient(), 1), steps_while_hanging(patient(), 3));
    assert!(one[3..].iter().all(|step| (1..one[1]).contains(step)), "{one:?}");
    assert!(three[3] < three[1] && three[20] == 0, "{three:?}");
}

#[test]
fn the_share_of_visitors_who_hang_is_what_counts_and_it_ends_with_them() {
    // Three that take long by design, among many.
    let some = Report {
        hanging: 3,
        ..report(100, 20, 0)
    };
    let mut log = Log::new(linear());
    log.join(5_000);
    let well = (calls(&mut log, 40, report(100, 20, 0)), load(&mut log).step_milli).1;
    calls(&mut log, 40, some);
    let with_some = load(&mut log).step_milli;
    assert!(with_some * 100 >= well * 97, "{with_some} of {well}");
    // Half of them, and all is as before when they are answered.
    calls(&mut log, 40, Report { hanging: 100, ..some });
    let (with_half, why) = (load(&mut log).step_milli, load(&mut log).why);
    assert!(
        with_half * 100 <= well * 75 && why == Why::Latency,
        "{with_half} of {well}"
    );
    calls(&mut log, 40, report(100, 20, 0));
    assert_eq!(load(&mut log).step_milli, well);
    // An outside source of a percentile knows which requests take long by design.
    let given = Outside {
        requests_per_second: 50,
        p95_ms: Some(350),
        errors_permille: None,
        ttl_ms: 60_000,
    };
    give(&mut log, Some(given));
    calls(&mut log, 40, Report { hanging: 100, ..some });
    assert_eq!(load(&mut log).step_milli, well);
}

#[test]
fn one_visitor_at_each_of_several_gates_stops_nobody() {
    for settings in [linear(), patient()] {
        let mut log = Log::new(settings);
        log.join(5_000);
        calls(&mut log, 20, report(26, 20, 0));
        for _ in 0..60 {
            for gate in [7, 8, 9, 10] {
                log.gate = GateId(gate);
                log.rejoin();
                say(&mut log, 500, hanging(0, 1));
            }
            assert!(load(&mut log).step_milli > 0 && !load(&mut log).seen.unwrap().silent);
        }
    }
}
