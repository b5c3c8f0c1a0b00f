//! The order of one lane, computed from the gates' reports and not from the room's state.
//!
//! The rule is the room's: of two present visitors of a lane, the lower number is called first. A visitor is *surely* present
//! for `firm_within` after joining and for half of `grace` after a mark, unless called or gone. The place that an account
//! gives up counts as gone. A call that leaves a lower number waiting that is surely present is an inversion. A visitor who
//! is only possibly present is left out, so that no inversion is invented; the room's own rules of generations and horizons
//! are not needed for it.

use std::collections::{BTreeMap, VecDeque};

use super::numbers::Numbers;
use crate::room::{Clock, Epoch, Number, Settings, Wall};

/// See the module.
#[derive(Debug, Default)]
pub(in crate::report) struct Order {
    epochs: BTreeMap<Epoch, Span>,
    /// One past the highest number called, at the clocks when it rose: the horizon follows it.
    heads: VecDeque<(Clock, Number)>,
    /// No number below can still be in line unless it is present.
    passed: Option<Number>,
    /// The settings that presence was reckoned by.
    grace_ms: u64,
    firm_ms: u64,
}

#[derive(Debug, Default)]
struct Span {
    numbers: Numbers,
    /// Runs of numbers with the time at which they were given, oldest first.
    runs: Vec<Run>,
    next: u32,
}

#[derive(Debug)]
struct Run {
    first: u32,
    at: Wall,
}

/// The places that newcomers got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::report) enum Given {
    New,
    /// All of it was given before: a pending id that came again.
    Again,
    /// Some was given before and some was not.
    Twice,
}

impl Order {
    /// The settings in force. Where presence ends sooner by them, visitors must be seen again.
    pub fn settle(&mut self, settings: &Settings) {
        let sooner = settings.grace_ms < self.grace_ms || settings.firm_within_ms < self.firm_ms;
        (self.grace_ms, self.firm_ms) = (settings.grace_ms, settings.firm_within_ms);
        if sooner {
            self.forget();
        }
    }

    /// No visitor is surely present any more, as in a log that does not go on from the whole of the one before.
    pub fn forget(&mut self) {
        self.epochs.values_mut().for_each(|span| span.numbers.forget());
    }

    /// The lane was drawn: the facts of a number are from now on kept at the one by whose place it is called. No visitor has
    /// been passed by that order yet.
    pub fn draw(&mut self, seat: impl Fn(Number) -> Number) {
        let epochs: Vec<Epoch> = self.epochs.keys().copied().collect();
        let known: Vec<_> = epochs
            .iter()
            .filter_map(|epoch| Some((*epoch, self.epochs.get_mut(epoch)?.numbers.take_all())))
            .collect();
        for (epoch, known) in known {
            let at = |n| seat(Number { epoch, n });
            for (n, until) in known.present {
                self.numbers_of(at(n)).put_present(at(n).n, until);
            }
            for n in known.taken {
                self.numbers_of(at(n)).put_taken(at(n).n);
            }
            for n in known.called {
                self.numbers_of(at(n)).put_called(at(n).n);
            }
        }
        self.heads.clear();
        self.passed = None;
    }

    fn numbers_of(&mut self, number: Number) -> &mut Numbers {
        &mut self.epochs.entry(number.epoch).or_default().numbers
    }

    /// The line is gone: its numbers are void, and will not be given again.
    pub fn close(&mut self) {
        for span in self.epochs.values_mut() {
            *span = Span {
                next: span.next,
                ..Span::default()
            };
        }
        self.heads.clear();
        self.passed = None;
    }

    pub fn join(&mut self, first: Number, count: u32, clock: Clock, time: Wall) -> Given {
        let span = self.epochs.entry(first.epoch).or_default();
        let end = first.n.saturating_add(count);
        if first.n < span.next {
            return if end <= span.next { Given::Again } else { Given::Twice };
        }
        span.next = end;
        let fits = |run: &Run| time.since(run.at) < SAME_MS && time >= run.at;
        if !span.runs.last().is_some_and(fits) {
            span.runs.push(Run {
                first: first.n,
                at: time,
            });
        }
        span.numbers.see(first.n..end, clock.plus(self.firm_ms));
        Given::New
    }

    /// When the number was given, to a tenth of a second; `None` for one from before the available history.
    pub fn joined(&self, number: Number) -> Option<Wall> {
        let span = self.span_of(number)?;
        let after = span.runs.partition_point(|run| run.first <= number.n);
        after.checked_sub(1).map(|i| span.runs[i].at)
    }

    /// A visitor checked in; `in_line` is the room's answer for numbers given before the available history. False for a
    /// visitor who came back too late.
    pub fn mark(&mut self, number: Number, clock: Clock, in_line: impl FnOnce() -> bool) -> bool {
        let until = clock.plus(self.grace_ms / 2);
        let passed = self.passed.is_some_and(|passed| number < passed);
        let known = self.span_of(number).is_some();
        let span = self.epochs.entry(number.epoch).or_default();
        let numbers = &mut span.numbers;
        if numbers.is_taken(number.n) {
            return true;
        }
        let counts = if known {
            !passed || numbers.is_present(number.n, clock)
        } else {
            in_line()
        };
        if counts {
            numbers.see(number.n..number.n.saturating_add(1), until);
        }
        counts
    }

    /// The number is out of line for good.
    pub fn take(&mut self, number: Number) {
        self.epochs.entry(number.epoch).or_default().numbers.take(number.n);
    }

    /// The number missed its turn and may come back.
    pub fn untake(&mut self, number: Number) {
        self.epochs.entry(number.epoch).or_default().numbers.untake(number.n);
    }

    #[must_use]
    pub fn is_taken(&self, number: Number) -> bool {
        let span = self.epochs.get(&number.epoch);
        span.is_some_and(|span| span.numbers.is_taken(number.n))
    }

    #[must_use]
    pub fn was_called(&self, number: Number) -> bool {
        let span = self.epochs.get(&number.epoch);
        span.is_some_and(|span| span.numbers.was_called(number.n))
    }

    /// The number is called. The lowest number that was passed by, if one was.
    pub fn call(&mut self, number: Number, late_window_ms: u64, clock: Clock) -> Option<Number> {
        self.epochs.entry(number.epoch).or_default().numbers.call(number.n);
        let passed_by = self.passed_by(number, clock);
        self.follow(number, late_window_ms, clock);
        passed_by
    }

    /// The number is called past everybody: that is no word on how far the calls have come.
    pub fn call_past(&mut self, number: Number) {
        self.numbers_of(number).call(number.n);
    }

    /// The lowest number before this one that is surely present.
    pub fn passed_by(&mut self, number: Number, clock: Clock) -> Option<Number> {
        self.epochs.range_mut(..=number.epoch).find_map(|(epoch, span)| {
            let end = if *epoch == number.epoch { number.n } else { u32::MAX };
            let n = span.numbers.lowest(end, clock)?;
            Some(Number { epoch: *epoch, n })
        })
    }

    /// The horizon can be no higher than the numbers called a `late_window` ago.
    fn follow(&mut self, called: Number, late_window_ms: u64, clock: Clock) {
        let step = late_window_ms / STEPS;
        let head = Number {
            n: called.n.saturating_add(1),
            ..called
        };
        match self.heads.back_mut() {
            Some((_, last)) if *last >= head => {}
            // Held against the step's beginning, it is passed too early here rather than too late.
            Some((since, last)) if clock.since(*since) < step => *last = head,
            _ => self.heads.push_back((clock, head)),
        }
        while let Some((since, head)) = self.heads.front().copied() {
            if clock.since(since) < late_window_ms {
                break;
            }
            self.passed = self.passed.max(Some(head));
            self.heads.pop_front();
        }
    }

    fn span_of(&self, number: Number) -> Option<&Span> {
        let span = self.epochs.get(&number.epoch)?;
        let first = span.runs.first()?.first;
        (first..span.next).contains(&number.n).then_some(span)
    }
}

/// Numbers given within this many milliseconds are kept as given at once.
const SAME_MS: u64 = 100;

/// Steps in which the head is remembered.
const STEPS: u64 = 128;

#[cfg(test)]
mod tests {
    use super::*;

    fn number(epoch: u64, n: u32) -> Number {
        Number { epoch: Epoch(epoch), n }
    }

    /// Firm for 1 s, a mark counts for 2 s; `count` joined at clock 0.
    fn order(count: u32) -> Order {
        let mut order = Order::default();
        order.settle(&Settings {
            grace_ms: 4_000,
            firm_within_ms: 1_000,
            ..Settings::default()
        });
        assert_eq!(order.join(number(1, 0), count, Clock(0), Wall(50_000)), Given::New);
        order
    }

    fn call(order: &mut Order, n: u32, ms: u64) -> Option<Number> {
        order.call(number(1, n), 10_000, Clock(ms))
    }

    #[test]
    fn calls_in_order_pass_nobody_by() {
        let mut order = order(3);
        assert_eq!([0, 1, 2].map(|n| call(&mut order, n, 500)), [None; 3]);
    }

    #[test]
    fn a_call_out_of_order_passes_by_whoever_is_surely_present() {
        let mut order = order(3);
        assert_eq!(call(&mut order, 2, 500), Some(number(1, 0)));
        assert_eq!(call(&mut order, 1, 500), Some(number(1, 0)));
        assert_eq!(call(&mut order, 0, 500), None);
    }

    #[test]
    fn after_a_draw_the_places_that_it_gave_are_what_is_called_by() {
        let mut order = order(4);
        order.mark(number(1, 0), Clock(900), || false);
        order.take(number(1, 3));
        order.draw(|n| number(1, 3 - n.n));
        assert!(order.is_taken(number(1, 0)) && !order.is_taken(number(1, 3)));
        assert_eq!(
            call(&mut order, 1, 950),
            None,
            "whoever stood there before is out of line"
        );
        assert_eq!(call(&mut order, 3, 1_100), None, "the others joined a second ago");
        order.mark(number(1, 2), Clock(1_200), || true);
        assert_eq!(call(&mut order, 3, 1_300), Some(number(1, 2)));
    }

    #[test]
    fn who_is_perhaps_gone_is_not_passed_by() {
        let mut order = order(3);
        order.mark(number(1, 0), Clock(900), || false);
        assert_eq!(call(&mut order, 2, 1_000), Some(number(1, 0)), "1 joined a second ago");
        assert_eq!(call(&mut order, 1, 2_900), None, "the mark is two seconds old");
    }

    #[test]
    fn older_epochs_come_first_and_who_is_forgotten_wants_a_mark() {
        let mut order = order(2);
        order.join(number(2, 0), 1, Clock(100), Wall(50_100));
        assert_eq!(order.call(number(2, 0), 10_000, Clock(200)), Some(number(1, 0)));
        order.forget();
        assert_eq!(call(&mut order, 1, 300), None);
    }

    #[test]
    fn who_comes_back_after_the_horizon_is_late_and_passed_by_nobody() {
        let mut order = order(3);
        call(&mut order, 2, 5_000);
        assert!(order.mark(number(1, 0), Clock(6_000), || false), "in time");
        order.join(number(1, 3), 2, Clock(20_000), Wall(70_000));
        assert_eq!(call(&mut order, 3, 20_000), None);
        assert!(!order.mark(number(1, 1), Clock(20_000), || false));
        assert_eq!(call(&mut order, 4, 20_000), None);
    }

    #[test]
    fn numbers_given_again_are_told_from_numbers_given_twice() {
        let mut order = order(3);
        let given = [(3, 2), (4, 1), (4, 3)].map(|(n, count)| order.join(number(1, n), count, Clock(0), Wall(60_000)));
        assert_eq!(given, [Given::New, Given::Again, Given::Twice]);
        assert_eq!(order.joined(number(1, 4)), Some(Wall(60_000)));
        assert_eq!((order.joined(number(1, 5)), order.joined(number(2, 0))), (None, None));
    }

    #[test]
    fn shorter_presence_by_new_settings_is_not_held_against_the_room() {
        let mut order = order(3);
        order.settle(&Settings {
            grace_ms: 1_000,
            firm_within_ms: 1_000,
            ..Settings::default()
        });
        assert_eq!(call(&mut order, 2, 500), None);
    }
}
