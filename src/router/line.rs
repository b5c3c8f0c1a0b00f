//! The line of a `per` room that a request belongs to.
//!
//! SECURITY: every line has a capacity of its own, so a visitor who can spell one value in many ways has many capacities. A
//! value that `allow` does not name has one spelling for each thing that shops may read it as; other spellings name no line.

use std::ops::RangeInclusive;

use super::table::Doubtful;
use crate::names::parameter::{value_in_query, value_of};
use ropeline_ids::LineName;

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
    /// If not empty, the only valid values; `{uuid}` allows all UUIDs.
    pub allow: Vec<LineName>,
}

/// In `allow`: any UUID in its usual form.
pub const ANY_UUID: &str = "{uuid}";

/// The line a request belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LineOf {
    /// A room's line; [`LineName::ONLY`] in a room without `per`.
    Line(LineName),
    /// No value, none that could name a line, or one outside `allow`: 404.
    Unknown,
}

impl Per {
    /// The line that the query names; doubtful where shops may read different values, or none. A `;` in a reading of the path begins
    /// the query of Fastify (find-my-way, `useSemicolonDelimiter`), and a `?` that of servers which decode before they split.
    pub(super) fn of_query(&self, name: &str, path: &[u8], query: Option<&str>) -> Result<LineOf, Doubtful> {
        if let Some(at) = memchr::memchr2(b';', b'?', path)
            && value_of(&path[at + 1..], name).map_err(|_| Doubtful)?.is_some()
        {
            return Err(Doubtful);
        }
        let value = value_in_query(query.unwrap_or_default(), name).map_err(|_| Doubtful)?;
        Ok(value.map_or(LineOf::Unknown, |value| self.line(&value.bytes)))
    }

    /// The line that a decoded value names; letter case makes no difference unless `allow` has it.
    #[must_use]
    pub fn line(&self, value: &[u8]) -> LineOf {
        let text = std::str::from_utf8(value).ok().filter(|text| !text.is_empty());
        text.and_then(|text| self.name(text))
            .map_or(LineOf::Unknown, LineOf::Line)
    }

    fn name(&self, text: &str) -> Option<LineName> {
        if self.allow.is_empty() {
            // Rails and Grape take the text behind a dot in a path's value for the format of the answer: `/event/gala.html`
            // is the event `gala`.
            let is_cut = matches!(self.source, PerSource::Path(_)) && text.contains('.');
            let fits = is_plain(text) && !is_cut;
            return fits.then(|| LineName::new(&in_one_case(text))).flatten();
        }
        let own = self.allow.iter().find(|name| name.as_str() == text);
        if let Some(own) = own.filter(|name| name.as_str() != ANY_UUID) {
            return Some(own.clone());
        }
        let any_uuid = self.allow.iter().any(|name| name.as_str() == ANY_UUID);
        let uuid = any_uuid && is_uuid(text);
        uuid.then(|| LineName::new(&text.to_ascii_lowercase())).flatten()
    }
}

/// There and back: final sigma and its like have capitals that are others' too.
fn in_one_case(text: &str) -> String {
    text.to_uppercase().chars().flat_map(char::to_lowercase).collect()
}

/// Without `allow`: no spaces, no double encoding, no characters that some database or file system drops at the end; beyond
/// ASCII only letters that compare equal to no other letter. A value that a lenient reader would take for a number must be
/// written as one: `42`, and not `042`, `+42`, `42.0` or `42-x`.
fn is_plain(value: &str) -> bool {
    let fits = |c: char| match c {
        '%' | '/' | '\\' | ';' | '?' | '#' => false,
        _ => c.is_ascii_graphic() || (c.is_alphabetic() && !OTHER_FORMS.iter().any(|forms| forms.contains(&c))),
    };
    let numeric = value.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    value.chars().all(fits) && !value.ends_with(['.', '+']) && (!numeric || is_whole_number(value))
}

/// In its one spelling, and short enough for 64 bits: longer ones wrap around in some shops.
fn is_whole_number(value: &str) -> bool {
    let leading = value.len() > 1 && value.starts_with('0');
    value.len() <= MAX_DIGITS && !leading && value.bytes().all(|b| b.is_ascii_digit())
}

/// Five groups of hexadecimal digits (RFC 9562, section 4).
fn is_uuid(value: &str) -> bool {
    let groups = value.split('-').map(str::len);
    groups.eq([8, 4, 4, 4, 12]) && value.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

const MAX_DIGITS: usize = 18;

/// Letters that compatibility folding (Unicode, annex 15) or a database's usual collation takes for others: Latin ones with
/// marks, Hangul in pieces, full-width and mathematical forms.
const OTHER_FORMS: [RangeInclusive<char>; 10] = [
    '\u{80}'..='\u{36F}',
    '\u{1100}'..='\u{11FF}',
    '\u{1D00}'..='\u{2BFF}',
    '\u{2C60}'..='\u{2C7F}',
    '\u{3130}'..='\u{33FF}',
    '\u{A720}'..='\u{A7FF}',
    '\u{A960}'..='\u{A97F}',
    '\u{AB30}'..='\u{AB6F}',
    '\u{D7B0}'..='\u{1FFFF}',
    '\u{2F800}'..='\u{10FFFF}',
];

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
        assert_eq!(per(&[]).of_query("id", b"/buy", Some("x=1&id=a%2Db")), Ok(line("a-b")));
        assert_eq!(per(&[]).of_query("id", b"/buy", Some("%69d=42")), Ok(line("42")));
        assert_eq!(per(&[]).of_query("id", b"/buy", Some("ID=42")), Ok(line("42")));
        assert_eq!(
            per(&[]).of_query("id", b"/buy", Some("id=%EA%B3%B5%EC%97%B0")),
            Ok(line("공연"))
        );
    }

    #[test]
    fn a_paths_value_has_no_dot_unless_values_are_named() {
        let by_path = |allow: &[&str]| Per {
            source: PerSource::Path("id".into()),
            ..per(allow)
        };
        for value in ["gala.html", "rock.2026", "gala."] {
            assert_eq!(by_path(&[]).line(value.as_bytes()), LineOf::Unknown, "{value}");
        }
        assert_eq!(by_path(&[]).line(b"gala"), line("gala"));
        assert_eq!(by_path(&["rock.2026"]).line(b"rock.2026"), line("rock.2026"));
        assert_eq!(per(&[]).line(b"v1.2"), line("v1.2"), "of a query");
    }

    #[test]
    fn spellings_of_one_value_make_no_lines_of_their_own() {
        let of = |value: &str| per(&[]).line(value.as_bytes());
        for own in [
            "42",
            "0",
            "7",
            "abc-2026",
            "a42",
            "v1.2",
            "공연",
            "концерт",
            "春祭り",
            "20261120",
            "9007199254740993",
        ] {
            assert_eq!(of(own), line(own), "{own}");
        }
        for (spelt, name) in [
            ("ABC-2026", "abc-2026"),
            ("Spring", "spring"),
            ("КОНЦЕРТ", "концерт"),
            ("σεισμος", "σεισμοσ"),
            ("ϐας", "βασ"),
        ] {
            assert_eq!(of(spelt), line(name), "{spelt}");
        }
        for odd in [
            "042",
            "00",
            "+42",
            "-42",
            "4_2",
            "42.0",
            "42e0",
            "0x2A",
            "42-x",
            "42x",
            "4,2",
            ".42",
            "42+",
            "a+",
            "42,",
            "18446744073709551658",
            "2026-11-20",
            "550e8400-e29b-41d4-a716-446655440000",
            "spríng",
            "ｓpring",
            "𝐬pring",
            "ﬁn",
            "\u{1100}\u{1161}",
            "ª",
            "İ",
            "\u{212A}",
        ] {
            assert_eq!(of(odd), LineOf::Unknown, "{odd}");
        }
    }

    #[test]
    fn values_named_by_allow_are_taken_to_the_letter_and_uuids_in_any_case() {
        let per = per(&["ABC-2026", "042", "{uuid}"]);
        let of = |value: &str| per.line(value.as_bytes());
        let uuid = "550e8400-e29b-41d4-a716-446655440000";
        assert_eq!((of("ABC-2026"), of("042")), (line("ABC-2026"), line("042")));
        assert_eq!((of(uuid), of(&uuid.to_uppercase())), (line(uuid), line(uuid)));
        for odd in [
            "abc-2026",
            "42",
            "{uuid}",
            "550e8400e29b41d4a716446655440000",
            "550e8400-e29b-41d4-a716-44665544000g",
        ] {
            assert_eq!(of(odd), LineOf::Unknown, "{odd}");
        }
    }

    #[test]
    fn several_values_are_doubtful_unless_they_are_one() {
        assert_eq!(per(&[]).of_query("id", b"/buy", Some("id=1&id=2")), Err(Doubtful));
        for path in [&b"/buy;id=2&x="[..], b"/buy?id=2", b"/buy;a=1;ID=2", b"/a;id=1"] {
            assert_eq!(per(&[]).of_query("id", path, Some("id=1")), Err(Doubtful), "{path:?}");
        }
        assert_eq!(
            per(&[]).of_query("id", b"/buy;jsessionid=2", Some("id=1")),
            Ok(line("1"))
        );
        assert_eq!(per(&[]).of_query("id", b"/buy", Some("id=1&ID=2")), Err(Doubtful));
        assert_eq!(per(&[]).of_query("id", b"/buy", Some("x=1;id=2&id=1")), Err(Doubtful));
        assert_eq!(per(&[]).of_query("id", b"/buy", Some("id=1&id=1")), Ok(line("1")));
    }

    #[test]
    fn a_spelling_that_only_some_shops_read_is_doubtful_even_alone() {
        for alias in [
            "[id]=1",
            "id[]=1",
            "id%00x=1",
            "+id=1",
            "%2569d=1",
            "id=1&%20id=1",
            "id=%00",
            "id=100%",
        ] {
            assert_eq!(per(&[]).of_query("id", b"/buy", Some(alias)), Err(Doubtful), "{alias}");
        }
        assert_eq!(
            per(&[]).of_query("event_id", b"/buy", Some("event.id=1")),
            Err(Doubtful)
        );
        assert_eq!(
            per(&[]).of_query("id", b"/buy", Some("id=1&event[id]=2&_id=3&ids=4")),
            Ok(line("1"))
        );
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
            Some("id=%EF%BC%94%EF%BC%92"),
            Some("id=42."),
            Some("id=%FF"),
        ] {
            assert_eq!(
                per(&[]).of_query("id", b"/buy", query),
                Ok(LineOf::Unknown),
                "{query:?}"
            );
        }
        assert_eq!(per(&["a b"]).of_query("id", b"/buy", Some("id=a+b")), Ok(line("a b")));
        assert_eq!(per(&["a"]).of_query("id", b"/buy", Some("id=b")), Ok(LineOf::Unknown));
    }
}
