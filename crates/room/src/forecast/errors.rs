//! How far off forecasts were, and by how much intervals are widened for it (adaptive conformal inference: Gibbs and Candès 2021,
//! "Adaptive conformal inference under distribution shift").
//!
//! Once a minute, for waits of about half a minute, a minute, two, and so on, the forecast of one place is noted. When calls pass that
//! place, or the interval has ended without, its error is known. Misses widen the intervals of such waits, hits narrow them.

use crate::lane::Lane;
use ropeline_ids::{Clock, Place};

/// Spans of waits: up to a minute, two, four and so on.
const SPANS: usize = 8;
const FIRST_MS: u64 = 60_000;

/// Forecasts whose outcome is not known yet.
const OPEN: usize = 256;

/// One, for factors.
pub(crate) const WHOLE: u64 = 1 << 10;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Errors {
    spans: [Span; SPANS],
    open: Vec<Open>,
    noted: Clock,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Span {
    /// Intervals are as many times as wide.
    width: u64,
    /// Waits were as many times as long.
    longer: u64,
    known: u64,
}

/// Factors of a wait's length and of the width of its interval, in parts of [`WHOLE`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Factors {
    pub longer: u64,
    pub width: u64,
}

impl Default for Span {
    fn default() -> Self {
        Self {
            width: WHOLE,
            longer: WHOLE,
            known: 0,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Open {
    span: usize,
    lane: usize,
    place: Place,
    at: Clock,
    /// As it was worked out.
    likely: u64,
    low: u64,
    high: u64,
}

fn span(wait_ms: u64) -> usize {
    let doubled = (wait_ms / FIRST_MS).checked_ilog2().map_or(0, |log| log + 1);
    usize::try_from(doubled).unwrap_or(SPANS).min(SPANS - 1)
}

impl Errors {
    /// The factors for a wait. Of spans that nothing is known of, those of the next shorter one hold.
    pub fn factors(&self, wait_ms: u64) -> Factors {
        let known = |at: &usize| self.spans[*at].known >= 5;
        let at = (0..=span(wait_ms)).rev().find(known);
        let span = at.map_or(Span::default(), |at| self.spans[at]);
        Factors {
            // Half of it: what was off an hour ago may be right by now.
            longer: u64::midpoint(WHOLE, span.longer),
            width: span.width,
        }
    }

    /// Something was changed: what was forecast before says nothing.
    pub fn forget_open(&mut self) {
        self.open.clear();
    }

    pub fn settle(&mut self, lanes: &[Lane], now: Clock) {
        let spans = &mut self.spans;
        self.open.retain(|open| {
            let waited = now.since(open.at);
            let passed = lanes.get(open.lane).is_none_or(|lane| lane.head() > open.place);
            if !passed && waited <= open.high.max(open.likely * 2) {
                return true;
            }
            let span = &mut spans[open.span];
            span.known += 1;
            let hit = passed && (open.low..=open.high).contains(&waited);
            span.width = if hit {
                span.width - span.width / 24
            } else {
                span.width + span.width / 6
            };
            span.width = span.width.clamp(WHOLE, WHOLE * 4);
            let ratio = (waited * WHOLE / open.likely.max(1)).clamp(WHOLE / 2, WHOLE * 2);
            span.longer = (span.longer * 15 + ratio) / 16;
            false
        });
    }

    /// Notes forecasts of one lane; `passing` says how many will have been passed after a time, `told` the likely
    /// wait and the interval with so many ahead.
    pub fn note(
        &mut self,
        (at, lane): (usize, &Lane),
        passing: impl Fn(u64) -> Option<u64>,
        told: impl Fn(u64) -> Option<(u64, (u64, u64))>,
        now: Clock,
    ) {
        for span in 0..SPANS {
            let wait = FIRST_MS * 3 / 4 << span;
            let Some(ahead) = passing(wait) else { return };
            let Some(place) = place(lane, ahead) else { return };
            let Some((likely, (low, high))) = told(lane.presence.ahead(place)) else {
                return;
            };
            if self.open.len() < OPEN && likely > 0 {
                self.open.push(Open {
                    span: self::span(likely),
                    lane: at,
                    place,
                    at: now,
                    likely,
                    low,
                    high,
                });
            }
        }
    }

    /// Whether it is time to note some more.
    pub fn is_due(&mut self, now: Clock) -> bool {
        let due = now.since(self.noted) >= 60_000;
        if due {
            self.noted = now;
        }
        due
    }
}

/// The place with about so many present before it.
fn place(lane: &Lane, ahead: u64) -> Option<Place> {
    let (mut low, mut high) = (lane.presence.lowest()?, lane.epochs.next());
    if ahead + 1 >= lane.presence.waiting() {
        return None;
    }
    while low.0 + 1 < high.0 {
        let middle = Place(u64::midpoint(low.0, high.0));
        if lane.presence.ahead(middle) > ahead {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(low)
}
