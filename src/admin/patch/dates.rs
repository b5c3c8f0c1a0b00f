//! Dates of a room that an operator sets while it runs. All four together override the configured ones.

use serde_json::{Map, Value};

use crate::calendar::{KEYS, Moment, Plan};
use crate::room::{Schedule, Wall};

/// The schedule of the room.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    pub configured: Option<&'a Schedule>,
    pub own: Option<&'a Schedule>,
}

/// The dates that a patch asks for, over those in force: an absent key stays, null is the configured date, `"none"`
/// is no date, `"now"` is this moment. `None`: as configured.
///
/// # Errors
/// The mistake, and the correction.
pub fn apply(patch: &Map<String, Value>, known: Known<'_>, now: Wall) -> Result<Option<Schedule>, String> {
    if !KEYS.iter().any(|key| patch.contains_key(*key)) {
        return Ok(known.own.cloned());
    }
    let configured = known.configured.map(dates).unwrap_or_default();
    let mut wanted = known.own.or(known.configured).map(dates).unwrap_or_default();
    for (at, key) in KEYS.iter().enumerate() {
        match patch.get(*key) {
            None => {}
            Some(Value::Null) => wanted[at].clone_from(&configured[at]),
            Some(value) => wanted[at] = date(key, value, now)?,
        }
    }
    if wanted == configured {
        return Ok(None);
    }
    let Some(plan) = Plan::new(wanted) else {
        return Err("a room that goes by dates keeps one of them; opens_at \"now\" opens it".to_owned());
    };
    plan.check(now)
        .map_err(|odd| format!("{}: {}; right: {}", odd.key, odd.wrong, odd.right))?;
    let schedule = plan.schedule(now);
    if schedule.is_over(now) {
        return Err("closes_at: the sale would be over already; right: a later date, or mode \"closed\"".to_owned());
    }
    schedule
        .bounded()
        .map(Some)
        .ok_or_else(|| "the dates are too long".to_owned())
}

/// Whether a schedule has this date.
pub fn has(schedule: Option<&Schedule>, key: &str) -> bool {
    let at = KEYS.iter().position(|known| *known == key);
    schedule
        .zip(at)
        .is_some_and(|(schedule, at)| dates(schedule)[at].is_some())
}

fn dates(schedule: &Schedule) -> [Option<Moment>; 4] {
    Plan::parse(&schedule.rule).map(Plan::into_dates).unwrap_or_default()
}

fn date(key: &str, value: &Value, now: Wall) -> Result<Option<Moment>, String> {
    let text = value.as_str().unwrap_or_default();
    match text {
        "none" => Ok(None),
        "now" => Ok(Some(Moment::at(now))),
        _ => Moment::parse(text).map(Some).map_err(|unread| {
            let (wrong, right) = unread.in_words(text);
            format!("{key}: {wrong}; right: {right}, \"now\", \"none\", or null for the configured one")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Wall {
        Moment::parse(text).unwrap().once().unwrap()
    }

    fn now() -> Wall {
        at("2027-02-01T12:00:00Z")
    }

    fn schedule(rule: &str) -> Schedule {
        Plan::parse(rule).unwrap().schedule(now())
    }

    fn patched(patch: &str, configured: &str, own: Option<&str>) -> Result<Option<String>, String> {
        let patch: Value = serde_json::from_str(patch).unwrap();
        let configured = (!configured.is_empty()).then(|| schedule(configured));
        let own = own.map(schedule);
        let known = Known {
            configured: configured.as_ref(),
            own: own.as_ref(),
        };
        let taken = apply(patch.as_object().unwrap(), known, now())?;
        Ok(taken.map(|schedule| schedule.rule))
    }

    const CONFIGURED: &str = "prequeue_from = 2027-02-01T11:00:00Z; opens_at = 2027-02-01T13:00:00Z";

    #[test]
    fn what_is_absent_stays_and_null_is_the_configured_date() {
        let patched = |patch, own| patched(patch, CONFIGURED, own).unwrap();
        let later = "prequeue_from = 2027-02-01T11:00:00Z; opens_at = 2027-02-01T14:00:00Z";
        let moved = r#"{"opens_at": "2027-02-01T14:00:00Z"}"#;
        assert_eq!(patched(moved, None).as_deref(), Some(later));
        assert_eq!(patched(r#"{"mode": "hold"}"#, Some(later)).as_deref(), Some(later));
        assert_eq!(patched(r#"{"opens_at": null}"#, Some(later)), None);
        let closes = format!("{later}; closes_at = 2027-02-01T20:00:00Z");
        let added = r#"{"closes_at": "2027-02-01T20:00:00Z"}"#;
        assert_eq!(patched(added, Some(later)), Some(closes));
        let now = "opens_at = 2027-02-01T12:00:00Z";
        assert_eq!(
            patched(r#"{"opens_at": "now", "prequeue_from": "none"}"#, None).as_deref(),
            Some(now)
        );
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_reason() {
        for (patch, configured, why) in [
            (r#"{"opens_at": "soon"}"#, "", "opens_at: \"soon\" is no date"),
            (r#"{"opens_at": 7}"#, "", "is no date"),
            (
                r#"{"opens_at": "daily 13:00 Asia/Soul"}"#,
                "",
                "did you mean \"Asia/Seoul\"?",
            ),
            (
                r#"{"opens_at": "2027-02-01T10:00:00Z"}"#,
                CONFIGURED,
                "prequeue_from: the prequeue would begin after",
            ),
            (
                r#"{"closes_at": "2027-02-01T11:30:00Z"}"#,
                "opens_at = 2027-02-01T11:00:00Z",
                "would be over already",
            ),
            (
                r#"{"opens_at": "none", "prequeue_from": "none"}"#,
                CONFIGURED,
                "keeps one of them",
            ),
            (
                r#"{"opens_at": "now"}"#,
                "opens_at = daily 13:00 UTC; closes_at = daily 14:00 UTC",
                "some of the room's dates recur",
            ),
        ] {
            let told = patched(patch, configured, None).unwrap_err();
            assert!(told.contains(why), "{patch}: {told}");
        }
    }
}
