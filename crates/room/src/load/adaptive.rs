//! The adaptive controller: sets the number of calls per second from the duration of requests and the share of failed ones.
//!
//! Its time step is the time that a call takes to become load, which the room measures. It grows by a fixed share in that
//! time, and after it gave way it waits as long for the effect. Near the rate that was last too high, it grows in proportion
//! to the distance from slow requests. Once the present load comes from a higher rate than that without slow requests, the
//! shop can take more than before. It gives way as soon as requests take clearly longer than at rest, because beyond the
//! shop's limit every late answer was wasted work. While the bounds are exceeded, no visitor is called.

use crate::codec::codec;
use crate::load::controller::Bounds;
use crate::load::figures::Measured;
use crate::load::pace::{MOST as MOST_SLOTS, Pace};
use ropeline_ids::Clock;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Adaptive {
    /// Thousandths of a visitor a second.
    rate_milli: u64,
    /// The same rate half a lag ago, which caused the present load.
    behind_milli: u64,
    /// The rate that was last too high; 0: none so far.
    top_milli: u64,
    /// The duration of a request while the shop has little to do; 0: not known yet.
    base_us: u64,
    /// It neither grows nor gives way before: the last change has no visible effect until then.
    held_until: Clock,
    /// It does not grow before: no visitor was called, so the present load says nothing.
    idle_until: Clock,
    /// The duration of requests when it last gave way; 0: not known.
    cut_us: u64,
    /// How many were called and inside then.
    cut_slots: u64,
    /// Decisions in a row at which requests took clearly longer than at rest.
    strained: u8,
    /// No visitor is called.
    paused: bool,
}

/// The assessment of the figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    Fine,
    Slow,
    Failing,
}

codec! {
    struct Adaptive {
        rate_milli, behind_milli, top_milli, base_us, held_until, idle_until, cut_us, cut_slots, strained, paused,
    } where is_sound;
}

impl Adaptive {
    pub fn new() -> Self {
        Self {
            rate_milli: START_MILLI,
            behind_milli: START_MILLI,
            top_milli: 0,
            base_us: 0,
            held_until: Clock(0),
            idle_until: Clock(0),
            cut_us: 0,
            cut_slots: 0,
            strained: 0,
            paused: false,
        }
    }

    /// Thousandths of a visitor a second that are to come. Where more are inside than that rate brings, as visits take
    /// longer than they did, as many fewer: they are load already. Where those inside stay for longer than can be waited for,
    /// and are too many, few come until enough have left: a lower rate alone would add to them for minutes.
    pub fn rate_milli(&self, pace: &Pace) -> u64 {
        match () {
            () if self.paused => 0,
            () if self.strained >= STRAINED && pace.is_long() => self.rate_milli / FEW_COME,
            () => self.rate_milli.saturating_sub(pace.excess_milli(self.rate_milli)),
        }
    }

    /// Decides anew, which is done every two seconds. `used`: as many were called as were allowed.
    pub fn decide(&mut self, bounds: Bounds, seen: &Measured, used: bool, pace: &Pace, now: Clock) -> Found {
        let behind = pace.lag_ms() / 2 / EVERY_MS;
        self.behind_milli = (self.behind_milli * (behind.max(2) - 1) + self.rate_milli) / behind.max(2);
        let typical_us = seen.median_us.unwrap_or(0);
        let strain = self.strain(bounds, seen);
        self.learn(typical_us, strain);
        self.strained = if strain == Strain::Much {
            self.strained.saturating_add(1)
        } else {
            0
        };
        match strain {
            Strain::Much if self.strained < STRAINED => {}
            Strain::Beyond if self.is_down(bounds, seen) => self.give_way(DOWN, typical_us, pace, now),
            Strain::Beyond => self.give_way(BEYOND, typical_us, pace, now),
            Strain::Much if self.is_of_another_kind(bounds, seen, pace, now) => {
                self.base_us = typical_us.min(MOST_BASE_US);
            }
            Strain::Much => {
                self.lower_floor(used, now);
                self.give_way(MUCH, typical_us, pace, now);
            }
            Strain::None if used && self.may_grow(seen, pace, now) => self.grow(typical_us, pace),
            Strain::None | Strain::Some => {}
        }
        if matches!(strain, Strain::None | Strain::Some) && typical_us > 0 {
            self.cut_us = 0;
        }
        self.pause(
            strain == Strain::Beyond || (self.paused && strain == Strain::Much),
            pace,
            now,
        );
        let failing = is_failing(bounds, seen);
        match strain {
            Strain::None | Strain::Some if now >= self.held_until && !seen.many_hang() => Found::Fine,
            _ if failing => Found::Failing,
            _ => Found::Slow,
        }
    }

    /// The upstream gets no requests, or its condition is unknown.
    pub fn stop(&mut self, pace: &Pace, now: Clock) {
        self.give_way(BEYOND, 0, pace, now);
        self.pause(true, pace, now);
    }

    fn pause(&mut self, paused: bool, pace: &Pace, now: Clock) {
        self.paused = paused;
        if paused {
            self.idle_until = now.plus(pace.lag_ms());
        }
    }

    /// No visitor was called for a while, and therefore fewer are inside.
    pub fn is_filling(&self, now: Clock) -> bool {
        now < self.idle_until
    }

    /// There is a load, the called visitors cause it, and the duration of requests is known; at first it is not.
    fn may_grow(&self, seen: &Measured, pace: &Pace, now: Clock) -> bool {
        let is_known = seen.median_us.is_some() || seen.given || self.base_us == 0;
        let at_rest = seen.median_us.is_some_and(|us| self.headroom_permille(us) >= 800);
        let is_over = now >= self.held_until || (at_rest && now.plus(pace.lag_ms() / 2) >= self.held_until);
        is_over && !self.is_filling(now) && is_known
    }

    /// SECURITY: requests that take longer than at rest do not stop calls by themselves, because one page may simply take
    /// longer than another. Calls stop only if requests also pile up, the bounds are exceeded, or no request is answered at
    /// all.
    fn strain(&self, bounds: Bounds, seen: &Measured) -> Strain {
        let errors = u64::from(seen.errors_permille);
        let most = u64::from(bounds.errors_permille);
        let bound_us = u64::from(bounds.p95_ms) * 1_000;
        let p95_us = seen.p95_us.unwrap_or(0);
        let queue_us = seen.queue_us.unwrap_or(0);
        // The median tells from few requests how much longer all of them take; the percentile whether that is too long.
        let typical_us = seen.median_us.unwrap_or(0).min(bound_us);
        let longer = |percent: u64| (self.base_us * percent / 100 + LEAST_US).min(bound_us);
        let piles_up = typical_us > 0 && queue_us >= 2 * typical_us;
        let far = self.base_us > 0 && typical_us >= longer(FAR_OF_BASE) && piles_up;
        match () {
            () if seen.silent || errors >= most || p95_us >= bound_us || queue_us >= bound_us || far => Strain::Beyond,
            () if is_failing(bounds, seen) || is_near_bound(bounds, seen) => Strain::Much,
            () if self.base_us > 0 && typical_us >= longer(MUCH_OF_BASE) => Strain::Much,
            () if self.base_us > 0 && typical_us >= longer(SOME_OF_BASE) => Strain::Some,
            () if seen.many_hang() => Strain::Some,
            () => Strain::None,
        }
    }

    /// Requests fail, and those that do not take no longer than at rest: that says little of how much the shop can take.
    fn is_down(&self, bounds: Bounds, seen: &Measured) -> bool {
        let kept = Measured {
            errors_permille: 0,
            ..*seen
        };
        !seen.silent && matches!(self.strain(bounds, &kept), Strain::None | Strain::Some)
    }

    /// The duration at rest is the least that was seen. It rises slowly while requests take longer and the load is not too
    /// high.
    fn learn(&mut self, typical_us: u64, strain: Strain) {
        if typical_us == 0 {
            return;
        }
        if self.base_us == 0 {
            self.base_us = typical_us;
        } else if typical_us < self.base_us {
            self.base_us -= (self.base_us - typical_us) / 8;
        } else if strain == Strain::None {
            self.base_us += (typical_us - self.base_us) / FORGET;
        }
    }

    /// Fewer are inside than when it gave way, and requests take as long as then: they are others than those it learned from.
    /// In a shop with too much to do they would take less.
    fn is_of_another_kind(&self, bounds: Bounds, seen: &Measured, pace: &Pace, now: Clock) -> bool {
        let typical_us = seen.median_us.unwrap_or(0);
        let as_long = self.cut_us > 0 && typical_us.abs_diff(self.cut_us) * 10 <= self.cut_us;
        let by_the_median_alone = !is_failing(bounds, seen) && !is_near_bound(bounds, seen);
        now >= self.held_until && as_long && self.are_fewer(pace) && by_the_median_alone
    }

    /// Fewer are called and inside than when it last gave way.
    fn are_fewer(&self, pace: &Pace) -> bool {
        pace.slots() * 100 <= self.cut_slots * FEWER
    }

    /// Lowers the floor, because even the lowest rate was too high.
    fn lower_floor(&mut self, used: bool, now: Clock) {
        if used && now >= self.held_until && !self.paused && self.rate_milli <= self.floor_milli() {
            self.top_milli = self.rate_milli;
        }
    }

    /// The lowest rate to which it gives way, however long the shop takes to recover: the earlier limit says where to begin
    /// again.
    fn floor_milli(&self) -> u64 {
        (self.top_milli * LEAST_OF_TOP / 100).max(LEAST_MILLI)
    }

    /// Lowers the rate, once in the time that the effect takes to show.
    fn give_way(&mut self, to_percent: u64, typical_us: u64, pace: &Pace, now: Clock) {
        // A shop that answers no request gives no measure of its limit: lowering once is enough.
        let is_known = typical_us == 0 && self.cut_us > 0;
        // Those inside stay for longer than is waited for: it shows once some have left.
        let is_to_show = pace.is_long() && self.cut_us > 0 && !self.are_fewer(pace);
        if now < self.held_until || is_known || is_to_show {
            return;
        }
        let new = self.top_milli == 0 || self.cut_us == 0;
        if new {
            self.top_milli = self.behind_milli.min(self.rate_milli);
        }
        let less = self.behind_milli.min(self.rate_milli) * to_percent / 100;
        self.rate_milli = less.max(self.floor_milli()).min(self.rate_milli);
        (self.held_until, self.cut_slots) = (now.plus(pace.lag_ms()), pace.slots());
        self.cut_us = typical_us.clamp(1, MOST_BASE_US);
    }

    fn grow(&mut self, typical_us: u64, pace: &Pace) {
        // The load of now comes from more than was too much, and nothing shows: it is so no longer.
        if self.behind_milli > self.top_milli {
            self.top_milli = 0;
        }
        let in_a_lag_permille = match () {
            () if self.top_milli == 0 => FIRST * self.headroom_permille(typical_us) / 1_000,
            () if self.rate_milli < self.top_milli * NEAR / 100 => BACK,
            () => PROBE * self.headroom_permille(typical_us) / 1_000,
        };
        let more = self.rate_milli * in_a_lag_permille / 1_000 * EVERY_MS / pace.lag_ms();
        self.rate_milli = (self.rate_milli + more.max(1)).min(MOST_MILLI);
    }

    /// The remaining distance from the duration at rest to the duration of slow requests.
    fn headroom_permille(&self, typical_us: u64) -> u64 {
        let way_us = self.base_us * (SOME_OF_BASE - 100) / 100 + LEAST_US;
        let gone_us = typical_us.saturating_sub(self.base_us).min(way_us);
        (way_us - gone_us) * 1_000 / way_us.max(1)
    }

    /// Values that no decision produces could break the arithmetic.
    fn is_sound(&self) -> bool {
        let rates = [self.rate_milli, self.behind_milli, self.top_milli];
        rates.iter().all(|milli| *milli <= MOST_MILLI)
            && self.base_us.max(self.cut_us) <= MOST_BASE_US
            && self.cut_slots <= MOST_SLOTS
    }
}

/// The failures are at least a quarter of the bound.
fn is_failing(bounds: Bounds, seen: &Measured) -> bool {
    u64::from(seen.errors_permille) * 4 >= u64::from(bounds.errors_permille)
}

/// The slowest take nearly too long.
fn is_near_bound(bounds: Bounds, seen: &Measured) -> bool {
    let bound_us = u64::from(bounds.p95_ms) * 1_000;
    seen.p95_us.unwrap_or(0).saturating_mul(100) >= bound_us * NEAR_BOUND
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Strain {
    None,
    Some,
    Much,
    Beyond,
}

/// How often it decides.
const EVERY_MS: u64 = 2_000;

/// One visitor a second, before anything is known.
const START_MILLI: u64 = 1_000;

/// Bounds of the rate: one visitor in ten seconds, and a million a second.
const LEAST_MILLI: u64 = 100;
const MOST_MILLI: u64 = 1_000_000_000;

/// Longest bound of a percentile, in microseconds: the most that 32 bits of milliseconds hold.
const MOST_BASE_US: u64 = 1_000 * 0xffff_ffff;

/// Number of decisions in a row that must find requests clearly slower than at rest.
const STRAINED: u8 = 2;

/// So few of the rate come where those inside stay for long and are too many: one of these.
const FEW_COME: u64 = 8;

/// In percent of the called and inside: below this their number has decreased, and the duration of requests has to show it.
const FEWER: u64 = 92;

/// Requests take longer than at rest, in percent of that: no more growth, and less.
const SOME_OF_BASE: u64 = 135;
const MUCH_OF_BASE: u64 = 180;

/// Requests that take this much longer are near the end of the shop's capacity: no visitor is called if requests pile up too.
const FAR_OF_BASE: u64 = 300;

/// So near the bound of the percentile it gives way, in percent.
const NEAR_BOUND: u64 = 80;

/// A difference of this size does not count.
const LEAST_US: u64 = 5_000;

/// The rate that remains, in percent.
const MUCH: u64 = 84;
const BEYOND: u64 = 75;
const DOWN: u64 = 92;

/// It never gives way below this share of the rate that was too high, in percent, until that share is found to be too high
/// itself.
const LEAST_OF_TOP: u64 = 50;

/// Below this share of the rate that was too high it grows fast.
const NEAR: u64 = 88;

/// Growth in thousandths in one lag: before anything was too much, on the way back, and around it.
const FIRST: u64 = 400;
const BACK: u64 = 300;
const PROBE: u64 = 300;

/// The fraction of the difference by which the duration at rest rises every two seconds.
const FORGET: u64 = 600;
