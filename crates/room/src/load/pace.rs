//! How long a call counts as load, by Little's law: the number of called and inside divided by the calls per second.

use crate::codec::codec;

/// Recent averages of both, older values with less weight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pace {
    /// Thousandths of those called and inside.
    slots_milli: u64,
    /// Thousandths of a call per second, and of a call that is over per second: visits, and no-shows.
    calls_milli: u64,
    ends_milli: u64,
    /// Those called and inside as of now.
    slots: u64,
}

codec! {
    struct Pace { slots_milli, calls_milli, ends_milli, slots } where is_sound;
}

impl Pace {
    /// Takes the figures of about two seconds. They do not count while no visitor is called, or while `is_odd`: visits to a
    /// failing shop end early, and the room fills again after them.
    pub fn note(&mut self, slots: u64, calls: u64, is_odd: bool, passed_ms: u64) {
        let (slots, calls) = (slots.min(MOST), calls.min(MOST));
        let ends = (self.slots + calls).saturating_sub(slots);
        self.slots = slots;
        if calls == 0 || is_odd || passed_ms == 0 {
            return;
        }
        let follow = |before: u64, now: u64| (before * (OF - 1) + now) / OF;
        self.slots_milli = follow(self.slots_milli, slots * 1_000);
        self.calls_milli = follow(self.calls_milli, calls * 1_000_000 / passed_ms);
        self.ends_milli = follow(self.ends_milli, ends * 1_000_000 / passed_ms);
    }

    /// The time from a call to the end of the visit, in milliseconds, within the bounds of the controller.
    pub fn lag_ms(&self) -> u64 {
        self.measured_ms().unwrap_or(UNKNOWN_MS).clamp(LEAST_MS, MOST_MS)
    }

    /// Those called and inside as of now.
    pub fn slots(&self) -> u64 {
        self.slots
    }

    /// Visits last longer than the controller can wait, or sessions are not ended by the shop. It is judged by calls and by
    /// ends, because one of the two alone is misleading right after it fell.
    pub fn is_long(&self) -> bool {
        let most_milli = self.calls_milli.max(self.ends_milli);
        most_milli > 0 && self.slots_milli.saturating_mul(1_000) > most_milli.saturating_mul(MOST_MS)
    }

    /// Thousandths of a visitor per second by which a rate is reduced for now, so that the visitors inside beyond its share
    /// are gone in half a lag. Zero where the room hears of no ends, or sessions run out by themselves: most visitors inside
    /// are not load then.
    pub fn excess_milli(&self, rate_milli: u64) -> u64 {
        // A fourth, since ends are behind calls by a lag, in which calls may double twice.
        let is_heard = self.ends_milli * 4 >= self.calls_milli;
        let Some(lag_ms) = self.measured_ms().filter(|lag_ms| is_heard && *lag_ms <= MOST_MS) else {
            return 0;
        };
        let fit_milli = rate_milli.saturating_mul(lag_ms) / 1_000;
        let beyond_milli = (self.slots * 1_000).saturating_sub(fit_milli + fit_milli / SPREAD);
        beyond_milli * 2_000 / lag_ms.max(LEAST_MS)
    }

    fn measured_ms(&self) -> Option<u64> {
        self.slots_milli.saturating_mul(1_000).checked_div(self.calls_milli)
    }

    fn is_sound(&self) -> bool {
        let rates = self.calls_milli.max(self.ends_milli) <= 2 * MOST * 1_000_000;
        rates && self.slots <= MOST && self.slots_milli <= MOST * 1_000
    }
}

/// The weight of the last two seconds in the average, as a fraction.
const OF: u64 = 16;

/// Most of either that is reckoned with: above every capacity that can be configured.
pub const MOST: u64 = 100_000_000;

/// Bounds of the lag: shorter than a call and an answer take, and longer than a controller can wait while the shop changes.
const LEAST_MS: u64 = 8_000;
const MOST_MS: u64 = 60_000;

/// So small a part more are inside by chance.
const SPREAD: u64 = 20;

/// Before any visitor was called.
const UNKNOWN_MS: u64 = 20_000;
