//! Dates as text for machines and operators: RFC 3339 in UTC. The calendar of a room, with its time zone, is in `calendar`.

use ropeline_ids::Wall;

/// `wall` as RFC 3339 in UTC with milliseconds. A time after the year 9999 is written as its number of milliseconds.
#[must_use]
pub fn rfc3339(wall: Wall) -> String {
    let millis = i64::try_from(wall.0).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(millis).map_or_else(|_| wall.0.to_string(), |time| format!("{time:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_has_milliseconds_and_one_that_no_calendar_has_is_a_number() {
        assert_eq!(rfc3339(Wall(0)), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(Wall(1_790_000_000_250)), "2026-09-21T14:13:20.250Z");
        assert_eq!(rfc3339(Wall(u64::MAX)), u64::MAX.to_string());
    }
}
