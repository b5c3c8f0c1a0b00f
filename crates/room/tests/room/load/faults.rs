//! Load control with shops that hang, flip and come back, and figures that hide no fault.

use ropeline_room::{Batch, Change, Circuit, GateId, LineName, Outside, Report, Section, Settings, Why};

use crate::load::{adaptive, calls, give, linear, load, report, say};
use ropeline_room::testing::log::{LANE, Log, room};

/// The room waits all day for a called visitor.
pub fn patient() -> Settings {
    Settings {
        claim_deadline_ms: 86_400_000,
        capacity: 100_000,
        ..adaptive()
    }
}

#[test]
fn requests_that_pile_up_are_seen_before_they_end() {
    let mut log = Log::new(adaptive());
    log.join(900);
    calls(&mut log, 30, report(100, 20, 0));
    // Ten a second still end as fast as ever; the others do not end.
    let piling = Report {
        in_flight: 100,
        ..report(20, 20, 0)
    };
    calls(&mut log, 4, piling);
    assert_eq!((calls(&mut log, 10, piling), load(&mut log).why), (0, Why::Latency));
}

#[test]
fn given_figures_hide_neither_an_open_circuit_nor_what_they_say_nothing_of() {
    let only = Outside {
        requests_per_second: 10,
        ttl_ms: 60_000,
        ..Outside::default()
    };
    for settings in [linear(), adaptive()] {
        let mut log = Log::new(settings);
        log.join(900);
        calls(&mut log, 4, report(4, 20, 0));
        give(&mut log, Some(only));
        let open = Report {
            circuit: Circuit::Open,
            ..report(4, 20, 4)
        };
        calls(&mut log, 3, open);
        assert_eq!((calls(&mut log, 20, open), load(&mut log).why), (0, Why::Circuit));
        assert!(load(&mut log).outside.is_some());
    }
    for (bad, why) in [
        (report(100, 4_000, 0), Why::Latency),
        (report(100, 20, 60), Why::Errors),
    ] {
        let mut log = Log::new(adaptive());
        log.join(900);
        calls(&mut log, 10, report(100, 20, 0));
        give(&mut log, Some(only));
        calls(&mut log, 6, bad);
        assert_eq!((calls(&mut log, 10, bad), load(&mut log).why), (0, why));
    }
}

#[test]
fn a_given_percentile_is_held_against_its_bound_and_not_against_a_median() {
    let within = Outside {
        requests_per_second: 80,
        p95_ms: Some(350),
        errors_permille: Some(10),
        ttl_ms: 60_000,
    };
    for before in [Some(within), None] {
        let mut log = Log::new(adaptive());
        log.join(900);
        if let Some(figures) = before {
            give(&mut log, Some(figures));
        }
        assert!(calls(&mut log, 20, report(100, 100, 0)) > 0);
        give(&mut log, before.is_none().then_some(within));
        assert!(calls(&mut log, 20, report(100, 100, 0)) > 20, "{before:?}");
        assert_eq!(load(&mut log).why, Why::Free, "{before:?}");
    }
    let mut log = Log::new(adaptive());
    log.join(900);
    calls(&mut log, 10, report(100, 100, 0));
    let over = Outside {
        p95_ms: Some(1_501),
        ..within
    };
    give(&mut log, Some(over));
    calls(&mut log, 4, report(100, 100, 0));
    assert_eq!(
        (calls(&mut log, 10, report(100, 100, 0)), load(&mut log).why),
        (0, Why::Latency)
    );
}

/// The room waits for a called visitor as long as a short visit takes.
fn brief() -> Settings {
    Settings {
        claim_deadline_ms: 15_000,
        ..patient()
    }
}

#[test]
fn other_pages_than_before_take_longer_and_stop_nobody() {
    for (fast_ms, slow_ms) in [(2, 100), (10, 60), (50, 200)] {
        let mut log = Log::new(brief());
        log.join(50_000);
        calls(&mut log, 60, report(100, fast_ms, 0));
        // As many are under way as that many requests a second come to, and no more.
        let in_flight = u32::try_from(50 * slow_ms / 1_000).unwrap();
        let slow = Report {
            in_flight,
            ..report(100, slow_ms, 0)
        };
        for _ in 0..9 {
            let called = calls(&mut log, 20, slow);
            assert!(called > 0, "{fast_ms} to {slow_ms} ms: nobody is called");
        }
        let rate = load(&mut log).step_milli;
        assert_eq!(load(&mut log).why, Why::Free, "{fast_ms} to {slow_ms} ms");
        calls(&mut log, 30, slow);
        assert!(load(&mut log).step_milli > rate, "{fast_ms} to {slow_ms} ms: no growth");
    }
}

#[test]
fn visits_that_nothing_ends_do_not_make_a_shop_with_too_much_to_do_one_at_rest() {
    // No visitor leaves for a day, so fewer calls do not mean fewer visitors, and requests take as long as before.
    let mut log = Log::new(patient());
    log.join(50_000);
    calls(&mut log, 300, report(100, 100, 0));
    let before = calls(&mut log, 60, report(100, 100, 0));
    for slow_ms in [200, 340, 580] {
        let slow = Report {
            in_flight: 10,
            ..report(100, slow_ms, 0)
        };
        calls(&mut log, 10, slow);
        let few = calls(&mut log, 600, slow);
        assert!(
            few / 10 * 4 <= before,
            "{slow_ms} ms: {few} in ten minutes after {before} in one"
        );
        assert_eq!(load(&mut log).why, Why::Latency, "{slow_ms} ms");
        let later = calls(&mut log, 600, slow);
        assert!(later * 10 <= few * 11, "{slow_ms} ms: it grows from {few} to {later}");
    }
}

#[test]
fn hours_near_the_limit_do_not_pass_for_rest() {
    let mut log = Log::new(patient());
    log.join(50_000);
    calls(&mut log, 60, report(100, 100, 0));
    calls(&mut log, 10, report(100, 160, 0));
    let rate = load(&mut log).step_milli;
    // Clearly longer than at rest and not yet too long, for an hour.
    calls(&mut log, 3_600, report(100, 160, 0));
    assert!(load(&mut log).step_milli <= rate);
    calls(&mut log, 10, report(100, 300, 0));
    assert_eq!(load(&mut log).why, Why::Latency);
}

#[test]
fn a_few_requests_say_nothing_of_how_many_fail_or_take_long() {
    let mut log = Log::new(adaptive());
    log.join(900);
    let bad = [report(3, 4_000, 0), report(3, 20, 3)];
    for bad in bad {
        assert!(calls(&mut log, 6, bad) > 0);
        assert_eq!(load(&mut log).why, Why::Free);
    }
}

#[test]
fn a_shop_that_may_be_back_is_tried_with_one_visitor_a_step() {
    for settings in [linear(), adaptive()] {
        let mut log = Log::new(settings);
        log.join(900);
        calls(&mut log, 10, report(4, 20, 0));
        let open = Report {
            circuit: Circuit::Open,
            ..Report::default()
        };
        assert_eq!((calls(&mut log, 3, open), calls(&mut log, 20, open)).1, 0);
        let trial = Report {
            circuit: Circuit::Trial,
            ..Report::default()
        };
        calls(&mut log, 3, trial);
        assert!((9..=11).contains(&calls(&mut log, 10, trial)));
        assert_eq!(load(&mut log).why, Why::Circuit);
        assert!(calls(&mut log, 60, report(20, 20, 0)) > 10);
        assert_ne!(load(&mut log).why, Why::Circuit);
    }
}

#[test]
fn a_gate_that_nobody_came_through_has_no_say_on_the_circuit() {
    let mut log = Log::new(linear());
    log.join(900);
    let idle = Report {
        span_ms: 2_000,
        ..Report::default()
    };
    for gate in [8, 9] {
        log.gate = GateId(gate);
        log.rejoin();
        say(&mut log, 100, idle);
    }
    log.gate = GateId(7);
    log.rejoin();
    let open = Report {
        circuit: Circuit::Open,
        ..idle
    };
    say(&mut log, 2_000, open);
    assert_eq!(load(&mut log).why, Why::Circuit);
}

#[test]
fn a_gate_that_failed_and_is_asked_no_more_has_no_say_beside_one_that_is() {
    for settings in [linear(), adaptive()] {
        for circuit in [Circuit::Trial, Circuit::Open] {
            let mut log = Log::new(settings.clone());
            log.join(900);
            // Its last requests failed, and now all of them go through the other gate.
            let failed = Report {
                span_ms: 2_000,
                circuit,
                ..Report::default()
            };
            let called = (0..30).map(|_| {
                let before = log.figures().calls;
                for (gate, report) in [(8, failed), (7, report(100, 20, 0))] {
                    log.gate = GateId(gate);
                    log.rejoin();
                    say(&mut log, 1_000, report);
                }
                assert_eq!(load(&mut log).gates, 2);
                log.figures().calls - before
            });
            let called: Vec<u64> = called.collect();
            assert_ne!(load(&mut log).why, Why::Circuit);
            assert!(called.iter().sum::<u64>() > 40, "{called:?}");
        }
    }
}

#[test]
fn a_shop_that_fails_the_few_who_come_is_seen() {
    let mut log = Log::new(adaptive());
    log.join(900);
    let seen = (0..6).any(|_| {
        calls(&mut log, 2, report(4, 20, 4));
        (load(&mut log).why, load(&mut log).step_milli) == (Why::Errors, 0)
    });
    assert!(seen, "{:?}", load(&mut log));
}

#[test]
fn after_nobody_was_called_the_rate_stays_what_it_is_until_those_called_since_are_load() {
    let mut log = Log::new(patient());
    log.join(50_000);
    calls(&mut log, 120, report(100, 20, 0));
    calls(&mut log, 20, report(100, 20, 60));
    assert_eq!(load(&mut log).step_milli, 0);
    calls(&mut log, 20, report(100, 20, 0));
    let again = load(&mut log).step_milli;
    calls(&mut log, 24, report(100, 20, 0));
    assert!(again > 0 && load(&mut log).step_milli == again, "{again}");
    calls(&mut log, 60, report(100, 20, 0));
    assert!(load(&mut log).step_milli > again);
}

#[test]
fn the_figures_of_a_gate_go_with_its_goodbye() {
    let mut log = Log::new(linear());
    say(&mut log, 100, report(10, 20, 0));
    log.gate = GateId(8);
    log.rejoin();
    say(&mut log, 100, report(10, 20, 0));
    assert_eq!(load(&mut log).gates, 2);
    let goodbye = true;
    log.apply(
        100,
        Batch {
            goodbye,
            ..Batch::default()
        },
    );
    assert_eq!(load(&mut log).gates, 1);
}

#[test]
fn after_a_blackout_the_adaptive_controller_begins_again_with_less() {
    let mut log = Log::new(patient());
    log.join(50_000);
    calls(&mut log, 60, report(100, 20, 0));
    let rate = load(&mut log).step_milli;
    log.pass(3_600_000);
    assert_eq!(load(&mut log).step_milli, 0);
    say(&mut log, 100, report(100, 20, 0));
    let after = load(&mut log).step_milli;
    assert!(after > 0 && after * 4 <= rate * 3, "{after} of {rate}");
}

/// A line is open only if a visitor who joins now is called at once, whether the line exists or not.
#[test]
fn nobody_is_let_past_a_room_that_calls_nobody() {
    let line = LineName::new("unheard").unwrap();
    let settings = Settings {
        max_lines: 100,
        ..linear()
    };
    let mut log = Log::new(settings);
    let open = |log: &mut Log, line: &LineName| {
        let view = log.state.view();
        view.open(&room(), line, view.clock)
    };
    assert!(!open(&mut log, &line) && !open(&mut log, &LineName::ONLY), "no figures");
    say(&mut log, 100, report(4, 20, 0));
    say(&mut log, 2_000, report(4, 20, 0));
    assert!(open(&mut log, &line));
    let shut = Report {
        circuit: Circuit::Open,
        ..report(4, 20, 0)
    };
    say(&mut log, 2_000, shut);
    assert!(!open(&mut log, &line), "the circuit is open");
    let view = log.state.view();
    assert!(!view.stays_open(&room(), &line, view.clock), "nor does anybody stay");
    // One line has spent what all of them share.
    let mut log = Log::new(Settings {
        max_lines: 100,
        ..linear()
    });
    let names = ["a", "b"].map(|name| LineName::new(name).unwrap());
    for _ in 0..30 {
        say(&mut log, 1_000, report(200, 20, 0));
    }
    assert!(open(&mut log, &names[0]) && open(&mut log, &names[1]));
    log.say(Section {
        joins: vec![(LANE, 1)],
        ..Section::new(room(), names[0].clone())
    });
    assert!(!open(&mut log, &names[1]), "its token is gone");
    let view = log.state.view();
    assert!(
        view.stays_open(&room(), &names[1], view.clock),
        "whoever was let in before goes on"
    );
    let effects = log.say(Section {
        joins: vec![(LANE, 1)],
        ..Section::new(room(), names[1].clone())
    });
    assert!(effects.joined[0].first.is_some());
    let view = log.state.view();
    assert_eq!(view.rooms[&room()].lines[&names[1]].figures.calls, 0);
}

#[test]
fn a_controller_that_is_taken_out_and_set_again_begins_anew() {
    let mut log = Log::new(adaptive());
    log.join(500);
    calls(&mut log, 30, report(100, 20, 0));
    log.change(Change::Configure(Settings {
        load_control: None,
        ..adaptive()
    }));
    assert!(log.state.view().rooms[&room()].load.is_none());
    log.change(Change::Configure(linear()));
    assert_eq!((load(&mut log).why, load(&mut log).step_milli), (Why::Figures, 0));
    log.join(100);
    assert!(calls(&mut log, 6, report(4, 20, 0)) > 0);
}
