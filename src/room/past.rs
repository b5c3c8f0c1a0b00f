//! What the log remembers of eras and of numbers that no line holds any more.
//!
//! A line that is forgotten or reset leaves, for each era, a floor: one past the highest number it may have issued. A
//! later line of any room begins above it, so no number is ever issued twice, and a ticket below it is late rather than
//! lost. A ticket of an era that nobody remembers proves that the store and every gate were lost at once.

use std::collections::BTreeMap;

use super::codec::{Read, Reader, Writer};
use super::era::MAX_ERAS;
use super::ids::{Clock, Era, Number};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Past {
    /// Eras the rooms have known, with their floors; the last is the one that issues. At most `MAX_ERAS`.
    floors: BTreeMap<Era, u32>,
    /// When this log began.
    since: Clock,
    /// Until when a ticket of an era that nobody remembers is taken as proof of a loss: the longest session after the
    /// log began. After that nobody can still be inside on it, and whoever waited is long late.
    trusted_until: Clock,
}

/// What a genuine number of an era that its line does not know proves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Proof {
    /// Nothing was lost: its line was forgotten, or it comes too late to matter.
    Late,
    /// Of an era the rooms know: the line was lost with the end of that era.
    LostLine,
    /// Of an era that nobody knows: everything was lost.
    LostEra,
    /// Of a later era than the rooms': this replica is behind, or its log is.
    Ahead,
}

impl Past {
    pub fn new(era: Era) -> Self {
        Self {
            floors: BTreeMap::from([(era, 0)]),
            since: Clock(0),
            trusted_until: Clock(0),
        }
    }

    /// The era that issues numbers.
    pub fn era(&self) -> Era {
        self.floors.last_key_value().map_or(Era(0), |(era, _)| *era)
    }

    /// The first number that a new line may issue.
    pub fn floor(&self) -> u32 {
        self.floors.last_key_value().map_or(0, |(_, floor)| *floor)
    }

    /// Numbers of an era below this are late wherever their line is not known.
    pub fn floor_of(&self, era: Era) -> u32 {
        self.floors.get(&era).copied().unwrap_or(0)
    }

    pub fn prove(&self, number: Number, now: Clock) -> Proof {
        if number.era > self.era() {
            return Proof::Ahead;
        }
        match self.floors.get(&number.era) {
            Some(floor) if number.n < *floor => Proof::Late,
            // This log has lost nothing of its own: whoever holds the number joined after what this replica has read.
            Some(_) if number.era == self.era() => Proof::Ahead,
            Some(_) => Proof::LostLine,
            None if now >= self.trusted_until || self.is_older_than_all(number.era) => Proof::Late,
            None => Proof::LostEra,
        }
    }

    /// The log begins anew: `era` issues from now on.
    pub fn open(&mut self, era: Era, now: Clock) {
        self.learn(era);
        self.since = now;
    }

    /// Notes that an era exists.
    pub fn learn(&mut self, era: Era) {
        self.floors.entry(era).or_insert(0);
        if self.floors.len() > MAX_ERAS {
            self.floors.pop_first();
        }
    }

    /// Notes the numbers that a line may have issued before it goes.
    pub fn raise(&mut self, ends: impl Iterator<Item = (Era, u32)>) {
        for (era, end) in ends {
            if let Some(floor) = self.floors.get_mut(&era) {
                *floor = (*floor).max(end);
            }
        }
    }

    /// `session_max_ms` is the longest of any room.
    pub fn trust(&mut self, session_max_ms: u64) {
        self.trusted_until = self.since.plus(session_max_ms);
    }

    /// A full table has forgotten its oldest eras.
    fn is_older_than_all(&self, era: Era) -> bool {
        self.floors.len() >= MAX_ERAS && self.floors.first_key_value().is_some_and(|(oldest, _)| era < *oldest)
    }

    pub fn write(&self, w: &mut Writer) {
        w.count(self.floors.len());
        for (era, floor) in &self.floors {
            w.u64(era.0);
            w.u32(*floor);
        }
        w.clock(self.since);
        w.clock(self.trusted_until);
    }

    pub fn read(r: &mut Reader) -> Read<Self> {
        let floors: BTreeMap<_, _> = r.list(12, |r| Ok((Era(r.u64()?), r.u32()?)))?.into_iter().collect();
        if floors.is_empty() || floors.len() > MAX_ERAS {
            return r.wrong();
        }
        Ok(Self {
            floors,
            since: r.clock()?,
            trusted_until: r.clock()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(era: u64, n: u32) -> Number {
        Number { era: Era(era), n }
    }

    #[test]
    fn numbers_of_forgotten_lines_are_late_and_never_issued_again() {
        let mut past = Past::new(Era(10));
        past.raise([(Era(10), 7), (Era(9), 5)].into_iter());
        past.raise([(Era(10), 3)].into_iter());
        assert_eq!((past.floor(), past.era()), (7, Era(10)));
        assert_eq!(past.prove(number(10, 6), Clock(0)), Proof::Late);
        assert_eq!(past.prove(number(10, 7), Clock(0)), Proof::Ahead);
        past.open(Era(20), Clock(0));
        assert_eq!(past.floor(), 0);
        assert_eq!(past.prove(number(10, 6), Clock(0)), Proof::Late);
        assert_eq!(past.prove(number(10, 7), Clock(0)), Proof::LostLine);
    }

    #[test]
    fn an_unknown_era_is_proof_of_a_loss_for_one_longest_session() {
        let mut past = Past::new(Era(10));
        past.open(Era(20), Clock(500));
        past.trust(1_000);
        assert_eq!(past.prove(number(15, 0), Clock(1_499)), Proof::LostEra);
        assert_eq!(past.prove(number(15, 0), Clock(1_500)), Proof::Late);
        assert_eq!(past.prove(number(21, 0), Clock(0)), Proof::Ahead);
        past.learn(Era(15));
        assert_eq!(past.prove(number(15, 0), Clock(1_499)), Proof::LostLine);
    }

    #[test]
    fn a_full_memory_takes_older_eras_for_late() {
        let mut past = Past::new(Era(0));
        past.trust(1_000);
        for era in 1..=1_000 {
            past.open(Era(era), Clock(0));
        }
        assert_eq!(past.prove(number(0, 0), Clock(0)), Proof::Late);
    }
}
