//! One virtual visitor's character, drawn from the seed: the same seed gives the same crowd.

use std::time::Duration;

use fastrand::Rng;

use super::profile::{Profile, secs};

/// When a virtual visitor comes, and what they will do.
#[derive(Clone, PartialEq, Debug)]
pub struct Persona {
    pub arrives: Duration,
    /// How long they stay inside, and after how long each page is asked for.
    pub inside: Duration,
    pub pages: u32,
    pub does: Does,
    /// Loads the page again in place of every so many questions; 0 for never.
    pub reloads: u32,
}

/// What one does besides waiting and coming in.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Does {
    Nothing,
    /// Gives up after so long in line.
    Leaves(Duration),
    /// Falls silent after so long in line, for so long.
    Sleeps(Duration, Duration),
    /// Comes so long after being called.
    ComesLate(Duration),
    /// Is called, and never comes.
    StaysAway,
}

/// The whole crowd, in order of arrival. `claim_deadline` is the room's.
pub fn crowd(visitors: u32, profile: &Profile, seed: u64, claim_deadline: Duration) -> Vec<Persona> {
    let mut rng = Rng::with_seed(seed);
    let count = f64::from(visitors.max(1));
    (0..visitors)
        .map(|at| persona((f64::from(at) + rng.f64()) / count, profile, claim_deadline, &mut rng))
        .collect()
}

fn persona(share: f64, profile: &Profile, claim_deadline: Duration, rng: &mut Rng) -> Persona {
    Persona {
        arrives: part(profile.arrive_secs, profile.curve.at(share)),
        // Some look around for long, most do not.
        inside: part(profile.inside_secs, exponential(rng).min(4.0)),
        pages: profile.pages.max(1),
        does: does(profile, claim_deadline, rng),
        reloads: if rng.f64() * 100.0 < profile.reload {
            rng.u32(2..6)
        } else {
            0
        },
    }
}

fn does(profile: &Profile, claim_deadline: Duration, rng: &mut Rng) -> Does {
    let mut drawn = rng.f64() * 100.0;
    let mut is = |share: f64| {
        drawn -= share;
        drawn < 0.0
    };
    if is(profile.leave) {
        return Does::Leaves(part(profile.patience_secs, exponential(rng)));
    }
    if is(profile.sleep) {
        let length = part(profile.sleep_secs, exponential(rng).min(4.0));
        return Does::Sleeps(part(profile.patience_secs, exponential(rng)), length);
    }
    if is(profile.late) {
        return Does::ComesLate(claim_deadline.mul_f64(0.5 + rng.f64()));
    }
    if is(profile.no_show) {
        return Does::StaysAway;
    }
    Does::Nothing
}

/// Of mean 1.
fn exponential(rng: &mut Rng) -> f64 {
    -(1.0 - rng.f64()).ln()
}

#[expect(clippy::cast_precision_loss, reason = "seconds of a day at most")]
fn part(of_secs: u64, share: f64) -> Duration {
    secs(of_secs as f64 * share)
}

#[cfg(test)]
mod tests {
    use super::super::profile::{ALL, SPIKE};
    use super::*;

    const DEADLINE: Duration = Duration::from_secs(90);

    #[test]
    fn the_same_seed_gives_the_same_crowd_and_another_another() {
        let of = |seed| crowd(200, &SPIKE, seed, DEADLINE);
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
    }

    #[test]
    fn a_crowd_comes_in_order_and_in_its_time() {
        for profile in ALL {
            let crowd = crowd(1_000, &profile, 1, DEADLINE);
            assert!(crowd.is_sorted_by_key(|persona| persona.arrives), "{}", profile.name);
            let last = crowd.last().expect("somebody").arrives;
            assert!(last <= Duration::from_secs(profile.arrive_secs));
        }
    }

    #[test]
    fn shares_are_those_of_the_profile() {
        let profile = Profile {
            leave: 10.0,
            sleep: 20.0,
            late: 30.0,
            no_show: 40.0,
            ..SPIKE
        };
        let crowd = crowd(20_000, &profile, 3, DEADLINE);
        let share = |is: fn(&Does) -> bool| crowd.iter().filter(|persona| is(&persona.does)).count() / 200;
        let shares = [
            share(|does| matches!(does, Does::Leaves(_))),
            share(|does| matches!(does, Does::Sleeps(..))),
            share(|does| matches!(does, Does::ComesLate(_))),
            share(|does| matches!(does, Does::StaysAway)),
        ];
        for (share, wanted) in shares.into_iter().zip([10, 20, 30, 40]) {
            assert!(share.abs_diff(wanted) <= 1, "{shares:?}");
        }
        assert!(!crowd.iter().any(|persona| persona.does == Does::Nothing));
    }
}
