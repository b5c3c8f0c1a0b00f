//! Numbers of lanes, visitors, calls, entries and gates, and random ids.

use std::fmt;

use crate::name::{LineName, RoomName};

/// A class of visitors with its own order; lane 0 is the default, at most eight in a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LaneId(pub u8);

/// One unbroken life of the log. A number belongs to the epoch in which it was issued.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Epoch(pub u64);

/// A visitor's place in order of arrival, ordered as the pair (epoch, n); never issued twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Number {
    pub epoch: Epoch,
    pub n: u32,
}

/// base(epoch) + n: the numbers of all epochs of a lane on one axis.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Place(pub u64);

/// Grows with each sale and each reset of a room; tokens of an older edition are void.
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

impl CallId {
    /// Whether a later call of the same number, `known`, has taken the place of this one. Where this one is the later, the log
    /// that had it is lost, and it stands for the number as well as the one that the room knows.
    #[must_use]
    pub fn is_before(self, known: Self) -> bool {
        self.count < known.count
    }
}

/// Names a visitor who joined while the log could not be written, and who has no number yet: a random id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PendingId(pub [u8; 12]);

/// Names a code in logs and in the set of used codes, without being the code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CodeId(pub [u8; 6]);

impl fmt::Display for CodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Names one rehearsal: a random id, so that nothing of one counts in another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RehearsalId(pub [u8; 8]);

impl fmt::Display for RehearsalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl RehearsalId {
    /// Parses the output of [`Display`](fmt::Display).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let plain = text.len() == 16 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let value = u64::from_str_radix(text, 16).ok().filter(|_| plain)?;
        Some(Self(value.to_be_bytes()))
    }
}

/// A visitor's handle in one line, as tokens carry it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Visitor {
    pub room: RoomName,
    pub line: LineName,
    pub lane: LaneId,
    pub number: Number,
    /// The visitor is a virtual one of this rehearsal.
    pub rehearsal: Option<RehearsalId>,
}

/// The position of an entry in the log: (epoch, sequence), dense within an epoch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position {
    pub epoch: u64,
    pub sequence: u64,
}

/// In the form of the log's own ids: epoch, a hyphen, sequence.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.epoch, self.sequence)
    }
}

/// A gate, for one life of its process: random, so that a restart is another gate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct GateId(pub u64);
