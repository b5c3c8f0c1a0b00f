//! Figures of an upstream: those that a gate reports, those from an outside source, and their combination.

use crate::codec::codec;
use crate::load::times::Times;
use ropeline_ids::RoomName;

/// One gate's observations of its upstream since its last report. The load counts all requests; all other figures are of the
/// room's sessions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// How long that is.
    pub span_ms: u32,
    /// Requests that were sent in that time, whosever they are.
    pub requests: u32,
    /// Requests of the room's sessions that were over in that time, failed ones among them.
    pub ended: u32,
    /// Those that failed: no answer, or one of 500 and above.
    pub errors: u32,
    /// Requests of the room's sessions that had been sent and had no answer yet as the report was made.
    pub in_flight: u32,
    /// Sessions of the room with a request that has been under way for too long as the report is made.
    pub hanging: u32,
    /// Sessions of the room of which a request was answered in that time.
    pub answered: u32,
    pub circuit: Circuit,
    /// How long the others took to the head of their answer, or have been under way for where that is too long already.
    pub times: Times,
}

/// Whether a gate sends requests to its upstream; the worse, the greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Circuit {
    /// It does.
    #[default]
    Closed,
    /// None can be reached or none answers, and that is due to be tried again.
    Trial,
    /// No server is to be asked.
    Open,
}

/// A report and the room that it is for.
pub type Reported = (RoomName, Report);

/// Figures from an outside source, such as the shop's own monitoring; they replace measured ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outside {
    pub requests_per_second: u32,
    /// `None`: not known; then the measured one counts.
    pub p95_ms: Option<u32>,
    /// Share of requests that failed, in thousandths; `None`: not known, as above.
    pub errors_permille: Option<u16>,
    /// How long the figures hold, in milliseconds of the room's clock.
    pub ttl_ms: u32,
}

codec! {
    struct Report { span_ms, requests, ended, errors, in_flight, hanging, answered, circuit, times };
    enum Circuit { 0 => Closed, 1 => Trial, 2 => Open };
    struct Outside { requests_per_second, p95_ms, errors_permille, ttl_ms };
}

/// Visitors taken to have been answered before any was.
const BEFORE: u64 = 4;

/// In thousandths.
const MANY_HANG: u64 = 100;

/// Shortest and longest time for which outside figures hold.
pub const OUTSIDE_TTL_MS: std::ops::RangeInclusive<u32> = 1_000..=3_600_000;

/// Most requests a second that figures can say.
pub const MAX_REQUESTS: u32 = 10_000_000;

/// The room's figures of its upstreams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Measured {
    /// Thousandths of a request a second, over all gates.
    pub requests_milli: u64,
    /// The same, or its value one report earlier if that was higher.
    pub load_milli: u64,
    /// `None` while too few were answered to tell.
    pub p95_us: Option<u64>,
    /// The same.
    pub median_us: Option<u64>,
    /// The duration of a request, from the number under way and the number that end: it shows a slow shop before requests
    /// have ended.
    pub queue_us: Option<u64>,
    pub errors_permille: u16,
    pub in_flight: u32,
    /// Visitors whose requests hang, and visitors who were answered meanwhile.
    pub hanging: u32,
    pub answered: u32,
    /// Requests of several visitors hang, and none has ended for a while.
    pub silent: bool,
    /// The state that at least half of the gates with an opinion report.
    pub circuit: Circuit,
    /// The number of requests comes from an outside source.
    pub given: bool,
}

impl Report {
    /// Whether it says more than that there is a gate.
    #[must_use]
    pub fn tells(&self) -> bool {
        self.requests > 0 || self.ended > 0 || self.in_flight > 0 || self.circuit != Circuit::Closed
    }

    /// Adds a later report.
    pub fn absorb(&mut self, later: &Self) {
        self.span_ms = self.span_ms.saturating_add(later.span_ms);
        self.requests = self.requests.saturating_add(later.requests);
        self.ended = self.ended.saturating_add(later.ended);
        self.errors = self.errors.saturating_add(later.errors);
        self.answered = self.answered.saturating_add(later.answered);
        self.times.add(&later.times);
        (self.in_flight, self.hanging) = (later.in_flight, later.hanging);
        self.circuit = later.circuit;
    }

    /// Thousandths of a request a second.
    pub(super) fn requests_milli(&self) -> u64 {
        u64::from(self.requests) * 1_000_000 / u64::from(self.span_ms.max(1))
    }
}

impl Measured {
    /// Visitors whose requests hang, in thousandths of all who hang or were answered.
    pub(super) fn hanging_permille(&self) -> u64 {
        self.hanging_of(0)
    }

    /// The same with a few assumed answers, so that one or two visitors whose requests hang have little weight.
    pub(super) fn likely_permille(&self) -> u64 {
        self.hanging_of(BEFORE)
    }

    /// So many hang that the shop counts as slow, whatever the other figures are.
    pub(super) fn many_hang(&self) -> bool {
        self.likely_permille() >= MANY_HANG
    }

    fn hanging_of(&self, more: u64) -> u64 {
        let hanging = u64::from(self.hanging);
        let all = hanging + u64::from(self.answered) + more;
        (hanging * 1_000).checked_div(all).unwrap_or(0)
    }
}

impl Outside {
    /// Whether every figure is one that there can be.
    #[must_use]
    pub fn fits(&self) -> bool {
        OUTSIDE_TTL_MS.contains(&self.ttl_ms)
            && self.errors_permille.is_none_or(|errors| errors <= 1_000)
            && self.requests_per_second <= MAX_REQUESTS
    }

    /// The outside figures in place of measured ones; measured figures count where there are none.
    pub(super) fn over(&self, seen: Measured) -> Measured {
        Measured {
            requests_milli: u64::from(self.requests_per_second) * 1_000,
            p95_us: self.p95_ms.map(|ms| u64::from(ms) * 1_000).or(seen.p95_us),
            errors_permille: self.errors_permille.unwrap_or(seen.errors_permille),
            load_milli: u64::from(self.requests_per_second) * 1_000,
            // A source that gives the duration of requests knows the requests that take long by design.
            hanging: if self.p95_ms.is_some() { 0 } else { seen.hanging },
            given: true,
            ..seen
        }
    }
}
