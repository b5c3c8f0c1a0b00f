//! Forms of values: from a TOML value to a type, or to words on what is wrong and what would be right.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

use ipnet::IpNet;
use jiff::SpanRelativeTo;
use jiff::fmt::friendly::SpanParser;
use toml::de::{DeTable, DeValue};

use super::reader::{Node, Read, Wrong};
use super::routes::{HostPattern, Route};
use super::suggest;

/// Most items of a list.
const MAX_ITEMS: usize = 1_000;

pub(super) fn wrong<T>(node: &Node<'_>, wrong: impl Into<String>, right: impl Into<String>) -> Read<T> {
    Err(vec![Wrong {
        span: node.span(),
        what: wrong.into(),
        right: right.into(),
    }])
}

fn found<T>(node: &Node<'_>, right: impl Into<String>) -> Read<T> {
    let what = match node.get_ref() {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a bare number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    };
    wrong(node, format!("found {what}"), right)
}

/// A text; `right` says what would be right where it is none.
pub(super) fn text<'n>(node: &'n Node<'_>, right: &str) -> Read<&'n str> {
    match node.get_ref().as_str() {
        Some(text) => Ok(text),
        None => found(node, right),
    }
}

pub(super) fn yes_or_no(node: &Node<'_>) -> Read<bool> {
    match node.get_ref().as_bool() {
        Some(yes) => Ok(yes),
        None => found(node, "true or false, without quotes"),
    }
}

pub(super) fn number(node: &Node<'_>, range: RangeInclusive<u32>) -> Read<u32> {
    let right = format!(
        "a whole number from {} to {}, without quotes",
        range.start(),
        range.end()
    );
    let Some(number) = node.get_ref().as_integer() else {
        return found(node, right);
    };
    let value = i64::from_str_radix(number.as_str(), number.radix())
        .ok()
        .and_then(|n| u32::try_from(n).ok());
    match value.filter(|n| range.contains(n)) {
        Some(value) => Ok(value),
        None => wrong(node, format!("{number} is out of range"), right),
    }
}

/// A duration in milliseconds, within `range`.
pub(super) fn duration_ms(node: &Node<'_>, range: RangeInclusive<u64>) -> Read<u64> {
    let (least, most) = (*range.start(), words(*range.end()));
    let bounds = if least > 1 {
        format!("from {} to {most}", words(least))
    } else {
        format!("up to {most}")
    };
    let right = format!("a duration {bounds}, such as \"90s\", \"4 min\" or \"2 h\"");
    let text = text(node, &right)?;
    let Some(ms) = parse_duration(text) else {
        return wrong(node, format!("\"{text}\" is no duration"), right);
    };
    if !range.contains(&ms) {
        let than = if ms < *range.start() { "shorter" } else { "longer" };
        return wrong(node, format!("\"{text}\" is {than} than can be"), right);
    }
    Ok(ms)
}

/// Milliseconds of a duration in any usual spelling.
pub(super) fn parse_duration(text: &str) -> Option<u64> {
    let span = SpanParser::new().parse_span(text.trim()).ok()?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    u64::try_from(duration.as_millis()).ok()
}

/// Milliseconds in words, in the largest unit that leaves no rest; days only from two on.
pub(super) fn words(ms: u64) -> String {
    const UNITS: [(u64, u64, &str); 4] = [
        (86_400_000, 2, "days"),
        (3_600_000, 1, "h"),
        (60_000, 1, "min"),
        (1_000, 1, "s"),
    ];
    let fits = |(unit, least, _): &&(u64, u64, &str)| ms >= unit * least && ms.is_multiple_of(*unit);
    match UNITS.iter().find(fits) {
        Some((unit, _, name)) => format!("{} {name}", ms / unit),
        None => format!("{ms} ms"),
    }
}

/// Bytes in words, in the largest unit that leaves no rest.
fn size_words(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS
        .iter()
        .find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit))
    {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}

/// A size in bytes, within `range`.
pub(super) fn size(node: &Node<'_>, range: RangeInclusive<u64>) -> Read<u64> {
    let right = format!(
        "a size from {} to {}, such as \"32 KiB\" or \"100 MiB\"",
        size_words(*range.start()),
        size_words(*range.end())
    );
    let text = text(node, &right)?;
    match parse_size(text).filter(|bytes| range.contains(bytes)) {
        Some(bytes) => Ok(bytes),
        None => wrong(node, format!("\"{text}\" is no size, or out of range"), right),
    }
}

fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, unit) = text.split_at(end);
    let unit: u64 = match unit.trim() {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// One of a few words.
pub(super) fn one_of<T: Copy>(node: &Node<'_>, words: &[(&str, T)]) -> Read<T> {
    let all: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
    let right = format!("one of {}", all.join(", "));
    let text = text(node, &right)?;
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(*value);
    }
    let right = match suggest::closest(text, words.iter().map(|(word, _)| *word)) {
        Some(close) => format!("{right}; did you mean \"{close}\"?"),
        None => right,
    };
    wrong(node, format!("there is no \"{text}\""), right)
}

/// A list; the mistakes of all its items come out together.
pub(super) fn list<T>(node: &Node<'_>, item: impl Fn(&Node<'_>) -> Read<T>) -> Read<Vec<T>> {
    let Some(items) = node.get_ref().as_array() else {
        return found(node, "a list in brackets, such as [\"…\", \"…\"]");
    };
    if items.len() > MAX_ITEMS {
        return wrong(node, format!("{} items", items.len()), format!("at most {MAX_ITEMS}"));
    }
    let (mut values, mut mistakes) = (Vec::with_capacity(items.len()), Vec::new());
    for one in items {
        match item(one) {
            Ok(value) => values.push(value),
            Err(more) => mistakes.extend(more),
        }
    }
    if mistakes.is_empty() { Ok(values) } else { Err(mistakes) }
}

/// An inline table with exactly the keys `names`, in that order.
pub(super) fn fields<'n, const N: usize>(node: &'n Node<'_>, names: [&str; N], right: &str) -> Read<[&'n Node<'n>; N]> {
    let Some(table) = node.get_ref().as_table() else {
        return found(node, right);
    };
    let mut mistakes = unknown_fields(table, &names, right);
    for name in names.iter().filter(|name| !table.contains_key(**name)) {
        let what = format!("\"{name}\" is missing");
        mistakes.push(Wrong {
            span: node.span(),
            what,
            right: right.to_owned(),
        });
    }
    let values = names.map(|name| table.get(name).unwrap_or(node));
    if mistakes.is_empty() { Ok(values) } else { Err(mistakes) }
}

fn unknown_fields(table: &DeTable<'_>, names: &[&str], right: &str) -> Vec<Wrong> {
    let unknown = table.keys().filter(|key| !names.contains(&key.get_ref().as_ref()));
    unknown
        .map(|key| Wrong {
            span: key.span(),
            what: format!("there is no \"{}\" here", key.get_ref()),
            right: right.into(),
        })
        .collect()
}

/// Both values, or the mistakes of both.
pub(super) fn both<A, B>(a: Read<A>, b: Read<B>) -> Read<(A, B)> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (a, b) => Err(a.err().into_iter().chain(b.err()).flatten().collect()),
    }
}

pub(super) fn address(node: &Node<'_>) -> Read<SocketAddr> {
    let right = "an address with port, such as \"0.0.0.0:8080\" or \"[::]:8080\"";
    let text = text(node, right)?;
    match text.parse() {
        Ok(address) => Ok(address),
        Err(_) => wrong(node, format!("\"{text}\" is no address with port"), right),
    }
}

/// A network, or a single address.
pub(super) fn network(node: &Node<'_>) -> Read<IpNet> {
    let right = "a network such as \"10.0.0.0/8\" or \"fd00::/8\", or one address";
    let text = text(node, right)?;
    let parsed = text
        .parse::<IpNet>()
        .ok()
        .or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
    let is_mapped = |net: &IpNet| net.addr().is_ipv6() && net.addr().to_canonical().is_ipv4();
    match parsed {
        // Addresses of clients are compared in their own form.
        Some(net) if is_mapped(&net) => wrong(
            node,
            format!("\"{text}\" is IPv4 written as IPv6, and matches nobody"),
            format!(
                "\"{}/{}\"",
                net.addr().to_canonical(),
                net.prefix_len().saturating_sub(96)
            ),
        ),
        Some(net) if net.trunc() == net => Ok(net),
        Some(net) => wrong(
            node,
            format!("\"{text}\" has bits set behind its prefix"),
            format!("\"{}\"", net.trunc()),
        ),
        None => wrong(node, format!("\"{text}\" is no network"), right),
    }
}

pub(super) fn route(node: &Node<'_>) -> Read<Route> {
    let text = text(node, "a route such as \"/checkout/*\" or \"POST /seats\"")?;
    Route::parse(text).or_else(|e| wrong(node, e.wrong, e.right))
}

pub(super) fn exception(node: &Node<'_>) -> Read<Route> {
    let text = text(node, "an exception such as \"/static/*\" or \"POST /payment/callback\"")?;
    Route::exception(text).or_else(|e| wrong(node, e.wrong, e.right))
}

pub(super) fn host(node: &Node<'_>) -> Read<HostPattern> {
    let text = text(node, "a host such as \"shop.example\"")?;
    HostPattern::parse(text).or_else(|e| wrong(node, e.wrong, e.right))
}

/// A name as rooms, lanes and limits have it.
pub(super) fn name(node: &Node<'_>) -> Read<String> {
    let right = "1 to 32 of a-z, 0-9 and \"-\"";
    let text = text(node, right)?;
    match crate::room::RoomName::new(text) {
        Some(name) => Ok(name.as_str().to_owned()),
        None => wrong(node, format!("\"{text}\" is no name"), right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(toml: &'static str) -> Option<u64> {
        duration_ms(&DeValue::parse(toml).expect("toml"), 0..=u64::MAX).ok()
    }

    #[test]
    fn durations_are_texts_in_the_usual_spellings() {
        for (text, want) in [
            ("\"90s\"", 90_000),
            ("\"4 min\"", 240_000),
            ("\"7 days\"", 604_800_000),
            ("\"1h 30m\"", 5_400_000),
            ("\"250ms\"", 250),
            ("\"2 hours\"", 7_200_000),
            ("\"0s\"", 0),
            ("\"1.5 s\"", 1_500),
        ] {
            assert_eq!(ms(text), Some(want), "{text}");
        }
        for odd in [
            "90",
            "\"90\"",
            "\"-5s\"",
            "\"5 s ago\"",
            "\"soon\"",
            "\"\"",
            "\"1 month\"",
            "true",
        ] {
            assert_eq!(ms(odd), None, "{odd}");
        }
    }

    #[test]
    fn sizes_need_a_unit() {
        for (text, want) in [
            ("32 KiB", Some(32_768)),
            ("100MiB", Some(104_857_600)),
            ("1 kB", Some(1_000)),
            ("7 B", Some(7)),
            ("7", None),
            ("1.5 MiB", None),
            ("-1 B", None),
            ("99999999999 GiB", None),
            ("x", None),
        ] {
            assert_eq!(parse_size(text), want, "{text}");
        }
    }

    #[test]
    fn a_span_in_words_has_no_rest() {
        for (value, want) in [
            (90_000, "90 s"),
            (240_000, "4 min"),
            (86_400_000, "24 h"),
            (604_800_000, "7 days"),
            (250, "250 ms"),
            (0, "0 ms"),
        ] {
            assert_eq!(words(value), want);
        }
    }
}
