//! Where each key of a configuration is written, for those who say later what to change.

use std::collections::BTreeMap;
use std::fmt;

use super::mistake::Origin;
use super::notes::nearest;

/// Where each key is written.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Places {
    path: String,
    origins: BTreeMap<String, Origin>,
}

/// A setting is the same wherever it is written.
impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Places")
    }
}

impl Places {
    pub(in crate::config) fn new(path: &str, origins: BTreeMap<String, Origin>) -> Self {
        Self {
            path: path.to_owned(),
            origins,
        }
    }

    /// The file as it was named; `defaults` without one.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.path
    }

    /// Whether the file or an option sets the key.
    #[must_use]
    pub fn is_set(&self, key: &str) -> bool {
        self.origins.contains_key(key)
    }

    /// The line of a key, or else of the table that it belongs into; `None` where the file has neither.
    #[must_use]
    pub fn line(&self, key: &str) -> Option<usize> {
        match nearest(&self.origins, key) {
            Origin::File(place) => Some(place.line),
            Origin::Defaults | Origin::Option(_) | Origin::Added(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config;

    #[test]
    fn a_key_has_its_line_or_that_of_its_table() {
        let text = "[upstream]\nurl = \"http://127.0.0.1:1\"\n[server]\n\nh2c = true\n";
        let (config, _) = config::check(text, "a.toml").finish().unwrap();
        let places = &config.places;
        let lines = ["upstream.url", "server.h2c", "server.trusted_proxies", "store.url"].map(|key| places.line(key));
        assert_eq!(lines, [Some(2), Some(5), Some(3), None]);
        assert_eq!(
            (places.file(), places.is_set("server.h2c"), places.is_set("store.url")),
            ("a.toml", true, false)
        );
    }
}
