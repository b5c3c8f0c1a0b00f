//! Sales that are drawn, in worlds with faults: no visitor loses a place, none is called out of the drawn order, and every
//! draw that was made can be checked.

use ropeline::draw::Figures;
use ropeline::room::LineName;

use super::faults::Fault;
use super::link::Weather;
use super::observer;
use super::plan::{Outcome, Plan};
use super::rooms::{self, LANE, Sale};
use super::store::EPOCH_MS;
use super::world::SECOND;

/// When the line is drawn, by the store's clock.
const OPENS_MS: u64 = EPOCH_MS + 90_000;

/// Runs a world over some seeds, all of which must keep the promises.
fn over_seeds(test: &str, plan: impl Fn(Plan) -> Plan) -> Vec<Outcome> {
    let run = |seed| {
        let sale = Some(Sale::DrawnAt(OPENS_MS));
        let outcome = plan(Plan {
            sale,
            ..Plan::plain(seed)
        })
        .holds(test);
        checks();
        outcome
    };
    (0..4).map(run).collect()
}

/// The draw was made, and its published figures agree.
fn checks() {
    let view = observer::with(|watch| watch.last.clone()).expect("a view");
    let of = &view.rooms[&rooms::room()];
    let figures = of.figures(&rooms::room(), &LineName::ONLY, LANE);
    let figures = figures.unwrap_or_else(|| {
        panic!(
            "no promise: {:?} {:?} {:?} {:?}",
            of.sale, of.stage, of.settings, of.revision
        )
    });
    let json = serde_json::to_vec(&figures).expect("JSON");
    let figures = Figures::parse(&json).expect("a draw that was made");
    assert_eq!(figures.faults(), []);
    assert!(figures.count() > 60, "{} were drawn", figures.count());
}

#[test]
fn a_quiet_sale_is_drawn_and_loses_nobody() {
    for outcome in over_seeds("a_quiet_sale", |plan| plan) {
        assert_eq!((outcome.tally.begun, outcome.tally.thrown_out), (1, 0));
        assert_eq!(outcome.tally.ghosts, 0);
    }
}

#[test]
fn gates_that_die_around_the_opening_change_nothing() {
    over_seeds("gates_that_die_around", |plan| {
        let plan = Plan {
            weather: Weather::rough(),
            ..plan
        };
        plan.with(40, Fault::Crash(0, 20 * SECOND))
            .with(89, Fault::Crash(1, 5 * SECOND))
            .with(90, Fault::Pause(2, 10 * SECOND))
            .with(91, Fault::Leave(0, SECOND))
    });
}

#[test]
fn a_store_that_restarts_in_the_prequeue_and_after_the_draw_costs_nobody_their_place() {
    over_seeds("a_store_that_restarts", |plan| {
        plan.with(50, Fault::Restart { lost: 10 })
            .with(120, Fault::Restart { lost: 10 })
    });
}

#[test]
fn a_store_that_forgets_everything_after_the_draw_is_told_it() {
    over_seeds("a_store_that_forgets", |plan| plan.with(130, Fault::Flush));
}
