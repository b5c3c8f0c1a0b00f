//! Rooms with load control, before a shop with a limit.

use ropeline::room::{Bounds, Controller, Linear, LoadControl, Mode, Overrides, Settings, Why};
use ropeline::simulate::{Outcome, Plan, Upstream, html, text};

use super::{plan, run};

/// So many slots that the shop is the limit: visits of 8 requests in half a minute.
fn before(per_sec: &[(u64, u32)], by: Option<Controller>) -> Plan {
    let settings = Settings {
        capacity: 2_000,
        load_control: by.map(LoadControl::by),
        ..Settings::default()
    };
    let mut plan = Plan {
        upstream: Some(Upstream {
            per_sec: per_sec.to_vec(),
        }),
        over_ms: 60_000,
        ..plan(2_500, settings)
    };
    plan.stays.mean_ms = vec![(0, 30_000)];
    plan.stays.pages = 8;
    plan
}

const ADAPTIVE: Controller = Controller::Adaptive(Bounds {
    p95_ms: 1_500,
    errors_permille: 50,
});

/// The average allowance per step between two moments, in thousandths.
fn allowed(outcome: &Outcome, from_secs: u64, to_secs: u64) -> u64 {
    let series = &outcome.over_time;
    let at = |secs: u64| usize::try_from(secs * 1_000 / series.step_ms).unwrap();
    let steps = &series.steps[at(from_secs)..at(to_secs)];
    let sum: u64 = steps
        .iter()
        .filter_map(|step| step.allowed)
        .map(|allowed| allowed.step_milli)
        .sum();
    sum / u64::try_from(steps.len()).unwrap()
}

#[test]
fn an_adaptive_room_calls_as_many_as_the_shop_bears_and_fewer_when_it_bears_less() {
    let levels = [(0, 60), (360_000, 25)];
    let (follows, alone) = (run(&before(&levels, Some(ADAPTIVE))), run(&before(&levels, None)));
    let words = text(&follows);
    let failed = |outcome: &Outcome| outcome.upstream.unwrap().failed;
    assert!(follows.finished && follows.claims == 2_500, "{words}");
    assert!(
        failed(&alone) > 1_000 && failed(&follows) * 10 < failed(&alone),
        "{words}\n{}",
        text(&alone)
    );
    let (quick, slow) = (allowed(&follows, 200, 350), allowed(&follows, 420, 600));
    assert!(quick > slow * 3 / 2, "{quick} {slow}\n{words}");
    let followed = follows.load_control.unwrap();
    assert!(
        followed.by == "adaptive" && followed.why_secs.contains_key("latency"),
        "{words}"
    );
    // The gate reports in time: once a visitor waits, the room never goes without figures.
    assert!(follows.over_time.steps[0].waiting > 0, "{words}");
    assert!(!followed.why_secs.contains_key("figures"), "{words}");
    assert!(
        words.contains("admission adaptive: ") && words.contains("allowed/s     p95  why"),
        "{words}"
    );
    assert!(alone.load_control.is_none() && !text(&alone).contains("allowed/s"));
}

#[test]
fn a_linear_room_calls_fewer_the_more_requests_the_shop_has() {
    let linear = Linear {
        most: 20,
        least: 1,
        from: 0,
        until: 50,
    };
    let outcome = run(&before(&[(0, 100)], Some(Controller::Linear(linear))));
    let words = text(&outcome);
    let steps = outcome.over_time.steps.iter();
    let busy = steps
        .clone()
        .filter(|step| step.waiting > 0)
        .filter_map(|step| step.allowed);
    assert!(busy.clone().any(|allowed| allowed.why == Why::Requests), "{words}");
    // After a minute, when as many could be allowed as are at rest.
    let later = outcome
        .over_time
        .steps
        .iter()
        .skip(usize::try_from(60_000 / outcome.over_time.step_ms).unwrap());
    let later: Vec<_> = later.filter_map(|step| step.allowed).collect();
    assert!(later.iter().any(|allowed| allowed.step_milli < 15_000), "{words}");
    assert_eq!(outcome.load_control.as_ref().unwrap().by, "linear");
    assert!(outcome.finished && outcome.upstream.unwrap().failed == 0, "{words}");
    // With the linear controller, at 50 requests per second one visitor is called per step: calls settle below that.
    let most = steps
        .map(|step| step.requests * 1_000 / outcome.over_time.step_ms)
        .max();
    assert!(most < Some(70), "{most:?}\n{words}");
}

#[test]
fn few_are_called_to_a_shop_that_fails_everybody_and_the_line_goes_on_after() {
    let outcome = run(&before(&[(0, 60), (200_000, 0), (400_000, 60)], Some(ADAPTIVE)));
    let words = text(&outcome);
    let series = &outcome.over_time;
    let at = |secs: u64| usize::try_from(secs * 1_000 / series.step_ms).unwrap();
    let calls = |from, to| {
        series.steps[at(from)..at(to)]
            .iter()
            .map(|step| step.calls)
            .sum::<u64>()
    };
    // In as long a time, before, meanwhile and after.
    let (well, down, back) = (calls(100, 190), calls(300, 390), calls(450, 540));
    assert!(
        down * 2 < well && down * 2 < back && outcome.finished,
        "{well} {down} {back}\n{words}"
    );
    // While it answers no request there is no duration to plot.
    let page = html(&outcome);
    let (_, plot) = page.split_once("95 of 100 requests take at most").unwrap();
    let (_, path) = plot.split_once("class=\"a\" d=\"").unwrap();
    let path = path.split('"').next().unwrap();
    assert!(path.matches('M').count() > 1, "{path}");
    let followed = outcome.load_control.unwrap();
    assert!(
        followed.stopped_secs > 30.0 && followed.why_secs["errors"] > 50.0,
        "{words}"
    );
    // Slots that are empty while calls are stopped are not counted as missed calls.
    let waited = series.steps.iter().filter(|step| step.waiting > 0).count();
    let waited_ms = series.step_ms * u64::try_from(waited).unwrap();
    let line_ms = std::time::Duration::from_secs_f64(outcome.line_secs).as_millis();
    assert!(line_ms + 30_000 < u128::from(waited_ms), "{waited_ms}\n{words}");
}

#[test]
fn no_more_are_called_than_the_steps_say_was_allowed() {
    let mut plan = before(&[(0, 60), (240_000, 20), (480_000, 60)], Some(ADAPTIVE));
    // Longer, so that steps of the series become longer than the controller's.
    (plan.visitors, plan.over_ms) = (5_000, 600_000);
    let outcome = run(&plan);
    let (series, words) = (&outcome.over_time, text(&outcome));
    let call_every_ms = outcome.load_control.as_ref().unwrap().step_ms;
    assert!(series.step_ms > call_every_ms, "{}", series.step_ms);
    for steps in series.steps.chunks(series.steps.len().div_ceil(16)) {
        let allowed = || steps.iter().filter_map(|step| step.allowed);
        let milli: u64 = allowed()
            .map(|allowed| allowed.step_milli * series.step_ms / call_every_ms)
            .sum();
        let one_more = allowed()
            .map(|allowed| allowed.step_milli)
            .max()
            .unwrap_or(0)
            .max(1_000);
        let called: u64 = steps.iter().map(|step| step.calls).sum();
        assert!(
            called * 1_000 <= milli + one_more,
            "{called} of {milli} and {one_more}\n{words}"
        );
        assert!(allowed().all(|allowed| allowed.least_milli <= allowed.step_milli));
    }
}

#[test]
fn while_an_operator_holds_the_room_its_shop_is_in_nobodys_way() {
    let held = Overrides {
        mode: Some(Mode::Hold),
        ..Overrides::default()
    };
    let outcome = run(&Plan {
        changes: vec![(120_000, held), (720_000, Overrides::default())],
        ..before(&[(0, 60)], Some(ADAPTIVE))
    });
    let words = text(&outcome);
    let series = &outcome.over_time;
    let waited = series.steps.iter().filter(|step| step.waiting > 0).count();
    let waited_ms = series.step_ms * u64::try_from(waited).unwrap();
    let waited_secs = std::time::Duration::from_millis(waited_ms).as_secs_f64();
    let followed = outcome.load_control.as_ref().unwrap();
    let secs: f64 = followed.why_secs.values().sum();
    assert!(outcome.finished && secs > 200.0, "{words}");
    assert!(secs + 595.0 < waited_secs, "{secs} of {waited_secs}\n{words}");
    assert!(followed.stopped_secs < 120.0, "{words}");
}

#[test]
fn the_same_plan_gives_the_same_bytes() {
    let plan = before(&[(0, 60)], Some(ADAPTIVE));
    let said = || serde_json::to_string(&run(&plan)).unwrap();
    assert_eq!(said(), said());
}

#[test]
fn every_request_goes_to_the_shop_even_that_of_the_briefest_visit() {
    let mut plan = before(&[(0, 60)], None);
    (plan.visitors, plan.over_ms, plan.stays.pages) = (400, 300_000, 1);
    let outcome = run(&plan);
    let served = outcome.upstream.unwrap();
    assert!(outcome.requests >= 400, "{}", text(&outcome));
    assert_eq!(served.answered + served.failed, outcome.requests, "{}", text(&outcome));
}
