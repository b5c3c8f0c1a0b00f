//! Chance that can be had again: `SplitMix64` (Steele, Lea and Flood, 2014), seeded by the run.
//!
//! Shared by the crowd and by the simulation, whose seeds it must not change.

/// A source of chance.
#[derive(Clone)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        let mut chance = Self(seed ^ 0x5DEE_CE66_D1CE_4E5B);
        chance.next();
        chance
    }

    /// Another source, which this one does not meet again.
    pub fn branch(&mut self) -> Self {
        Self(self.next() ^ 0xD134_2543_DE82_EF95)
    }

    /// Another source, the same for the same `index`.
    pub fn nth(&self, index: u64) -> Self {
        let mut other = Self(self.0 ^ index.wrapping_mul(0xD134_2543_DE82_EF95));
        other.next();
        other
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// At least `from`, below `to`.
    pub fn within(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to.saturating_sub(from)).max(1)
    }

    /// True `per_mille` times in a thousand.
    pub fn hits(&mut self, per_mille: u64) -> bool {
        self.within(0, 1_000) < per_mille
    }

    /// One of them; there is at least one.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        let at = usize::try_from(self.next()).unwrap_or(0) % of.len();
        of[at]
    }
}

/// A whole number from the environment.
#[allow(
    clippy::disallowed_methods,
    reason = "the tests' own settings, which the gate does not know"
)]
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
