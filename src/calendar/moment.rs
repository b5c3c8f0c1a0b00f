//! One date: an instant, or a time of day that comes again.
//!
//! A local time that a zone's clocks jump over counts as if they had not jumped: 02:30 on the night when 02:00 becomes
//! 03:00 is 03:30. One that comes twice counts the first time. (RFC 5545, section 3.3.5, has the same rule.)

use std::fmt;

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, ToSpan, Zoned};

use ropeline_ids::Wall;

/// When something is to happen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Moment {
    Once(Wall, String),
    Again(Recurrence),
}

/// A time of day on some days of the week.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recurrence {
    /// Monday first; all of them are daily.
    days: [bool; 7],
    time: Time,
    zone: TimeZone,
    name: String,
}

/// Why a text is no date.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unread {
    Form,
    /// There is no zone of that name.
    Zone(String),
    /// The zone's clocks jump over it on that day.
    Skipped {
        zone: String,
    },
    /// Before 1970 or so far off that no calendar goes there.
    Range,
}

impl Moment {
    /// Reads `2026-12-01T13:00:00+09:00`, `2026-12-01 13:00 Asia/Seoul`, `daily 13:00 Asia/Seoul` or
    /// `weekly mon,thu 13:00 Asia/Seoul`.
    ///
    /// # Errors
    /// The error is the reason why it cannot be read.
    pub fn parse(text: &str) -> Result<Self, Unread> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["daily", time, zone] => Recurrence::new([true; 7], time, zone).map(Self::Again),
            ["weekly", ref days @ .., time, zone] => {
                let days = days_of(days).ok_or(Unread::Form)?;
                Recurrence::new(days, time, zone).map(Self::Again)
            }
            [date, time, zone] => local(date, time, zone),
            [instant] => absolute(instant),
            _ => Err(Unread::Form),
        }
    }

    /// An instant that is known already, as RFC 3339.
    #[must_use]
    pub fn at(at: Wall) -> Self {
        Self::Once(at, written(at))
    }

    /// The instant, if there is only one.
    #[must_use]
    pub fn once(&self) -> Option<Wall> {
        match self {
            Self::Once(at, _) => Some(*at),
            Self::Again(_) => None,
        }
    }

    /// The instants from `from` to `to`.
    #[must_use]
    pub fn between(&self, from: Wall, to: Wall) -> Vec<Wall> {
        let within = |at: &Wall| (from..=to).contains(at);
        match self {
            Self::Once(at, _) => Some(*at).filter(within).into_iter().collect(),
            Self::Again(again) => again.between(from, to).into_iter().filter(within).collect(),
        }
    }
}

impl Unread {
    /// The mistake in a text, and a right one.
    #[must_use]
    pub fn in_words(&self, text: &str) -> (String, String) {
        let forms = FORMS.to_owned();
        match self {
            Self::Form => (format!("\"{text}\" is no date"), forms),
            Self::Range => (format!("\"{text}\" is too far off"), forms),
            Self::Skipped { zone } => (
                format!("there is no such time in {zone}: the clocks jump over it that night"),
                "an earlier or a later time".to_owned(),
            ),
            Self::Zone(zone) => {
                let close = closest_zone(zone).map(|close| format!("did you mean \"{close}\"?"));
                let any = || "a zone of the tz database, such as \"Asia/Seoul\" or \"UTC\"".to_owned();
                (format!("there is no time zone \"{zone}\""), close.unwrap_or_else(any))
            }
        }
    }
}

/// In the form in which it is read; words in order and single spaces.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Once(_, text) => f.write_str(text),
            Self::Again(again) => again.fmt(f),
        }
    }
}

impl Recurrence {
    fn new(days: [bool; 7], time: &str, zone: &str) -> Result<Self, Unread> {
        let (zone, name) = zone_of(zone)?;
        Ok(Self {
            days,
            time: time_of(time)?,
            zone,
            name,
        })
    }

    fn between(&self, from: Wall, to: Wall) -> Vec<Wall> {
        let day = |at: Wall| Some(self.zone.to_datetime(timestamp(at)?).date());
        let (Some(first), Some(last)) = (day(from), day(to)) else {
            return Vec::new();
        };
        // A jump of the clocks can move a time past midnight, never by a day.
        let first = first.yesterday().unwrap_or(first);
        let days = first.series(1.day()).take_while(|day| *day <= last);
        days.filter(|day| self.days[index_of(day.weekday())])
            .filter_map(|day| self.on(day))
            .collect()
    }

    fn on(&self, day: Date) -> Option<Wall> {
        let at = self.zone.to_ambiguous_timestamp(day.to_datetime(self.time));
        wall(at.compatible().ok()?)
    }
}

impl fmt::Display for Recurrence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.days == [true; 7] {
            f.write_str("daily ")?;
        } else {
            let named = DAYS.iter().zip(self.days).filter(|(_, on)| *on);
            let days: Vec<&str> = named.map(|(name, _)| *name).collect();
            write!(f, "weekly {} ", days.join(","))?;
        }
        write!(f, "{} {}", self.time.strftime("%H:%M:%S"), self.name)
    }
}

/// The zone with the name most similar to one that does not exist, if one is similar at all.
fn closest_zone(like: &str) -> Option<String> {
    let like = like.to_lowercase();
    let tail = |name: &str| name.rsplit('/').next().unwrap_or(name).to_lowercase();
    let names: Vec<String> = TimeZoneDatabase::bundled()
        .available()
        .map(|name| name.to_string())
        .collect();
    let whole = |name: &&String| tail(name) == tail(&like) || name.to_lowercase() == like;
    if let Some(name) = names.iter().find(whole) {
        return Some(name.clone());
    }
    let score = |name: &String| strsim::jaro_winkler(&like, &name.to_lowercase());
    let best = names.into_iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(&best) >= LIKE).then_some(best)
}

fn absolute(text: &str) -> Result<Moment, Unread> {
    // With a zone in brackets (RFC 9557) the two have to agree.
    let instant = if text.contains('[') {
        text.parse::<Zoned>().map(|zoned| zoned.timestamp())
    } else {
        text.parse::<Timestamp>()
    };
    let instant = instant.map_err(|_| Unread::Form)?;
    let at = wall(instant).ok_or(Unread::Range)?;
    Ok(Moment::Once(at, text.to_owned()))
}

fn local(date: &str, time: &str, zone: &str) -> Result<Moment, Unread> {
    let day: Date = date.parse().map_err(|_| Unread::Form)?;
    let (zone, name) = zone_of(zone)?;
    let local: DateTime = day.to_datetime(time_of(time)?);
    let ambiguous = zone.to_ambiguous_timestamp(local);
    // One date that is named is meant: here the rule for jumps would only hide a mistake.
    if matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. }) {
        return Err(Unread::Skipped { zone: name });
    }
    let at = ambiguous.compatible().ok().and_then(wall).ok_or(Unread::Range)?;
    Ok(Moment::Once(at, format!("{date} {time} {name}")))
}

/// `13:00` or `13:00:30`.
fn time_of(text: &str) -> Result<Time, Unread> {
    let plain = text.len() >= 5 && text.bytes().all(|b| b.is_ascii_digit() || b == b':');
    if plain {
        text.parse().map_err(|_| Unread::Form)
    } else {
        Err(Unread::Form)
    }
}

fn zone_of(name: &str) -> Result<(TimeZone, String), Unread> {
    let zone = TimeZoneDatabase::bundled()
        .get(name)
        .map_err(|_| Unread::Zone(name.to_owned()))?;
    let known = zone.iana_name().unwrap_or(name).to_owned();
    Ok((zone, known))
}

/// Days with commas or spaces between them.
fn days_of(words: &[&str]) -> Option<[bool; 7]> {
    let mut days = [false; 7];
    for word in words
        .iter()
        .flat_map(|word| word.split(','))
        .filter(|word| !word.is_empty())
    {
        let day = DAYS.iter().position(|day| word.to_lowercase().starts_with(day))?;
        days[day] = true;
    }
    days.contains(&true).then_some(days)
}

fn index_of(day: Weekday) -> usize {
    usize::try_from(day.to_monday_zero_offset()).unwrap_or(0)
}

fn timestamp(at: Wall) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::try_from(at.0).ok()?).ok()
}

/// An instant in words.
pub(super) fn written(at: Wall) -> String {
    timestamp(at).map_or_else(|| at.0.to_string(), |at| at.to_string())
}

fn wall(at: Timestamp) -> Option<Wall> {
    u64::try_from(at.as_millisecond()).ok().map(Wall)
}

/// The forms of a date.
pub const FORMS: &str = "\"2026-12-01T13:00:00+09:00\", \"2026-12-01 13:00 Asia/Seoul\", \"daily 13:00 Asia/Seoul\" or \"weekly \
                         mon,thu 13:00 Asia/Seoul\"";

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Least likeness (Jaro-Winkler, 0 to 1) of a zone that is worth suggesting.
const LIKE: f64 = 0.8;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Wall {
        wall(text.parse().unwrap()).unwrap()
    }

    fn year(text: &str, from: &str, to: &str) -> Vec<Wall> {
        Moment::parse(text).unwrap().between(at(from), at(to))
    }

    #[test]
    fn an_instant_is_the_same_in_every_form() {
        let noon = at("2026-12-01T04:00:00Z");
        for text in [
            "2026-12-01T13:00:00+09:00",
            "2026-12-01T04:00:00Z",
            "2026-12-01T13:00:00+09:00[Asia/Seoul]",
            "2026-12-01 13:00 Asia/Seoul",
            "2026-12-01 13:00 asia/seoul",
        ] {
            assert_eq!(
                Moment::parse(text).map(|moment| moment.once()),
                Ok(Some(noon)),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_date_is_refused_with_the_reason() {
        for text in [
            "",
            "2026-12-01",
            "2026-12-01T13:00:00",
            "13:00 Asia/Seoul",
            "daily 25:00 Asia/Seoul",
            "daily 1pm Asia/Seoul",
            "weekly 13:00 Asia/Seoul",
            "weekly monday,x 13:00 Asia/Seoul",
            "2026-12-01T13:00:00+02:00[Asia/Seoul]",
        ] {
            assert_eq!(Moment::parse(text), Err(Unread::Form), "{text}");
        }
        assert_eq!(Moment::parse("1960-01-01T00:00:00Z"), Err(Unread::Range));
        let unknown = Err(Unread::Zone("Asia/Soul".into()));
        assert_eq!(Moment::parse("daily 13:00 Asia/Soul"), unknown);
        assert_eq!(closest_zone("Asia/Soul").as_deref(), Some("Asia/Seoul"));
        assert_eq!(closest_zone("seoul").as_deref(), Some("Asia/Seoul"));
        assert_eq!(closest_zone("xyzzy"), None);
        let zone = "Europe/Berlin".to_owned();
        let skipped = Moment::parse("2027-03-28 02:30 Europe/Berlin");
        assert_eq!(skipped, Err(Unread::Skipped { zone }));
    }

    #[test]
    fn a_recurrence_is_written_as_it_is_read() {
        for (text, written) in [
            ("daily 13:00 asia/seoul", "daily 13:00:00 Asia/Seoul"),
            ("weekly Thursday mon 09:30 UTC", "weekly mon,thu 09:30:00 UTC"),
            ("weekly mon,tue,wed,thu,fri,sat,sun 00:00 UTC", "daily 00:00:00 UTC"),
        ] {
            let moment = Moment::parse(text).unwrap();
            assert_eq!(moment.to_string(), written);
            assert_eq!(Moment::parse(written), Ok(moment));
        }
    }

    #[test]
    fn a_daily_time_keeps_its_place_on_the_clock_over_changes_of_the_clock() {
        let days = year(
            "daily 13:00 Europe/Berlin",
            "2027-03-27T00:00:00Z",
            "2027-03-29T23:00:00Z",
        );
        let expected = ["2027-03-27T12:00:00Z", "2027-03-28T11:00:00Z", "2027-03-29T11:00:00Z"];
        assert_eq!(days, expected.map(at));
    }

    #[test]
    fn a_time_that_is_jumped_over_is_as_much_later_and_one_that_comes_twice_counts_first() {
        let spring = year(
            "daily 02:30 Europe/Berlin",
            "2027-03-28T00:00:00Z",
            "2027-03-28T12:00:00Z",
        );
        assert_eq!(spring, [at("2027-03-28T01:30:00Z")], "03:30 by the clocks there");
        let autumn = year(
            "daily 02:30 Europe/Berlin",
            "2027-10-30T22:00:00Z",
            "2027-10-31T12:00:00Z",
        );
        assert_eq!(autumn, [at("2027-10-31T00:30:00Z")]);
    }

    #[test]
    fn a_weekly_time_comes_on_its_days() {
        let week = year(
            "weekly mon,thu 09:00 Asia/Seoul",
            "2027-01-03T15:00:00Z",
            "2027-01-10T15:00:00Z",
        );
        assert_eq!(week, ["2027-01-04T00:00:00Z", "2027-01-07T00:00:00Z"].map(at));
    }
}
