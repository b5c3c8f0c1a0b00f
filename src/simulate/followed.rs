//! Calls that load control allowed while visitors waited, and its reasons.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::charts::float;
use crate::room::{Controller, LoadView, Settings, Why};

/// The results of a room's controller while there was a line.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Followed {
    /// `linear` or `adaptive`.
    pub by: &'static str,
    /// How long a step is: the room's `call_every`.
    pub step_ms: u64,
    /// Visitors who might be called a step: the mean, and the most.
    pub mean_calls: f64,
    pub most_calls: f64,
    /// How long no visitor might be called, and how long which reason held.
    pub stopped_secs: f64,
    pub why_secs: BTreeMap<&'static str, f64>,
    /// Share of those called who come, as the room measured it last.
    pub come: f64,
}

/// The calls allowed at a time, and the shop's load in the room's view then.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Allowed {
    /// Thousandths of a call a step: the mean over time, and the fewest.
    pub step_milli: u64,
    pub least_milli: u64,
    /// The reason that limited calls for the longest time.
    #[serde(serialize_with = "name")]
    pub why: Why,
    /// The highest values meanwhile: duration of requests, failures in a thousand, and requests under way.
    pub p95_ms: Option<u64>,
    pub errors_permille: u16,
    pub in_flight: u32,
    /// Thousandths of a call a step, times milliseconds; and milliseconds of each reason.
    #[serde(skip)]
    milli_ms: u128,
    #[serde(skip)]
    why_ms: [u64; Why::ALL.len()],
}

/// Sums up a room's views.
#[derive(Clone, Debug, Default)]
pub(super) struct Follower {
    /// Milliseconds by reason.
    by_why: BTreeMap<&'static str, u64>,
    stopped_ms: u64,
    all_ms: u64,
    /// Thousandths of a call a step, times milliseconds.
    allowed: u128,
    most_milli: u64,
    come_permille: u64,
}

impl Follower {
    /// Takes `ms` milliseconds that end with this view. They count while a visitor waits who may be held up only by this.
    pub fn pass(&mut self, load: &LoadView, counts: bool, ms: u64) {
        self.come_permille = load.share_permille;
        if !counts {
            return;
        }
        *self.by_why.entry(load.why.as_str()).or_default() += ms;
        self.stopped_ms += if load.step_milli == 0 { ms } else { 0 };
        self.all_ms += ms;
        self.allowed += u128::from(load.step_milli) * u128::from(ms);
        self.most_milli = self.most_milli.max(load.step_milli);
    }

    /// `None` for a room that does not follow its shop.
    pub fn followed(&self, settings: &Settings) -> Option<Followed> {
        let by = match settings.load_control?.by {
            Controller::Linear(_) => "linear",
            Controller::Adaptive(_) => "adaptive",
        };
        let mean = self.allowed / u128::from(self.all_ms.max(1));
        let secs = |(why, ms): (&&'static str, &u64)| (*why, thousandth(*ms));
        Some(Followed {
            by,
            step_ms: settings.call_every_ms,
            mean_calls: thousandth(u64::try_from(mean).unwrap_or(u64::MAX)),
            most_calls: thousandth(self.most_milli),
            stopped_secs: thousandth(self.stopped_ms),
            why_secs: self.by_why.iter().map(secs).collect(),
            come: thousandth(self.come_permille),
        })
    }
}

impl Allowed {
    /// This view for `ms` milliseconds.
    pub(super) fn of(load: &LoadView, ms: u64) -> Self {
        let seen = load.seen.unwrap_or_default();
        let ms = ms.max(1);
        Self {
            step_milli: load.step_milli,
            least_milli: load.step_milli,
            why: load.why,
            milli_ms: u128::from(load.step_milli) * u128::from(ms),
            why_ms: Why::ALL.map(|why| if why == load.why { ms } else { 0 }),
            p95_ms: seen.p95_us.map(|us| us / 1_000),
            errors_permille: seen.errors_permille,
            in_flight: seen.in_flight,
        }
    }

    /// Both times together.
    pub(super) fn and(self, other: Self) -> Self {
        let milli_ms = self.milli_ms + other.milli_ms;
        let why_ms: [u64; Why::ALL.len()] = std::array::from_fn(|at| self.why_ms[at] + other.why_ms[at]);
        let mean = milli_ms / u128::from(why_ms.iter().sum::<u64>().max(1));
        // Of two that held as long, the graver.
        let longest = Why::ALL.into_iter().zip(why_ms).max_by_key(|(_, ms)| *ms);
        Self {
            step_milli: u64::try_from(mean).unwrap_or(u64::MAX),
            least_milli: self.least_milli.min(other.least_milli),
            why: longest.map_or(self.why, |(why, _)| why),
            milli_ms,
            why_ms,
            p95_ms: self.p95_ms.max(other.p95_ms),
            errors_permille: self.errors_permille.max(other.errors_permille),
            in_flight: self.in_flight.max(other.in_flight),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn name<S: Serializer>(why: &Why, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(why.as_str())
}

fn thousandth(count: u64) -> f64 {
    float(count) / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::{Bounds, LoadControl, Wall};

    fn load(step_milli: u64, why: Why) -> LoadView {
        LoadView {
            why,
            since: Wall(0),
            step_milli,
            binds: true,
            seen: None,
            gates: 1,
            outside: None,
            share_permille: 900,
        }
    }

    #[test]
    fn time_counts_while_somebody_waits_and_by_what_stood_in_the_way() {
        let mut follower = Follower::default();
        follower.pass(&load(2_000, Why::Free), true, 1_000);
        follower.pass(&load(0, Why::Errors), true, 3_000);
        follower.pass(&load(9_000, Why::Free), false, 60_000);
        let settings = |load_control| Settings {
            load_control,
            ..Settings::default()
        };
        let adaptive = LoadControl::by(Controller::Adaptive(Bounds::default()));
        let followed = follower.followed(&settings(Some(adaptive))).unwrap();
        let figures = [
            followed.mean_calls,
            followed.most_calls,
            followed.stopped_secs,
            followed.come,
        ];
        assert_eq!((figures, followed.by), ([0.5, 2.0, 3.0, 0.9], "adaptive"));
        assert_eq!(
            followed.why_secs.into_iter().collect::<Vec<_>>(),
            [("errors", 3.0), ("free", 1.0)]
        );
        assert!(follower.followed(&settings(None)).is_none());
    }

    #[test]
    fn times_together_have_the_mean_the_least_and_the_reason_that_held_longest() {
        let (free, failing) = (load(10_000, Why::Free), load(0, Why::Errors));
        let (free, failing) = (|ms| Allowed::of(&free, ms), |ms| Allowed::of(&failing, ms));
        let both = free(2_000).and(failing(2_000));
        assert_eq!(both, failing(2_000).and(free(2_000)));
        let figures = |allowed: Allowed| (allowed.step_milli, allowed.least_milli, allowed.why);
        assert_eq!(figures(both), (5_000, 0, Why::Errors));
        // A stop of two seconds does not characterise so long a time.
        assert_eq!(figures(free(6_000).and(both)), (8_000, 0, Why::Free));
    }
}
