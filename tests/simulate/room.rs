//! The room's treatment of virtual visitors.

use ropeline::room::{Mode, NamedLane, Overrides, Schedule, Settings, Wall, Window};
use ropeline::simulate::{Arrive, Crowd, Doing, Plan, Scripted, Stays, text};

use super::{plan, run};

fn by_rate(per_minute: u32) -> Settings {
    Settings {
        capacity: 100_000,
        rate_per_minute: Some(per_minute),
        ..Settings::default()
    }
}

fn slots(capacity: u32) -> Settings {
    Settings {
        capacity,
        ..Settings::default()
    }
}

#[test]
fn the_same_plan_gives_the_same_bytes_and_another_seed_another_crowd() {
    let plan = Plan {
        crowd: Crowd::default(),
        ..plan(400, slots(20))
    };
    let said = |plan: &Plan| serde_json::to_string(&run(plan)).unwrap();
    let first = said(&plan);
    assert_eq!(first, said(&plan));
    assert_ne!(
        first,
        said(&Plan {
            seed: 8,
            ..plan.clone()
        })
    );
}

#[test]
fn waits_at_a_rate_are_what_the_rate_says() {
    let outcome = run(&Plan {
        arrive: Arrive::Instant,
        ..plan(600, by_rate(60))
    });
    assert!(outcome.finished && outcome.claims == 600, "{}", text(&outcome));
    let near = |secs: f64, is: f64| assert!((secs - is).abs() < 12.0, "{secs} is not near {is}");
    near(outcome.waits.p50_secs, 300.0);
    near(outcome.waits.p90_secs, 540.0);
    near(outcome.waits.max_secs, 600.0);
    assert!(outcome.waits_to_door.p50_secs >= outcome.waits.p50_secs);
}

#[test]
fn a_patient_crowd_comes_in_whole_and_never_more_than_the_slots() {
    let outcome = run(&plan(500, slots(30)));
    assert_eq!((outcome.joins, outcome.calls, outcome.claims), (500, 500, 500));
    assert_eq!((outcome.no_shows, outcome.still_waiting, outcome.thrown_out), (0, 0, 0));
    assert!(outcome.over_time.steps.iter().all(|step| step.slots <= 30));
    assert!(
        outcome.held > 0.95 && outcome.utilisation <= outcome.held,
        "{}",
        text(&outcome)
    );
    let joins: u64 = outcome.over_time.steps.iter().map(|step| step.joins).sum();
    assert_eq!(joins, 500);
}

#[test]
fn everybody_who_joins_is_accounted_for_whatever_they_do() {
    let crowd = Crowd {
        leave: 200,
        sleep: 150,
        late: 100,
        no_show: 100,
        tabs: 100,
        bots: 200,
        finish: 500,
        patience_ms: 600_000,
        ..Crowd::PATIENT
    };
    let outcome = run(&Plan {
        crowd,
        ..plan(600, slots(30))
    });
    assert!(outcome.finished && outcome.still_waiting == 0, "{}", text(&outcome));
    assert_eq!(outcome.bots, 120);
    assert!(
        outcome.joins > 720 && outcome.gave_up > 50 && outcome.no_shows > 50,
        "{}",
        text(&outcome)
    );
    // A number is called twice at the most, and every visitor who comes in was called.
    assert!(outcome.claims <= outcome.calls && outcome.calls <= outcome.claims + outcome.no_shows + outcome.gave_up);
    // Slots stay empty because of no-shows.
    assert!(outcome.utilisation + 0.02 < outcome.held, "{}", text(&outcome));
}

#[test]
fn who_waits_in_two_browsers_comes_with_the_one_that_is_called_first() {
    let crowd = Crowd {
        tabs: 1_000,
        ..Crowd::PATIENT
    };
    let outcome = run(&Plan {
        crowd,
        ..plan(300, slots(30))
    });
    let words = text(&outcome);
    // Each comes in with one, but for those few who need not wait and are in with both at once.
    assert!(outcome.finished && outcome.joins == 600, "{words}");
    assert!((300..330).contains(&outcome.claims), "{words}");
    assert_eq!(outcome.claims + outcome.no_shows, 600, "{words}");
    assert_eq!(outcome.waits.count, 300, "{words}");
}

/// Pages that are read for longer than a call waits, and less long than a session lasts.
const PAGE_MS: u64 = 30_000;

fn readers() -> Settings {
    Settings {
        claim_deadline_ms: 10_000,
        session_ms: 60_000,
        session_max_ms: 86_400_000,
        ..slots(10)
    }
}

#[test]
fn who_reads_a_page_past_the_claim_deadline_keeps_the_slot() {
    for pages in [1, 2, 20] {
        let reader = |index: u64| Scripted {
            arrives_ms: index * 500,
            stay_ms: u64::from(pages) * PAGE_MS,
            pages,
            pauses: None,
            does: Doing::Nothing,
        };
        let outcome = run(&Plan {
            script: (0..50).map(reader).collect(),
            ..plan(50, readers())
        });
        let words = text(&outcome);
        assert_eq!((outcome.joins, outcome.calls, outcome.claims), (50, 50, 50), "{words}");
        assert_eq!(
            (outcome.no_shows, outcome.late, outcome.thrown_out),
            (0, 0, 0),
            "{words}"
        );
        assert_eq!(outcome.requests, 50 * u64::from(pages), "{words}");
        assert_eq!(outcome.most_sessions, 10, "{words}");
    }
}

/// No visitor says goodbye: each slot is its visitor's until the session has expired.
#[test]
fn the_shop_counts_no_more_visitors_than_slots() {
    for pages in [1, 2, 20] {
        let crowd = Crowd {
            finish: 0,
            ..Crowd::PATIENT
        };
        let stays = Stays {
            mean_ms: vec![(0, u64::from(pages) * PAGE_MS)],
            pages,
        };
        let outcome = run(&Plan {
            crowd,
            stays,
            over_ms: 30_000,
            ..plan(100, readers())
        });
        let words = text(&outcome);
        assert_eq!(
            (outcome.claims, outcome.no_shows, outcome.thrown_out),
            (100, 0, 0),
            "{words}"
        );
        assert_eq!(outcome.most_sessions, 10, "{words}");
    }
}

#[test]
fn more_slots_on_the_way_shorten_the_waits() {
    let narrow = plan(500, slots(20));
    let widened = Overrides {
        capacity: Some(60),
        ..Overrides::default()
    };
    let wide = Plan {
        changes: vec![(240_000, widened)],
        ..narrow.clone()
    };
    let (narrow, wide) = (run(&narrow), run(&wide));
    assert!(wide.waits.p90_secs * 1.5 < narrow.waits.p90_secs);
    assert!(wide.over_time.steps.iter().any(|step| step.slots > 20));
}

#[test]
fn who_stays_longer_makes_others_wait_longer() {
    let short = plan(300, slots(20));
    let mut long = short.clone();
    long.stays.mean_ms.push((120_000, 180_000));
    assert!(run(&long).waits.p90_secs > run(&short).waits.p90_secs * 1.5);
}

#[test]
fn a_held_room_calls_nobody_and_a_closed_one_turns_everybody_away() {
    let held = Settings {
        mode: Mode::Hold,
        ..slots(20)
    };
    let outcome = run(&Plan {
        most_ms: 900_000,
        ..plan(50, held)
    });
    assert_eq!((outcome.finished, outcome.calls, outcome.still_waiting), (false, 0, 50));
    assert!(outcome.estimates.looks == 0);
    let closed = Settings {
        mode: Mode::Closed,
        ..slots(20)
    };
    let outcome = run(&plan(50, closed));
    assert_eq!((outcome.turned_away, outcome.joins), (50, 0));
    // Without visitors there is no wait.
    let row = text(&outcome)
        .lines()
        .find(|line| line.contains("called after"))
        .map(str::to_owned);
    let columns: Vec<_> = row.iter().flat_map(|row| row.split_whitespace().skip(2)).collect();
    assert_eq!(columns, ["0", "-", "-", "-", "-", "-"]);
}

#[test]
fn a_stock_is_sold_to_its_last_piece() {
    let settings = Settings {
        stock: Some(40),
        ..slots(10)
    };
    let outcome = run(&plan(200, settings));
    assert_eq!(outcome.completed, 40, "{}", text(&outcome));
    assert!(outcome.finished && outcome.took_secs < 3_600.0, "{}", text(&outcome));
    // Visitors who still waited then left, and until then the slots were used.
    assert_eq!(outcome.claims + outcome.sold_out_in_line + outcome.turned_away, 200);
    assert!(
        outcome.sold_out_in_line > 20 && outcome.held > 0.9,
        "{}",
        text(&outcome)
    );
}

#[test]
fn who_is_in_line_when_the_room_closes_goes() {
    let start = Wall(1_767_225_600_000);
    let window = Window {
        begins: start,
        opens: start.plus(600_000),
        closes: Some(start.plus(1_800_000)),
        results: None,
    };
    let settings = Settings {
        schedule: Some(Schedule {
            rule: "once".to_owned(),
            windows: vec![window],
        }),
        ..slots(20)
    };
    let outcome = run(&plan(600, settings));
    let words = text(&outcome);
    assert!(outcome.finished && outcome.took_secs < 3_600.0, "{words}");
    assert!(
        outcome.closed_in_line > 100 && outcome.line_secs <= 1_200.0 && outcome.held > 0.9,
        "{words}"
    );
    assert_eq!(outcome.claims + outcome.closed_in_line, 600, "{words}");
}

#[test]
fn who_is_in_line_when_the_next_sale_begins_joins_it() {
    let start = Wall(1_767_225_600_000);
    let window = |begins_ms, closes_ms: Option<u64>| Window {
        begins: start.plus(begins_ms),
        opens: start.plus(begins_ms + 60_000),
        closes: closes_ms.map(|ms| start.plus(ms)),
        results: None,
    };
    let settings = Settings {
        schedule: Some(Schedule {
            rule: "twice".to_owned(),
            windows: vec![window(0, None), window(1_800_000, Some(7_200_000))],
        }),
        ..slots(10)
    };
    let outcome = run(&Plan {
        over_ms: 2_400_000,
        crowd: Crowd {
            sleep: 100,
            ..Crowd::PATIENT
        },
        ..plan(600, settings)
    });
    let words = text(&outcome);
    assert!(outcome.finished && outcome.took_secs < 7_200.0, "{words}");
    assert!(outcome.late > 100 && outcome.joins == 600 + outcome.late, "{words}");
    assert_eq!(outcome.claims + outcome.closed_in_line, 600, "{words}");
    // The sale was long enough: marks went on, and no visitor was forgotten.
    assert!(outcome.claims > 590, "{words}");
}

#[test]
fn an_operators_stop_promises_nothing_and_says_why() {
    let to = |capacity, rate_per_minute| Overrides {
        capacity,
        rate_per_minute,
        ..Overrides::default()
    };
    for stop in [to(Some(0), None), to(None, Some(Some(0)))] {
        let outcome = run(&Plan {
            changes: vec![(300_000, stop), (1_800_000, Overrides::default())],
            ..plan(500, slots(30))
        });
        let trust = outcome.estimates;
        assert!(outcome.finished && trust.later_unsaid == 0.0, "{trust:?}");
        // Five of some thirty minutes were known.
        assert!(trust.known < 0.75, "{trust:?}");
    }
}

#[test]
fn a_stop_for_good_is_no_success_of_the_estimate() {
    let stop = Overrides {
        rate_per_minute: Some(Some(0)),
        ..Overrides::default()
    };
    let outcome = run(&Plan {
        changes: vec![(300_000, stop)],
        most_ms: 7_200_000,
        ..plan(500, slots(30))
    });
    let trust = outcome.estimates;
    assert!(
        !outcome.finished && trust.undecided > 0 && trust.inside < 0.6,
        "{trust:?}"
    );
    // No visitor could be called any more: slots are not counted as empty beside a line.
    assert!(outcome.line_secs <= 301.0, "{}", text(&outcome));
}

#[test]
fn who_comes_to_a_room_with_free_slots_is_in_the_shop_at_once() {
    let crowd = Crowd {
        no_show: 300,
        late: 300,
        ..Crowd::PATIENT
    };
    let outcome = run(&Plan {
        crowd,
        ..plan(30, slots(100))
    });
    assert_eq!((outcome.claims, outcome.no_shows), (30, 0), "{}", text(&outcome));
    assert!(outcome.waits_to_door.max_secs < 1.0, "{}", text(&outcome));
}

#[test]
fn visits_take_as_long_and_as_many_requests_as_was_said() {
    for pages in [1, 2, 8] {
        let mut plan = plan(3_000, slots(10_000));
        plan.stays.pages = pages;
        plan.settings.session_ms = 3_600_000;
        let outcome = run(&plan);
        let expected = u64::from(pages) * 3_000;
        assert!(
            outcome.requests.abs_diff(expected) < expected / 3 + 600,
            "{pages}: {}",
            outcome.requests
        );
    }
}

#[test]
fn lanes_get_the_calls_that_their_weights_say() {
    let settings = Settings {
        lane_weights: vec![1, 3],
        lanes: vec![NamedLane::new("everybody"), NamedLane::new("early")],
        ..slots(20)
    };
    let outcome = run(&Plan {
        lanes: vec![500],
        ..plan(300, settings)
    });
    assert!(outcome.finished && outcome.claims == 300, "{}", text(&outcome));
}
