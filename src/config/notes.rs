//! What the walk over a document takes down: mistakes, warnings, the values in force, and where each key is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::mistake::{Mistake, Origin};
use super::reader::Node;

/// A value that an option of the command line sets over the file.
pub(super) struct Override {
    pub(super) key: &'static str,
    pub(super) option: &'static str,
    pub(super) node: Node<'static>,
}

/// A key with the value in force, as TOML; secrets masked.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct InForce {
    /// `server`, `room[0].page` …
    pub(super) section: String,
    pub(super) name: &'static str,
    pub(super) value: String,
    pub(super) origin: Origin,
}

/// Wherever it is written.
impl fmt::Debug for InForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} = {}", self.section, self.name, self.value)
    }
}

#[derive(Default)]
pub(super) struct Notes {
    pub(super) mistakes: Vec<Mistake>,
    pub(super) warnings: Vec<Mistake>,
    pub(super) in_force: Vec<InForce>,
    pub(super) origins: BTreeMap<String, Origin>,
    /// Keys whose value could not be read, so that the default stands in for it.
    pub(super) failed: BTreeSet<String>,
}

/// Where a key, or else the nearest table above it, is written.
pub(super) fn nearest(origins: &BTreeMap<String, Origin>, key: &str) -> Origin {
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

/// The line of a byte, from 1.
pub(super) fn line(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    before.split(|b| *b == b'\n').count()
}
