//! Visitors who wait in a tab that they look at now and then, and what is lost of their turns.
//!
//! On a desktop the hidden page goes on and hears the call, but its timers may run only once a minute. A phone suspends it until the
//! visitor looks. Each visitor's times away come from a generator of their own, so every way to claim meets the same visitors.

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::fmt;

use fastrand::Rng;
use serde::Serialize;

use crate::charts::{Spread, secs};
use crate::pages::holds_ms;

/// What a page that nobody sees does when its turn comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claiming {
    /// Claims it.
    AtOnce,
    /// As the waiting page does: claims it once it is seen, or with a margin before the claim deadline.
    AsPage,
    /// Claims it once it is seen, or just before the claim deadline.
    AtTheEnd,
    /// Claims it once it is seen. Where that is too late, it checks in only when it is seen, and is called next then.
    WhenSeen,
}

/// What became of the turns of visitors in a hidden tab, by one way to claim them.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Unseen {
    pub claiming: Claiming,
    /// Visitors who wait so.
    pub visitors: u64,
    /// Turns that nobody claimed, on desktops and on phones.
    pub missed_on_desktops: u64,
    pub missed_on_phones: u64,
    /// Turns that the page claimed, and whose session was over before the visitor looked.
    pub over_unseen: u64,
    /// Places lost by either: the visitor joined anew at the back.
    pub back_again: u64,
    /// From the call until the visitor looked, or until the slot was free again.
    pub held_secs: f64,
    /// From joining to being inside and looking, of all visitors.
    pub median_wait_secs: f64,
    pub p95_wait_secs: f64,
}

/// The hidden tabs of a simulation.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    pub tabs: BTreeMap<u32, Tab>,
    pub visitors: u64,
    pub missed_on_desktops: u64,
    pub missed_on_phones: u64,
    pub over_unseen: u64,
    pub back_again: u64,
    pub held_ms: u64,
}

/// A visitor's tab.
#[derive(Debug)]
pub(super) struct Tab {
    rng: Rng,
    pub is_seen: bool,
    /// The turn that is not decided yet: when it came while nobody looked, and when the page claimed it.
    pub called_at: Option<u64>,
    pub claimed_at: Option<u64>,
}

impl Claiming {
    /// In the order of the table.
    pub const ALL: [Self; 4] = [Self::AtOnce, Self::AsPage, Self::AtTheEnd, Self::WhenSeen];

    fn holds_ms(self, remains_ms: u64) -> u64 {
        match self {
            Self::AtOnce | Self::WhenSeen => 0,
            Self::AsPage => holds_ms(remains_ms, false),
            Self::AtTheEnd => remains_ms.saturating_sub(END_MS),
        }
    }
}

impl fmt::Display for Claiming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AtOnce => "at once",
            Self::AsPage => "as the page does",
            Self::AtTheEnd => "at the deadline's end",
            Self::WhenSeen => "only when seen",
        })
    }
}

impl Hidden {
    /// The visitor looks elsewhere.
    pub fn is_unseen(&self, id: u32) -> bool {
        self.tabs.get(&id).is_some_and(|tab| !tab.is_seen)
    }

    /// The visitor goes in, and looks.
    pub fn goes_in(&mut self, id: u32, now: u64) {
        let called_at = self.tabs.remove(&id).and_then(|tab| tab.called_at);
        self.held_ms += called_at.map_or(0, |at| now - at);
    }

    pub fn joins_again(&mut self, id: u32) {
        self.back_again += u64::from(self.tabs.contains_key(&id));
    }

    /// A visitor has joined with a new tab. Says after how long they look elsewhere.
    pub fn watch(&mut self, id: u32, seed: u64) -> u64 {
        let mut tab = Tab {
            rng: Rng::with_seed(seed ^ (u64::from(id) + 1).wrapping_mul(SPREAD)),
            is_seen: true,
            called_at: None,
            claimed_at: None,
        };
        let watches_ms = tab.rng.u64(0..SEEN_MS);
        self.visitors += 1;
        self.tabs.insert(id, tab);
        watches_ms
    }

    /// The figures of this way to claim, with the waits of all visitors.
    pub fn figures(&self, claiming: Claiming, waits: &Spread) -> Unseen {
        Unseen {
            claiming,
            visitors: self.visitors,
            missed_on_desktops: self.missed_on_desktops,
            missed_on_phones: self.missed_on_phones,
            over_unseen: self.over_unseen,
            back_again: self.back_again,
            held_secs: secs(self.held_ms),
            median_wait_secs: waits.p50_secs,
            p95_wait_secs: waits.p95_secs,
        }
    }
}

impl Tab {
    /// How long the visitor looks at the page, if nothing has happened on it.
    pub fn watches_ms(&mut self) -> u64 {
        self.rng.u64(1..=SEEN_MS)
    }

    /// How long the visitor looks elsewhere.
    pub fn away_ms(&mut self, median_ms: u64) -> u64 {
        log_normal(median_ms, &mut self.rng)
    }

    /// How long a page that stays hidden leaves the turn unclaimed, with what its timer is late.
    pub fn holds_ms(&mut self, claiming: Claiming, remains_ms: u64) -> u64 {
        match claiming.holds_ms(remains_ms) {
            0 => 0,
            holds_ms => holds_ms + self.rng.u64(0..TIMERS_MS),
        }
    }
}

/// A log-normal time, by the Box-Muller transform. Of a hundred, 16 are above e times the median.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "milliseconds of a look elsewhere"
)]
pub(super) fn log_normal(median_ms: u64, rng: &mut Rng) -> u64 {
    let normal = (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (TAU * rng.f64()).cos();
    ((normal.exp() * median_ms as f64) as u64).max(1)
}

/// Longest look at a page on which nothing has happened.
const SEEN_MS: u64 = 20_000;

/// A hidden page's timers run once in this time: <https://chromestatus.com/feature/4718288976216064>.
const TIMERS_MS: u64 = 60_000;

/// How long before the claim deadline a page claims at its end.
const END_MS: u64 = 5_000;

/// Spreads the seeds of visitors over all numbers.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_times_away_are_below_the_median_and_a_sixth_above_e_times_it() {
        let mut rng = Rng::with_seed(1);
        let times: Vec<u64> = (0..10_000).map(|_| log_normal(120_000, &mut rng)).collect();
        let below = |ms: u64| times.iter().filter(|time| **time < ms).count();
        assert!((4_850..5_150).contains(&below(120_000)), "{}", below(120_000));
        assert!((8_300..8_530).contains(&below(326_194)), "{}", below(326_194));
    }

    #[test]
    fn the_ways_leave_a_turn_unclaimed_for_as_long_as_they_say() {
        let holds = |remains_ms| Claiming::ALL.map(|claiming| claiming.holds_ms(remains_ms));
        assert_eq!(holds(90_000), [0, 25_000, 85_000, 0]);
        assert_eq!(holds(3_000), [0; 4]);
    }
}
