//! What a line learns of its sessions. It keeps one table of all sessions. Once a crowd has joined, it keeps two more: one of the visitors
//! who joined in crowds, and one of the others.
//!
//! Bots join together and behave alike. With one table a forecast would expect the same of the visitors behind them.

use crate::forecast::ages::ONE;
use crate::forecast::crowds::Kind;
use crate::forecast::stays::{Chances, Lean, Stays, Times};
use crate::lane::record::{Call, Record, Session};
use ropeline_ids::Clock;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Kinds {
    all: Stays,
    /// By [`Kind`].
    apart: Option<Box<[Stays; 2]>>,
}

impl Kinds {
    pub fn new(times: Times) -> Self {
        Self {
            all: Stays::new(times),
            apart: None,
        }
    }

    pub fn times(&self) -> Times {
        self.all.times
    }

    /// Crowds are told apart from now on, or no longer.
    pub fn tell_apart(&mut self, has_crowds: bool) {
        if !has_crowds {
            self.apart = None;
        } else if self.apart.is_none() {
            // All who were seen before came in a stream.
            let crowd = Stays::new(self.all.times);
            self.apart = Some(Box::new([self.all.clone(), crowd]));
        }
    }

    /// Learns of a visitor who came so.
    pub fn of(&mut self, kind: Kind) -> OneOf<'_> {
        OneOf { kinds: self, kind }
    }

    /// Counts the time that has passed for each holder of a slot, and the sessions that fell idle meanwhile.
    pub fn watch<'a>(&mut self, records: impl Iterator<Item = (Kind, &'a Record)>, passed_ms: u64, now: Clock) {
        let times = self.times();
        let steps = passed_ms.saturating_mul(ONE) / times.step_ms;
        self.tables().for_each(Stays::begin_look);
        for (kind, record) in records {
            if let Some(seen) = times.see(record, passed_ms, now) {
                self.of(kind).each(|stays| stays.note_seen(seen, steps));
            }
        }
        self.tables().for_each(|stays| stays.end_look(passed_ms));
    }

    fn tables(&mut self) -> impl Iterator<Item = &mut Stays> {
        let apart = self.apart.iter_mut().flat_map(|apart| apart.iter_mut());
        std::iter::once(&mut self.all).chain(apart)
    }

    /// For each of these forecasts the chances of one step of each kind; of all alike, if crowds are not told apart.
    pub fn chances<const N: usize>(&self, leans: [Lean; N]) -> [Vec<Chances>; N] {
        let Some(apart) = &self.apart else {
            return leans.map(|lean| vec![self.all.chances(None, lean)]);
        };
        let all = self.all.common();
        leans.map(|lean| apart.iter().map(|stays| stays.chances(Some(&all), lean)).collect())
    }
}

/// A visitor who is learnt of.
#[derive(Debug)]
pub(crate) struct OneOf<'a> {
    kinds: &'a mut Kinds,
    kind: Kind,
}

impl OneOf<'_> {
    /// The visitor is called; `count` is how often by now.
    pub fn note_call(self, count: u8) {
        self.each(|stays| stays.note_call(count));
    }

    /// The called visitor comes in.
    pub fn note_claim(self, call: &Call, now: Clock) {
        self.each(|stays| stays.note_claim(call, now));
    }

    /// The session is to end after this time. One whose end was set before is not counted again.
    pub fn note_end(self, session: &Session, after_ms: u64, now: Clock) {
        self.each(|stays| stays.note_end(session, after_ms, now));
    }

    /// The session is used.
    pub fn note_use(self, session: &Session, now: Clock) {
        self.each(|stays| stays.note_use(session, now));
    }

    fn each(self, note: impl Fn(&mut Stays)) {
        note(&mut self.kinds.all);
        if let Some(apart) = &mut self.kinds.apart {
            note(&mut apart[self.kind.at()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::ages::SURE;
    use crate::settings::Settings;
    use ropeline_ids::Wall;

    const NOW: Clock = Clock(1_000_000_000);

    fn times() -> Times {
        Times::of(&Settings::default())
    }

    impl Kinds {
        pub fn bytes(&self) -> usize {
            let apart = self.apart.as_ref().map_or(0, |apart| {
                let tables = apart.iter().map(Stays::bytes).sum::<usize>();
                size_of_val(&**apart) + tables
            });
            size_of_val(self) + self.all.bytes() + apart
        }
    }

    /// Sessions of both kinds that are in use all the time; those of the stream end after so many steps.
    fn busy(has_crowds: bool, last: u64) -> Kinds {
        let settings = Settings::default();
        let mut kinds = Kinds::new(times());
        let mut begin = NOW;
        let mut now = NOW;
        kinds.tell_apart(has_crowds);
        for step in 1..600 {
            now = now.plus(times().step_ms);
            let session = |since| Record::Inside(Session::of_test(since, now, &settings));
            let records = [(Kind::Crowd, session(NOW)), (Kind::Stream, session(begin))];
            for _ in 0..20 {
                let records = records.iter().map(|(kind, record)| (*kind, record));
                kinds.watch(records, times().step_ms, now);
            }
            if step % last == 0 {
                let session = Session::of_test(begin, now, &settings);
                (0..20).for_each(|_| kinds.of(Kind::Stream).note_end(&session, 0, now));
                begin = now;
            }
        }
        kinds
    }

    /// The chance that a session ends by a word within so many steps.
    fn ends_within(chances: &Chances, steps: usize) -> u64 {
        let left = chances.end[..steps]
            .iter()
            .fold(SURE, |left, end| left - left * end / SURE);
        SURE - left
    }

    #[test]
    fn without_crowds_all_are_alike() {
        let kinds = busy(false, 20);
        assert_eq!(kinds.chances([Lean::Likely])[0].len(), 1);
    }

    #[test]
    fn a_crowd_that_stays_is_expected_to_stay_and_others_to_end_as_they_did() {
        let kinds = busy(true, 20);
        let [chances] = kinds.chances([Lean::Likely]);
        let [stream, crowd] = [Kind::Stream, Kind::Crowd].map(|kind| &chances[kind.at()]);
        assert!(ends_within(stream, 40) > SURE * 9 / 10, "{}", ends_within(stream, 40));
        // Also at ages that none of the crowd has reached.
        assert!(ends_within(crowd, 1_000) < SURE / 2, "{}", ends_within(crowd, 1_000));
        let alike = busy(false, 20);
        assert!(ends_within(&alike.chances([Lean::Likely])[0][0], 1_000) > SURE * 9 / 10);
    }

    #[test]
    fn who_is_not_known_is_expected_to_come_in_though_a_crowd_did_not() {
        let mut kinds = Kinds::new(times());
        kinds.tell_apart(true);
        let claim_ms = Settings::default().claim_deadline_ms;
        let call = Record::Called(Call {
            deadline: NOW.plus(claim_ms),
            at: Wall(0),
            count: 1,
            back: false,
        });
        for step in 0..times().steps(claim_ms) {
            let now = NOW.plus(step * times().step_ms);
            let records = (0..100).map(|_| (Kind::Crowd, &call));
            kinds.watch(records, times().step_ms, now);
        }
        let come = |lean, kind: Kind| {
            let [chances] = kinds.chances([lean]);
            SURE - chances[kind.at()]
                .claim
                .iter()
                .fold(SURE, |left, claim| left - left * claim / SURE)
        };
        assert!(come(Lean::Slow, Kind::Crowd) < SURE / 10);
        let [fast, likely, slow] = [Lean::Fast, Lean::Likely, Lean::Slow].map(|lean| come(lean, Kind::Stream));
        assert!(
            fast < SURE / 4 && likely > SURE / 2 && slow > likely,
            "{fast} {likely} {slow}"
        );
    }

    #[test]
    fn crowds_that_are_forgotten_are_no_longer_told_apart() {
        let mut kinds = busy(true, 20);
        kinds.tell_apart(false);
        assert_eq!(kinds.chances([Lean::Likely])[0].len(), 1);
    }
}
