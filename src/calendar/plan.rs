//! A room's dates together: the windows that follow from them, and impossible combinations.

use std::fmt;

use super::moment::{Moment, written};
use crate::room::{Schedule, Wall, Window};

/// The keys of a room that make its schedule, in the order in which a sale goes through them.
pub const KEYS: [&str; 4] = ["prequeue_from", "opens_at", "closes_at", "results_at"];

/// The dates of a room's schedule. At least one of them is set.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// By the order of [`KEYS`].
    dates: [Option<Moment>; 4],
}

/// Why dates do not make a schedule: the key at fault, the mistake, and the correction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Odd {
    pub key: &'static str,
    pub wrong: String,
    pub right: &'static str,
}

impl Plan {
    /// `None` without any date.
    #[must_use]
    pub fn new(dates: [Option<Moment>; 4]) -> Option<Self> {
        dates.iter().any(Option::is_some).then_some(Self { dates })
    }

    /// Reads a rule, as [`Plan`] is written.
    #[must_use]
    pub fn parse(rule: &str) -> Option<Self> {
        let mut dates = [const { None }; 4];
        for part in rule.split("; ") {
            let (key, date) = part.split_once(" = ")?;
            let at = KEYS.iter().position(|known| *known == key)?;
            dates[at] = Some(Moment::parse(date).ok()?);
        }
        Self::new(dates)
    }

    /// By the order of [`KEYS`].
    #[must_use]
    pub fn into_dates(self) -> [Option<Moment>; 4] {
        self.dates
    }

    /// The resulting schedule, with its first windows that are not over; the gates add to them in time.
    #[must_use]
    pub fn schedule(&self, now: Wall) -> Schedule {
        Schedule {
            rule: self.to_string(),
            windows: self.windows(now, AT_ONCE),
        }
    }

    /// Whether there is always another window.
    #[must_use]
    pub fn recurs(&self) -> bool {
        self.dates.iter().flatten().any(|moment| moment.once().is_none())
    }

    /// The impossible dates, as of `now`.
    ///
    /// # Errors
    /// With the first that is found.
    pub fn check(&self, now: Wall) -> Result<(), Odd> {
        self.fits()?;
        if self.recurs() {
            return self.follows(now);
        }
        let [_, opens, closes, results] = self.once();
        let window = self.window(opens.unwrap_or(Wall(0)));
        if window.begins > window.opens {
            return odd(
                0,
                "the prequeue would begin after the opening",
                "a prequeue_from that is not after opens_at",
            );
        }
        if closes.is_some_and(|closes| closes <= window.opens) {
            return odd(2, "the room would close before it opens", "a closes_at after opens_at");
        }
        let end = closes.or(opens);
        if results.zip(end).is_some_and(|(results, end)| results < end) {
            return odd(
                3,
                "the results would be out before the sale is over",
                "a results_at that is not before closes_at",
            );
        }
        Ok(())
    }

    /// The windows that are not over at `now`, at most `count` of them.
    #[must_use]
    pub fn windows(&self, now: Wall, count: usize) -> Vec<Window> {
        if !self.recurs() {
            let [_, opens, ..] = self.once();
            return vec![self.window(opens.unwrap_or(Wall(0)))];
        }
        let to = now.plus(FAR_MS * u64::try_from(count).unwrap_or(1));
        let all = self.all(Wall(now.0.saturating_sub(2 * FAR_MS)), to);
        let over = |(at, window): (usize, &Window)| {
            let end = window.closes.or(all.get(at + 1).map(|next| next.begins));
            end.is_some_and(|end| end <= now)
        };
        let current = all.iter().enumerate().position(|each| !over(each)).unwrap_or(all.len());
        all[current..].iter().take(count).copied().collect()
    }

    /// The windows that open between `from` and `to`.
    fn all(&self, from: Wall, to: Wall) -> Vec<Window> {
        let Some(opens) = &self.dates[1] else { return Vec::new() };
        opens
            .between(from, to)
            .into_iter()
            .map(|opens| self.window(opens))
            .collect()
    }

    /// The window that opens then: each of its dates is the nearest on its own side.
    fn window(&self, opens: Wall) -> Window {
        let [prequeue, _, closes, results] = &self.dates;
        let last = |moment: &Moment| match moment.once() {
            Some(at) => Some(at),
            None => moment.between(Wall(opens.0.saturating_sub(FAR_MS)), opens).pop(),
        };
        let first = |moment: &Moment, from: Wall| match moment.once() {
            Some(at) => Some(at),
            None => moment.between(from, from.plus(FAR_MS)).into_iter().next(),
        };
        let closes = closes.as_ref().and_then(|moment| first(moment, opens.plus(1)));
        Window {
            begins: prequeue.as_ref().and_then(last).unwrap_or(opens),
            opens,
            closes,
            results: results
                .as_ref()
                .and_then(|moment| first(moment, closes.unwrap_or(opens))),
        }
    }

    fn once(&self) -> [Option<Wall>; 4] {
        [0, 1, 2, 3].map(|i| self.dates[i].as_ref().and_then(Moment::once))
    }

    /// Whether the given parts fit together.
    fn fits(&self) -> Result<(), Odd> {
        let is = |key: usize| self.dates[key].is_some();
        if is(0) && !is(1) {
            return odd(
                0,
                "there is no opening that a prequeue could come before",
                "opens_at, or no prequeue_from",
            );
        }
        if is(3) && !is(1) && !is(2) {
            return odd(
                3,
                "there is no sale that could have results",
                "opens_at or closes_at, or no results_at",
            );
        }
        let set = || {
            self.dates
                .iter()
                .enumerate()
                .filter_map(|(key, date)| Some((key, date.as_ref()?)))
        };
        let again = |moment: &Moment| moment.once().is_none();
        let Some((_, first)) = set().next() else { return Ok(()) };
        match set().find(|(_, moment)| again(moment) != again(first)) {
            Some((key, _)) => odd(
                key,
                "some of the room's dates recur and others do not",
                "daily or weekly for all of them, or for none",
            ),
            None if again(first) && !is(1) => odd(
                set().map(|(key, _)| key).next().unwrap_or(1),
                "a sale that recurs has to open",
                "opens_at",
            ),
            None => Ok(()),
        }
    }

    /// Each window of the next year is over before the one after it begins.
    fn follows(&self, now: Wall) -> Result<(), Odd> {
        let all = self.all(now, now.plus(YEAR_MS));
        for (window, next) in all.iter().zip(all.iter().skip(1)) {
            let date = written(next.begins);
            if window.opens >= next.begins {
                let wrong = format!("the prequeue that begins {date} would begin before the sale before it has opened");
                return odd(
                    0,
                    wrong,
                    "a prequeue_from between the end of one sale and the opening of the next",
                );
            }
            if !window.ends_before(next) {
                let wrong = format!("the sale that begins {date} would begin before the one before it has closed");
                return odd(2, wrong, "a closes_at before the next prequeue_from, or opening");
            }
        }
        Ok(())
    }
}

/// A rule: `opens_at = daily 13:00:00 Asia/Seoul; closes_at = …`.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = KEYS
            .iter()
            .zip(&self.dates)
            .filter_map(|(key, date)| Some((key, date.as_ref()?)));
        for (at, (key, date)) in set.enumerate() {
            let between = if at > 0 { "; " } else { "" };
            write!(f, "{between}{key} = {date}")?;
        }
        Ok(())
    }
}

fn odd(key: usize, wrong: impl Into<String>, right: &'static str) -> Result<(), Odd> {
    Err(Odd {
        key: KEYS[key],
        wrong: wrong.into(),
        right,
    })
}

/// Windows that a configuration, or a gate's addition, brings.
pub const AT_ONCE: usize = 4;

/// The longest from one occurrence of a date to the next, and a day for changes of the clock.
const FAR_MS: u64 = 8 * 86_400_000;

const YEAR_MS: u64 = 400 * 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Wall {
        Moment::parse(text).unwrap().once().unwrap()
    }

    fn plan(rule: &str) -> Plan {
        Plan::parse(rule).unwrap()
    }

    fn refused(rule: &str) -> &'static str {
        plan(rule).check(at("2027-01-01T00:00:00Z")).unwrap_err().key
    }

    #[test]
    fn a_rule_is_written_as_it_is_read() {
        let rule = "prequeue_from = daily 12:30:00 Asia/Seoul; opens_at = daily 13:00:00 Asia/Seoul";
        assert_eq!(plan(rule).to_string(), rule);
        let once = "opens_at = 2027-02-01 13:00 Asia/Seoul; results_at = 2027-02-02T00:00:00Z";
        assert_eq!(plan(once).to_string(), once);
        for none in ["", "opens_at", "opened_at = daily 13:00 UTC", "opens_at = soon"] {
            assert_eq!(Plan::parse(none), None, "{none}");
        }
    }

    #[test]
    fn a_sale_that_happens_once_is_one_window_whenever_it_is_asked_for() {
        let plan = plan("prequeue_from = 2027-02-01 12:30 Asia/Seoul; opens_at = 2027-02-01 13:00 Asia/Seoul");
        for now in ["2026-01-01T00:00:00Z", "2028-01-01T00:00:00Z"] {
            let window = plan.windows(at(now), 4)[0];
            assert_eq!(window.begins, at("2027-02-01T03:30:00Z"));
            assert_eq!((window.opens, window.closes), (at("2027-02-01T04:00:00Z"), None));
        }
        assert!(plan.check(at("2026-01-01T00:00:00Z")).is_ok());
    }

    #[test]
    fn a_daily_sale_has_its_window_of_now_and_the_next() {
        let plan = plan(
            "prequeue_from = daily 12:30 UTC; opens_at = daily 13:00 UTC; closes_at = daily 15:00 UTC; results_at = daily 18:00 UTC",
        );
        let windows = plan.windows(at("2027-01-01T14:00:00Z"), 2);
        assert_eq!(windows[0].opens, at("2027-01-01T13:00:00Z"), "still going on");
        assert_eq!(windows[0].results, Some(at("2027-01-01T18:00:00Z")));
        assert_eq!(windows[1].begins, at("2027-01-02T12:30:00Z"));
        let later = plan.windows(at("2027-01-01T15:00:00Z"), 2);
        assert_eq!(later[0], windows[1]);
        assert!(plan.check(at("2027-01-01T00:00:00Z")).is_ok());
    }

    #[test]
    fn a_sale_over_midnight_and_one_over_the_weekend_close_on_another_day() {
        let night = plan("opens_at = daily 22:00 UTC; closes_at = daily 02:00 UTC");
        let window = night.windows(at("2027-01-01T23:00:00Z"), 1)[0];
        assert_eq!(window.closes, Some(at("2027-01-02T02:00:00Z")));
        let weekend = plan(
            "prequeue_from = weekly thu 08:00 UTC; opens_at = weekly fri 08:00 UTC; closes_at = weekly mon 08:00 UTC",
        );
        let window = weekend.windows(at("2027-01-01T00:00:00Z"), 1)[0];
        assert_eq!(window.begins, at("2026-12-31T08:00:00Z"));
        assert_eq!(window.closes, Some(at("2027-01-04T08:00:00Z")));
        assert!(weekend.check(at("2027-01-01T00:00:00Z")).is_ok());
    }

    #[test]
    fn what_cannot_be_is_refused_at_the_key_that_is_at_fault() {
        for (key, rule) in [
            ("prequeue_from", "prequeue_from = 2027-02-01T13:00:00Z"),
            (
                "prequeue_from",
                "prequeue_from = 2027-02-01T13:00:01Z; opens_at = 2027-02-01T13:00:00Z",
            ),
            (
                "closes_at",
                "opens_at = 2027-02-01T13:00:00Z; closes_at = 2027-02-01T13:00:00Z",
            ),
            (
                "results_at",
                "closes_at = 2027-02-01T13:00:00Z; results_at = 2027-02-01T12:00:00Z",
            ),
            ("results_at", "results_at = 2027-02-01T12:00:00Z"),
            (
                "closes_at",
                "opens_at = 2027-02-01T13:00:00Z; closes_at = daily 15:00 UTC",
            ),
            ("closes_at", "closes_at = daily 15:00 UTC"),
            (
                "closes_at",
                "prequeue_from = daily 13:30 UTC; opens_at = daily 13:00 UTC; closes_at = daily 15:00 UTC",
            ),
            (
                "prequeue_from",
                "prequeue_from = weekly mon 12:00 UTC; opens_at = daily 13:00 UTC",
            ),
            (
                "closes_at",
                "opens_at = weekly mon,tue 12:00 UTC; closes_at = weekly wed 12:00 UTC",
            ),
        ] {
            assert_eq!(refused(rule), key, "{rule}");
        }
    }

    #[test]
    fn a_change_of_the_clock_that_makes_sales_overlap_is_found() {
        // For some weeks only New York has summer time: 08:30 there is then before 13:00 in London, so the sale goes on to
        // the next day, over the prequeue.
        let until = |time| {
            format!(
                "prequeue_from = daily 12:00 Europe/London; opens_at = daily 13:00 Europe/London; \
                 closes_at = daily {time} America/New_York"
            )
        };
        assert_eq!(refused(&until("08:30")), "closes_at");
        let apart = &until("09:30");
        assert!(plan(apart).check(at("2027-01-01T00:00:00Z")).is_ok());
    }
}
