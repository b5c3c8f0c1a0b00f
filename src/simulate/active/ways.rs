//! The two ways to give slots away, side by side.

use std::fmt;

use serde::Serialize;

use super::returns::Returns;
use crate::charts::secs;

/// What holds a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Slots {
    /// A session until it ends.
    Session,
    /// A session that is in use.
    Active,
}

impl fmt::Display for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Session => "session",
            Self::Active => "active",
        })
    }
}

/// What came of one way.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Way {
    pub slots: Slots,
    /// In the room: how long after its last request a session counts, `session_duration` or `idle_after`; and slots.
    pub counts_for_secs: f64,
    pub capacity: u32,
    /// From joining to being inside, of all visitors.
    pub median_wait_secs: f64,
    pub p95_wait_secs: f64,
    /// Shares of the slots: with a busy visitor while there was a line, and the most that this crowd allows.
    pub busy: f64,
    pub ceiling: f64,
    /// The most sessions that the shop counts, how many of them were above the slots, and for how long there were any.
    pub most_sessions: u64,
    pub above: u64,
    pub above_secs: f64,
    pub returns: Returned,
    /// Were inside when their session ended.
    pub thrown_out: u64,
    pub still_waiting: u64,
    /// Requests of the shop in the busiest minute.
    pub busiest_minute: u64,
    /// The 999th of a thousand pauses between two requests of a visit.
    pub long_pause_secs: f64,
    /// How long nobody was called since all rights were taken, and the most slots that were free then.
    pub rights_full_secs: f64,
    pub rights_full_free: u32,
}

/// Requests that had to ask for a slot.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Returned {
    /// By themselves, of these within a second, and waits in seconds.
    pub alone: u64,
    pub within_a_second: u64,
    pub p999_secs: f64,
    pub max_secs: f64,
    /// With many others or after a silence of the shop: how many, and the longest wait.
    pub together: u64,
    pub together_median_secs: f64,
    pub together_max_secs: f64,
    /// How often the page was shown, as no slot was free within `return_wait`.
    pub pages: u64,
}

impl Returned {
    pub(in crate::simulate) fn of(returns: &Returns) -> Self {
        let (alone, together) = (returns.alone.spread(), returns.together.spread());
        Self {
            alone: alone.count,
            within_a_second: returns.quick,
            p999_secs: secs(returns.alone.permille(999)),
            max_secs: alone.max_secs,
            together: together.count,
            together_median_secs: together.p50_secs,
            together_max_secs: together.max_secs,
            pages: returns.pages,
        }
    }

    /// The share of the independent returns that waited for no longer than a second.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    pub fn share_within_a_second(&self) -> f64 {
        if self.alone == 0 {
            return 1.0;
        }
        self.within_a_second as f64 / self.alone as f64
    }
}
