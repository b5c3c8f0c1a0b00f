//! Visitors who look elsewhere when their turn comes, and the ways to claim it for them.

use ropeline::room::Settings;
use ropeline::simulate::{Claiming, Crowd, Plan, Unseen, simulate_all};

use super::plan;

/// By way, the figures of one seed; `phones` of a thousand hidden tabs are on phones.
fn ways(claim_deadline_ms: u64, phones: u16, seed: u64) -> Vec<Unseen> {
    let settings = Settings {
        capacity: 40,
        claim_deadline_ms,
        ..Settings::default()
    };
    let crowd = Crowd {
        hidden: 500,
        phones,
        ..Crowd::default()
    };
    let plan = Plan {
        crowd,
        seed,
        probes: 1,
        ..plan(400, settings)
    };
    let outcome = simulate_all(&plan, &mut |_| {});
    assert!(outcome.finished, "seed {seed}");
    outcome.unseen
}

fn of(ways: &[Unseen], claiming: Claiming) -> &Unseen {
    ways.iter().find(|way| way.claiming == claiming).unwrap()
}

const DEFAULT_MS: u64 = 90_000;

#[test]
fn hidden_visitors_miss_no_more_turns_by_the_rule_of_the_page_than_by_claims_at_once() {
    let (mut at_once, mut as_page) = (0, 0);
    for seed in 1..6 {
        let ways = ways(DEFAULT_MS, 0, seed);
        let missed = |claiming| of(&ways, claiming).missed_on_desktops;
        assert!(
            missed(Claiming::AsPage) <= missed(Claiming::AtOnce),
            "seed {seed}: {ways:?}"
        );
        // The measure sees what a later claim costs.
        assert!(missed(Claiming::AtTheEnd) > 20, "seed {seed}: {ways:?}");
        at_once += of(&ways, Claiming::AtOnce).over_unseen;
        as_page += of(&ways, Claiming::AsPage).over_unseen;
    }
    assert!(
        as_page < at_once,
        "{as_page} sessions were over unseen, {at_once} by claims at once"
    );
}

#[test]
fn no_desktop_misses_a_turn_by_the_rule_of_the_page_whatever_the_claim_deadline() {
    for secs in [60, 70, 71, 80, 120, 300] {
        let ways = ways(secs * 1_000, 0, 3);
        assert_eq!(of(&ways, Claiming::AsPage).missed_on_desktops, 0, "{secs}: {ways:?}");
    }
}

#[test]
fn a_short_claim_deadline_is_claimed_at_once() {
    let ways = ways(60_000, 500, 1);
    let as_page = Unseen {
        claiming: Claiming::AtOnce,
        ..of(&ways, Claiming::AsPage).clone()
    };
    assert_eq!(as_page, *of(&ways, Claiming::AtOnce));
}

#[test]
fn no_way_to_claim_reaches_a_phone_that_suspends_the_page() {
    let ways = ways(DEFAULT_MS, 1_000, 1);
    let first = &ways[0];
    assert!(
        first.missed_on_phones > 10 && first.missed_on_desktops == 0,
        "{first:?}"
    );
    for way in &ways {
        let claiming = first.claiming;
        assert_eq!(
            &Unseen {
                claiming,
                ..way.clone()
            },
            first
        );
    }
}

#[test]
fn who_looks_every_second_loses_nothing() {
    let crowd = Crowd {
        hidden: 1_000,
        away_ms: 1_000,
        ..Crowd::PATIENT
    };
    let plan = Plan {
        crowd,
        probes: 1,
        ..plan(
            200,
            Settings {
                capacity: 20,
                ..Settings::default()
            },
        )
    };
    for way in simulate_all(&plan, &mut |_| {}).unseen {
        let lost = way.missed_on_desktops + way.missed_on_phones + way.over_unseen + way.back_again;
        assert_eq!((way.visitors, lost), (200, 0), "{way:?}");
        assert!(way.held_secs < 400.0, "{way:?}");
    }
}
