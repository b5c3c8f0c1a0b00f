//! Chance that can be had again: `SplitMix64` (Steele, Lea and Flood, 2014), seeded by the run.

/// A source of chance.
#[derive(Clone)]
pub struct Seed(u64);

impl Seed {
    /// The run's seed, printed so that it can be repeated with `ANTEROOM_SEED`.
    pub fn of_run(test: &str) -> Self {
        let fresh = anteroom::time::wall().0.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let seed = number("ANTEROOM_SEED").unwrap_or(fresh);
        println!("{test}: ANTEROOM_SEED={seed}");
        Self(seed)
    }

    /// A source for what need not be had again.
    pub fn fresh() -> Self {
        Self(getrandom::u64().unwrap_or_default())
    }

    /// Another source, the same for the same `index`.
    pub fn branch(&self, index: u64) -> Self {
        let mut branch = Self(self.0 ^ index.wrapping_mul(0xD134_2543_DE82_EF95));
        branch.next();
        branch
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
        from + self.next() % (to - from).max(1)
    }

    /// True `percent` times in a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.within(0, 100) < percent
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
