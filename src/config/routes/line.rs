//! Which line of a `per` room a request belongs to.

use super::percent;
use super::router::Doubtful;
use crate::room::LineName;

/// Where the value that names a line stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PerSource {
    /// In the variable of this name, which every route of the room has.
    Path(String),
    /// In the query parameter of this name.
    Query(String),
}

/// One line per value of `source`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Per {
    pub source: PerSource,
    /// When not empty, the only values there are.
    pub allow: Vec<LineName>,
}

/// The line a request belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LineOf {
    /// A room's line; [`LineName::ONLY`] in a room without `per`.
    Line(LineName),
    /// No value, none that could name a line, or one outside `allow`: 404.
    Unknown,
}

impl Per {
    /// The line that the query names; doubtful when the shop may take one of several values.
    pub(super) fn of_query(&self, name: &str, query: Option<&str>) -> Result<LineOf, Doubtful> {
        let query = query.unwrap_or_default();
        let value = sole_value(name, query.split('&'))?;
        // Some shops part parameters at `;` too.
        if query.contains(';') && sole_value(name, query.split(['&', ';']))? != value {
            return Err(Doubtful);
        }
        Ok(value.map_or(LineOf::Unknown, |v| self.line(&v)))
    }

    /// The line that a decoded value names.
    #[must_use]
    pub fn line(&self, value: &[u8]) -> LineOf {
        let Some(line) = std::str::from_utf8(value)
            .ok()
            .filter(|text| !text.is_empty())
            .and_then(LineName::new)
        else {
            return LineOf::Unknown;
        };
        let known = if self.allow.is_empty() {
            is_plain(line.as_str())
        } else {
            self.allow.contains(&line)
        };
        if known { LineOf::Line(line) } else { LineOf::Unknown }
    }
}

/// The value of a parameter. Names are compared in any case and decoded, as some shops do.
fn sole_value<'q>(name: &str, pairs: impl Iterator<Item = &'q str>) -> Result<Option<Vec<u8>>, Doubtful> {
    let mut found = None;
    for pair in pairs {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        if !decoded(key).eq_ignore_ascii_case(name.as_bytes()) {
            continue;
        }
        let value = decoded(value);
        if found.as_ref().is_some_and(|other| *other != value) {
            return Err(Doubtful);
        }
        found = Some(value);
    }
    Ok(found)
}

/// As a form encodes it: `+` is a space. What does not decode stays as it is and so names no line.
fn decoded(text: &str) -> Vec<u8> {
    let spaced = text.replace('+', " ");
    percent::decode(spaced.as_bytes(), true, |_| true).unwrap_or_else(|_| b"%".to_vec())
}

/// SECURITY: without `allow` a value that shops read in several ways must not open a line of its own: no spaces, no
/// digits or signs beyond ASCII, nothing encoded twice, no dot at the end.
fn is_plain(value: &str) -> bool {
    let fits = |c: char| match c {
        '%' | '/' | '\\' | ';' | '?' | '#' => false,
        _ => c.is_ascii_graphic() || (!c.is_ascii() && c.is_alphabetic()),
    };
    value.chars().all(fits) && !value.ends_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn per(allow: &[&str]) -> Per {
        let allow = allow.iter().filter_map(|value| LineName::new(value)).collect();
        Per {
            source: PerSource::Query("id".into()),
            allow,
        }
    }

    fn line(name: &str) -> LineOf {
        LineOf::Line(LineName::new(name).expect("line"))
    }

    #[test]
    fn a_value_is_decoded_once() {
        assert_eq!(per(&[]).of_query("id", Some("x=1&id=a%2Db")), Ok(line("a-b")));
        assert_eq!(per(&[]).of_query("id", Some("%69d=42")), Ok(line("42")));
        assert_eq!(per(&[]).of_query("id", Some("ID=42")), Ok(line("42")));
        assert_eq!(per(&[]).of_query("id", Some("id=%EA%B3%B5%EC%97%B0")), Ok(line("공연")));
    }

    #[test]
    fn several_values_are_doubtful_unless_they_are_one() {
        assert_eq!(per(&[]).of_query("id", Some("id=1&id=2")), Err(Doubtful));
        assert_eq!(per(&[]).of_query("id", Some("id=1&ID=2")), Err(Doubtful));
        assert_eq!(per(&[]).of_query("id", Some("x=1;id=2&id=1")), Err(Doubtful));
        assert_eq!(per(&[]).of_query("id", Some("id=1&id=1")), Ok(line("1")));
    }

    #[test]
    fn odd_missing_and_foreign_values_name_no_line() {
        for query in [
            None,
            Some(""),
            Some("id"),
            Some("id="),
            Some("id=4%202"),
            Some("id=%2542"),
            Some("id=100%"),
            Some("id=%EF%BC%94%EF%BC%92"),
            Some("id=42."),
            Some("id=%FF"),
            Some("id=%00"),
        ] {
            assert_eq!(per(&[]).of_query("id", query), Ok(LineOf::Unknown), "{query:?}");
        }
        assert_eq!(per(&["a b"]).of_query("id", Some("id=a+b")), Ok(line("a b")));
        assert_eq!(per(&["a"]).of_query("id", Some("id=b")), Ok(LineOf::Unknown));
    }
}
