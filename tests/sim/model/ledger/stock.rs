//! The sales, computed from the entries: each number once, none lost that a gate has read, no visitor called without a piece.

use std::collections::BTreeSet;

use ropeline::room::{Completion, LineView, Number, Position};

use super::book::{Book, Is};
use super::{Ledger, Rooms};

impl Ledger {
    /// The completed visitors, in the newest history.
    pub fn sold(&self) -> BTreeSet<Number> {
        let newest = self.histories.values().next_back();
        newest.map_or_else(BTreeSet::new, |history| history.book.sold.clone())
    }

    pub(super) fn completed(&mut self, book: &mut Book, done: &Completion, adopts: bool) {
        if !self.issued.contains(&done.number) {
            self.fault(&format!("{:?} completed and was given to nobody", done.number));
        }
        if book.complete(done, adopts) {
            self.completions.insert(done.number);
        }
    }

    /// The room's count matches the entries, and no visitor was called beyond the stock.
    pub(super) fn judge_stock(&mut self, book: &Book, made: u64, at: Position, line: &LineView) {
        let figures = &line.figures;
        let Some(stock) = figures.stock else { return };
        let promised = book.sold.len() + book.unfinished();
        if figures.completed as usize != book.sold.len() {
            let (counted, said) = (figures.completed, book.sold.len());
            self.fault(&format!("{at:?}: {counted} are counted as complete, and {said} were"));
        }
        if figures.unfinished as usize != book.unfinished() {
            let (held, by) = (figures.unfinished, book.unfinished());
            self.fault(&format!("{at:?}: {held} pieces are held, and {by} by the entries"));
        }
        if made > 0 && promised > stock as usize {
            self.fault(&format!("{at:?}: {made} called for {promised} of {stock} pieces"));
        }
        if at.sequence.is_multiple_of(8) && self.rooms == Rooms::Right {
            let lost = self.completions.iter().find_map(|number| {
                let known = self.known.is_sold(*number, at.epoch)?;
                (!book.sold.contains(number)).then_some((*number, known))
            });
            if let Some((number, (gate, since))) = lost {
                self.fault(&format!(
                    "{at:?}: {number:?} completed at {since:?}, as {gate:?} knew, and is not counted"
                ));
            }
        }
    }
}

impl Book {
    /// False for a visitor who has completed before.
    fn complete(&mut self, done: &Completion, adopts: bool) -> bool {
        let number = done.number;
        let new = self.sell(number);
        let Some(person) = self.people.get(&number).copied() else {
            return new;
        };
        match person.is {
            Is::Called { .. } | Is::Inside { .. } if !adopts => self.end(&done.end()),
            Is::Inside { .. } | Is::Over => {}
            Is::Lapsed if adopts => {}
            _ if adopts && !new => {}
            _ => self.put(number, super::Person { is: Is::Over, ..person }),
        }
        new
    }

    /// Slots that a piece is held for.
    pub fn unfinished(&self) -> usize {
        let held = |is: &Is| matches!(is, Is::Called { .. } | Is::Inside { .. });
        let held = self.people.iter().filter(|(_, person)| held(&person.is));
        held.filter(|(number, _)| !self.sold.contains(number)).count()
    }
}
