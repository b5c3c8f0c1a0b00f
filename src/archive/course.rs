//! Checks that pieces of history follow each other: positions without a gap, and the hash chain.

use std::collections::{BTreeMap, VecDeque};

use super::step::{Fault, Step};
use crate::room::{Chain, Position};

/// How far the history has been followed.
#[derive(Debug, Default)]
pub struct Course {
    at: Option<Position>,
    chain: Chain,
    /// The chain after each of the last entries of this epoch, and after each piece.
    recent: VecDeque<(u64, Chain)>,
    ends: BTreeMap<u64, Chain>,
}

/// How a piece stands to the history followed so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Joint {
    /// It is the next.
    Follows,
    /// It claims to be the next, but with another chain.
    Forks,
    /// Entries are missing before it.
    Gap { after: Position },
    /// Its first entries were seen already.
    Overlaps,
    /// It is of the next epoch.
    Begins(Link),
    /// It is of the next epoch, whose first entries are missing.
    BeginsLate,
}

/// The predecessor of a new log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Link {
    /// No log was followed before.
    First,
    /// The whole of the log before.
    Whole,
    /// The log before without its last entries: they were lost with the store, and every gate that had read them.
    Lost { entries: u64 },
    /// None. For the first log that is followed this is its first start; for a later one the store and every gate were lost
    /// at once.
    Nothing,
    /// A history that is not the one followed.
    Elsewhere,
}

impl Course {
    /// Where the history stands, and the chain there.
    #[must_use]
    pub fn reached(&self) -> Option<(Position, Chain)> {
        self.at.map(|at| (at, self.chain))
    }

    /// Takes up a piece in `file` whose first entry is at `first`, with the chain `before` it. Reports first any fault
    /// between it and the history so far, or that a log begins. False for one whose first entries were seen already: it is
    /// not taken up, and nothing is reported.
    pub fn take_up(&mut self, file: &str, first: Position, before: Chain, step: &mut dyn FnMut(Step<'_>)) -> bool {
        let joint = self.joint(first, before);
        match joint {
            Joint::Follows => return true,
            Joint::Overlaps => return false,
            _ => {}
        }
        if let Some(fault) = self.fault(joint, file, first) {
            step(Step::Fault(fault));
        }
        if let Joint::Begins(link) = joint {
            step(Step::Begins {
                first,
                before,
                after: self.at,
                link,
            });
        }
        let at = Position {
            sequence: first.sequence - 1,
            ..first
        };
        self.enter(at, before);
        true
    }

    fn fault(&self, joint: Joint, file: &str, first: Position) -> Option<Fault> {
        let file = file.to_owned();
        match joint {
            Joint::Forks => Some(Fault::Chain { file, position: first }),
            Joint::Gap { after } => Some(Fault::Gap { file, after, first }),
            Joint::BeginsLate => {
                let after = Position { sequence: 0, ..first };
                Some(Fault::Gap { file, after, first })
            }
            Joint::Begins(Link::Elsewhere) => self.at.map(|after| Fault::Elsewhere { file, after }),
            Joint::Follows | Joint::Overlaps | Joint::Begins(_) => None,
        }
    }

    /// The relation of a piece whose first entry is at `first`, with the chain `before` it, to the history so far.
    fn joint(&self, first: Position, before: Chain) -> Joint {
        let Some(at) = self.at.filter(|at| at.epoch == first.epoch) else {
            return if first.sequence == 1 {
                Joint::Begins(self.link(first.epoch, before))
            } else if self.at.is_none() {
                Joint::Begins(Link::First)
            } else {
                Joint::BeginsLate
            };
        };
        match at.sequence + 1 {
            due if first.sequence > due => Joint::Gap { after: at },
            due if first.sequence < due => Joint::Overlaps,
            _ if before != self.chain => Joint::Forks,
            _ => Joint::Follows,
        }
    }

    /// Takes up a piece behind `at`, with any history before.
    pub fn enter(&mut self, at: Position, chain: Chain) {
        if self.at.is_none_or(|before| before.epoch != at.epoch) {
            self.recent.clear();
            self.ends.clear();
        }
        self.ends.insert(at.sequence, chain);
        (self.at, self.chain) = (Some(at), chain);
    }

    /// Goes on by one entry.
    pub fn pass(&mut self, position: Position, chain: Chain) {
        (self.at, self.chain) = (Some(position), chain);
        self.recent.push_back((position.sequence, chain));
        if self.recent.len() > MOST_RECENT {
            self.recent.pop_front();
        }
    }

    /// A piece is over.
    pub fn leave(&mut self) {
        if let Some(at) = self.at {
            self.ends.insert(at.sequence, self.chain);
        }
    }

    /// The chain after an entry of this epoch, where it is remembered: after the last 65,536, and after each piece.
    #[must_use]
    pub fn chain_at(&self, sequence: u64) -> Option<Chain> {
        let recent = self.recent.binary_search_by_key(&sequence, |(sequence, _)| *sequence);
        match recent {
            Ok(i) => self.recent.get(i).map(|(_, chain)| *chain),
            Err(_) => self.ends.get(&sequence).copied(),
        }
    }

    fn link(&self, epoch: u64, before: Chain) -> Link {
        let from = |chain| Chain::begin(epoch, chain) == before;
        // Gates that share a store name an empty state as the root of a log begun from nothing.
        let empty = Chain::begin(0, Chain::default());
        let from_nothing = from(Chain::default()) || from(empty);
        let Some(at) = self.at else {
            return if from_nothing { Link::Nothing } else { Link::First };
        };
        if from(self.chain) {
            return Link::Whole;
        }
        let lost = |(sequence, chain): &(u64, Chain)| from(*chain).then(|| at.sequence - sequence);
        if let Some(entries) = self.recent.iter().rev().find_map(lost) {
            return Link::Lost { entries };
        }
        if from_nothing { Link::Nothing } else { Link::Elsewhere }
    }
}

/// Entries back to which a new log is seen to go on from: a minute and more of a store's stream.
const MOST_RECENT: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(epoch: u64, sequence: u64) -> Position {
        Position { epoch, sequence }
    }

    fn chain(entries: u64) -> Chain {
        (1..=entries).fold(Chain::begin(7, Chain::default()), |chain, entry| {
            chain.then(&entry.to_le_bytes(), false)
        })
    }

    /// Epoch 7, to its fifth entry.
    fn five() -> Course {
        let mut course = Course::default();
        course.enter(at(7, 0), chain(0));
        for sequence in 1..=5 {
            course.pass(at(7, sequence), chain(sequence));
        }
        course.leave();
        course
    }

    #[test]
    fn what_follows_has_the_next_position_and_the_same_chain() {
        let course = five();
        assert_eq!(course.joint(at(7, 6), chain(5)), Joint::Follows);
        assert_eq!(course.joint(at(7, 6), chain(4)), Joint::Forks);
        assert_eq!(course.joint(at(7, 7), chain(6)), Joint::Gap { after: at(7, 5) });
        assert_eq!(course.joint(at(7, 5), chain(4)), Joint::Overlaps);
        assert_eq!((course.chain_at(3), course.chain_at(6)), (Some(chain(3)), None));
    }

    #[test]
    fn a_new_log_names_what_it_goes_on_from() {
        let course = five();
        let begins = |from: Chain| course.joint(at(9, 1), Chain::begin(9, from));
        assert_eq!(begins(chain(5)), Joint::Begins(Link::Whole));
        assert_eq!(begins(chain(3)), Joint::Begins(Link::Lost { entries: 2 }));
        assert_eq!(begins(Chain::default()), Joint::Begins(Link::Nothing));
        let empty = Chain::begin(0, Chain::default());
        assert_eq!(
            begins(empty),
            Joint::Begins(Link::Nothing),
            "as gates that share a store begin"
        );
        assert_eq!(begins(chain(6)), Joint::Begins(Link::Elsewhere));
        assert_eq!(course.joint(at(9, 2), chain(1)), Joint::BeginsLate);
        let nothing = Course::default();
        assert_eq!(nothing.joint(at(7, 40), chain(39)), Joint::Begins(Link::First));
        assert_eq!(nothing.joint(at(7, 1), chain(0)), Joint::Begins(Link::Nothing));
    }

    /// The reports on a piece behind [`five`], and where the history stands then.
    fn told(first: Position, before: Chain) -> (bool, Vec<String>, Position) {
        let (mut course, mut told) = (five(), Vec::new());
        let taken = course.take_up("file", first, before, &mut |step| {
            told.push(match step {
                Step::Fault(fault) => fault.to_string(),
                Step::Begins { after, link, .. } => format!("begins after {:?}: {link:?}", after.unwrap().sequence),
                other => format!("{other:?}"),
            });
        });
        (taken, told, course.reached().unwrap().0)
    }

    #[test]
    fn what_does_not_fit_is_told_once_and_taken_up_but_for_what_overlaps() {
        let at_7 = |sequence| at(7, sequence).to_string();
        let nothing = Vec::<String>::new();
        assert_eq!(told(at(7, 6), chain(5)), (true, nothing.clone(), at(7, 5)));
        assert_eq!(told(at(7, 5), chain(4)), (false, nothing, at(7, 5)));
        let forks = format!(
            "file does not follow what was filed before it: entries before {} were altered",
            at_7(6)
        );
        assert_eq!(told(at(7, 6), chain(4)), (true, vec![forks], at(7, 5)));
        let gap = format!(
            "entries are missing between {} and file, which begins at {}",
            at_7(5),
            at_7(9)
        );
        assert_eq!(told(at(7, 9), chain(8)), (true, vec![gap], at(7, 8)));
        let late = format!(
            "entries are missing between {} and file, which begins at {}",
            at(9, 0),
            at(9, 3)
        );
        assert_eq!(told(at(9, 3), chain(2)), (true, vec![late], at(9, 2)));
        let begins = |link| format!("begins after 5: {link}");
        let goes_on = |from| told(at(9, 1), Chain::begin(9, from));
        assert_eq!(goes_on(chain(5)), (true, vec![begins("Whole")], at(9, 0)));
        let elsewhere = format!(
            "file begins from a history that is not here: entries after {} are missing, or were altered",
            at_7(5)
        );
        assert_eq!(
            goes_on(chain(6)),
            (true, vec![elsewhere, begins("Elsewhere")], at(9, 0))
        );
    }
}
