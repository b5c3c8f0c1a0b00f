//! Operators' commands: visitors admitted above rate and capacity, while gates and the store fail.

use ropeline::room::{Change, Changed, Effects, Entry};

use super::faults::Fault;
use super::ledger::Ledger;
use super::scenarios::over_seeds;
use super::world::SECOND;

impl Ledger {
    /// How many the operators of an entry let in at most: in all, and of those above the capacity. Only what the room took
    /// counts, and each order once in a log.
    pub fn ordered(&mut self, entry: &Entry, effects: &Effects) -> (u64, u64) {
        let mut most = (0, 0);
        for (change, taken) in entry.batch.rooms.iter().zip(&effects.changed) {
            let (Change::Call(order), Changed::Taken) = (&change.change, taken) else {
                continue;
            };
            let count = u64::from(order.count);
            most = (most.0 + count, most.1 + if order.beyond { count } else { 0 });
            let Some(who) = &change.who else { continue };
            if !self.orders.insert((entry.position.epoch, who.reason.clone())) {
                self.fault(&format!("{:?}: order {} is done twice", entry.position, who.reason));
            }
        }
        most
    }
}

#[test]
fn an_operators_calls_are_excess_only_where_they_were_to_be() {
    let call = |count, beyond| Fault::Call { count, beyond };
    let hold = |hold| Fault::Override { capacity: None, hold };
    let outcomes = over_seeds("an_operators_calls", |plan| {
        plan.with(40, call(3, false))
            .with(55, call(4, true))
            .with(70, Fault::Restart { lost: 3 })
            .with(75, call(2, true))
            .with(100, hold(true))
            .with(110, call(5, false))
            .with(125, call(5, true))
            .with(150, hold(false))
            .with(160, Fault::Cut(0, 10 * SECOND))
            .with(165, call(6, true))
    });
    let beyond: u64 = outcomes.iter().map(|outcome| outcome.beyond).sum();
    assert!(beyond > 0, "nobody was ever called above the capacity");
}
