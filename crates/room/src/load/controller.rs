//! The controller of a room, from its settings.

use crate::codec::codec;

/// How a room adapts to its shop's capacity. Always within capacity and rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoadControl {
    pub by: Controller,
    /// Figures older than this do not count; without figures no visitor is called. Milliseconds of the room's clock.
    pub ttl_ms: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Controller {
    /// Fewer are called the more requests the upstream has.
    Linear(Linear),
    /// As many as latency and errors let through.
    Adaptive(Bounds),
}

/// Visitors called a step, falling throughout from one rate of requests to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Linear {
    /// At `from` requests a second and below.
    pub most: u32,
    /// At `until` requests a second and above; less than `most`.
    pub least: u32,
    pub from: u32,
    /// More than `from`.
    pub until: u32,
}

/// The adaptive controller's bounds for slow requests and for errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    pub p95_ms: u32,
    pub errors_permille: u16,
}

codec! {
    struct LoadControl { by, ttl_ms };
    enum Controller { 0 => Linear(linear), 1 => Adaptive(bounds) };
    struct Linear { most, least, from, until };
    struct Bounds { p95_ms, errors_permille };
}

/// Bounds of a time to live: two reports of two seconds at least, and one that is late.
pub const TTL_MS: std::ops::RangeInclusive<u64> = 5_000..=3_600_000;

impl Default for Linear {
    fn default() -> Self {
        Self {
            most: 50,
            least: 1,
            from: 0,
            until: 100,
        }
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            p95_ms: 1_500,
            errors_permille: 50,
        }
    }
}

impl LoadControl {
    /// Unless set otherwise figures hold for 10 s.
    #[must_use]
    pub fn by(by: Controller) -> Self {
        Self { by, ttl_ms: 10_000 }
    }

    /// A request that takes this long is too slow, whatever its result; in microseconds.
    #[must_use]
    pub fn late_us(&self) -> u64 {
        let bounds = match self.by {
            Controller::Adaptive(bounds) => bounds,
            Controller::Linear(_) => Bounds::default(),
        };
        u64::from(bounds.p95_ms) * 1_000
    }

    /// The settings within the room's bounds.
    #[must_use]
    pub fn bounded(&self) -> Self {
        let by = match self.by {
            Controller::Linear(linear) => Controller::Linear(linear.bounded()),
            Controller::Adaptive(bounds) => Controller::Adaptive(Bounds {
                p95_ms: bounds.p95_ms.max(1),
                errors_permille: bounds.errors_permille.clamp(1, 1_000),
            }),
        };
        let ttl_ms = self.ttl_ms.clamp(*TTL_MS.start(), *TTL_MS.end());
        Self { by, ttl_ms }
    }
}

impl Linear {
    fn bounded(self) -> Self {
        let until = self.until.max(self.from.saturating_add(1));
        Self {
            least: self.least.min(self.most),
            until,
            ..self
        }
    }

    /// Thousandths of a visitor called per step, at this many thousandths of a request per second.
    #[must_use]
    pub fn calls_milli(&self, requests_milli: u64) -> u64 {
        let (from, until) = (u64::from(self.from) * 1_000, u64::from(self.until) * 1_000);
        let above = requests_milli.clamp(from, until.max(from)) - from;
        let fall = u64::from(self.most.saturating_sub(self.least)) * 1_000;
        u64::from(self.most) * 1_000 - fall.saturating_mul(above) / until.saturating_sub(from).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_a_step_at_rest_one_at_a_hundred_requests_and_falling_throughout() {
        let linear = Linear::default();
        assert_eq!((linear.calls_milli(0), linear.calls_milli(100_000)), (50_000, 1_000));
        assert_eq!(linear.calls_milli(u64::MAX), 1_000);
        let falls = |at: u64| linear.calls_milli(at) > linear.calls_milli(at + 1_000);
        assert!((0..100_000).step_by(1_000).all(falls));
        assert_eq!(linear.calls_milli(50_000), 25_500);
    }

    #[test]
    fn nothing_that_settings_can_say_makes_it_rise_or_overflow() {
        let extremes = [0, 1, 49, u32::MAX - 1, u32::MAX];
        for (most, least) in extremes.into_iter().flat_map(|a| extremes.map(|b| (a, b))) {
            for (from, until) in extremes.into_iter().flat_map(|a| extremes.map(|b| (a, b))) {
                let linear = Linear {
                    most,
                    least,
                    from,
                    until,
                }
                .bounded();
                let calls = [0, 1_000, 4_000_000, u64::MAX].map(|at| linear.calls_milli(at));
                assert!(calls.is_sorted_by(|a, b| a >= b), "{linear:?} {calls:?}");
                assert!(calls[3] >= u64::from(linear.least) * 1_000, "{linear:?}");
            }
        }
    }
}
