//! A keyed permutation of 0..count: a Feistel network over two digits, with tables for its round functions.
//!
//! A number is a pair (left, right) with left below `a` and right below `b`, where `a` and `b` are as close to each other as
//! possible and a·b is at least the count. Each of sixteen rounds adds to one digit a table's entry for the other; a result
//! at or above the count goes through again (cycle walking; Black and Rogaway, "Ciphers with arbitrary finite domains",
//! 2002). The tables are 16·√count hashes, so a draw over ten million is made in milliseconds and a place costs sixteen
//! look-ups.

use sha2::{Digest, Sha256};

use crate::draw::orders::Arrangement;

/// Even, so that both digits are added to equally often. With fewer than fourteen rounds, orders of six numbers can be
/// distinguished from chance; more than that changes nothing measurable.
const ROUNDS: u8 = 16;

/// An order of 0..count that a key gives. Memory: 16·√count words of four bytes, 4 MB at most.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Permutation {
    count: u32,
    /// The left digit is below this: the smallest number whose square is at least the count.
    a: u32,
    /// The right digit is below this: the count divided by `a`, rounded up.
    b: u32,
    /// For each round, the number to add to one digit for each value of the other.
    tables: Vec<Vec<u32>>,
}

impl Permutation {
    #[must_use]
    pub fn new(key: &[u8; 32], count: u32) -> Self {
        let root = count.isqrt();
        let a = if root.pow(2) == count { root } else { root + 1 };
        let b = if a == 0 { 0 } else { count.div_ceil(a) };
        let table = |round: u8| {
            let (added_to, other) = if round.is_multiple_of(2) { (a, b) } else { (b, a) };
            (0..other).map(|digit| step(key, round, digit, added_to)).collect()
        };
        Self {
            count,
            a,
            b,
            tables: (0..ROUNDS).map(table).collect(),
        }
    }

    /// Ends, since the rounds permute all pairs and `from` is one of those below the count; a walk is longer than one step
    /// for fewer than one pair in `b`.
    fn walk(&self, from: u32, rounds: impl Fn(&mut u32, &mut u32)) -> Option<u32> {
        if from >= self.count {
            return None;
        }
        let mut at = u64::from(from);
        loop {
            let (mut left, mut right) = self.split(at)?;
            rounds(&mut left, &mut right);
            at = u64::from(left) * u64::from(self.b) + u64::from(right);
            if at < u64::from(self.count) {
                return u32::try_from(at).ok();
            }
        }
    }

    /// The two digits of a pair.
    fn split(&self, pair: u64) -> Option<(u32, u32)> {
        let b = u64::from(self.b);
        Some((u32::try_from(pair / b).ok()?, u32::try_from(pair % b).ok()?))
    }
}

impl Arrangement for Permutation {
    fn count(&self) -> u32 {
        self.count
    }

    fn place(&self, number: u32) -> Option<u32> {
        self.walk(number, |left, right| {
            for (round, table) in self.tables.iter().enumerate() {
                if round % 2 == 0 {
                    *left = plus(*left, at(table, *right), self.a);
                } else {
                    *right = plus(*right, at(table, *left), self.b);
                }
            }
        })
    }

    fn number(&self, place: u32) -> Option<u32> {
        self.walk(place, |left, right| {
            for (round, table) in self.tables.iter().enumerate().rev() {
                if round % 2 == 0 {
                    *left = minus(*left, at(table, *right), self.a);
                } else {
                    *right = minus(*right, at(table, *left), self.b);
                }
            }
        })
    }
}

/// The number that a round adds for a digit: the first eight bytes, lowest first, of SHA-256 over key, round (one byte) and
/// digit (four bytes, lowest first), modulo the bound of the digit that it is added to.
fn step(key: &[u8; 32], round: u8, digit: u32, bound: u32) -> u32 {
    let mut hash = Sha256::new();
    hash.update(key);
    hash.update([round]);
    hash.update(digit.to_le_bytes());
    let hash: [u8; 32] = hash.finalize().into();
    let (first, _) = hash.split_first_chunk().expect("32 bytes are more than eight");
    let rest = u64::from_le_bytes(*first) % u64::from(bound);
    u32::try_from(rest).expect("below a bound of 32 bits")
}

fn at(table: &[u32], digit: u32) -> u32 {
    usize::try_from(digit)
        .ok()
        .and_then(|digit| table.get(digit))
        .copied()
        .unwrap_or(0)
}

/// Both digits are below `bound`, which is at most 2^16.
fn plus(digit: u32, step: u32, bound: u32) -> u32 {
    let sum = digit + step;
    if sum >= bound { sum - bound } else { sum }
}

fn minus(digit: u32, step: u32, bound: u32) -> u32 {
    if digit >= step {
        digit - step
    } else {
        digit + bound - step
    }
}
