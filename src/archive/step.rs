//! The items of a history, in order: files, beginnings of logs, states, entries and faults.

use super::course::Link;
use super::segment::Stored;
use crate::room::{Chain, Position};

/// A step on the way through a history.
#[derive(Debug)]
pub enum Step<'a> {
    /// Another file, with their number.
    File {
        file: &'a str,
        index: usize,
        of: usize,
    },
    /// A log begins, or the history in the middle of one; `after` is the last entry of the log before.
    Begins {
        first: Position,
        /// The chain before the first entry.
        before: Chain,
        after: Option<Position>,
        link: Link,
    },
    /// The state after `position`, as it was written down, and the chain there.
    Base {
        file: &'a str,
        position: Position,
        chain: Chain,
        state: &'a [u8],
    },
    Entry {
        file: &'a str,
        stored: &'a Stored,
    },
    Fault(Fault),
}

/// Something that is not as it should be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    #[error("{file} is damaged: {reason}")]
    Damaged { file: String, reason: String },
    #[error("{file} does not follow what was filed before it: entries before {position} were altered")]
    Chain { file: String, position: Position },
    #[error("entries are missing between {after} and {file}, which begins at {first}")]
    Gap {
        file: String,
        after: Position,
        first: Position,
    },
    #[error("{file} tells something else than the files before it about the entries up to {position}")]
    Differs { file: String, position: Position },
    #[error("{file} begins from a history that is not here: entries after {after} are missing, or were altered")]
    Elsewhere { file: String, after: Position },
}
