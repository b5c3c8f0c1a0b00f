//! Rooms whose slots belong to active sessions: visitors who pause, pay elsewhere, leave tabs open and come back.

use ropeline::room::{ActiveSlots, Settings};
use ropeline::simulate::{Crowd, Outcome, Plan, Way, simulate_all, text};

use super::{plan, run};

fn settings(is_active: bool) -> Settings {
    Settings {
        capacity: 30,
        active: is_active.then_some(ActiveSlots {
            idle_after_ms: 20_000,
            max_sessions: None,
        }),
        ..Settings::default()
    }
}

/// A crowd with pauses, of which half just stop.
fn pausing(is_active: bool) -> Plan {
    let crowd = Crowd {
        pause_ms: Some(6_000),
        finish: 500,
        ..Crowd::PATIENT
    };
    Plan {
        crowd,
        ..plan(400, settings(is_active))
    }
}

fn way(outcome: &Outcome) -> &Way {
    assert!(outcome.finished, "{}", text(outcome));
    &outcome.ways[0]
}

fn returns(way: &Way) -> u64 {
    way.returns.alone + way.returns.together
}

#[test]
fn the_shop_never_counts_more_active_sessions_than_slots_and_waits_are_shorter() {
    for seed in 1..6 {
        let of = |is_active: bool| {
            run(&Plan {
                seed,
                ..pausing(is_active)
            })
        };
        let (session, active) = (of(false), of(true));
        let words = text(&active);
        let (before, after) = (way(&session), way(&active));
        assert!(
            after.most_sessions <= 30 && after.above == 0 && after.above_secs <= 0.0,
            "{words}"
        );
        assert!(after.most_sessions > 25 && returns(after) > 50, "{words}");
        assert!(after.median_wait_secs * 2.0 < before.median_wait_secs, "{words}");
        assert!(after.busy > before.busy && after.busy <= after.ceiling, "{words}");
        assert!(active.over_time.steps.iter().all(|step| step.slots <= 30), "{words}");
        assert_eq!(active.claims, 400, "{words}");
    }
}

#[test]
fn a_tab_that_polls_renews_a_session_with_session_slots_only() {
    let of = |is_active: bool, polling: u16| {
        let plan = pausing(is_active);
        let crowd = Crowd {
            polling,
            finish: 0,
            ..plan.crowd
        };
        // Tabs go on until then.
        let settings = Settings {
            session_max_ms: 1_800_000,
            ..plan.settings.clone()
        };
        run(&Plan {
            crowd,
            settings,
            ..plan
        })
    };
    let wait = |outcome: &Outcome| way(outcome).median_wait_secs;
    let (without, with) = (of(false, 0), of(false, 1_000));
    assert!(wait(&with) > wait(&without) * 2.0, "{} {}", wait(&with), wait(&without));
    let (without, with) = (of(true, 0), of(true, 1_000));
    let off = (wait(&with) - wait(&without)).abs() / wait(&without);
    assert!(off < 0.02, "{} {}", wait(&with), wait(&without));
    // It asks the shop all the same, as long as the session has a slot.
    assert!(
        with.requests > without.requests,
        "{} {}",
        with.requests,
        without.requests
    );
    assert_eq!(way(&with).above, 0);
}

#[test]
fn a_held_payment_keeps_its_slot_and_another_is_parked() {
    let of = |hold_ms| {
        let plan = pausing(true);
        let crowd = Crowd {
            // Without a payment nobody is away for long.
            pause_ms: Some(500),
            pay: 1_000,
            ..plan.crowd
        };
        let stays = ropeline::simulate::Stays {
            mean_ms: vec![(0, 5_000)],
            pages: 1,
        };
        let outcome = run(&Plan {
            crowd,
            stays,
            hold_ms,
            visitors: 100,
            ..plan
        });
        let (words, way) = (text(&outcome), way(&outcome).clone());
        assert!(way.above == 0 && way.thrown_out == 0, "{words}");
        (returns(&way), way.busy)
    };
    let ((held, held_busy), (unheld, unheld_busy)) = (of(Some(310_000)), of(None));
    assert_eq!((held, unheld), (0, 100));
    // All of a held payment counts as busy.
    assert!(held_busy > unheld_busy, "{held_busy} {unheld_busy}");
    let (short, _) = of(Some(120_000));
    assert!((20..80).contains(&short), "{short}: some payments are over in time");
}

#[test]
fn who_comes_back_in_a_stampede_comes_before_the_whole_line() {
    const AT_MS: u64 = 240_000;
    let calls = |stampedes: Vec<u64>| {
        let outcome = run(&Plan {
            stampedes,
            most_ms: AT_MS + 50_000,
            ..pausing(true)
        });
        assert_eq!(outcome.over_time.step_ms, 1_000);
        let from = usize::try_from(AT_MS / 1_000).unwrap() + 2;
        let steps = &outcome.over_time.steps[from..from + 40];
        assert!(steps.iter().all(|step| step.waiting > 100), "{}", text(&outcome));
        let called: u64 = steps.iter().map(|step| step.calls).sum();
        (called, outcome.ways[0].clone())
    };
    let (without, alone) = calls(Vec::new());
    let (with, crowd) = calls(vec![AT_MS]);
    assert!(without > 5 && with == 0, "{without} {with}");
    assert!(alone.returns.together == 0 && crowd.returns.together > 20, "{crowd:?}");
    assert_eq!(crowd.above, 0);
}

#[test]
fn a_silent_shop_costs_nobody_the_slot_and_returns_meanwhile_are_counted_apart() {
    let of = |silences: Vec<(u64, u64)>| {
        run(&Plan {
            silences,
            ..pausing(true)
        })
    };
    let (usual, silent) = (of(Vec::new()), of(vec![(200_000, 90_000)]));
    let (before, after) = (way(&usual), way(&silent));
    assert_eq!((before.returns.together, after.above, after.thrown_out), (0, 0, 0));
    assert!(after.returns.together > 5, "{after:?}");
    // All slots are held by requests without an answer, so nobody is called.
    let of_silence = &silent.over_time.steps;
    let step_ms = silent.over_time.step_ms;
    let last = usize::try_from(285_000 / step_ms).unwrap();
    let first = usize::try_from(260_000 / step_ms).unwrap();
    assert!(
        of_silence[first..last].iter().all(|step| step.calls == 0),
        "{:?}",
        &of_silence[first..last]
    );
    assert_eq!(silent.requests, usual.requests, "each is answered in the end");
}

#[test]
fn both_ways_are_run_with_the_same_people_and_the_same_bytes_again() {
    let plan = Plan {
        other_way: Some(Box::new(settings(true))),
        stampedes: vec![300_000],
        silences: vec![(100_000, 30_000)],
        ..pausing(false)
    };
    let said = |plan: &Plan| serde_json::to_string(&simulate_all(plan, &mut |_| {})).unwrap();
    assert_eq!(said(&plan), said(&plan));
    let both = simulate_all(&plan, &mut |_| {});
    assert_eq!(both.ways[0], run(&plan).ways[0]);
    let other = Plan {
        settings: settings(true),
        other_way: Some(Box::new(settings(false))),
        ..plan.clone()
    };
    assert_eq!(both.ways[1], simulate_all(&other, &mut |_| {}).ways[0]);
}

#[test]
fn advice_follows_from_what_was_seen() {
    let told = |visitors, is_active: bool| {
        let plan = Plan {
            visitors,
            other_way: Some(Box::new(settings(!is_active))),
            ..pausing(is_active)
        };
        let advice = simulate_all(&plan, &mut |_| {}).advice;
        assert!(advice.len() >= 3, "{advice:?}");
        advice
    };
    let (crowded, empty, active) = (told(400, false), told(20, false), told(400, true));
    assert!(
        crowded[0].starts_with("slots: \"active\" would be better"),
        "{crowded:?}"
    );
    assert!(empty[0].contains("hardly a line"), "{empty:?}");
    assert!(active[0].starts_with("slots: \"active\" is right"), "{active:?}");
    assert!(crowded[1].contains("times the requests"), "{crowded:?}");
    assert!(crowded[2].starts_with("session_duration: "), "{crowded:?}");
}
