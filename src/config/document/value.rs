//! Values: from a TOML value to a type, or to words on the mistake and a right value.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read as _};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ipnet::IpNet;
use jiff::SpanRelativeTo;
use jiff::fmt::friendly::SpanParser;
use toml::de::{DeTable, DeValue};

use super::node::{Node, Read, Wrong};
use super::suggest;
use crate::config::keys::Form;
use crate::router::{HostPattern, Route};

/// A type that a value of its key's form can be read as.
pub(in crate::config) trait Value: Sized {
    fn read(node: &Node<'_>, form: &Form) -> Read<Self>;
}

impl Value for bool {
    fn read(node: &Node<'_>, form: &Form) -> Read<Self> {
        match node.get_ref().as_bool() {
            Some(yes) => Ok(yes),
            None => found(node, format!("{form}, without quotes")),
        }
    }
}

impl Value for u32 {
    fn read(node: &Node<'_>, form: &Form) -> Read<Self> {
        match form {
            Form::Size(..) => Ok(Self::try_from(u64::read(node, form)?).unwrap_or(Self::MAX)),
            _ => whole(node, form),
        }
    }
}

impl Value for u16 {
    fn read(node: &Node<'_>, form: &Form) -> Read<Self> {
        whole(node, form)
    }
}

impl Value for u8 {
    fn read(node: &Node<'_>, form: &Form) -> Read<Self> {
        whole(node, form)
    }
}

impl Value for usize {
    fn read(node: &Node<'_>, form: &Form) -> Read<Self> {
        match form {
            Form::Size(..) => Ok(usize::try_from(u64::read(node, form)?).unwrap_or(usize::MAX)),
            _ => whole(node, form),
        }
    }
}

impl Value for NonZeroU32 {
    fn read(node: &Node<'_>, form: &Form) -> Read<Self> {
        u32::read(node, form).map(|number| Self::new(number).unwrap_or(Self::MIN))
    }
}

/// Milliseconds or bytes.
impl Value for u64 {
    fn read(node: &Node<'_>, form: &Form) -> Read<Self> {
        match form {
            Form::Size(least, most) => size(node, form, *least..=*most),
            Form::Duration(least, most) => duration_ms(node, form, *least..=*most),
            // If a size may be 0, the plain number is accepted too.
            Form::Either(size, _) if !is_zero(node) => Self::read(node, size),
            _ => whole::<u32>(node, form).map(Self::from),
        }
    }
}

impl Value for Duration {
    fn read(node: &Node<'_>, form: &Form) -> Read<Self> {
        u64::read(node, form).map(Self::from_millis)
    }
}

/// A path, which names something.
impl Value for PathBuf {
    fn read(node: &Node<'_>, form: &Form) -> Read<Self> {
        match text(node, form)? {
            "" => wrong(node, "this names no file", form),
            path => Ok(Self::from(path)),
        }
    }
}

impl Value for SocketAddr {
    fn read(node: &Node<'_>, form: &Form) -> Read<Self> {
        let text = text(node, form)?;
        match text.parse() {
            Ok(address) => Ok(address),
            Err(_) => wrong(node, format!("\"{text}\" is no address with port"), form),
        }
    }
}

/// A network, or a single address.
impl Value for IpNet {
    fn read(node: &Node<'_>, form: &Form) -> Read<Self> {
        network(node, form)
    }
}

impl Value for Route {
    fn read(node: &Node<'_>, form: &Form) -> Read<Self> {
        Self::parse(text(node, form)?).or_else(|e| wrong(node, e.wrong, e.right))
    }
}

impl Value for HostPattern {
    fn read(node: &Node<'_>, form: &Form) -> Read<Self> {
        Self::parse(text(node, form)?).or_else(|e| wrong(node, e.wrong, e.right))
    }
}

/// Most items of a list.
const MAX_ITEMS: usize = 1_000;

pub(in crate::config) fn wrong<T>(node: &Node<'_>, wrong: impl Into<String>, right: impl Display) -> Read<T> {
    Err(vec![Wrong {
        span: node.span(),
        what: wrong.into(),
        right: right.to_string(),
    }])
}

fn found<T>(node: &Node<'_>, right: impl Display) -> Read<T> {
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

/// A text; `right` is the correction if it is not one.
pub(in crate::config) fn text<'n>(node: &'n Node<'_>, right: impl Display) -> Read<&'n str> {
    match node.get_ref().as_str() {
        Some(text) => Ok(text),
        None => found(node, right),
    }
}

/// A whole number within the form's bounds, in a type that holds them.
fn whole<T: TryFrom<u32>>(node: &Node<'_>, form: &Form) -> Read<T> {
    let right = format!("{form}, without quotes");
    let Some(number) = node.get_ref().as_integer() else {
        return found(node, right);
    };
    let fits = |n: &u32| match form {
        Form::Number(least, most) => (least..=most).contains(&n),
        Form::Numbers(all) => all.contains(n),
        _ => false,
    };
    let value = i64::from_str_radix(number.as_str(), number.radix())
        .ok()
        .and_then(|n| u32::try_from(n).ok())
        .filter(fits);
    match value.and_then(|n| T::try_from(n).ok()) {
        Some(value) => Ok(value),
        None if matches!(form, Form::Numbers(_)) => wrong(node, format!("this cannot be {number}"), right),
        None => wrong(node, format!("{number} is out of range"), right),
    }
}

fn is_zero(node: &Node<'_>) -> bool {
    node.get_ref().as_integer().is_some_and(|number| number.as_str() == "0")
}

fn duration_ms(node: &Node<'_>, form: &Form, bounds: RangeInclusive<u64>) -> Read<u64> {
    let right = format!("{form}, such as \"90s\", \"4 min\" or \"2 h\"");
    let text = text(node, &right)?;
    let Some(ms) = duration_of(text) else {
        return wrong(node, format!("\"{text}\" is no duration"), right);
    };
    if !bounds.contains(&ms) {
        let than = if ms < *bounds.start() { "shorter" } else { "longer" };
        return wrong(node, format!("\"{text}\" is {than} than can be"), right);
    }
    Ok(ms)
}

/// Milliseconds of a duration in any usual spelling, as the configuration's keys take them.
#[must_use]
pub fn duration_of(text: &str) -> Option<u64> {
    let span = SpanParser::new().parse_span(text.trim()).ok()?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    u64::try_from(duration.as_millis()).ok()
}

fn size(node: &Node<'_>, form: &Form, bounds: RangeInclusive<u64>) -> Read<u64> {
    let right = format!("{form}, such as \"32 KiB\" or \"100 MiB\"");
    let text = text(node, &right)?;
    match parse_size(text).filter(|bytes| bounds.contains(bytes)) {
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

/// The value of one of the form's words.
pub(in crate::config) fn one_of<T: Copy>(node: &Node<'_>, form: &Form, words: &[(&str, T)]) -> Read<T> {
    debug_assert!(matches!(form, Form::Words(all) if all.iter().eq(words.iter().map(|(word, _)| word))));
    let text = text(node, form)?;
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(*value);
    }
    let right = match suggest::closest(text, words.iter().map(|(word, _)| *word)) {
        Some(close) => format!("{form}; did you mean \"{close}\"?"),
        None => form.to_string(),
    };
    wrong(node, format!("there is no \"{text}\""), right)
}

/// A list; the mistakes of all its items come out together.
pub(in crate::config) fn list<T>(
    node: &Node<'_>,
    form: &Form,
    item: impl Fn(&Node<'_>, &Form) -> Read<T>,
) -> Read<Vec<T>> {
    let Some(items) = node.get_ref().as_array() else {
        return found(node, "a list in brackets, such as [\"…\", \"…\"]");
    };
    if items.len() > MAX_ITEMS {
        return wrong(node, format!("{} items", items.len()), format!("at most {MAX_ITEMS}"));
    }
    let (mut values, mut mistakes) = (Vec::with_capacity(items.len()), Vec::new());
    for one in items {
        match item(one, form.item()) {
            Ok(value) => values.push(value),
            Err(more) => mistakes.extend(more),
        }
    }
    if mistakes.is_empty() { Ok(values) } else { Err(mistakes) }
}

/// A value in an inline table, with its own form.
pub(in crate::config) struct Field<'n> {
    /// The whole table where it is left out.
    pub(in crate::config) node: &'n Node<'n>,
    pub(in crate::config) form: &'static Form,
    pub(in crate::config) is_set: bool,
}

impl Field<'_> {
    pub(in crate::config) fn read<T: Value>(&self) -> Read<T> {
        T::read(self.node, self.form)
    }
}

/// The values of an inline table, in the order of its form.
pub(in crate::config) fn fields<'n, const N: usize>(node: &'n Node<'_>, form: &Form) -> Read<[Field<'n>; N]> {
    let (Form::Fields(names, _), Some(table)) = (form, node.get_ref().as_table()) else {
        return found(node, form);
    };
    let mut mistakes = unknown_fields(table, names, form);
    let fields: Vec<Field<'n>> = names
        .iter()
        .map(|(name, form)| field(node, table.get(*name), form))
        .collect();
    for ((name, own), field) in names.iter().zip(&fields) {
        if !field.is_set && !matches!(own, Form::Optional(_)) {
            mistakes.push(Wrong {
                span: node.span(),
                what: format!("\"{name}\" is missing"),
                right: form.to_string(),
            });
        }
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    fields
        .try_into()
        .or_else(|_| wrong(node, "this has another number of fields", form))
}

fn field<'n>(table: &'n Node<'_>, value: Option<&'n Node<'n>>, form: &'static Form) -> Field<'n> {
    let form = match form {
        Form::Optional(form) => form,
        form => form,
    };
    Field {
        node: value.unwrap_or(table),
        form,
        is_set: value.is_some(),
    }
}

fn unknown_fields(table: &DeTable<'_>, names: &[(&str, Form)], right: &Form) -> Vec<Wrong> {
    let known = |key: &str| names.iter().any(|(name, _)| *name == key);
    let unknown = table.keys().filter(|key| !known(key.get_ref().as_ref()));
    unknown
        .map(|key| Wrong {
            span: key.span(),
            what: format!("there is no \"{}\" here", key.get_ref()),
            right: right.to_string(),
        })
        .collect()
}

/// Two numbers of an inline table.
pub(in crate::config) fn pair(node: &Node<'_>, form: &Form) -> Read<(u32, u32)> {
    let [first, second] = fields(node, form)?;
    both(first.read(), second.read())
}

/// Both values, or the mistakes of both.
pub(in crate::config) fn both<A, B>(a: Read<A>, b: Read<B>) -> Read<(A, B)> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (a, b) => Err(a.err().into_iter().chain(b.err()).flatten().collect()),
    }
}

fn network(node: &Node<'_>, form: &Form) -> Read<IpNet> {
    let text = text(node, form)?;
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
        None => wrong(node, format!("\"{text}\" is no network"), form),
    }
}

/// A host, with a port or without.
pub(in crate::config) fn host_name<'n>(node: &'n Node<'_>, form: &Form) -> Read<&'n str> {
    let text = text(node, form)?;
    let is_host = text.parse::<http::uri::Authority>().is_ok() && !text.contains('@');
    if is_host {
        Ok(text)
    } else {
        wrong(node, format!("\"{text}\" is no host"), form)
    }
}

/// A name as lanes, limits and crawlers have it.
pub(in crate::config) fn name(node: &Node<'_>, form: &Form) -> Read<String> {
    let text = text(node, form)?;
    match ropeline_ids::RoomName::new(text) {
        Some(name) => Ok(name.as_str().to_owned()),
        None => wrong(node, format!("\"{text}\" is no name"), form),
    }
}

/// A file's bytes; at most one more than `most`, so that a longer file is recognised.
pub(in crate::config) fn bytes_of(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(toml: &'static str) -> Option<u64> {
        u64::read(&DeValue::parse(toml).expect("toml"), &Form::Duration(0, u64::MAX)).ok()
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
}
