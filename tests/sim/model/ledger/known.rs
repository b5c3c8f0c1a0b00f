//! The finished numbers that each gate has read, in any log, and the logs in which it has reported them.
//!
//! A finished number is not called again in a log in which a gate that knows it has appended: the gate brings that back with
//! its first entries. Facts that a gate only has from a snapshot do not count.

use std::collections::BTreeMap;

use super::Ledger;
use super::book::{Is, Person};
use ropeline::room::{Entry, GateId, Number, Position};

#[derive(Default)]
pub struct Known {
    /// Where each number was found to be over.
    over: BTreeMap<Number, Vec<Position>>,
    /// Where each number was found to have completed.
    sold: BTreeMap<Number, Vec<Position>>,
    /// The last sequence of each log that a gate has applied, since it read the rooms from the store.
    read: BTreeMap<(GateId, u64), u64>,
    said: BTreeMap<(u64, GateId), Said>,
}

/// How far a gate has come with its first words in a log.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    /// It is still bringing its knowledge back.
    Some,
    All,
}

impl Known {
    pub fn reads(&mut self, gate: GateId, at: Position) {
        let read = self.read.entry((gate, at.epoch)).or_default();
        *read = at.sequence.max(*read);
    }

    /// The gate takes its rooms from the store.
    pub fn forgets(&mut self, gate: GateId) {
        self.read.retain(|(of, _), _| *of != gate);
    }

    pub fn end(&mut self, number: Number, at: Position) {
        self.over.entry(number).or_default().push(at);
    }

    pub fn sell(&mut self, number: Number, at: Position) {
        self.sold.entry(number).or_default().push(at);
    }

    /// A batch of a gate counts. One that it cut before it had read the log's root says nothing of what it knows.
    pub fn hear(&mut self, entry: &Entry) {
        if entry.batch.applied == 0 {
            return;
        }
        let said = self
            .said
            .entry((entry.position.epoch, entry.gate))
            .or_insert(Said::Some);
        *said = match *said {
            Said::Some if entry.batch.adopt.is_some_and(|adopt| !adopt.done) => Said::Some,
            Said::Some | Said::All => Said::All,
        };
    }

    /// A gate that knows the number to be over, and has had its say in the log; and where it read so.
    pub fn is_over(&self, number: Number, epoch: u64) -> Option<(GateId, Position)> {
        self.read_by(self.over.get(&number)?, epoch)
    }

    /// The same of a number that has completed.
    pub fn is_sold(&self, number: Number, epoch: u64) -> Option<(GateId, Position)> {
        self.read_by(self.sold.get(&number)?, epoch)
    }

    fn read_by(&self, found: &[Position], epoch: u64) -> Option<(GateId, Position)> {
        let gates = self.said.range((epoch, GateId(0))..=(epoch, GateId(u64::MAX)));
        let gates: Vec<GateId> = gates
            .filter(|(_, said)| **said == Said::All)
            .map(|((_, gate), _)| *gate)
            .collect();
        // Of two masters the one with the lower epoch is dropped, and takes nothing from the other.
        let mut earlier = found.iter().filter(|at| at.epoch <= epoch);
        earlier.find_map(|at| {
            let knows = |gate: &&GateId| {
                let read = self.read.get(&(**gate, at.epoch));
                read.is_some_and(|read| *read >= at.sequence)
            };
            Some((*gates.iter().find(knows)?, *at))
        })
    }
}

impl Ledger {
    /// Numbers of the newest history that are not over and that no visitor received.
    pub fn ghosts(&self, given: impl Fn(&Number) -> bool) -> usize {
        let people = self.histories.values().next_back().map(|history| &history.book.people);
        let ghost = |(number, person): &(&Number, &Person)| person.is != Is::Over && !given(number);
        people.map_or(0, |people| people.iter().filter(ghost).count())
    }
}
