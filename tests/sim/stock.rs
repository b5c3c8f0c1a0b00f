//! Sales by stock, in worlds with faults: no completion is counted twice, none that a gate has read is lost, and no visitor
//! is called for a piece that does not exist. The ledger checks this at every entry, also in the wild worlds.

use ropeline::replica::Note;
use ropeline::room::{Edition, LineName, Number};

use super::chance::Chance;
use super::faults::Fault;
use super::link::Weather;
use super::observer;
use super::plan::{Outcome, Plan};
use super::rooms;
use super::world::{Event, SECOND, World};

/// Half of the wild worlds sell, some of them less than their visitors want.
pub fn some_stock(seed: u64) -> Option<u32> {
    let mut chance = Chance::new(seed ^ 0x570C);
    let stock = u32::try_from(chance.within(20, 160)).unwrap_or(20);
    chance.hits(500).then_some(stock)
}

impl World {
    /// A visitor is done: most have bought, if there is something to buy, and are let out by the shop's answer. That may be
    /// late, and the request may have been sent twice, through two gates.
    pub fn parts(&mut self, slot: usize, number: Number) {
        self.parted.insert(number);
        if rooms::settings().stock.is_none() || !self.chance.hits(800) {
            return self.leave_word(slot, number, Some(Note::Leave));
        }
        self.bought.insert(number);
        let slow = if self.slow_shop { 40 } else { 4 };
        let late = if self.chance.hits(200) { slow * SECOND } else { 0 };
        self.answered(slot, number, late);
        if self.chance.hits(300) {
            let other = usize::try_from(self.chance.next()).unwrap_or(0) % self.slots.len();
            self.answered(other, number, 2 * late);
        }
    }

    fn answered(&mut self, slot: usize, number: Number, late: u64) {
        let Some(life) = self.slots[slot].gate.as_ref().map(|gate| gate.life) else {
            return;
        };
        self.after(late, Event::Completed(slot, life, number));
    }

    pub fn completed(&mut self, slot: usize, life: u64, number: Number) {
        let there = self.slots[slot].gate.as_ref().is_some_and(|gate| gate.life == life);
        let after_ms = self.chance.within(0, 3_000);
        let edition = Edition::default();
        let note = there.then_some(Note::Complete { edition, after_ms });
        self.leave_word(slot, number, note);
    }

    /// The gate says that all is sold.
    pub fn goes_home_with_nothing(&mut self, id: usize, slot: usize) -> bool {
        let view = self.slots[slot].gate.as_ref().map(|gate| &gate.view);
        let room = view.and_then(|view| view.rooms.get(&rooms::room()));
        let line = room.and_then(|room| room.line(&LineName::ONLY));
        let sold_out = line.is_some_and(|line| line.figures.is_sold_out());
        if sold_out {
            self.is_gone(id);
        }
        sold_out
    }
}

/// Every counted completion was a purchase.
pub fn judge(world: &World) -> Vec<String> {
    let sold = observer::with(|watch| watch.ledger.sold());
    let odd = sold.iter().find(|number| !world.bought.contains(number));
    odd.map(|number| format!("{number:?} has bought nothing and is counted"))
        .into_iter()
        .collect()
}

/// Runs a world that sells over some seeds, all of which must keep the promises.
fn over_seeds(test: &str, stock: u32, plan: impl Fn(Plan) -> Plan) -> Vec<Outcome> {
    let run = |seed| {
        let plain = Plan {
            stock: Some(stock),
            ..Plan::plain(seed)
        };
        plan(plain).holds(test)
    };
    (0..4).map(run).collect()
}

#[test]
fn a_quiet_sale_sells_all_of_its_stock_and_no_more() {
    let prompt = |plan| Plan {
        slow_shop: false,
        ..plan
    };
    for outcome in over_seeds("a_quiet_sale_sells", 40, prompt) {
        assert_eq!((outcome.tally.sold, outcome.tally.begun), (40, 1));
        assert_eq!(outcome.tally.bought, 40, "nothing that was bought was lost");
    }
}

#[test]
fn whoever_wants_finds_something_where_there_is_enough() {
    for outcome in over_seeds("whoever_wants_finds", 1_000, |plan| plan) {
        assert!((60..1_000).contains(&outcome.tally.sold), "{:?}", outcome.tally);
        assert_eq!(outcome.tally.sold, outcome.tally.bought);
    }
}

#[test]
fn gates_that_die_and_are_cut_off_sell_nothing_twice() {
    over_seeds("gates_that_die_and_are_cut_off", 60, |plan| {
        let plan = Plan {
            weather: Weather::rough(),
            ..plan
        };
        plan.with(40, Fault::Crash(0, 20 * SECOND))
            .with(60, Fault::Cut(1, 15 * SECOND))
            .with(80, Fault::Pause(2, 10 * SECOND))
            .with(100, Fault::Leave(0, SECOND))
            .with(120, Fault::Cut(2, 25 * SECOND))
    });
}

#[test]
fn a_store_that_loses_its_end_loses_nothing_that_was_sold() {
    over_seeds("a_store_that_loses_its_end", 80, |plan| {
        plan.with(50, Fault::Restart { lost: 10 })
            .with(90, Fault::Restart { lost: 30 })
            .with(130, Fault::OldDump(40 * SECOND))
    });
}

#[test]
fn a_store_that_forgets_everything_is_told_what_was_sold() {
    for outcome in over_seeds("a_store_that_forgets_everything", 50, |plan| {
        plan.with(60, Fault::Flush).with(110, Fault::Flush)
    }) {
        assert!(outcome.tally.sold >= 50, "{:?}", outcome.tally);
    }
}
