//! The bill: the cost of a sale.

use ropeline::room::Settings;
use ropeline::simulate::{Arrive, Bill, Plan};

use super::{plan, run};

/// Many come at once, and then a line of hours.
fn sale(gates: &[u32]) -> Plan {
    let settings = Settings {
        capacity: 5,
        ..Settings::default()
    };
    Plan {
        arrive: Arrive::Spike,
        over_ms: 60_000,
        gates: gates.to_vec(),
        ..plan(800, settings)
    }
}

fn bills(plan: &Plan) -> (Vec<Bill>, u64) {
    let outcome = run(plan);
    (outcome.bills, outcome.over_time.step_ms)
}

#[test]
fn the_busiest_second_is_the_same_however_long_a_sale_goes_on() {
    let brief = Plan {
        most_ms: 600_000,
        ..sale(&[1, 10])
    };
    let ((brief, step_ms), (whole, long_step_ms)) = (bills(&brief), bills(&sale(&[1, 10])));
    assert!(long_step_ms > 4 * step_ms, "{step_ms} {long_step_ms}");
    let peaks = |bill: &Bill| {
        [
            bill.entries,
            bill.commands,
            bill.store_in_bytes,
            bill.store_out_bytes,
            bill.gate_cores,
            bill.stream_cores,
        ]
        .map(f64::to_bits)
    };
    for (brief, whole) in brief.iter().zip(&whole) {
        assert_eq!(peaks(brief), peaks(whole), "{brief:?} {whole:?}");
        assert!(brief.all_entries < whole.all_entries / 2.0, "{brief:?} {whole:?}");
    }
    // Half of 800 come within three seconds, most of them in the first: 133 a second and more, who cost 45 µs each, and entries 10.
    assert!((0.008..0.013).contains(&whole[0].gate_cores), "{whole:?}");
}

#[test]
fn gates_with_a_short_line_do_not_all_speak_in_each_tick() {
    let mut plan = sale(&[1, 100]);
    plan.visitors = 100;
    let (bills, _) = bills(&plan);
    let secs = run(&plan).took_secs;
    let [one, many] = bills[..] else { unreachable!("two") };
    // A tick is a quarter of a second; and each of a hundred says once in five seconds that it is there.
    assert!((3.0..4.5).contains(&(one.all_entries / secs)), "{one:?} in {secs}");
    assert!((19.5..24.0).contains(&(many.all_entries / secs)), "{many:?} in {secs}");
}

#[test]
fn whoever_sees_a_second_page_claims_twice() {
    let mut plan = sale(&[]);
    (plan.visitors, plan.arrive, plan.over_ms) = (10, Arrive::Steady, 10_000);
    let outcome = run(&plan);
    let words: u64 = outcome.over_time.steps.iter().map(|step| step.words).sum();
    // All of them come and their sessions end, and eight show the pass at a second page.
    assert_eq!((outcome.claims, words), (10, 28));
}

#[test]
fn streams_are_told_apart_from_what_else_a_gate_does() {
    let (bills, _) = bills(&sale(&[1, 10]));
    // With 795 in line at most, 5.5 µs a second each.
    assert!((0.0035..0.0044).contains(&bills[0].stream_cores), "{bills:?}");
    assert!(
        (bills[0].stream_cores - bills[1].stream_cores * 10.0).abs() < 1e-9,
        "{bills:?}"
    );
}
