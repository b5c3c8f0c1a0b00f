//! Visitors with accounts, two browsers to each, in worlds with faults: never two live places of one account in any gate's
//! rooms, and a visitor who holds a place keeps it.

use std::collections::BTreeMap;

use ropeline::room::{LineName, Number, Position, Standing, Tag};

use super::faults::Fault;
use super::judge::Pass;
use super::link::Weather;
use super::observer::Watch;
use super::plan::{Outcome, Plan};
use super::rooms::{self, LANE, Sale};
use super::store::EPOCH_MS;
use super::world::{SECOND, World};

impl World {
    /// A gate that is shown a number which the room does not know for the visitor's says so, as the request path does.
    pub fn shows(&mut self, id: usize, slot: usize, number: Number) {
        let tags = tags_of(id);
        let known = self.eyes(slot, |eyes| eyes.account(number));
        let Some(gate) = self.slots[slot].gate.as_mut().filter(|_| !tags.is_empty()) else {
            return;
        };
        if known.is_none() {
            gate.protocol.bind(rooms::visitor(number), tags);
            self.go_on(slot);
        }
    }

    /// The pass that goes with a number which the visitor was just given.
    pub fn pass_of(&self, id: usize, slot: usize, number: Number) -> Option<Pass> {
        let owner = !tags_of(id).is_empty();
        self.eyes(slot, |eyes| {
            if owner {
                eyes.pass_inside(number)
            } else {
                eyes.pass_for(number)
            }
        })
    }
}

/// The tags of a visitor's account, which the next visitor has too.
pub fn tags_of(id: usize) -> Vec<Tag> {
    let account = u64::try_from(id / 2).expect("not that many");
    if rooms::has_accounts() {
        vec![Tag(account.to_be_bytes())]
    } else {
        Vec::new()
    }
}

/// Two browsers of one account.
pub fn share(one: usize, other: usize) -> bool {
    one == other || (rooms::has_accounts() && one / 2 == other / 2)
}

/// After every entry, in the rooms of every gate.
pub fn look(watch: &mut Watch, position: &Position) {
    let Some(view) = &watch.last else { return };
    let line = view
        .rooms
        .get(&rooms::room())
        .and_then(|room| room.line(&LineName::ONLY));
    let Some(line) = line else { return };
    let mut live: BTreeMap<Tag, Number> = BTreeMap::new();
    for (lane, number, tag) in line.accounts() {
        let standing = line.standing(lane, number, view.clock);
        let lives = matches!(
            standing,
            Standing::Waiting(_) | Standing::Called(_) | Standing::Inside(_)
        );
        if let Some(other) = lives.then(|| live.insert(tag, number)).flatten() {
            let fault = format!("{position}: {tag:?} has two places, {other:?} and {number:?}");
            return watch.ledger.faults.push(fault);
        }
    }
}

/// Runs a world over some seeds, all of which must keep the promises.
fn over_seeds(test: &str, plan: impl Fn(Plan) -> Plan) -> Vec<Outcome> {
    rooms::with_accounts(true);
    let run = |seed| {
        let outcome = plan(Plan::plain(seed)).holds(test);
        shared(&outcome);
        outcome
    };
    let outcomes = (0..4).map(run).collect();
    rooms::with_accounts(false);
    outcomes
}

/// Two browsers have one number between them, more often than not.
fn shared(outcome: &Outcome) {
    let numbers = super::observer::with(|watch| {
        let view = watch.last.clone().expect("a view");
        let line = view.rooms[&rooms::room()]
            .line(&LineName::ONLY)
            .cloned()
            .expect("a line");
        assert!(line.accounts().all(|(lane, ..)| lane == LANE));
        line.figures.joins
    });
    let joined = outcome.tally.joined;
    assert!(numbers < joined, "{joined} visitors were given {numbers} numbers");
}

#[test]
fn two_browsers_of_an_account_share_its_place() {
    for outcome in over_seeds("two_browsers", |plan| plan) {
        assert_eq!(outcome.tally.begun, 1);
    }
}

#[test]
fn gates_that_die_and_are_cut_off_give_no_account_two_places() {
    over_seeds("gates_that_die_and", |plan| {
        let plan = Plan {
            weather: Weather::rough(),
            ..plan
        };
        plan.with(40, Fault::Crash(0, 20 * SECOND))
            .with(60, Fault::Cut(1, 25 * SECOND))
            .with(90, Fault::Pause(2, 10 * SECOND))
            .with(120, Fault::Leave(0, SECOND))
            .with(160, Fault::Cut(2, 15 * SECOND))
    });
}

#[test]
fn a_store_that_loses_entries_or_all_gives_no_account_two_places() {
    over_seeds("a_store_that_loses", |plan| {
        plan.with(50, Fault::Restart { lost: 20 })
            .with(90, Fault::OldDump(30 * SECOND))
            .with(130, Fault::Flush)
            .with(180, Fault::Restart { lost: 40 })
    });
}

#[test]
fn an_outage_of_the_store_numbers_each_account_once() {
    over_seeds("an_outage_of", |plan| {
        plan.with(
            40,
            Fault::Down {
                lost: 5,
                time: 30 * SECOND,
            },
        )
        .with(140, Fault::Sleep(8 * SECOND))
    });
}

#[test]
fn when_everything_is_lost_tickets_bring_back_whose_they_are() {
    over_seeds("when_everything_is", |plan| {
        plan.with(100, Fault::GateAndStore(1, 30)).with(170, Fault::Flush)
    });
}

#[test]
fn in_a_draw_each_account_has_one_lot() {
    over_seeds("in_a_draw", |plan| {
        let plan = Plan {
            sale: Some(Sale::DrawnAt(EPOCH_MS + 90_000)),
            ..plan
        };
        plan.with(60, Fault::Crash(0, 10 * SECOND))
            .with(120, Fault::Restart { lost: 10 })
    });
}
