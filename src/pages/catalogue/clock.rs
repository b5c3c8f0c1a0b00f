//! Moments as a language writes them, from CLDR: a time of day, or a weekday with its date and the time.
//!
//! The gate knows no visitor's zone. A page without a script has UTC, by the name that the language has for it; the script
//! writes the visitor's own time.

use std::fmt;

use icu_calendar::{Gregorian, Iso};
use icu_datetime::fieldsets::zone::SpecificShort;
use icu_datetime::fieldsets::{Combo, MDE, MDET, T};
use icu_datetime::input::{DateTime, TimeZoneInfo, UtcOffset, ZonedDateTime};
use icu_datetime::{DateTimeFormatterLoadError, FixedCalendarDateTimeFormatter as Formatter};
use icu_locale_core::Locale;

use ropeline_ids::Wall;

/// How one language writes moments.
///
/// PERF: the formatters of one calendar, and short names of zones: others bring megabytes of data into the binary.
pub(in crate::pages) struct Clock {
    time: Formatter<Gregorian, Combo<T, SpecificShort>>,
    day: Formatter<Gregorian, Combo<MDET, SpecificShort>>,
}

impl Clock {
    pub fn of(locale: &Locale) -> Result<Self, DateTimeFormatterLoadError> {
        Ok(Self {
            time: Formatter::try_new(locale.into(), T::hm().with_zone(SpecificShort))?,
            day: Formatter::try_new(locale.into(), MDE::long().with_time_hm().with_zone(SpecificShort))?,
        })
    }

    /// `1:04 PM UTC`, or `Wednesday, October 28 at 1:04 PM UTC`; none for a time that no calendar has.
    pub fn shown(&self, at: Wall, with_date: bool) -> Option<String> {
        let ms = i64::try_from(at.0).ok().filter(|ms| *ms < LAST_MS)?;
        let moment = ZonedDateTime::<Iso, _>::from_epoch_milliseconds_and_utc_offset(ms, UtcOffset::zero());
        let zone = TimeZoneInfo::utc().at_date_time(DateTime {
            date: moment.date,
            time: moment.time,
        });
        let moment = ZonedDateTime {
            date: moment.date.to_calendar(Gregorian),
            time: moment.time,
            zone,
        };
        Some(if with_date {
            self.day.format(&moment).to_string()
        } else {
            self.time.format(&moment).to_string()
        })
    }
}

/// The beginning of the year 10000.
const LAST_MS: i64 = 253_402_300_800_000;

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 28 October 2026, 13:04 UTC.
    const AT: Wall = Wall(1_793_192_643_000);

    fn shown(tag: &str, with_date: bool) -> String {
        let text = Clock::of(&tag.parse().unwrap()).unwrap().shown(AT, with_date);
        // CLDR's blanks of other widths.
        text.unwrap().replace(['\u{202f}', '\u{a0}'], " ")
    }

    #[test]
    fn a_time_has_the_form_of_the_language_and_names_its_zone() {
        for (tag, time) in [
            ("en", "1:04 PM UTC"),
            ("ko", "오후 1:04 UTC"),
            ("de", "13:04 UTC"),
            ("fr", "13:04 TU"),
            ("da", "13.04 UTC"),
            ("zh-Hans", "UTC 13:04"),
            ("hi", "1:04 pm UTC"),
            ("ar", "1:04 م التوقيت العالمي"),
            ("tlh", "13:04 UTC"),
        ] {
            assert_eq!(shown(tag, false), time, "{tag}");
        }
    }

    #[test]
    fn a_date_has_its_weekday_and_no_year() {
        for (tag, date) in [
            ("en", "Wednesday, October 28 at 1:04 PM UTC"),
            ("ko", "10월 28일 수요일 오후 1:04 UTC"),
            ("ja", "10月28日水曜日 13:04 UTC"),
            ("de", "Mittwoch, 28. Oktober um 13:04 UTC"),
            ("pt-BR", "quarta-feira, 28 de outubro às 13:04 UTC"),
            ("ru", "среда, 28 октября в 13:04 UTC"),
            ("he", "יום רביעי, 28 באוקטובר בשעה 13:04 UTC"),
        ] {
            assert_eq!(shown(tag, true), date, "{tag}");
        }
    }

    #[test]
    fn a_time_that_no_calendar_has_is_none() {
        let clock = Clock::of(&"en".parse().unwrap()).unwrap();
        assert_eq!(clock.shown(Wall(u64::MAX), false), None);
        assert!(clock.shown(Wall(0), true).is_some());
    }
}
