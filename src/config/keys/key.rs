//! A key of the configuration and a table of keys, as `keys` declares them.

use std::fmt;
use std::ops::RangeInclusive;

use super::form::Form;

/// The value when a key is not set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preset {
    /// A value: a text without its quotes, anything else as TOML.
    Value(&'static str),
    /// None, with a description of the effect.
    Absent(&'static str),
    /// The key must be set.
    Required,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub name: &'static str,
    pub form: Form,
    pub preset: Preset,
    /// One or two sentences on its effect.
    pub about: &'static str,
    /// Read when the gate starts, and never again: a reload that would change it is refused.
    pub at_start: bool,
}

/// How a table is written, and so how many there may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Brackets {
    /// `[name]`: one.
    One,
    /// `[[name]]`: any number.
    Two,
    /// `[name]` where there is one, `[[name]]` where there are several.
    Either,
}

/// A table of keys.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// With its parent in front: `room.page`.
    pub name: &'static str,
    pub brackets: Brackets,
    pub about: &'static str,
    pub keys: &'static [Key],
}

impl Table {
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

impl Key {
    /// The default as TOML.
    #[must_use]
    pub fn default_value(&self) -> Option<String> {
        match self.preset {
            Preset::Value(text) if self.form.is_text() => Some(toml::Value::String(text.to_owned()).to_string()),
            Preset::Value(value) => Some(value.to_owned()),
            Preset::Absent(_) | Preset::Required => None,
        }
    }

    /// The comment above it in `config.toml`.
    #[must_use]
    pub fn comment(&self) -> String {
        let unset = match self.preset {
            Preset::Absent(means) => format!(" Not set: {means}."),
            Preset::Value(_) | Preset::Required => String::new(),
        };
        let start = if self.at_start { " Read at the start only." } else { "" };
        format!("{}{unset}{start}", self.about)
    }

    pub(super) const fn or(self, default: &'static str) -> Self {
        let preset = Preset::Value(default);
        Self { preset, ..self }
    }

    /// Without a default; `means` describes the effect when it is not set.
    pub(super) const fn unset(self, means: &'static str) -> Self {
        let preset = Preset::Absent(means);
        Self { preset, ..self }
    }

    pub(super) const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    pub(super) const fn at_start(self) -> Self {
        Self { at_start: true, ..self }
    }
}

/// The value when it is not set.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.preset {
            Preset::Value(_) => write!(f, "`{}`", self.default_value().unwrap_or_default()),
            Preset::Absent(words) => f.write_str(words),
            Preset::Required => f.write_str("must be set"),
        }
    }
}

/// A key that must be set, until `or` or `unset` says otherwise.
pub(super) const fn key(name: &'static str, form: Form) -> Key {
    Key {
        name,
        form,
        preset: Preset::Required,
        about: "",
        at_start: false,
    }
}

pub(super) const fn flag(name: &'static str) -> Key {
    key(name, Form::YesOrNo)
}

pub(super) const fn number(name: &'static str, bounds: RangeInclusive<u32>) -> Key {
    key(name, Form::Number(*bounds.start(), *bounds.end()))
}

/// Bounds in milliseconds.
pub(super) const fn duration(name: &'static str, bounds: RangeInclusive<u64>) -> Key {
    key(name, Form::Duration(*bounds.start(), *bounds.end()))
}

/// Bounds in bytes.
pub(super) const fn size(name: &'static str, bounds: RangeInclusive<u64>) -> Key {
    key(name, Form::Size(*bounds.start(), *bounds.end()))
}

pub(super) const fn words(name: &'static str, words: &'static [&'static str]) -> Key {
    key(name, Form::Words(words))
}

pub(super) const fn text(name: &'static str, looks: &'static str) -> Key {
    key(name, Form::Text(looks))
}

pub(super) const fn list(name: &'static str, item: &'static Form) -> Key {
    key(name, Form::List(item))
}
