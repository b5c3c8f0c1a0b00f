//! The protocol's calls of the log, the log's answers, and the time of the next step.

use std::time::Duration;

use crate::room::{Position, StateHash};
use crate::store::{Append, Beginning, Begun, Exchanged, Loaded, Occasion, Skips, Snapshot};

/// The next step of the protocol.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time, and only handed on")]
pub enum Step {
    /// Carry this out and pass the answer back.
    Ask(Ask),
    /// Come again at this uptime, or as soon as there is a message.
    Wait(Duration),
    /// Come again at this uptime: no message brings it sooner.
    Rest(Duration),
    Ended,
}

/// A call of the log; see [`crate::store::Log`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::large_enum_variant, reason = "one at a time, and only handed on")]
pub enum Ask {
    Load,
    Root(StateHash),
    Exchange { at: Position, append: Option<Append> },
    Save { snapshot: Snapshot, occasion: Occasion },
    Begin { seen: u64, beginning: Beginning },
    Skip(Position),
    Skips,
}

/// The log's answer to an [`Ask`] of the same name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Loaded(Loaded),
    Root(Option<Snapshot>),
    Exchanged(Exchanged),
    Saved,
    Begun(Begun),
    Skipped,
    Skips(Skips),
}

/// The call whose answer is awaited, with the data that the answer does not repeat.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Load,
    Root(StateHash),
    /// An answer acknowledges the append, if there was one.
    Exchange {
        appended: bool,
    },
    Save(Saving),
    Begin,
    Skip,
    Skips,
}

/// Which snapshot is being saved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Saving {
    Checkpoint(u64),
    Root(StateHash),
    Last,
}
