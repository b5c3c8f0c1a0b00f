//! The form of a key's value, with its bounds: the reader checks values by it, the documents and the JSON Schema show it.

use std::fmt;

/// The form of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    YesOrNo,
    /// A whole number from the first to the second.
    Number(u32, u32),
    /// One of these numbers.
    Numbers(&'static [u32]),
    /// A text such as `"90s"`; the bounds in milliseconds.
    Duration(u64, u64),
    /// A text such as `"32 KiB"`; the bounds in bytes.
    Size(u64, u64),
    /// One of these texts.
    Words(&'static [&'static str]),
    /// Any other text, with a description.
    Text(&'static str),
    /// Such a text, or one for each of some languages of the page by its tag.
    ByLanguage(&'static str),
    /// A secret of at least this many bytes, written here or taken from elsewhere.
    Secret(usize),
    List(&'static Form),
    /// An inline table with these names, and an example of it.
    Fields(&'static [(&'static str, Form)], &'static str),
    /// A field that may be left out.
    Optional(&'static Form),
    Either(&'static Form, &'static Form),
}

impl Form {
    /// Whether TOML writes its values in quotes.
    #[must_use]
    pub const fn is_text(&self) -> bool {
        match self {
            Self::Duration(..)
            | Self::Size(..)
            | Self::Words(_)
            | Self::Text(_)
            | Self::ByLanguage(_)
            | Self::Secret(_) => true,
            Self::Either(usual, _) => usual.is_text(),
            _ => false,
        }
    }

    /// The least length of a secret.
    #[must_use]
    pub const fn least_bytes(&self) -> usize {
        match self {
            Self::Secret(least) => *least,
            _ => 0,
        }
    }

    /// The form of a list's items, or the form itself.
    #[must_use]
    pub const fn item(&self) -> &Self {
        match self {
            Self::List(item) => item,
            other => other,
        }
    }
}

/// The correction, for people: an inline table by its example, or with `{:#}` by the forms of its fields.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::YesOrNo => f.write_str("true or false"),
            Self::Number(least, most) => write!(f, "a whole number from {least} to {most}"),
            Self::Numbers(all) => {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                write!(f, "one of {}", all.join(", "))
            }
            Self::Duration(least, most) if *least > 1 => {
                write!(f, "a duration from {} to {}", span(*least), span(*most))
            }
            Self::Duration(_, most) => write!(f, "a duration up to {}", span(*most)),
            Self::Size(least, most) => write!(f, "a size from {} to {}", size(*least), size(*most)),
            Self::Words(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                write!(f, "one of {}", words.join(", "))
            }
            Self::Text(words) => f.write_str(words),
            Self::ByLanguage(words) => write!(f, "{words}; or such texts by language: {{ en = \"…\", ko = \"…\" }}"),
            Self::Secret(least) => write!(
                f,
                "a secret of {least} bytes or more: a text, {{ env = \"NAME\" }} or {{ file = \"/path\" }}"
            ),
            Self::List(item) if f.alternate() => write!(f, "a list, each item {item:#}"),
            Self::List(item) => write!(f, "a list, each item {item}"),
            Self::Fields(fields, _) if f.alternate() => {
                let fields: Vec<String> = fields.iter().map(|(name, form)| format!("{name}: {form:#}")).collect();
                write!(f, "{{ {} }}", fields.join("; "))
            }
            Self::Fields(_, example) => f.write_str(example),
            Self::Optional(form) => write!(f, "{form}, may be left out"),
            Self::Either(usual, other) => write!(f, "{usual}; or {other}"),
        }
    }
}

/// Milliseconds in words, in the largest unit that leaves no rest; days only from two on.
#[must_use]
pub fn span(ms: u64) -> String {
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
fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS
        .iter()
        .find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit))
    {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}

pub(super) const SECOND: u64 = 1_000;
pub(super) const MINUTE: u64 = 60 * SECOND;
pub(super) const HOUR: u64 = 60 * MINUTE;
pub(super) const DAY: u64 = 24 * HOUR;

pub(super) const ADDRESS: Form = Form::Text("an address with port, such as \"0.0.0.0:8080\" or \"[::]:8080\"");
pub(super) const LISTENER: Form =
    Form::Text("an address with port, such as \"0.0.0.0:8080\" or \"[::]:8080\", \"unix:/path\" or \"systemd\"");
pub(super) const NETWORK: Form = Form::Text("a network such as \"10.0.0.0/8\" or \"fd00::/8\", or one address");
pub(super) const ROUTE: Form = Form::Text("a route such as \"/checkout/*\" or \"POST /seats\"");
pub(super) const HOST: Form = Form::Text("a host such as \"shop.example\"");
pub(super) const NAME: Form = Form::Text("1 to 32 of a-z, 0-9 and \"-\"");
pub(super) const AUTHORITIES: Form = Form::Text("the path of a PEM file with the authorities' certificates");

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(span(value), want);
        }
    }
}
