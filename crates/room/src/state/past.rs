//! What the log remembers of eras and of numbers that no line holds any more.
//!
//! A line that is forgotten or reset leaves, for each era, a floor: one past the highest number it may have issued. A
//! later line of any room begins above it, so no number is ever issued twice, and a ticket below it is late rather than
//! lost. A ticket of an era that nobody remembers proves that the store and every gate were lost at once.

use std::collections::BTreeMap;

use crate::codec::{Read, Reader, Writer};
use crate::lane::era::MAX_ERAS;
use ropeline_ids::{Clock, Era, Number};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Past {
    /// Eras the rooms have known; the last is the one that issues. At most `MAX_ERAS`.
    eras: BTreeMap<Era, Known>,
    /// When this log began.
    since: Clock,
    /// Until when a ticket of an era that nobody remembers is taken as proof of a loss: the longest session after the
    /// log began. After that nobody can still be inside on it, and whoever waited is long late.
    trusted_until: Clock,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Known {
    floor: u32,
    /// The last sequence of its log that was read; 0 while it issues, or if only a ticket told of it.
    end: u64,
}

/// What a genuine number of an era that its line does not know proves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Proof {
    /// Nothing was lost: its line was forgotten, or it comes too late to matter.
    Late,
    /// Of an era the rooms know: the line was lost with the end of that era.
    LostLine,
    /// Of an era of which nobody knows more than tokens tell: everything was lost.
    LostEra,
    /// Of a later era than the rooms': this replica is behind, or its log is.
    Ahead,
}

impl Past {
    pub fn new(era: Era) -> Self {
        Self {
            eras: BTreeMap::from([(era, Known::default())]),
            since: Clock(0),
            trusted_until: Clock(0),
        }
    }

    /// The era that issues numbers.
    pub fn era(&self) -> Era {
        self.eras.last_key_value().map_or(Era(0), |(era, _)| *era)
    }

    /// The first number that a new line may issue.
    pub fn floor(&self) -> u32 {
        self.eras.last_key_value().map_or(0, |(_, known)| known.floor)
    }

    /// Numbers of an era below this are late wherever their line is not known.
    pub fn floor_of(&self, era: Era) -> u32 {
        self.eras.get(&era).map_or(0, |known| known.floor)
    }

    pub fn prove(&self, number: Number, now: Clock) -> Proof {
        if number.era > self.era() {
            return Proof::Ahead;
        }
        match self.eras.get(&number.era) {
            Some(known) if number.n < known.floor => Proof::Late,
            // This log has lost nothing of its own: whoever holds the number joined after what this replica has read.
            Some(_) if number.era == self.era() => Proof::Ahead,
            Some(known) if known.end == 0 && now < self.trusted_until => Proof::LostEra,
            Some(_) => Proof::LostLine,
            None if now >= self.trusted_until || self.is_older_than_all(number.era) => Proof::Late,
            None => Proof::LostEra,
        }
    }

    /// A ticket of an era that nobody remembers still proves a loss.
    pub fn trusts(&self, now: Clock) -> bool {
        now < self.trusted_until
    }

    /// An era is known by its tokens only.
    pub fn lacks_an_era(&self) -> bool {
        self.lacking().next().is_some()
    }

    /// The eras that are known by their tokens only. The first, of a store that gates share, begins from an empty one that has no number.
    pub fn lacking(&self) -> impl Iterator<Item = Era> {
        let older = self.eras.range(Era(1)..self.era().max(Era(1)));
        older.filter(|(_, known)| known.end == 0).map(|(era, _)| *era)
    }

    /// A number of an earlier log that its line may have lost.
    pub fn may_be_lost(&self, number: Number, now: Clock) -> bool {
        matches!(self.prove(number, now), Proof::LostEra | Proof::LostLine)
    }

    /// The era before the one that issues, and the last sequence of its log that was read.
    pub fn before(&self) -> Option<(Era, u64)> {
        let (era, known) = self.eras.range(..self.era()).next_back()?;
        Some((*era, known.end))
    }

    /// The log begins anew: the era that issued ended at sequence `end`, and `era` issues from now on.
    pub fn open(&mut self, era: Era, end: u64, now: Clock) {
        self.note_end(self.era(), end);
        self.learn(era);
        self.since = now;
    }

    /// Notes how far an era went, unless it is known to have gone further.
    pub fn note_end(&mut self, era: Era, end: u64) {
        self.learn(era);
        if let Some(known) = self.eras.get_mut(&era) {
            known.end = known.end.max(end);
        }
    }

    /// The sequence at which an era ended, as far as is known; `None` for one unknown, or that has not.
    pub fn ended_at(&self, era: Era) -> Option<u64> {
        let known = self.eras.get(&era).filter(|_| era < self.era())?;
        Some(known.end)
    }

    /// Every era with its end and floor; the one that issues has read up to `read`.
    pub fn ends(&self, read: u64) -> impl Iterator<Item = (Era, u64, u32)> {
        let issuing = self.era();
        let end = move |era, known: &Known| if era == issuing { read } else { known.end };
        self.eras
            .iter()
            .map(move |(era, known)| (*era, end(*era, known), known.floor))
    }

    /// Notes that an era exists.
    pub fn learn(&mut self, era: Era) {
        self.eras.entry(era).or_default();
        if self.eras.len() > MAX_ERAS {
            self.eras.pop_first();
        }
    }

    /// Notes the numbers that a line may have issued before it goes.
    pub fn raise(&mut self, ends: impl Iterator<Item = (Era, u32)>) {
        for (era, end) in ends {
            if let Some(known) = self.eras.get_mut(&era) {
                known.floor = known.floor.max(end);
            }
        }
    }

    /// `session_max_ms` is the longest of any room.
    pub fn trust(&mut self, session_max_ms: u64) {
        self.trusted_until = self.since.plus(session_max_ms);
    }

    /// A full table has forgotten its oldest eras.
    fn is_older_than_all(&self, era: Era) -> bool {
        self.eras.len() >= MAX_ERAS && self.eras.first_key_value().is_some_and(|(oldest, _)| era < *oldest)
    }

    pub fn write(&self, w: &mut Writer) {
        w.count(self.eras.len());
        for (era, known) in &self.eras {
            w.u64(era.0);
            w.u32(known.floor);
            w.u64(known.end);
        }
        w.clock(self.since);
        w.clock(self.trusted_until);
    }

    pub fn read(r: &mut Reader) -> Read<Self> {
        let eras: BTreeMap<_, _> = r.list(20, read_known)?.into_iter().collect();
        if eras.is_empty() || eras.len() > MAX_ERAS {
            return r.wrong();
        }
        Ok(Self {
            eras,
            since: r.clock()?,
            trusted_until: r.clock()?,
        })
    }
}

fn read_known(r: &mut Reader) -> Read<(Era, Known)> {
    let era = Era(r.u64()?);
    let known = Known {
        floor: r.u32()?,
        end: r.u64()?,
    };
    Ok((era, known))
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
        past.open(Era(20), 0, Clock(0));
        assert_eq!(past.floor(), 0);
        assert_eq!(past.prove(number(10, 6), Clock(0)), Proof::Late);
        assert_eq!(past.prove(number(10, 7), Clock(0)), Proof::LostLine);
    }

    #[test]
    fn an_unknown_era_is_proof_of_a_loss_for_one_longest_session() {
        let mut past = Past::new(Era(10));
        past.open(Era(20), 0, Clock(500));
        past.trust(1_000);
        assert_eq!(past.prove(number(15, 0), Clock(1_499)), Proof::LostEra);
        assert_eq!(past.prove(number(15, 0), Clock(1_500)), Proof::Late);
        assert_eq!(past.prove(number(21, 0), Clock(0)), Proof::Ahead);
        past.learn(Era(15));
        assert_eq!(past.prove(number(15, 0), Clock(1_499)), Proof::LostEra);
        assert_eq!(past.prove(number(15, 0), Clock(1_500)), Proof::LostLine);
        past.note_end(Era(15), 9);
        assert_eq!(past.prove(number(15, 0), Clock(1_499)), Proof::LostLine);
    }

    #[test]
    fn an_era_is_lacking_until_it_is_brought_back_and_the_empty_one_before_the_first_never() {
        let mut past = Past::new(Era(0));
        past.open(Era(20), 0, Clock(0));
        assert!(!past.lacks_an_era());
        past.learn(Era(15));
        assert_eq!(past.lacking().collect::<Vec<_>>(), [Era(15)]);
        past.note_end(Era(15), 9);
        assert!(!past.lacks_an_era());
    }

    #[test]
    fn a_full_memory_takes_older_eras_for_late() {
        let mut past = Past::new(Era(0));
        past.trust(1_000);
        for era in 1..=1_000 {
            past.open(Era(era), 0, Clock(0));
        }
        assert_eq!(past.prove(number(0, 0), Clock(0)), Proof::Late);
    }
}
