//! A JSON object in which no name comes twice: two readers of one that has could each take another value.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

use crate::names::spelling::{Spelling, json_spelling};

/// The members of an object by name. Depth is bounded by the parser, at 128; size by the caller. Their names are printed,
/// their values never, because one of them is the account.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Object(BTreeMap<String, Value>);

impl Object {
    /// `None` for anything but one object.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The one member that any stack reads under this name, some of which compare without letter case.
    pub fn sole(&self, name: &str) -> Option<&Value> {
        let mut members = self.0.iter().filter_map(|(own, value)| match json_spelling(own, name) {
            Spelling::Other => None,
            spelling => Some((spelling, value)),
        });
        match (members.next(), members.next()) {
            (Some((Spelling::Own, value)), None) => Some(value),
            _ => None,
        }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A text, or a whole number as its digits: accounts are called by either. Larger numbers than a double holds exactly are the
/// same to stacks in JavaScript.
pub(super) fn name_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => {
            let exact = number.as_i64().filter(|number| number.unsigned_abs() < 1 << 53);
            exact.map(|number| number.to_string())
        }
        _ => None,
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object without a name that comes twice")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a name comes twice"));
            }
        }
        Ok(Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_comes_twice_makes_it_no_object() {
        let read = |text: &str| Object::read(text.as_bytes());
        assert!(read(r#"{"a":1,"b":{"c":1}}"#).is_some());
        for wrong in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            "[]",
            "1",
            "",
            "{",
            "{} {}",
            r#"{"a":1,}"#,
        ] {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn names_are_printed_and_values_are_not() {
        let object = Object::read(br#"{"sub":"ann@shop.example","a":{"b":17}}"#).unwrap();
        assert_eq!(format!("{object:?}"), r#"{"a", "sub"}"#);
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(Object::read(nested(100).as_bytes()).is_some());
        assert!(Object::read(nested(8_000).as_bytes()).is_none());
    }

    #[test]
    fn texts_and_whole_numbers_are_names() {
        let name = |text: &str| name_of(&serde_json::from_str(text).unwrap());
        assert_eq!(name(r#""ann""#).as_deref(), Some("ann"));
        assert_eq!(name("17").as_deref(), Some("17"));
        assert_eq!(name("-9007199254740991").as_deref(), Some("-9007199254740991"));
        for other in ["9007199254740992", "1.5", "1e3", "true", "null", "[\"ann\"]", "{}"] {
            assert_eq!(name(other), None, "{other}");
        }
    }
}
