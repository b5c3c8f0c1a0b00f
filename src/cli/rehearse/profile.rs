//! The character of virtual visitors: when they come, and which shares of them do what. Each named profile is written out in
//! `docs/guides/rehearse.md`; any part of one can be set otherwise.

use std::time::Duration;

use serde::Serialize;

/// How arrivals are spread over their time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Curve {
    /// Evenly.
    Even,
    /// Half of them in the first tenth, and the rest ever more slowly.
    Front,
    /// Slowly, then many, then slowly: a hill with its top in the middle.
    Hill,
    /// Early ones evenly up to the opening, at half of the time; then a rush.
    Rush,
}

/// A kind of crowd. Shares are in percent of all visitors.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Profile {
    pub name: &'static str,
    pub curve: Curve,
    /// Over how long they come, in seconds.
    pub arrive_secs: u64,
    /// How long one stays inside, in seconds, on the average.
    pub inside_secs: u64,
    /// Pages that one asks for inside.
    pub pages: u32,
    /// Give up while they wait.
    pub leave: f64,
    /// Close the lid while they wait, and say nothing for a while.
    pub sleep: f64,
    /// How long that is, in seconds, on the average.
    pub sleep_secs: u64,
    /// How long a visitor has waited before either, in seconds, on the average.
    pub patience_secs: u64,
    /// Come in only after the half of their claim deadline, or past it.
    pub late: f64,
    /// Are called and do not come.
    pub no_show: f64,
    /// Load the page again, now and then, instead of waiting for the script.
    pub reload: f64,
}

/// Everybody at once, as when a sale was announced to the minute.
pub const SPIKE: Profile = Profile {
    name: "spike",
    curve: Curve::Front,
    arrive_secs: 60,
    inside_secs: 120,
    pages: 5,
    leave: 5.0,
    sleep: 5.0,
    sleep_secs: 120,
    patience_secs: 90,
    late: 5.0,
    no_show: 5.0,
    reload: 20.0,
};

/// They come, and come to an end, as after a mention on the air.
pub const WAVE: Profile = Profile {
    name: "wave",
    curve: Curve::Hill,
    arrive_secs: 600,
    leave: 10.0,
    sleep: 5.0,
    ..SPIKE
};

/// An ordinary busy day.
pub const STEADY: Profile = Profile {
    name: "steady",
    curve: Curve::Even,
    arrive_secs: 1_800,
    inside_secs: 180,
    leave: 10.0,
    sleep: 10.0,
    sleep_secs: 180,
    late: 3.0,
    no_show: 3.0,
    reload: 10.0,
    ..SPIKE
};

/// Some are early, most come as the doors open.
pub const SHOP_OPENING: Profile = Profile {
    name: "shop-opening",
    curve: Curve::Rush,
    arrive_secs: 600,
    leave: 3.0,
    sleep: 15.0,
    late: 8.0,
    no_show: 8.0,
    ..SPIKE
};

pub const ALL: [Profile; 4] = [SPIKE, WAVE, STEADY, SHOP_OPENING];

impl Profile {
    pub fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|profile| profile.name == name)
    }
}

impl Curve {
    /// When a visitor comes, as a share of the time, by how many of all have come before.
    pub fn at(self, share: f64) -> f64 {
        match self {
            Self::Even => share,
            Self::Front if share < 0.5 => share * 0.2,
            // The other half over the nine tenths that are left, thinning out.
            Self::Front => 0.1 + 0.9 * (2.0 * share - 1.0).powi(2),
            Self::Hill => {
                // The inverse of a smooth step, by its closed form.
                0.5 - ((1.0 - 2.0 * share).clamp(-1.0, 1.0).asin() / 3.0).sin()
            }
            Self::Rush if share < 0.2 => share * 2.5,
            Self::Rush => 0.5 + 0.5 * ((share - 0.2) / 0.8).powi(3),
        }
    }
}

/// Seconds as a duration.
pub fn secs(secs: f64) -> Duration {
    Duration::try_from_secs_f64(secs.max(0.0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_rise_from_the_beginning_to_the_end() {
        for curve in [Curve::Even, Curve::Front, Curve::Hill, Curve::Rush] {
            let at: Vec<f64> = (0..=100).map(|i| curve.at(f64::from(i) / 100.0)).collect();
            assert!(at.is_sorted(), "{curve:?}: {at:?}");
            assert!(at[0].abs() < 1e-9 && (at[100] - 1.0).abs() < 1e-9, "{curve:?}");
        }
        assert!((Curve::Front.at(0.5) - 0.1).abs() < 1e-9);
        assert!(Curve::Hill.at(0.25) > 0.3, "the bulk comes in the middle");
    }

    #[test]
    fn every_profile_is_found_by_its_name() {
        for profile in ALL {
            assert_eq!(Profile::named(profile.name), Some(profile));
            let shares = profile.leave + profile.sleep + profile.late + profile.no_show;
            assert!(shares <= 100.0, "{}", profile.name);
        }
        assert_eq!(Profile::named("stampede"), None);
    }
}
