//! Values that the command line sets over the file.

use std::fmt;

use toml::Spanned;
use toml::de::DeValue;

use super::notes::Override;

/// Keys with values that stand over those of the file. A mistake in one names the option instead of a line.
#[derive(Default)]
pub struct Overrides(Vec<Override>);

impl Overrides {
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Sets a key such as `upstream.url` to a text; `option` is the user's option, such as `--upstream`.
    #[must_use]
    pub fn text(self, key: &'static str, option: &'static str, value: &str) -> Self {
        self.with(key, option, text(value), false)
    }

    /// Sets a key to a list of texts.
    #[must_use]
    pub fn texts(self, key: &'static str, option: &'static str, values: &[String]) -> Self {
        self.with(key, option, list(values), false)
    }

    /// As [`Overrides::texts`], for where neither another option nor the file sets the key.
    #[must_use]
    pub fn fallback(self, key: &'static str, option: &'static str, values: &[String]) -> Self {
        self.with(key, option, list(values), true)
    }

    pub(in crate::config) fn list(&self) -> &[Override] {
        &self.0
    }

    fn with(mut self, key: &'static str, option: &'static str, value: DeValue<'static>, yields: bool) -> Self {
        self.0.push(Override {
            key,
            option,
            node: Spanned::new(0..0, value),
            yields,
        });
        self
    }
}

fn text(value: &str) -> DeValue<'static> {
    DeValue::String(value.to_owned().into())
}

fn list(values: &[String]) -> DeValue<'static> {
    let items = values.iter().map(|value| Spanned::new(0..0, text(value)));
    DeValue::Array(items.collect())
}

impl fmt::Debug for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|one| one.key)).finish()
    }
}
