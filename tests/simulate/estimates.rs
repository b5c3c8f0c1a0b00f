//! What estimates are worth over the patterns of `examples/calibration`. Figures were chosen by seed 1; here others judge.

use anteroom::simulate::Trust;

use super::patterns::{self, Pattern, UNFORESEEN};
use super::run;

fn judged(seed: u64, which: fn(&Pattern) -> bool) -> Vec<(&'static str, Trust)> {
    let patterns = patterns::all(seed).into_iter().filter(which);
    patterns
        .map(|pattern| (pattern.name, run(&pattern.plan).estimates))
        .collect()
}

fn is_foreseen(name: &str) -> bool {
    !UNFORESEEN.contains(&name)
}

#[test]
fn the_true_wait_lies_inside_the_interval_and_near_its_middle_where_it_can_be_foreseen() {
    let judged = judged(101, |_| true);
    let unsaid: Vec<_> = judged.iter().filter(|(_, trust)| trust.later_unsaid > 0.0).collect();
    assert!(unsaid.is_empty(), "worse without a reason: {unsaid:#?}");
    let (foreseen, unforeseen): (Vec<_>, Vec<_>) = judged.iter().partition(|(name, _)| is_foreseen(name));
    let wide: Vec<_> = foreseen.iter().filter(|(_, trust)| trust.inside < 0.8).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    let good = foreseen
        .iter()
        .filter(|(_, trust)| trust.median_error < 0.15 && trust.looks > 200);
    assert!(good.clone().count() >= 20, "{foreseen:#?}");
    let later: Vec<_> = foreseen.iter().filter(|(_, trust)| trust.later > 0.05).collect();
    assert!(later.len() <= 4, "worse too often: {later:#?}");
    assert!(later.iter().all(|(_, trust)| trust.later < 0.12), "{later:#?}");
    // What is not known is said to be unknown, but not for long.
    assert!(foreseen.iter().all(|(_, trust)| trust.known > 0.4), "{foreseen:#?}");
    // What nobody foresaw is told wrong until it shows, and then right again.
    let lost: Vec<_> = unforeseen.iter().filter(|(_, trust)| trust.inside < 0.15).collect();
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn so_it_is_with_another_seed_in_rooms_that_call_by_a_rate() {
    for seed in [202, 303] {
        let judged = judged(seed, |pattern| pattern.name.starts_with("by rate"));
        let good = |trust: &Trust| trust.inside >= 0.8 && trust.median_error < 0.15 && trust.later_unsaid == 0.0;
        assert!(
            judged.len() >= 5 && judged.iter().all(|(_, trust)| good(trust)),
            "{judged:#?}"
        );
    }
}
