//! The words of the design as types, so that no function takes two bare integers.

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

/// A class of visitors with its own order; lane 0 is the default, at most eight in a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LaneId(pub u8);

/// One unbroken life of a log: the incarnation of the log that issued a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Era(pub u64);

/// A visitor's place in order of arrival, ordered as the pair (era, n); never issued twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Number {
    pub era: Era,
    pub n: u32,
}

/// base(era) + n: the numbers of all eras of a lane on one axis.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Place(pub u64);

/// Grows when an operator resets a room; tokens of an older edition are void.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Edition(pub u32);

/// Names one call of a number, the same on every gate: the number and how often it has been called (first call: 1).
/// The token layer turns it into the pass id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallId {
    pub lane: LaneId,
    pub number: Number,
    pub count: u8,
}

/// The room's own clock in milliseconds; advances with the log's entries, at most five seconds an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Clock(pub u64);

impl Clock {
    /// `ms` later; stops at the end of time.
    #[must_use]
    pub fn plus(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to here, 0 if it is not earlier.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Wall time in milliseconds since the Unix epoch: for dates that people and browsers see, never for rules of the room.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Wall(pub u64);

impl Wall {
    /// `ms` later; stops at the end of time.
    #[must_use]
    pub fn plus(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to here, 0 if it is not earlier.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Stands for an account in one room: a keyed hash, of which nobody without the gates' keys learns whose it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tag(pub [u8; 8]);

/// Where an entry stands in the log: (incarnation, sequence), dense within an incarnation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position {
    pub incarnation: u64,
    pub sequence: u64,
}

/// As the log's own ids: incarnation, a hyphen, sequence.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.incarnation, self.sequence)
    }
}

/// A gate, for one life of its process: random, so that a restart is another gate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct GateId(pub u64);
