//! Escaping of untrusted text for markup, JSON and addresses.

use std::fmt::Write;

use jiff::Timestamp;
use memchr::memchr3;
use minijinja::value::Value;
use serde::{Serialize, Serializer};

use super::catalogue::{Catalogue, fill};
use ropeline_ids::Wall;

/// Finished markup: templates do not escape it again.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Markup(pub String);

impl Serialize for Markup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::from_safe_string(self.0.clone()).serialize(serializer)
    }
}

/// A sentence with a `<time>` in it.
pub(super) fn timed(sentence: &str, time: &str) -> Markup {
    Markup(fill(&escape(sentence), &[("time", time)]))
}

/// Text for between tags and inside quoted attributes.
pub(super) fn escape(text: &str) -> String {
    minijinja::HtmlEscape(text).to_string()
}

/// The beginning of a text that takes at most `most` bytes once it is escaped, and `…` where it was cut.
pub(super) fn beginning(text: &str, most: usize) -> String {
    let mut taken = 0;
    let cut = text.char_indices().find(|(_, c)| {
        taken += escape(c.encode_utf8(&mut [0; 4])).len();
        taken > most
    });
    cut.map_or_else(|| text.to_owned(), |(at, _)| format!("{}…", text[..at].trim_end()))
}

/// JSON for a `<script>` block: the same value, with nothing in it that could end the block or begin a comment.
pub(super) fn json_for_script(json: &str) -> String {
    // PERF: the usual case, checked many bytes at a time.
    if memchr3(b'<', b'>', b'&', json.as_bytes()).is_none() && json.is_ascii() {
        return json.to_owned();
    }
    let mut safe = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        let (before, behind) = rest.split_at(at);
        let mut behind = behind.chars();
        safe.push_str(before);
        let _ = write!(safe, "\\u{:04x}", behind.next().map_or(0, u32::from));
        rest = behind.as_str();
    }
    safe + rest
}

/// A structure of ours as JSON.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("structures of strings, numbers and lists are always JSON")
}

/// Everything but RFC 3986's unreserved characters as `%XX`.
#[must_use]
pub fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            let digit = |value: u8| char::from(b"0123456789ABCDEF"[usize::from(value)]);
            encoded.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    encoded
}

/// `target` if a browser can only read it as a path on the host it is on, else `/`: no scheme, no `//`, no backslash, no
/// control characters, and no escapes of those where the path begins.
#[must_use]
pub fn path_on_this_host(target: &str) -> &str {
    let plain = target.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
    let rest = target.get(1..).unwrap_or_default();
    let escaped = rest.get(..3).map(str::to_ascii_lowercase);
    let doubtful = rest.starts_with('/') || matches!(escaped.as_deref(), Some("%2f" | "%5c"));
    if target.starts_with('/') && plain && !doubtful {
        target
    } else {
        "/"
    }
}

/// A `<time>` element in UTC; the script shows the visitor's own time instead.
pub(super) fn time(at: Wall, with_date: bool, catalogue: &Catalogue) -> String {
    let day = if with_date { " data-day=\"long\"" } else { "" };
    stamp(at)
        .map(|stamp| {
            let shown = bare_time(at, with_date, catalogue);
            format!("<time datetime=\"{stamp}\"{day}>{shown}</time>")
        })
        .unwrap_or_default()
}

/// The same without the element, for where no script looks for it.
pub(super) fn bare_time(at: Wall, with_date: bool, catalogue: &Catalogue) -> String {
    catalogue
        .time(at, with_date)
        .map(|shown| escape(&shown))
        .unwrap_or_default()
}

fn stamp(at: Wall) -> Option<Timestamp> {
    let ms = i64::try_from(at.0).ok()?;
    Timestamp::from_second(ms / 1_000).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::catalogue::built_in;

    #[test]
    fn json_in_a_script_block_cannot_leave_it_and_stays_the_same_value() {
        let hostile = "</script><!--<script>\u{2028}&amp;\"'\\";
        let json = json_for_script(&serde_json::to_string(hostile).unwrap());
        assert!(!json.contains(['<', '>', '&', '\u{2028}']));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }

    #[test]
    fn only_a_path_on_this_host_leads_back() {
        for path in ["/", "/seats?date=1&x=//y", "/a//b", "/%E2%82%AC"] {
            assert_eq!(path_on_this_host(path), path);
        }
        for hostile in [
            "",
            "//",
            "//0",
            "//ab",
            "/%2f",
            "/%5C",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "/\t/evil.example",
            "/%2Fevil.example",
            "/%5cevil.example",
            "/a\u{0}",
            "/a\nb",
            "/ü",
        ] {
            assert_eq!(path_on_this_host(hostile), "/", "{hostile:?}");
        }
    }

    #[test]
    fn addresses_inside_addresses_keep_nothing_special() {
        assert_eq!(percent_encode("/a?b=c&d=é #"), "%2Fa%3Fb%3Dc%26d%3D%C3%A9%20%23");
    }

    #[test]
    fn a_text_is_cut_between_letters_and_by_what_it_takes_as_markup() {
        assert_eq!(beginning("Doors open", 10), "Doors open");
        assert_eq!(beginning("Doors open", 9), "Doors ope…");
        assert_eq!(beginning("Doors open", 6), "Doors…");
        assert_eq!(beginning("개막", 5), "개…");
        assert_eq!(beginning("<<", 7), "<…");
    }

    #[test]
    fn times_are_marked_up_and_an_impossible_one_is_nothing() {
        let (at, english) = (Wall(1_793_192_643_000), &built_in()[0]);
        assert_eq!(
            time(at, false, english),
            "<time datetime=\"2026-10-28T13:04:03Z\">1:04\u{202f}PM UTC</time>"
        );
        assert_eq!(time(Wall(u64::MAX), false, english), "");
        let date = "Wednesday, October 28 at 1:04\u{202f}PM UTC";
        assert_eq!(bare_time(at, true, english), date);
        assert!(time(at, true, english).ends_with(&format!(" data-day=\"long\">{date}</time>")));
    }
}
