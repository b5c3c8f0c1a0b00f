//! Where a run's chance comes from.

use super::chance::{Chance, number};

/// The run's own, with its seed printed so that it can be had again with `ROPELINE_SEED`.
pub fn of_run(test: &str) -> Chance {
    let fresh = ropeline::time::wall().0.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let seed = number("ROPELINE_SEED").unwrap_or(fresh);
    println!("{test}: ROPELINE_SEED={seed}");
    Chance::new(seed)
}

/// For values that need not be reproducible.
pub fn fresh() -> Chance {
    Chance::new(getrandom::u64().unwrap_or_default())
}
