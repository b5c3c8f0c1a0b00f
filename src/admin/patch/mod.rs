//! A change of a room's settings as JSON Merge Patch (RFC 7396): absent keys stay, null restores the configured value.
//!
//! Pure: takes the body and the overrides in force, and gives the new overrides or all mistakes.

pub mod dates;
pub mod keys;
pub mod messages;
pub mod stock;

use http::StatusCode;
use serde_json::{Map, Value};

use self::keys::{KEYS, MODES};
use crate::admin::handlers::change::reason;
use crate::admin::http::body;
use crate::admin::http::problem::Problem;
use crate::room::{MAX_MESSAGE, Mode, Overrides, RoomView, Settings, Wall};

/// Highest capacity that can be set, as in the configuration.
pub const MAX_CAPACITY: u32 = 10_000_000;

/// Highest rate that can be set, as in the configuration. Unlike there, 0 is allowed: it stops calls.
pub const MAX_RATE: u32 = 10_000_000;

/// A change as it came.
pub type Patch = Map<String, Value>;

/// The change that a body asks for, and the reason given for it.
///
/// # Errors
/// 400 when `body` is no JSON object, 422 when the reason is none.
pub fn read(body: &[u8]) -> Result<(Patch, Option<String>), Problem> {
    let no_object = |why: String| {
        let detail = format!("the body must be one JSON object: {why}");
        Problem::new(StatusCode::BAD_REQUEST, detail)
    };
    body::check_keys(body).map_err(no_object)?;
    let mut patch: Patch = serde_json::from_slice(body).map_err(|error| no_object(error.to_string()))?;
    let wrong = |mistake| Problem::mistakes(vec![mistake]);
    let reason = match patch.remove("reason") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => reason(Some(text)).map_err(wrong)?,
        Some(other) => return Err(wrong(format!("reason must be a text, not {}", shown(&other)))),
    };
    Ok((patch, reason))
}

/// The overrides after a change, based on those in force in the room. All of it is checked before any is used. An override
/// that equals the configured value, or `message`, the configured one, is none: a later change of the file takes effect.
///
/// # Errors
/// 422 with each mistake when a key or a value is wrong, and 409 when a draw is promised for another opening.
pub fn apply(patch: &Patch, room: &RoomView, message: Option<&str>, now: Wall) -> Result<Overrides, Problem> {
    let known = dates::Known {
        configured: room.configured.schedule.as_ref(),
        own: room.overrides.schedule.as_ref(),
    };
    let stock = stock::stock(patch, room);
    match (patched(patch, &room.overrides, known, now), stock) {
        (Ok(overrides), Ok(stock)) => {
            keeps_promise(&overrides, room, now)?;
            let overrides = Overrides { stock, ..overrides };
            Ok(without_equal(overrides, &room.configured.bounded(), message))
        }
        (Ok(_), Err(mistake)) => Err(Problem::mistakes(vec![mistake])),
        (Err(problem), _) => Err(problem),
    }
}

fn without_equal(overrides: Overrides, configured: &Settings, message: Option<&str>) -> Overrides {
    let is_configured = |text: &String| overrides.messages.is_empty() && text == message.unwrap_or_default();
    Overrides {
        message: overrides.message.filter(|text| !is_configured(text)),
        mode: overrides.mode.filter(|mode| *mode != configured.mode),
        capacity: overrides.capacity.filter(|capacity| *capacity != configured.capacity),
        rate_per_minute: overrides
            .rate_per_minute
            .filter(|rate| *rate != configured.rate_per_minute),
        stock: overrides.stock.filter(|stock| Some(*stock) != configured.stock),
        ..overrides
    }
}

/// A draw binds the opening that it was promised for.
fn keeps_promise(overrides: &Overrides, room: &RoomView, now: Wall) -> Result<(), Problem> {
    if overrides.schedule == room.overrides.schedule {
        return Ok(());
    }
    let draw = room.configured.draw.as_ref();
    let schedule = overrides.schedule.as_ref().or(room.configured.schedule.as_ref());
    let allowed = room.sale.allows((draw, draw), schedule, now);
    allowed.map_err(|why| Problem::new(StatusCode::CONFLICT, why.to_string()))
}

fn patched(patch: &Patch, in_force: &Overrides, known: dates::Known<'_>, now: Wall) -> Result<Overrides, Problem> {
    let mut overrides = in_force.clone();
    let mut mistakes = Vec::new();
    if patch.is_empty() {
        mistakes.push(format!("the object is empty; it may have {}", names()));
    }
    for (short, value) in patch {
        if let Err(mistake) = set(&mut overrides, patch, short, value) {
            mistakes.push(mistake);
        }
    }
    match dates::apply(patch, known, now) {
        Ok(schedule) => overrides.schedule = schedule,
        Err(mistake) => mistakes.push(mistake),
    }
    if mistakes.is_empty() {
        Ok(overrides)
    } else {
        Err(Problem::mistakes(mistakes))
    }
}

fn set(overrides: &mut Overrides, patch: &Patch, name: &str, value: &Value) -> Result<(), String> {
    let Some((key, short)) = KEYS.into_iter().find(|(key, short)| name == *key || name == *short) else {
        return Err(format!(
            "{:?} is no key of a room; there are {}",
            clipped(name),
            names()
        ));
    };
    if name != key && patch.contains_key(key) {
        return Err(format!("{key} is given twice, once as {short}"));
    }
    match key {
        "mode" => overrides.mode = or_configured(value, mode)?,
        "total_active_users" => overrides.capacity = or_configured(value, capacity)?,
        "new_users_per_minute" => overrides.rate_per_minute = or_configured(value, rate)?,
        "message" => {
            overrides.message = or_configured(value, message)?;
            // A message to all is a message to each.
            overrides.messages.clear();
        }
        // The dates are read together, the stock beside the number sold.
        _ => {}
    }
    Ok(())
}

/// `None`, which is the configured value, for null.
fn or_configured<T>(value: &Value, read: impl Fn(&Value) -> Result<T, String>) -> Result<Option<T>, String> {
    if value.is_null() {
        Ok(None)
    } else {
        read(value).map(Some)
    }
}

fn mode(value: &Value) -> Result<Mode, String> {
    let found = value
        .as_str()
        .and_then(|name| MODES.iter().find(|(known, _)| *known == name));
    found.map(|(_, mode)| *mode).ok_or_else(|| {
        format!(
            "mode must be \"auto\", \"hold\", \"closed\", \"off\", or null for the configured one, not {}",
            shown(value)
        )
    })
}

fn capacity(value: &Value) -> Result<u32, String> {
    number(value, MAX_CAPACITY).ok_or_else(|| {
        let wanted = format!("a whole number from 0 to {MAX_CAPACITY}, or null for the configured one");
        format!("total_active_users must be {wanted}, not {}", shown(value))
    })
}

fn rate(value: &Value) -> Result<Option<u32>, String> {
    if value == "none" {
        return Ok(None);
    }
    number(value, MAX_RATE).map(Some).ok_or_else(|| {
        let wanted =
            format!("a whole number from 0 to {MAX_RATE}, \"none\" for no limit, or null for the configured one");
        format!("new_users_per_minute must be {wanted}, not {}", shown(value))
    })
}

fn message(value: &Value) -> Result<String, String> {
    let text = value.as_str().ok_or_else(|| {
        format!(
            "message must be a text, \"\" for none, or null for the configured one, not {}",
            shown(value)
        )
    })?;
    is_message("message", text).map(|()| text.to_owned())
}

/// The mistake in a message for waiting visitors, which is called by `name`.
pub fn is_message(name: &str, text: &str) -> Result<(), String> {
    if text.len() > MAX_MESSAGE {
        return Err(format!(
            "{name} must be at most {MAX_MESSAGE} bytes, not {}",
            text.len()
        ));
    }
    if text
        .chars()
        .any(|character| character.is_control() && character != '\n')
    {
        return Err(format!(
            "{name} must not hold control characters other than a line break"
        ));
    }
    Ok(())
}

fn number(value: &Value, max: u32) -> Option<u32> {
    value
        .as_u64()
        .and_then(|number| u32::try_from(number).ok())
        .filter(|number| *number <= max)
}

fn names() -> String {
    let name = |(key, short): (&str, &str)| {
        if key == short {
            key.to_owned()
        } else {
            format!("{key} (or {short})")
        }
    };
    KEYS.map(name).join(", ")
}

/// The wrong value as sent, at most 40 characters of it.
fn shown(value: &Value) -> String {
    clipped(&value.to_string())
}

fn clipped(text: &str) -> String {
    if text.chars().count() <= 40 {
        return text.to_owned();
    }
    text.chars().take(40).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(body: &str) -> Result<Overrides, Problem> {
        let in_force = Overrides {
            mode: Some(Mode::Hold),
            capacity: Some(7),
            ..Overrides::default()
        };
        let known = dates::Known {
            configured: None,
            own: None,
        };
        patched(&read(body.as_bytes())?.0, &in_force, known, Wall(0))
    }

    #[test]
    fn what_is_absent_stays_and_null_goes_back_to_the_configured_value() {
        let set = applied(r#"{"total_active_users": 50, "mode": null}"#).expect("right");
        assert_eq!(
            set,
            Overrides {
                capacity: Some(50),
                ..Overrides::default()
            }
        );
        let set = applied(r#"{"message": "Back at 14:00\nSorry", "new_users_per_minute": 0}"#).expect("right");
        assert_eq!((set.mode, set.capacity), (Some(Mode::Hold), Some(7)));
        assert_eq!(set.message.as_deref(), Some("Back at 14:00\nSorry"));
        assert_eq!(set.rate_per_minute, Some(Some(0)));
    }

    #[test]
    fn the_rate_can_be_lifted_and_short_names_are_understood() {
        let set = applied(r#"{"rate": "none", "capacity": 0}"#).expect("right");
        assert_eq!((set.rate_per_minute, set.capacity), (Some(None), Some(0)));
        assert_eq!(applied(r#"{"rate": null}"#).expect("right").rate_per_minute, None);
    }

    #[test]
    fn an_override_that_equals_the_configured_value_is_none() {
        let configured = Settings {
            capacity: 50,
            rate_per_minute: Some(600),
            stock: Some(9),
            ..Settings::default()
        };
        let set = |capacity, stock| Overrides {
            mode: Some(Mode::Auto),
            capacity: Some(capacity),
            rate_per_minute: Some(None),
            stock: Some(stock),
            message: Some("Back at 14:00".to_owned()),
            ..Overrides::default()
        };
        let kept = Overrides {
            mode: None,
            capacity: None,
            ..set(0, 8)
        };
        assert_eq!(without_equal(set(50, 8), &configured, None), kept);
        let set = without_equal(set(51, 9), &configured, Some("Back at 14:00"));
        assert_eq!((set.stock, set.message, set.capacity), (None, None, Some(51)));
        let none = Overrides {
            message: Some(String::new()),
            ..Overrides::default()
        };
        assert_eq!(without_equal(none.clone(), &configured, None).message, None);
        assert_eq!(without_equal(none.clone(), &configured, Some("Hello")), none);
    }

    #[test]
    fn every_mistake_is_named_with_what_would_be_right() {
        let body = r#"{"mode": "open", "capacity": -1, "rate": 1.5, "message": 3, "colour": "red"}"#;
        let problem = applied(body).expect_err("wrong");
        assert_eq!(problem.status, StatusCode::UNPROCESSABLE_ENTITY);
        for part in [
            "\"hold\"",
            "from 0 to 10000000",
            "\"none\"",
            "must be a text",
            "\"colour\" is no key",
        ] {
            assert!(
                problem.mistakes.iter().any(|mistake| mistake.contains(part)),
                "{part}: {:?}",
                problem.mistakes
            );
        }
        assert_eq!(problem.mistakes.len(), 5);
    }

    #[test]
    fn one_wrong_key_spoils_the_whole() {
        assert!(applied(r#"{"mode": "auto", "capacity": "50"}"#).is_err());
        assert!(applied(r#"{"capacity": 5, "total_active_users": 6}"#).is_err());
        assert!(applied(r#"{"capacity": 4294967296}"#).is_err());
        assert!(applied(r#"{"message": "\u0007"}"#).is_err());
        assert!(applied(&format!(r#"{{"message": "{}"}}"#, "x".repeat(MAX_MESSAGE + 1))).is_err());
        assert!(applied("{}").is_err());
    }

    #[test]
    fn what_is_no_object_is_a_bad_request() {
        for body in ["", "[]", "null", "{", "{\"mode\":\"auto\"} x", "\u{0}"] {
            assert_eq!(
                applied(body).expect_err("wrong").status,
                StatusCode::BAD_REQUEST,
                "{body}"
            );
        }
    }
}
