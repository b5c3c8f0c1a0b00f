//! How far off forecasts were, and by how much intervals are widened for it (adaptive conformal inference: Gibbs and Candès 2021,
//! "Adaptive conformal inference under distribution shift").
//!
//! For waits of about half a minute, a minute, two, and so on, the forecast of one place is noted now and then: each minute, or six
//! times within a longer wait, since the outcomes of one wait are much alike. When calls pass that place, or the interval has ended
//! without, its error is known. Misses widen the intervals of such waits. Hits narrow them, the more the nearer the wait was to the
//! likely one: an interval that is far too wide is soon narrow. Both are equal where five of six hold, if errors are normal.

use crate::lane::Lane;
use ropeline_ids::{Clock, Place};

/// Spans of waits: up to a minute, two, four and so on.
const SPANS: usize = 8;
const FIRST_MS: u64 = 60_000;

/// A span of which the longest wait has more minutes is noted once in so many parts of that.
const PARTS: u64 = 8;

/// Forecasts whose outcome is not known yet.
const OPEN: usize = 256;

/// Factors of a width.
const NARROWEST: u64 = WHOLE / 3;
const WIDEST: u64 = WHOLE * 4;

/// One, for factors.
pub(crate) const WHOLE: u64 = 1 << 10;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Errors {
    pub spans: Spans,
    open: Vec<Open>,
    noted: Clock,
    /// How often forecasts have been noted.
    rounds: u64,
}

/// What was learnt of waits of each span.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Spans([Span; SPANS]);

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

impl Open {
    /// How far inside the interval a wait was: [`WHOLE`] for the likely one, nothing at an end of the interval; `None` outside.
    fn within(&self, waited: u64) -> Option<u64> {
        let end = if waited < self.likely { self.low } else { self.high };
        let rest = (self.low..=self.high).contains(&waited).then(|| end.abs_diff(waited))?;
        let inside = (rest * WHOLE).checked_div(end.abs_diff(self.likely));
        Some(inside.unwrap_or(WHOLE).min(WHOLE))
    }
}

fn span(wait_ms: u64) -> usize {
    let doubled = (wait_ms / FIRST_MS).checked_ilog2().map_or(0, |log| log + 1);
    usize::try_from(doubled).unwrap_or(SPANS).min(SPANS - 1)
}

impl Spans {
    /// The factors for a wait. Of spans that nothing is known of, those of the next shorter one hold; but half as narrow, since more
    /// may change in a longer wait.
    pub fn factors(&self, wait_ms: u64) -> Factors {
        let known = |at: &usize| self.0[*at].known >= 5;
        let own = self::span(wait_ms);
        let at = (0..=own).rev().find(known);
        let span = at.map_or(Span::default(), |at| self.0[at]);
        let is_other = at.is_some_and(|at| at < own);
        Factors {
            // Half of it, since an error is known only after the wait, and may be over then.
            longer: u64::midpoint(WHOLE, span.longer),
            width: if is_other {
                span.width.max(u64::midpoint(WHOLE, span.width))
            } else {
                span.width
            },
        }
    }
}

impl Errors {
    /// Something was changed: what was forecast before says nothing.
    pub fn forget_open(&mut self) {
        self.open.clear();
    }

    /// An operator has changed something: that narrow intervals held before says nothing either.
    pub fn doubt(&mut self) {
        let Spans(spans) = &mut self.spans;
        for span in spans {
            span.width = span.width.max(WHOLE);
        }
    }

    pub fn settle(&mut self, lanes: &[Lane], now: Clock) {
        let Spans(spans) = &mut self.spans;
        self.open.retain(|open| {
            let waited = now.since(open.at);
            let passed = lanes.get(open.lane).is_none_or(|lane| lane.head() > open.place);
            if !passed && waited <= open.high.max(open.likely * 2) {
                return true;
            }
            let span = &mut spans[open.span];
            span.known += 1;
            span.width = match open.within(waited) {
                Some(within) if passed => span.width - span.width * within / WHOLE / 12,
                _ => span.width + span.width / 4,
            };
            span.width = span.width.clamp(NARROWEST, WIDEST);
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
            let every = ((1 << span) / PARTS).max(1);
            if !self.rounds.is_multiple_of(every) {
                continue;
            }
            let wait = (FIRST_MS * 3 / 4) << span;
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
            self.rounds = self.rounds.wrapping_add(1);
        }
        due
    }
}

/// The place with about so many present before it; `None` behind the last but one.
pub(super) fn place(lane: &Lane, ahead: u64) -> Option<Place> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::record::Call;
    use crate::settings::Settings;
    use ropeline_ids::{Epoch, Wall};

    const NOW: Clock = Clock(1_000_000);

    impl Errors {
        pub fn bytes(&self) -> usize {
            self.open.capacity() * size_of::<Open>()
        }
    }

    fn waiting(count: u32) -> Lane {
        let mut lane = Lane::new(Epoch(1), 0);
        lane.issue(count, &Settings::default(), NOW);
        lane
    }

    fn call(lane: &mut Lane, count: u64) {
        let call = Call {
            deadline: NOW,
            at: Wall(0),
            count: 1,
            back: false,
        };
        for _ in 0..count {
            lane.call(call, &Settings::default(), NOW).expect("someone waits");
        }
    }

    /// Notes a forecast for the first in line of 10 who wait, and settles it after `passed_ms`, with the visitor called or not.
    fn happens(errors: &mut Errors, likely: u64, passed_ms: u64, is_called: bool) {
        let mut lane = waiting(10);
        errors.open.push(Open {
            span: span(likely),
            lane: 0,
            place: lane.presence.lowest().unwrap(),
            at: NOW,
            likely,
            low: likely / 2,
            high: likely * 3 / 2,
        });
        if is_called {
            call(&mut lane, 1);
        }
        errors.settle(&[lane], NOW.plus(passed_ms));
    }

    fn with_hits(count: usize, likely: u64) -> Errors {
        let mut errors = Errors::default();
        (0..count).for_each(|_| happens(&mut errors, likely, likely, true));
        errors
    }

    #[test]
    fn spans_are_of_waits_twice_as_long_each() {
        let spans = [0, 59_999, 60_000, 119_999, 120_000, 240_000, 3_840_000, u64::MAX].map(span);
        assert_eq!(spans, [0, 0, 1, 1, 2, 3, 7, 7]);
    }

    #[test]
    fn without_errors_a_wait_is_told_as_worked_out() {
        let factors = Spans::default().factors(100_000);
        assert_eq!([factors.longer, factors.width], [WHOLE; 2]);
    }

    #[test]
    fn misses_widen_intervals_up_to_four_times() {
        let mut errors = with_hits(5, 100_000);
        let mut before = errors.spans.factors(100_000).width;
        for _ in 0..30 {
            happens(&mut errors, 100_000, 10_000, true);
            let width = errors.spans.factors(100_000).width;
            assert!(width > before || width == WHOLE * 4, "{width}");
            before = width;
        }
        assert_eq!(before, WHOLE * 4);
    }

    #[test]
    fn a_hit_is_within_by_how_far_it_is_from_the_end_of_the_interval() {
        let open = |low, likely, high| Open {
            span: 0,
            lane: 0,
            place: Place(0),
            at: NOW,
            likely,
            low,
            high,
        };
        let wide = open(50, 100, 300);
        let within = [49, 50, 75, 100, 200, 300, 301].map(|waited| wide.within(waited));
        let half = Some(WHOLE / 2);
        assert_eq!(within, [None, Some(0), half, Some(WHOLE), half, Some(0), None]);
        // By a rate, the likely wait may be an end of the interval, or beside it.
        assert_eq!(open(100, 100, 100).within(100), Some(WHOLE));
        assert_eq!(open(110, 100, 120).within(111), Some(WHOLE * 9 / 20));
        assert_eq!(open(110, 90, 300).within(299), Some(WHOLE / 210));
        assert_eq!(open(50, 120, 110).within(60), Some(WHOLE / 7));
    }

    #[test]
    fn hits_narrow_intervals_to_a_third_at_most() {
        let mut errors = with_hits(100, 100_000);
        assert_eq!(errors.spans.factors(100_000).width, NARROWEST);
        (0..20).for_each(|_| happens(&mut errors, 100_000, 10_000, true));
        (0..5).for_each(|_| happens(&mut errors, 100_000, 100_000, true));
        let width = errors.spans.factors(100_000).width;
        assert!((WHOLE * 2..WHOLE * 3).contains(&width), "{width}");
        // At the very end of the interval.
        (0..100).for_each(|_| happens(&mut errors, 100_000, 150_000, true));
        assert_eq!(errors.spans.factors(100_000).width, width);
        (0..100).for_each(|_| happens(&mut errors, 100_000, 100_000, true));
        assert_eq!(errors.spans.factors(100_000).width, NARROWEST);
    }

    #[test]
    fn four_hits_make_up_for_a_miss() {
        let mut errors = with_hits(5, 100_000);
        (0..5).for_each(|_| happens(&mut errors, 100_000, 10_000, true));
        let before = errors.spans.factors(100_000).width;
        for _ in 0..20 {
            happens(&mut errors, 100_000, 10_000, true);
            (0..4).for_each(|_| happens(&mut errors, 100_000, 118_000, true));
        }
        let after = errors.spans.factors(100_000).width;
        assert!(after.abs_diff(before) < before / 3, "{before} {after}");
    }

    #[test]
    fn waits_that_were_longer_make_waits_longer_by_half_of_it() {
        let mut errors = Errors::default();
        (0..100).for_each(|_| happens(&mut errors, 100_000, 140_000, true));
        let longer = errors.spans.factors(100_000).longer;
        assert!(longer.abs_diff(WHOLE * 12 / 10) < WHOLE / 50, "{longer}");
        // However far off, it counts twice as long at most.
        (0..200).for_each(|_| happens(&mut errors, 100_000, 100_000_000, false));
        let longer = errors.spans.factors(100_000).longer;
        assert!(longer.abs_diff(WHOLE * 15 / 10) < WHOLE / 50, "{longer}");
    }

    #[test]
    fn a_forecast_is_open_until_it_is_passed_or_its_time_is() {
        let mut errors = Errors::default();
        happens(&mut errors, 100_000, 200_000, false);
        assert_eq!(errors.open.len(), 1);
        happens(&mut errors, 100_000, 200_001, false);
        assert_eq!(errors.open.len(), 0);
        let Span { width, known, .. } = errors.spans.0[span(100_000)];
        assert_eq!(known, 2);
        assert!(width > WHOLE);
    }

    #[test]
    fn forecasts_of_a_lane_that_is_gone_are_settled() {
        let mut errors = Errors::default();
        happens(&mut errors, 100_000, 1, false);
        errors.settle(&[], NOW.plus(2));
        assert_eq!(errors.open.len(), 0);
    }

    #[test]
    fn a_change_forgets_what_is_open_and_keeps_what_is_known() {
        let mut errors = with_hits(5, 100_000);
        happens(&mut errors, 100_000, 1, false);
        let before = errors.spans;
        errors.forget_open();
        errors.settle(&[waiting(10)], NOW.plus(1_000_000_000));
        assert_eq!((errors.open.len(), errors.spans), (0, before));
    }

    #[test]
    fn a_span_that_is_unknown_takes_the_next_shorter_known_one() {
        let mut errors = Errors::default();
        (0..4).for_each(|_| happens(&mut errors, 70_000, 10_000, true));
        assert_eq!(errors.spans.factors(70_000).width, WHOLE);
        happens(&mut errors, 70_000, 10_000, true);
        let known = errors.spans.factors(70_000);
        assert!(known.width > WHOLE);
        assert_eq!(errors.spans.factors(10_000_000), known);
        // Of shorter waits nothing is known.
        assert_eq!(errors.spans.factors(30_000).width, WHOLE);
        (0..15).for_each(|_| happens(&mut errors, 1_000_000, 1_000_000, true));
        let (own, longer) = (
            errors.spans.factors(1_000_000).width,
            errors.spans.factors(10_000_000).width,
        );
        assert!(own < WHOLE * 3 / 4, "{own}");
        assert_eq!(longer, u64::midpoint(WHOLE, own));
    }

    #[test]
    fn forecasts_are_noted_once_a_minute() {
        let mut errors = Errors::default();
        assert!(errors.is_due(NOW));
        assert!(!errors.is_due(NOW.plus(59_999)));
        assert!(errors.is_due(NOW.plus(60_000)));
        assert!(!errors.is_due(NOW.plus(60_001)));
    }

    #[test]
    fn after_a_change_no_interval_is_narrower_than_worked_out() {
        let mut errors = with_hits(100, 100_000);
        assert_eq!(errors.spans.factors(100_000).width, NARROWEST);
        errors.doubt();
        assert_eq!(errors.spans.factors(100_000).width, WHOLE);
        (0..30).for_each(|_| happens(&mut errors, 100_000, 10_000, true));
        let wide = errors.spans.factors(100_000).width;
        errors.doubt();
        assert!(wide > WHOLE && errors.spans.factors(100_000).width == wide);
    }

    #[test]
    fn long_waits_are_noted_six_times_within_each() {
        let lane = waiting(100_000);
        let mut errors = Errors::default();
        for minute in 0..32 {
            assert!(errors.is_due(NOW.plus(minute * 60_000)));
            let told = |ahead: u64| Some((ahead * 1_000, (ahead * 900, ahead * 1_100)));
            errors.note((0, &lane), |ms| Some(ms / 1_000), told, NOW);
        }
        let noted = |span: usize| errors.open.iter().filter(|open| open.span == span).count();
        // A forecast of about 24, 48 and 96 minutes every 4, 8 and 16.
        assert_eq!([5, 6, 7].map(noted), [8, 4, 2]);
    }

    #[test]
    fn places_are_noted_that_are_passed_after_one_wait_each() {
        let lane = waiting(1_000);
        let mut errors = Errors::default();
        // One is passed each second.
        let passing = |ms: u64| Some(ms / 1_000);
        let told = |ahead: u64| Some((ahead * 1_000, (ahead * 900, ahead * 1_100)));
        errors.note((0, &lane), passing, told, NOW);
        let first = lane.presence.lowest().unwrap().0;
        let noted: Vec<_> = errors
            .open
            .iter()
            .map(|open| (open.place.0 - first, open.span))
            .collect();
        // The line is too short for more.
        assert_eq!(noted, [(45, 0), (90, 1), (180, 2), (360, 3), (720, 4)]);
    }

    #[test]
    fn where_nothing_is_told_nothing_is_noted_and_what_is_open_is_bounded() {
        let lane = waiting(1_000);
        let mut errors = Errors::default();
        let note = |errors: &mut Errors, passed: Option<u64>, told: Option<u64>| {
            let told = |_| told.map(|likely| (likely, (likely, likely)));
            errors.note((0, &lane), |_| passed, told, NOW);
        };
        note(&mut errors, None, Some(1));
        note(&mut errors, Some(5), None);
        note(&mut errors, Some(999), Some(1));
        note(&mut errors, Some(5), Some(0));
        assert_eq!(errors.open.len(), 0);
        (0..100).for_each(|_| note(&mut errors, Some(5), Some(1)));
        assert_eq!(errors.open.len(), OPEN);
    }

    #[test]
    fn a_place_has_so_many_present_before_it_whoever_left() {
        let mut lane = waiting(1_000);
        call(&mut lane, 100);
        let first = lane.presence.lowest().unwrap().0;
        lane.presence.void(&(Place(first + 200)..Place(first + 300)));
        for ahead in [0, 1, 199, 200, 500, 798] {
            let place = place(&lane, ahead).unwrap();
            assert_eq!(lane.presence.ahead(place), ahead);
        }
        assert_eq!([799, 800, 5_000].map(|ahead| place(&lane, ahead)), [None; 3]);
        assert_eq!(place(&Lane::new(Epoch(1), 0), 0), None);
    }
}
