//! Load reports of a simulated upstream, as a gate would measure them on virtual time.

use std::collections::BTreeSet;

use super::shop::{Done, Shop};
use crate::room::Report;

/// Requests since the last report, counted as a gate's meter counts them. No visitor has more than a few under way here, and
/// none sends a body slowly. A gate looks at some 2,000 requests a second at most, and asks for witnesses; here all are counted.
#[derive(Clone, Debug)]
pub struct Observed {
    report: Report,
    since_us: u64,
    /// A request that takes so long is late.
    late_us: u64,
    /// Those under way that were counted as late already: by whom, and since when they are.
    late: BTreeSet<(u64, u64)>,
}

impl Observed {
    #[must_use]
    pub fn of(late_us: u64) -> Self {
        Self {
            report: Report::default(),
            since_us: 0,
            late_us,
            late: BTreeSet::new(),
        }
    }

    /// A request goes to the shop.
    pub fn sent(&mut self) {
        self.report.requests = self.report.requests.saturating_add(1);
    }

    /// A request is over. The duration of a failed one does not count, unless it was late before.
    pub fn over(&mut self, done: &Done) {
        self.report.ended = self.report.ended.saturating_add(1);
        let counted = self.late.remove(&(done.id, done.from_us));
        if !done.answered {
            self.report.errors = self.report.errors.saturating_add(1);
            return;
        }
        self.report.answered = self.report.answered.saturating_add(1);
        if !counted {
            self.report.times.note(done.at_us - done.from_us);
        }
    }

    /// The requests seen since the last time, with those under way now. A shop that is down fails each request, so it goes
    /// on being asked: the circuit stays closed.
    pub fn take(&mut self, shop: &Shop, now_us: u64) -> Report {
        let span_ms = now_us.saturating_sub(std::mem::replace(&mut self.since_us, now_us)) / 1_000;
        let mut hanging = 0_u32;
        if let Some(until_us) = now_us.checked_sub(self.late_us) {
            for (id, from_us) in shop.since(until_us) {
                hanging = hanging.saturating_add(1);
                if self.late.insert((id, from_us)) {
                    self.report.times.note(now_us - from_us);
                }
            }
        }
        Report {
            span_ms: u32::try_from(span_ms).unwrap_or(u32::MAX),
            in_flight: u32::try_from(shop.in_flight()).unwrap_or(u32::MAX),
            hanging,
            ..std::mem::take(&mut self.report)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::shop::Cliff;

    fn done(took_us: u64, answered: bool) -> Done {
        Done {
            id: 1,
            from_us: 1_000,
            at_us: 1_000 + took_us,
            answered,
        }
    }

    #[test]
    fn a_report_has_what_happened_since_the_last_and_no_time_of_what_failed() {
        let (mut saw, mut shop) = (Observed::of(1_500_000), Shop::new(Cliff::default()));
        (0..3).for_each(|_| saw.sent());
        saw.over(&done(200_000, true));
        saw.over(&done(10_000_000, false));
        shop.advance(1_900_000, &mut Vec::new());
        assert!(shop.arrive(2, 100_000));
        let report = saw.take(&shop, 2_000_000);
        let counts = (report.requests, report.ended, report.errors, report.in_flight);
        assert_eq!((counts, report.span_ms), ((3, 2, 1, 1), 2_000));
        assert_eq!((report.times.total(), report.answered, report.hanging), (1, 1, 0));
        assert!(report.times.p95_us().is_some_and(|us| us < 300_000));
        let (span_ms, in_flight) = (500, 1);
        assert_eq!(
            saw.take(&shop, 2_500_000),
            Report {
                span_ms,
                in_flight,
                ..Report::default()
            }
        );
    }

    #[test]
    fn what_is_late_is_counted_while_it_is_under_way_and_its_end_does_not_count_it_again() {
        let (mut saw, mut shop, mut over) = (Observed::of(1_500_000), Shop::new(Cliff::default()), Vec::new());
        assert!(shop.arrive(1, 5_000_000));
        for (at_us, hanging, times) in [
            (1_000_000, 0, 0),
            (2_000_000, 1, 1),
            (4_000_000, 1, 0),
            (6_000_000, 0, 0),
        ] {
            shop.advance(at_us, &mut over);
            over.drain(..).for_each(|done| saw.over(&done));
            let report = saw.take(&shop, at_us);
            assert_eq!((report.hanging, report.times.total()), (hanging, times), "{at_us}");
        }
    }
}
