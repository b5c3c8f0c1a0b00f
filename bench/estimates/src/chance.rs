//! Chance from a seed, the same on every machine.
//!
//! Not fastrand: its sequence may change with a version. Not the system's logarithm: its last digit depends on the machine.
//! Everything here is integers and the four operations of IEEE 754, which are exact everywhere.

use sha2::{Digest, Sha256};

/// A generator of random numbers (`SplitMix64`; Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 for an `end` of 0.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// True so many times in a thousand.
    pub fn hits(&mut self, permille: u16) -> bool {
        self.below(1_000) < u64::from(permille)
    }

    /// Above 0 and below 1.
    pub fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -ln(self.unit())
    }

    /// Normal with deviation 1: twelve numbers from 0 to 1 less six.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    /// Log-normal with median 1; `sigma_permille` is the deviation of the logarithm in thousandths.
    pub fn log_normal(&mut self, sigma_permille: u16) -> f64 {
        exp(self.normal() * f64::from(sigma_permille) / 1_000.0)
    }
}

/// A seed from words: the first eight bytes of their SHA-256, each word ended by a zero byte.
pub fn seed(words: &[&str]) -> u64 {
    let mut hash = Sha256::new();
    for word in words {
        hash.update(word.as_bytes());
        hash.update([0]);
    }
    let hash = hash.finalize();
    hash.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}

/// So many times `ms`.
pub fn times(factor: f64, ms: u64) -> u64 {
    (factor * ms as f64) as u64
}

/// The natural logarithm of a positive normal number.
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let power = (bits >> 52) as i64 - 1_023;
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1_023 << 52);
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let (mut sum, mut term) = (0.0, s);
    for odd in (1..40_u32).step_by(2) {
        sum += term / f64::from(odd);
        term *= s * s;
    }
    2.0 * sum + power as f64 * std::f64::consts::LN_2
}

/// e to the power of a number between -500 and 500.
fn exp(x: f64) -> f64 {
    let power = (x / std::f64::consts::LN_2) as i64;
    let rest = x - power as f64 * std::f64::consts::LN_2;
    let (mut sum, mut term) = (1.0, 1.0);
    for n in 1..24_u32 {
        term *= rest / f64::from(n);
        sum += term;
    }
    sum * f64::from_bits(((power + 1_023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_and_power_are_right_to_twelve_digits() {
        for x in [1e-17, 0.001, 0.5, 1.0, 1.999, 2.0, 10.0, 12_345.678] {
            assert!((ln(x) - x.ln()).abs() <= 1e-12 * x.ln().abs().max(1.0), "{x}");
        }
        for x in [-20.0, -1.5, -0.1, 0.0, 0.3, 0.7, 1.0, 5.5, 20.0] {
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn the_sequence_of_a_seed_is_the_published_one() {
        let mut chance = Chance::of(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| chance.next()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn draws_have_the_means_that_they_are_named_for() {
        let mut chance = Chance::of(3);
        let mean = |draw: &mut dyn FnMut() -> f64| (0..100_000).map(|_| draw()).sum::<f64>() / 100_000.0;
        assert!((mean(&mut || chance.exponential()) - 1.0).abs() < 0.02);
        assert!(mean(&mut || chance.normal()).abs() < 0.02);
        assert!((mean(&mut || chance.below(11) as f64) - 5.0).abs() < 0.05);
        assert!((mean(&mut || f64::from(u8::from(chance.hits(250)))) - 0.25).abs() < 0.01);
        let above = (0..10_000).filter(|_| chance.log_normal(800) > 1.0).count();
        assert!((4_800..5_200).contains(&above), "{above}");
    }

    #[test]
    fn a_seed_is_the_head_of_the_hash_of_its_words() {
        // printf 'a\0b\0' | sha256sum
        assert_eq!(seed(&["a", "b"]) >> 32, 0x8FB2_0EF6);
        assert_ne!(seed(&["a", "b"]), seed(&["ab"]));
    }
}
