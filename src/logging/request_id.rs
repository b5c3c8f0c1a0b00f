//! The id of a request, shown on pages and in logs, so that a visitor's report can be matched with the log.

use std::cell::Cell;
use std::fmt;

/// Twelve characters of Crockford's base 32 (no i, l, o, u): 60 random bits. Not a secret.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RequestId(u64);

impl RequestId {
    /// A fresh id. PERF: a few nanoseconds; the system's randomness is asked once per thread.
    #[must_use]
    pub fn fresh() -> Self {
        thread_local!(static STATE: Cell<u64> = Cell::new(seed()));
        STATE.with(|state| {
            let next = state.get().wrapping_add(GOLDEN);
            state.set(next);
            Self(mix(next) >> 4)
        })
    }

    /// Sixteen of its random bits, for uses that need a little randomness.
    #[must_use]
    pub fn low_bits(self) -> u16 {
        (self.0 & 0xffff) as u16
    }

    /// The id as the twelve characters that are shown.
    #[must_use]
    pub fn as_bytes(self) -> [u8; 12] {
        std::array::from_fn(|at| ALPHABET[(self.0 >> (55 - 5 * at) & 31) as usize])
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes()
            .iter()
            .try_for_each(|byte| fmt::Write::write_char(f, char::from(*byte)))
    }
}

fn seed() -> u64 {
    // Without randomness ids repeat from one process to the next, which is no reason to serve no one.
    getrandom::u64().unwrap_or_default()
}

/// The output function of `SplitMix64` (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
fn mix(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_twelve_plain_characters_and_do_not_repeat() {
        let ids: HashSet<String> = (0..10_000).map(|_| RequestId::fresh().to_string()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(
            ids.iter()
                .all(|id| id.len() == 12 && id.bytes().all(|byte| ALPHABET.contains(&byte)))
        );
    }

    #[test]
    fn threads_give_different_ids() {
        let other = std::thread::spawn(RequestId::fresh).join().expect("no panic");
        assert_ne!(RequestId::fresh(), other);
    }
}
