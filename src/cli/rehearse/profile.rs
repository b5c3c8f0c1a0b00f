//! The crowd of a rehearsal: when its visitors come, how long they stay, and what else they do. The profiles are described in
//! `docs/guides/rehearse.md`.

use clap::ValueEnum;
use fastrand::Rng;
use serde::{Deserialize, Serialize};

use crate::charts::{float, rounded};
use crate::room::Settings;
use crate::simulate::{Doing, Pauses, Scripted, ScriptedPauses};

/// A profile, by the way in which its visitors arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Name {
    /// Half come in the first 6 s, all in 60 s; inside for 2 min
    Spike,
    /// They swell and ebb over 10 min; inside for 2 min
    Wave,
    /// Evenly over 30 min; inside for 3 min
    Steady,
    /// A fifth are early over 5 min, the rest rush in over another 5 min; inside for 2 min
    ShopOpening,
}

/// What visitors are like. Times are in milliseconds, shares in thousandths of all visitors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Profile {
    pub name: Name,
    /// Over how long they come.
    pub arrive_ms: u64,
    /// How long a visitor stays inside, on average.
    pub inside_ms: u64,
    /// Give up while they wait.
    pub leave: u16,
    /// Fall silent while they wait.
    pub sleep: u16,
    /// For how long, on average.
    pub sleep_ms: u64,
    /// How long a visitor has waited before either, on average.
    pub patience_ms: u64,
    /// Come only after half of their claim deadline, or past it.
    pub late: u16,
    /// Are called and do not come.
    pub no_show: u16,
    /// The median of the pauses between two requests of a visit, which are log-normal; `None`: all of a visit are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_ms: Option<u64>,
}

impl Profile {
    pub fn of(name: Name) -> Self {
        let spike = Self {
            name,
            arrive_ms: 60_000,
            inside_ms: 120_000,
            leave: 50,
            sleep: 50,
            sleep_ms: 120_000,
            patience_ms: 90_000,
            late: 50,
            no_show: 50,
            pause_ms: None,
        };
        match name {
            Name::Spike => spike,
            Name::Wave => Self {
                arrive_ms: 600_000,
                leave: 100,
                ..spike
            },
            Name::Steady => Self {
                arrive_ms: 1_800_000,
                inside_ms: 180_000,
                leave: 100,
                sleep: 100,
                sleep_ms: 180_000,
                late: 30,
                no_show: 30,
                ..spike
            },
            Name::ShopOpening => Self {
                arrive_ms: 600_000,
                leave: 30,
                sleep: 150,
                late: 80,
                no_show: 80,
                ..spike
            },
        }
    }

    /// What all do who do not just wait and come in: at most a thousand of a thousand.
    pub fn shares(&self) -> u16 {
        self.leave
            .saturating_add(self.sleep)
            .saturating_add(self.late)
            .saturating_add(self.no_show)
    }
}

impl Name {
    /// When a visitor comes, as a share of the time, by the share of visitors who have come before.
    fn arrival(self, share: f64) -> f64 {
        match self {
            Self::Steady => share,
            Self::Spike if share < 0.5 => share * 0.2,
            // The other half over the nine tenths that are left, thinning out.
            Self::Spike => 0.1 + 0.9 * (2.0 * share - 1.0).powi(2),
            // The inverse of a smooth step, by its closed form.
            Self::Wave => 0.5 - ((1.0 - 2.0 * share).clamp(-1.0, 1.0).asin() / 3.0).sin(),
            Self::ShopOpening if share < 0.2 => share * 2.5,
            Self::ShopOpening => 0.5 + 0.5 * ((share - 0.2) / 0.8).powi(3),
        }
    }
}

/// The whole crowd of a room, in order of arrival. The same seed gives the same crowd.
pub fn crowd(visitors: u32, profile: &Profile, seed: u64, room: &Settings) -> Vec<Scripted> {
    let mut rng = Rng::with_seed(seed);
    let count = f64::from(visitors.max(1));
    let visitor = |at| {
        let share = (f64::from(at) + rng.f64()) / count;
        // Some look around for long, most do not.
        let stay_ms = part(profile.inside_ms, exponential(&mut rng).min(4.0));
        // Often enough that the session goes on.
        let fewest = stay_ms.div_ceil((room.session_ms / 2).max(500)).min(MOST_PAGES);
        let does = does(profile, room.claim_deadline_ms, &mut rng);
        let pauses = profile.pause_ms.map(|median_ms| ScriptedPauses {
            median_ms,
            seed: rng.u64(..),
        });
        let pages = match pauses {
            Some(pauses) => Pauses::of(pauses).requests_in(stay_ms),
            None => u32::try_from(fewest).unwrap_or(u32::MAX).max(PAGES),
        };
        Scripted {
            arrives_ms: part(profile.arrive_ms, profile.name.arrival(share)),
            stay_ms,
            pages: pages.max(1),
            pauses,
            does,
        }
    };
    (0..visitors).map(visitor).collect()
}

fn does(profile: &Profile, claim_deadline_ms: u64, rng: &mut Rng) -> Doing {
    let mut drawn = rng.u16(..1_000);
    let mut is = |share: u16| {
        let is = drawn < share;
        drawn = drawn.saturating_sub(share);
        is
    };
    if is(profile.leave) {
        Doing::Leaves(part(profile.patience_ms, exponential(rng)))
    } else if is(profile.sleep) {
        let length = part(profile.sleep_ms, exponential(rng).min(4.0));
        Doing::Sleeps(part(profile.patience_ms, exponential(rng)), length)
    } else if is(profile.late) {
        Doing::ComesLate(part(claim_deadline_ms, 0.5 + rng.f64()))
    } else if is(profile.no_show) {
        Doing::StaysAway
    } else {
        Doing::Nothing
    }
}

/// Of mean 1.
fn exponential(rng: &mut Rng) -> f64 {
    -(1.0 - rng.f64()).ln()
}

fn part(of_ms: u64, share: f64) -> u64 {
    rounded(float(of_ms) * share)
}

/// Pages that a visitor asks for inside, at least; and at most, however short sessions are.
const PAGES: u32 = 5;
const MOST_PAGES: u64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn usual(visitors: u32, profile: &Profile, seed: u64) -> Vec<Scripted> {
        crowd(visitors, profile, seed, &Settings::default())
    }

    #[test]
    fn the_same_seed_gives_the_same_crowd_and_another_another() {
        let of = |seed| usual(200, &Profile::of(Name::Spike), seed);
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
    }

    #[test]
    fn a_crowd_comes_in_order_and_in_its_time() {
        for name in Name::value_variants() {
            let profile = Profile::of(*name);
            let crowd = usual(1_000, &profile, 1);
            assert!(crowd.is_sorted_by_key(|visitor| visitor.arrives_ms), "{name:?}");
            let last = crowd.last().expect("somebody").arrives_ms;
            assert!(
                (profile.arrive_ms * 9 / 10..=profile.arrive_ms).contains(&last),
                "{name:?}"
            );
        }
        let early = |crowd: &[Scripted]| crowd.iter().filter(|visitor| visitor.arrives_ms < 6_000).count();
        assert_eq!(early(&usual(1_000, &Profile::of(Name::Spike), 1)), 500);
    }

    #[test]
    fn shares_are_those_of_the_profile() {
        let profile = Profile {
            leave: 100,
            sleep: 200,
            late: 300,
            no_show: 400,
            ..Profile::of(Name::Spike)
        };
        let crowd = usual(20_000, &profile, 3);
        let share = |is: fn(&Doing) -> bool| crowd.iter().filter(|visitor| is(&visitor.does)).count() / 200;
        let shares = [
            share(|does| matches!(does, Doing::Leaves(_))),
            share(|does| matches!(does, Doing::Sleeps(..))),
            share(|does| matches!(does, Doing::ComesLate(_))),
            share(|does| matches!(does, Doing::StaysAway)),
        ];
        for (share, wanted) in shares.into_iter().zip([10, 20, 30, 40]) {
            assert!(share.abs_diff(wanted) <= 1, "{shares:?}");
        }
        assert!(!crowd.iter().any(|visitor| visitor.does == Doing::Nothing));
    }

    #[test]
    fn visitors_inside_ask_often_enough_for_their_session() {
        let room = Settings {
            session_ms: 2_000,
            ..Settings::default()
        };
        let crowd = crowd(100, &Profile::of(Name::Spike), 1, &room);
        let seldom = |visitor: &Scripted| u64::from(visitor.pages) * 1_000 < visitor.stay_ms;
        assert!(!crowd.iter().any(seldom));
    }
}
