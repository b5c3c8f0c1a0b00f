//! The share of those called who come, measured over the last few hundred.

use crate::codec::codec;

/// Weighted numbers of visitors who came and of no-shows, the latest with full weight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Share {
    came: u64,
    missed: u64,
}

/// A called visitor's weight; at [`KEPT`] of them all weigh half.
const ONE: u64 = 16;
const KEPT: u64 = 512;

/// Assumed visitors who came before the first call, so that the first few have little weight.
const BEFORE: u64 = 20;

/// At most twice as many are called as are expected to come, whatever was measured.
const LEAST_PERMILLE: u64 = 500;

codec! {
    struct Share { came, missed } where is_sound;
}

impl Share {
    pub fn note(&mut self, came: u64, missed: u64) {
        self.came += came.min(KEPT) * ONE;
        self.missed += missed.min(KEPT) * ONE;
        while self.came + self.missed > KEPT * ONE {
            (self.came, self.missed) = (self.came / 2, self.missed / 2);
        }
    }

    /// Thousandths of those called, 500 at least.
    #[must_use]
    pub fn permille(self) -> u64 {
        let came = self.came + BEFORE * ONE;
        (came * 1_000 / (came + self.missed)).max(LEAST_PERMILLE)
    }

    /// How many visitors to call so that this number comes.
    #[must_use]
    pub fn ahead(self, arrivals: u64) -> u64 {
        arrivals.saturating_mul(1_000) / self.permille()
    }

    fn is_sound(&self) -> bool {
        self.came.max(self.missed) <= 4 * KEPT * ONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_what_was_seen_of_late() {
        let mut share = Share::default();
        assert_eq!(share.permille(), 1_000);
        for _ in 0..500 {
            share.note(7, 3);
        }
        assert!((700..=735).contains(&share.permille()), "{}", share.permille());
        for _ in 0..500 {
            share.note(9, 1);
        }
        assert!((880..=915).contains(&share.permille()), "{}", share.permille());
    }

    #[test]
    fn however_few_come_at_most_twice_as_many_are_called() {
        let mut share = Share::default();
        share.note(0, u64::MAX);
        assert_eq!((share.permille(), share.ahead(10)), (500, 20));
    }
}
