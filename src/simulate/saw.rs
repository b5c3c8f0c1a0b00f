//! What a gate before the shop sees of it on virtual time: the report that a room which follows its shop goes by.

use crate::room::Report;

/// Requests since the last report, counted as a gate's meter counts them. Nobody has more than a few under way here, and
/// nobody sends a body slowly. A gate looks at some 2,000 requests a second at most, and asks for witnesses; here all are counted.
#[derive(Clone, Debug, Default)]
pub struct Saw {
    report: Report,
    since_us: u64,
}

impl Saw {
    /// A request goes to the shop.
    pub fn sent(&mut self) {
        self.report.requests = self.report.requests.saturating_add(1);
    }

    /// One is over. How long a failed one took says nothing.
    pub fn over(&mut self, took_us: u64, answered: bool) {
        self.report.ended = self.report.ended.saturating_add(1);
        if answered {
            self.report.times.note(took_us);
        } else {
            self.report.errors = self.report.errors.saturating_add(1);
        }
    }

    /// What was seen since the last time, with so many under way now. A shop that is down fails what it is asked, so it goes
    /// on being asked: the circuit stays closed.
    pub fn take(&mut self, in_flight: usize, now_us: u64) -> Report {
        let span_ms = now_us.saturating_sub(std::mem::replace(&mut self.since_us, now_us)) / 1_000;
        Report {
            span_ms: u32::try_from(span_ms).unwrap_or(u32::MAX),
            in_flight: u32::try_from(in_flight).unwrap_or(u32::MAX),
            ..std::mem::take(&mut self.report)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_what_happened_since_the_last_and_no_time_of_what_failed() {
        let mut saw = Saw::default();
        (0..3).for_each(|_| saw.sent());
        saw.over(200_000, true);
        saw.over(10_000_000, false);
        let report = saw.take(1, 2_000_000);
        let counts = (report.requests, report.ended, report.errors, report.in_flight);
        assert_eq!((counts, report.span_ms), ((3, 2, 1, 1), 2_000));
        assert_eq!(report.times.total(), 1);
        assert!(report.times.p95_us().is_some_and(|us| us < 300_000));
        let span_ms = 500;
        assert_eq!(
            saw.take(0, 2_500_000),
            Report {
                span_ms,
                ..Report::default()
            }
        );
    }
}
