//! Every key there is: its form, its default and a sentence. The reader takes its defaults from here, so that
//! `config.toml`, `docs/reference/configuration.md` and the gate cannot disagree; tests hold both files against this table.

mod admission;
mod crawlers;
mod gate;
mod limits;
mod proof;
mod room;
mod tls;
pub(in crate::config) mod upstream;

use std::fmt;

/// What holds when a key is not set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preset {
    /// A value, as TOML.
    Value(&'static str),
    /// Nothing; the words say what that means.
    Absent(&'static str),
    /// The key must be set.
    Required,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub name: &'static str,
    /// What a value looks like, for people.
    pub form: &'static str,
    pub preset: Preset,
    /// One or two sentences on what it does.
    pub about: &'static str,
    /// Read when the gate starts, and never again: a reload that would change it is refused.
    pub at_start: bool,
}

/// A table of keys.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// With its parent in front: `room.page`.
    pub name: &'static str,
    /// Written `[[name]]`: any number of them.
    pub many: bool,
    pub about: &'static str,
    pub keys: &'static [Key],
}

/// All tables, in the order in which people read them.
pub const TABLES: [Table; 17] = [
    gate::SERVER,
    tls::TLS,
    upstream::UPSTREAM,
    gate::FORWARD_AUTH,
    gate::STORE,
    gate::TOKENS,
    room::ROOM,
    room::PAGE,
    proof::PROOF,
    admission::ADMISSION,
    room::IDENTITY,
    room::LANE,
    limits::LIMIT,
    limits::LIMITS,
    crawlers::CRAWLER,
    crawlers::CRAWLERS,
    gate::LOG,
];

impl Table {
    /// The table of this full name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Table> {
        static ALL: [Table; 17] = TABLES;
        ALL.iter().find(|table| table.name == name)
    }

    #[must_use]
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Names of the tables right below `parent` (`""` for the document), without the parent's.
    pub fn below(parent: &str) -> impl Iterator<Item = &'static str> {
        TABLES
            .iter()
            .filter_map(move |table| match table.name.rsplit_once('.') {
                Some((above, name)) => (above == parent).then_some(name),
                None => parent.is_empty().then_some(table.name),
            })
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(text) => write!(f, "`{text}`"),
            Self::Absent(words) => f.write_str(words),
            Self::Required => f.write_str("must be set"),
        }
    }
}

/// A key that only a start reads.
const fn at_start(key: Key) -> Key {
    Key { at_start: true, ..key }
}

/// Shortens the tables' lines.
const fn key(name: &'static str, form: &'static str, default: &'static str, about: &'static str) -> Key {
    Key {
        name,
        form,
        preset: Preset::Value(default),
        about,
        at_start: false,
    }
}

const fn optional(name: &'static str, form: &'static str, absent: &'static str, about: &'static str) -> Key {
    Key {
        name,
        form,
        preset: Preset::Absent(absent),
        about,
        at_start: false,
    }
}

const fn required(name: &'static str, form: &'static str, about: &'static str) -> Key {
    Key {
        name,
        form,
        preset: Preset::Required,
        about,
        at_start: false,
    }
}
