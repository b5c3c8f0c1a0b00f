//! What estimates are worth over the patterns of `examples/calibration`. Figures were chosen by seed 1; here others judge.

use anteroom::simulate::Trust;

use super::patterns::{self, UNFORESEEN};
use super::run;

fn judged(seed: u64) -> Vec<(&'static str, Trust)> {
    let patterns = patterns::all(seed).into_iter();
    patterns
        .map(|pattern| (pattern.name, run(&pattern.plan).estimates))
        .collect()
}

#[test]
fn the_true_wait_lies_inside_the_interval_and_near_its_middle_where_it_can_be_foreseen() {
    let judged = judged(101);
    let (unforeseen, foreseen): (Vec<_>, Vec<_>) = judged.iter().partition(|(name, _)| UNFORESEEN.contains(name));
    let wide: Vec<_> = foreseen.iter().filter(|(_, trust)| trust.inside < 0.8).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    let good = foreseen
        .iter()
        .filter(|(_, trust)| trust.median_error < 0.15 && trust.looks > 200);
    assert!(good.clone().count() >= 20, "{foreseen:#?}");
    // What is not known is said to be unknown, but not for long.
    assert!(foreseen.iter().all(|(_, trust)| trust.known > 0.4), "{foreseen:#?}");
    // What nobody foresaw is told wrong until it shows, and then right again.
    let lost: Vec<_> = unforeseen.iter().filter(|(_, trust)| trust.inside < 0.15).collect();
    assert!(lost.is_empty(), "{lost:#?}");
}
