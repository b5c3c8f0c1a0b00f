//! The keys of a room that an operator can change, by their names in the configuration.

use super::dates;
use crate::room::{Mode, Overrides};

/// Every mode with the name it has in the configuration and here.
pub const MODES: [(&str, Mode); 4] = [
    ("auto", Mode::Auto),
    ("hold", Mode::Hold),
    ("closed", Mode::Closed),
    ("off", Mode::Off),
];

/// The keys, each with its short name.
pub const KEYS: [(&str, &str); 9] = [
    ("mode", "mode"),
    ("total_active_users", "capacity"),
    ("new_users_per_minute", "rate"),
    ("message", "message"),
    ("prequeue_from", "prequeue_from"),
    ("opens_at", "opens_at"),
    ("closes_at", "closes_at"),
    ("results_at", "results_at"),
    ("stock", "stock"),
];

/// The mode's name in the configuration and in the API.
#[must_use]
pub fn mode_name(mode: Mode) -> &'static str {
    MODES
        .iter()
        .find(|(_, known)| *known == mode)
        .map_or("auto", |(name, _)| name)
}

/// The keys that `overrides` sets, by their names in the configuration.
#[must_use]
pub fn overridden(overrides: &Overrides) -> Vec<String> {
    let set = |key: &str| match key {
        "mode" => overrides.mode.is_some(),
        "total_active_users" => overrides.capacity.is_some(),
        "new_users_per_minute" => overrides.rate_per_minute.is_some(),
        "message" => overrides.message.is_some() || !overrides.messages.is_empty(),
        "stock" => overrides.stock.is_some(),
        date => dates::has(overrides.schedule.as_ref(), date),
    };
    let keys = KEYS.iter().map(|(key, _)| (*key).to_owned());
    keys.filter(|key| set(key)).collect()
}

/// The overrides in words, for the log. Keys that are not listed have their configured value.
#[must_use]
pub fn described(overrides: &Overrides) -> String {
    let number = |value: Option<u32>| value.map_or_else(|| "none".to_owned(), |value| value.to_string());
    let set = [
        overrides.mode.map(|mode| mode_name(mode).to_owned()),
        overrides.capacity.map(|capacity| capacity.to_string()),
        overrides.rate_per_minute.map(number),
        match &overrides.message {
            None if overrides.messages.is_empty() => None,
            None => Some(format!("{:?}", overrides.messages)),
            Some(message) => Some(format!("{message:?}")),
        },
    ];
    let named = KEYS
        .iter()
        .zip(set)
        .filter_map(|((key, _), set)| Some(format!("{key} {}", set?)));
    let dates = overrides.schedule.as_ref().map(|schedule| schedule.rule.clone());
    let stock = overrides.stock.map(|stock| format!("stock {stock}"));
    let all: Vec<String> = named.chain(dates).chain(stock).collect();
    if all.is_empty() {
        "as configured".to_owned()
    } else {
        all.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_have_one_name_each() {
        for (name, mode) in MODES {
            assert_eq!(mode_name(mode), name);
        }
        let all = Overrides {
            mode: Some(Mode::Off),
            message: Some(String::new()),
            ..Overrides::default()
        };
        assert_eq!(overridden(&all), ["mode", "message"]);
        let all = Overrides {
            rate_per_minute: Some(None),
            capacity: Some(5),
            ..all
        };
        let words = "mode off, total_active_users 5, new_users_per_minute none, message \"\"";
        assert_eq!(described(&all), words);
        assert_eq!(described(&Overrides::default()), "as configured");
    }
}
