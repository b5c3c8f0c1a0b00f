//! Looks: what watched visitors were told, each with the wait that turned out to be true.

/// One visitor's look at the estimate, every 15 seconds from the line's first call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Look {
    /// The visitor's index, by arrival.
    pub person: u32,
    pub lane: u8,
    /// The quarter of the line in which the visitor stands, from 0 at the front to 3.
    pub quarter: u8,
    /// Milliseconds since the line's first call.
    pub at: u64,
    /// Visitors ahead in the lane.
    pub ahead: u32,
    /// In seconds, from and to; `None` if no interval was told.
    pub told: Option<(u32, u32)>,
    /// Until calls passed the place, in milliseconds; `None` if the run ended before.
    pub wait: Option<u64>,
    pub kind: Kind,
}

/// Whether a look counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Counts,
    /// A change that nobody was told of was made before the visitor's turn, or so lately that it does not show yet.
    Changed,
    /// No calls were possible.
    Stopped,
}

impl Look {
    /// The told interval holds the true wait.
    pub fn holds(&self) -> bool {
        self.told
            .zip(self.wait)
            .is_some_and(|((low, high), wait)| (u64::from(low) * 1_000..=u64::from(high) * 1_000).contains(&wait))
    }
}

/// The quarter of a line of so many in which a visitor with so many ahead stands.
pub fn quarter(ahead: u64, waiting: u64) -> u8 {
    (ahead * 4 / waiting.max(1)).min(3) as u8
}

/// When calls passed each place of a lane.
#[derive(Clone, Default, Debug)]
pub struct Passed {
    at: Vec<u64>,
    /// Places below have been passed.
    front: usize,
}

impl Passed {
    /// Places up to a number have been given out.
    pub fn grow(&mut self, number: u32) {
        self.at.resize(number as usize + 1, u64::MAX);
    }

    /// All places have been passed.
    pub fn is_done(&self) -> bool {
        self.front == self.at.len()
    }

    /// Calls have reached a place, and passed all before it, whether or not their visitors are still there.
    pub fn call(&mut self, number: u32, now: u64) {
        let end = (number as usize + 1).min(self.at.len());
        for at in self.front..end {
            self.at[at] = now;
        }
        self.front = self.front.max(end);
    }

    /// Nobody waits, and a visitor in any place would have been called.
    pub fn all(&mut self, now: u64) {
        self.call(u32::MAX - 1, now);
    }

    pub fn of(&self, number: u32) -> Option<u64> {
        self.at.get(number as usize).copied().filter(|at| *at != u64::MAX)
    }
}

/// How often visitors look.
pub const EVERY: u64 = 15_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_passed_by_the_first_call_at_it_or_behind_it() {
        let mut passed = Passed::default();
        passed.grow(5);
        passed.call(1, 10);
        // The visitor of 2 has gone; 3 is called.
        passed.call(3, 20);
        // A second call further ahead changes nothing.
        passed.call(0, 30);
        assert_eq!(
            (0..6).map(|n| passed.of(n)).collect::<Vec<_>>(),
            [Some(10), Some(10), Some(20), Some(20), None, None]
        );
        passed.all(40);
        assert!(passed.is_done());
        passed.grow(6);
        assert!(!passed.is_done());
        assert_eq!((passed.of(3), passed.of(5), passed.of(6)), (Some(20), Some(40), None));
    }

    #[test]
    fn quarters_are_of_the_line_as_it_is_at_the_look() {
        let quarters = [0, 24, 25, 74, 75, 99, 100].map(|ahead| quarter(ahead, 100));
        assert_eq!(quarters, [0, 0, 1, 2, 3, 3, 3]);
        assert_eq!((quarter(0, 1), quarter(0, 0)), (0, 0));
    }

    #[test]
    fn an_interval_holds_from_its_first_second_to_its_last() {
        let look = |told, wait| Look {
            person: 0,
            lane: 0,
            quarter: 0,
            at: 0,
            ahead: 0,
            told,
            wait,
            kind: Kind::Counts,
        };
        for (wait, holds) in [(59_999, false), (60_000, true), (90_000, true), (90_001, false)] {
            assert_eq!(look(Some((60, 90)), Some(wait)).holds(), holds, "{wait}");
        }
        assert!(!look(None, Some(0)).holds() && !look(Some((0, 9)), None).holds());
    }
}
