//! The plan: when each visitor comes, to which gate, how often, and what they do then, computed from a seed so that two runs
//! are equal.

/// The fate of an account once it has a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Waits, comes in when called, and buys.
    Buys,
    /// Waits and comes in, and never finishes.
    Idles,
    /// Waits, and does not come when called.
    Misses,
    /// Closes the page at once.
    Goes,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An account for the first time.
    First,
    /// Another browser of an account that has come before, at another gate.
    Browser,
    /// The same browser again, whose first answer was lost: it knows of no ticket.
    Retry,
}

/// A request for a place.
#[derive(Clone, Copy, Debug)]
pub struct Join {
    pub account: u64,
    pub kind: Kind,
    pub gate: usize,
    /// By the endpoint for apps, and not by a page.
    pub app: bool,
    /// Which browser of the account: 0 for the first.
    pub browser: u64,
}

pub struct Plan {
    pub seed: u64,
    pub gates: usize,
    /// Joins a minute, and minutes of them.
    pub rate: u64,
    pub minutes: u64,
    pub stock: u32,
}

impl Plan {
    pub fn joins(&self) -> u64 {
        self.rate * self.minutes
    }

    /// When a join is due, since the start.
    pub fn due_us(&self, index: u64) -> u64 {
        index * 60_000_000 / self.rate
    }

    pub fn join(&self, index: u64) -> Join {
        let chance = self.chance(1, index);
        let kind = self.kind(index);
        let back = match kind {
            Kind::First => 0,
            Kind::Retry => 1 + chance % 20,
            Kind::Browser => 1 + chance % 4_000,
        };
        let mut account = index.saturating_sub(back);
        while self.kind(account) != Kind::First {
            account -= 1;
        }
        let at_first = self.gate(account);
        let gate = match kind {
            Kind::Browser => (at_first + 1 + one_of(chance >> 20, self.gates - 1)) % self.gates,
            Kind::First | Kind::Retry => at_first,
        };
        Join {
            account,
            kind,
            gate,
            app: (chance >> 40).is_multiple_of(4),
            browser: if kind == Kind::Browser { index } else { 0 },
        }
    }

    /// Of the first visitors one in ten waits, of all others one in a hundred: the test is about joining, not checking in.
    pub fn fate(&self, account: u64) -> Fate {
        let chance = self.chance(2, account);
        let stay = if account < KEEN { 100 } else { 10 };
        if chance % 1_000 >= stay {
            return Fate::Goes;
        }
        match (chance >> 20) % 20 {
            0..=13 => Fate::Buys,
            14..=16 => Fate::Idles,
            _ => Fate::Misses,
        }
    }

    /// Calls a minute for which the stock lasts a little longer than the joins do.
    pub fn calls_per_minute(&self) -> u64 {
        (u64::from(self.stock) * 20 * 10 / 14 / 12 / self.minutes).max(1)
    }

    fn kind(&self, index: u64) -> Kind {
        match self.chance(3, index) % 100 {
            _ if index == 0 => Kind::First,
            0..80 => Kind::First,
            80..92 => Kind::Browser,
            _ => Kind::Retry,
        }
    }

    fn gate(&self, account: u64) -> usize {
        one_of(self.chance(4, account), self.gates)
    }

    /// `SplitMix64`.
    pub fn chance(&self, of: u64, index: u64) -> u64 {
        let mut word = self.seed ^ (of << 56) ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}

/// One of so many, by chance.
pub fn one_of(chance: u64, count: usize) -> usize {
    usize::try_from(chance % 1_000_000).unwrap_or(0) % count
}

/// Accounts of which one in ten waits.
const KEEN: u64 = 20_000;
