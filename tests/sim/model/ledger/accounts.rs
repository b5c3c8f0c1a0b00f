//! The effect of every entry on accounts: the account of each number, and that no account gets a second one.

use ropeline::room::{Effects, Entry, LineView, Number, Position, Standing, Tag};

use super::book::{Book, Is};
use super::{LANE, Ledger};
use crate::rooms;

impl Ledger {
    pub fn accounts(&mut self, book: &mut Book, entry: &Entry, effects: &Effects, line: Option<&LineView>) {
        let items = entry.batch.sections.iter().flat_map(|section| &section.tagged);
        for (joined, tagged) in effects.tagged_joined.iter().zip(items) {
            match (joined.first, tagged.tags.first()) {
                (Some(number), Some(tag)) => self.given(book, entry.position, number, *tag),
                (Some(number), None) => self.issue(book, entry.position, number),
                (None, _) => {}
            }
        }
        if let Some(line) = line {
            given_up(book, line);
        }
    }

    /// Visitors who were given a number without an account.
    pub fn joined(&mut self, book: &mut Book, entry: &Entry, effects: &Effects) {
        let at = entry.position;
        let new = effects
            .joined
            .iter()
            .filter(|joined| joined.room == rooms::room())
            .filter_map(|joined| Some((joined.first?, joined.count)));
        let new = new.flat_map(|(first, count)| (0..count).map(move |i| (first.n + i, first.epoch, None)));
        let ids = entry.batch.sections.iter().flat_map(|section| &section.pending_joins);
        let again = effects.pending_joined.iter().zip(ids);
        let again = again.filter(|(joined, _)| joined.room == rooms::room());
        let again = again.filter_map(|(joined, (_, id))| Some((joined.first?.n, joined.first?.epoch, Some(*id))));
        // In the order of the room, where virtual visitors have a section of their own.
        let mut all: Vec<_> = new.chain(again).collect();
        all.sort_by_key(|(n, epoch, _)| (*epoch, *n));
        for (n, epoch, id) in all {
            let number = Number { epoch, n };
            let Some(id) = id else {
                self.issue(book, at, number);
                continue;
            };
            let live = |before| {
                book.people
                    .get(before)
                    .is_some_and(|person| book.is_surely_present(person))
            };
            match book.pending.get(&id) {
                Some(before) if *before == number => {}
                Some(before) if live(before) => {
                    self.fault(&format!("{at:?}: {id:?} is {before:?} and becomes {number:?}"));
                }
                _ => {
                    self.issue(book, at, number);
                    book.number_pending(id, number);
                }
            }
        }
    }

    /// A new number of an account that has none; or the one that the account has.
    fn given(&mut self, book: &mut Book, at: Position, number: Number, tag: Tag) {
        if self.issued.contains(&number) {
            let other = book.owners.get(&number).is_some_and(|owner| *owner != tag);
            let over = book.people.get(&number).is_some_and(|person| person.is == Is::Over);
            if other || over {
                self.fault(&format!(
                    "{at:?}: {number:?} is given to {tag:?}: another's {other}, over {over}"
                ));
            }
            return book.own(number, tag);
        }
        let held = |(has, person): &(&Number, &super::book::Person)| {
            let held = matches!(person.is, Is::Called { .. } | Is::Inside { .. });
            // For a number of an older log, its account may be lost.
            has.epoch.0 == at.epoch && book.owners.get(*has) == Some(&tag) && (held || book.is_surely_present(person))
        };
        if let Some((has, person)) = book.people.iter().find(held) {
            self.fault(&format!(
                "{at:?}: {tag:?} is given {number:?} and has {has:?}, {person:?}"
            ));
        }
        self.issue(book, at, number);
        book.own(number, tag);
    }
}

/// The room has given up one of two places of one account: it says which one, but the other must live.
fn given_up(book: &mut Book, line: &LineView) {
    let all: Vec<(Number, Tag, Standing)> = line
        .accounts()
        .map(|(_, number, tag)| (number, tag, line.standing(LANE, number, line.clock)))
        .collect();
    let lives = |standing: &Standing| {
        matches!(
            standing,
            Standing::Waiting(_) | Standing::Called(_) | Standing::Inside(_)
        )
    };
    for (number, tag, standing) in &all {
        // A session that expired may be opened again.
        let over = book
            .people
            .get(number)
            .is_none_or(|person| matches!(person.is, Is::Over | Is::Lapsed));
        let another = all.iter().any(|(_, other, standing)| other == tag && lives(standing));
        if *standing == Standing::Ended && !over && another {
            book.leave(*number);
        }
    }
}
