//! Names of rooms and lines.

use std::fmt;

/// A room's name: 1 to 32 of `a-z`, `0-9` and `-`, so that it can stand in a cookie's name and in a path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RoomName(String);

impl RoomName {
    pub const MAX_LEN: usize = 32;

    /// `None` unless `name` is 1 to 32 of `a-z`, `0-9`, `-`.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let fits = (1..=Self::MAX_LEN).contains(&name.len());
        let plain = name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        (fits && plain).then(|| Self(name.to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RoomName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The value that names one line of a `per` room, at most 64 bytes of UTF-8; empty in a room with a single line.
// PERF: no empty text, of which there are no bytes to compare: processors take half a microsecond to find that out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LineName(Option<String>);

impl LineName {
    pub const MAX_LEN: usize = 64;

    /// The line of a room without `per`.
    pub const ONLY: Self = Self(None);

    /// `None` when longer than 64 bytes or when it holds a control character.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let plain = name.len() <= Self::MAX_LEN && !name.chars().any(char::is_control);
        plain.then(|| Self((!name.is_empty()).then(|| name.to_owned())))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    #[must_use]
    pub fn is_only(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Display for LineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Longest name of a lane, in bytes.
pub const MAX_LANE_NAME: usize = 32;
