//! Arrival times of visitors.

use std::fmt;
use std::str::FromStr;

use fastrand::Rng;

/// How arrivals are spread over the time that they take.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arrive {
    /// Half of all in the first twentieth, fewer and fewer after.
    Spike,
    /// Rises from nothing to the middle, and falls again.
    Wave,
    /// As many in every minute.
    Steady,
    /// More and more, to the end.
    Ramp,
    /// Six times a tenth of a sixth, with no arrivals between.
    Bursts,
    /// All at one instant.
    Instant,
    /// As noted in a file, in milliseconds after the start, in order.
    Noted(Vec<u64>),
}

impl Arrive {
    /// The names of the patterns.
    pub const NAMES: [&'static str; 6] = ["spike", "wave", "steady", "ramp", "bursts", "instant"];

    /// When each of `count` visitors comes, in order.
    #[must_use]
    pub fn times(&self, count: u32, over_ms: u64, rng: &mut Rng) -> Vec<u64> {
        if let Self::Noted(times) = self {
            return times.clone();
        }
        let mut times: Vec<u64> = (0..count).map(|_| self.one(over_ms, rng)).collect();
        times.sort_unstable();
        times
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of milliseconds"
    )]
    fn one(&self, over_ms: u64, rng: &mut Rng) -> u64 {
        let chance = rng.f64();
        let share = match self {
            // The distribution of x / (1 + 18 (1 - x)): its half lies at a twentieth.
            Self::Spike => chance / (1.0 + 18.0 * (1.0 - chance)),
            Self::Wave => f64::midpoint(chance, rng.f64()),
            Self::Steady | Self::Noted(_) => chance,
            Self::Ramp => chance.sqrt(),
            Self::Bursts => ((chance * 6.0).floor() + rng.f64() * 0.1) / 6.0,
            Self::Instant => 0.0,
        };
        (share * over_ms as f64) as u64
    }
}

impl FromStr for Arrive {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Ok(match name {
            "spike" => Self::Spike,
            "wave" => Self::Wave,
            "steady" => Self::Steady,
            "ramp" => Self::Ramp,
            "bursts" => Self::Bursts,
            "instant" => Self::Instant,
            _ => return Err(format!("\"{name}\" is no pattern: one of {}", Self::NAMES.join(", "))),
        })
    }
}

impl fmt::Display for Arrive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spike => "spike",
            Self::Wave => "wave",
            Self::Steady => "steady",
            Self::Ramp => "ramp",
            Self::Bursts => "bursts",
            Self::Instant => "instant",
            Self::Noted(_) => "replay",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half(arrive: &Arrive) -> u64 {
        let times = arrive.times(10_001, 100_000, &mut Rng::with_seed(1));
        assert!(times.is_sorted() && times.iter().all(|at| *at <= 100_000));
        times[5_000]
    }

    #[test]
    fn each_pattern_has_its_half_where_it_says() {
        let near = |ms: u64, is: u64| assert!(ms.abs_diff(is) < 3_000, "{ms} is not near {is}");
        near(half(&Arrive::Spike), 5_000);
        near(half(&Arrive::Wave), 50_000);
        near(half(&Arrive::Steady), 50_000);
        near(half(&Arrive::Ramp), 70_700);
        assert_eq!(half(&Arrive::Instant), 0);
    }

    #[test]
    fn every_name_is_read_as_what_is_shown_by_it() {
        for name in Arrive::NAMES {
            assert_eq!(name.parse::<Arrive>().unwrap().to_string(), name);
        }
        assert!("tide".parse::<Arrive>().unwrap_err().contains("spike, wave"));
    }
}
