//! A JSON object whose keys are each given once: of two values for one key nobody can say which was meant.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

/// What a body is checked as, before it is read.
struct Distinct;

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Keys)
    }
}

struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Distinct;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Distinct, A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value::<IgnoredAny>()?;
            if let Some(key) = seen.replace(key) {
                return Err(A::Error::custom(format!("{key:.40?} is given twice")));
            }
        }
        Ok(Distinct)
    }
}

/// # Errors
/// What is wrong with a body that is no object, or gives a key twice.
pub(super) fn check(body: &[u8]) -> Result<(), String> {
    serde_json::from_slice::<Distinct>(body)
        .map(|_| ())
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_given_once() {
        assert_eq!(check(br#"{"en": "a", "ko": {"en": [1]}, "EN": null}"#), Ok(()));
        for wrong in [r#"{"en": "a", "en": "b"}"#, r#"{"en": 1, "\u0065n": 2}"#] {
            assert!(
                check(wrong.as_bytes()).is_err_and(|why| why.contains("given twice")),
                "{wrong}"
            );
        }
        for wrong in ["", "[]", "{", "{} x"] {
            assert!(check(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
