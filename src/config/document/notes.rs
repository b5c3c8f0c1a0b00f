//! Notes of the walk over a document: mistakes, warnings, the values in force, and where each key is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::mistake::{Mistake, Origin};
use super::node::Node;

/// A value that an option of the command line sets over the file.
pub(in crate::config) struct Override {
    pub(in crate::config) key: &'static str,
    pub(in crate::config) option: &'static str,
    pub(in crate::config) node: Node<'static>,
    /// A value in the file is used instead, where there is one.
    pub(in crate::config) yields: bool,
}

/// A key with the value in force, as TOML; secrets masked.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::config) struct InForce {
    /// `server`, `room[0].page` …
    pub(in crate::config) section: String,
    pub(in crate::config) name: &'static str,
    pub(in crate::config) value: String,
    pub(in crate::config) origin: Origin,
}

/// Wherever it is written.
impl fmt::Debug for InForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} = {}", self.section, self.name, self.value)
    }
}

#[derive(Default)]
pub(in crate::config) struct Notes {
    pub(in crate::config) mistakes: Vec<Mistake>,
    pub(in crate::config) warnings: Vec<Mistake>,
    pub(in crate::config) in_force: Vec<InForce>,
    pub(in crate::config) origins: BTreeMap<String, Origin>,
    /// Keys whose value could not be read, so that the default is used instead.
    pub(in crate::config) failed: BTreeSet<String>,
}

/// Where a key, or else the nearest table above it, is written.
pub(in crate::config) fn nearest(origins: &BTreeMap<String, Origin>, key: &str) -> Origin {
    let mut key = key;
    loop {
        if let Some(origin) = origins.get(key) {
            return origin.clone();
        }
        let Some((above, _)) = key.rsplit_once('.') else {
            return Origin::Defaults;
        };
        key = above;
    }
}
