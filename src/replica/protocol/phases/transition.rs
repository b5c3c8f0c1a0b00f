//! The end of a phase: the phase that follows, and the data with which it starts.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::replica::protocol::checkpoints::Checkpoints;
use crate::replica::protocol::step::{Ask, Asked};
use crate::room::{Joined, Position, State};
use crate::store::Snapshot;

/// The result of a phase for an answer: it stays, or another follows.
pub type Outcome<P> = ControlFlow<Transition, Box<P>>;

/// The next phase, with the data with which it starts.
pub enum Transition {
    /// `Starting`: the log is loaded anew.
    Restart(Restart),
    /// `Starting`, after a pause: the store is empty, or just coming up.
    AskAgain,
    /// `CatchingUp`: the entries after a snapshot are read.
    CatchUp(Box<Origin>),
    /// `Beginning`: a new log takes the place of this one.
    Begin(NewLog),
    /// `Rootless`: a log without a root, which this gate or another one began.
    Follow { epoch: u64, old: Option<State> },
    /// `Live`: the log was read to its end.
    Live(Box<State>, Box<Checkpoints>),
    /// `Frozen`: the entry at this position cannot be applied.
    Freeze(Position, Option<State>),
    /// `Behind`: the log goes on with a machine version that this binary lacks.
    FallBehind(u16),
    /// `Ended`: the last snapshot was saved, or cannot be.
    End,
}

/// The data that a gate keeps when it loads its log anew.
#[derive(Default)]
pub struct Restart {
    /// The state before. If the log is another one now, the places that only this state knows are restored.
    pub old: Option<State>,
    /// The checkpoint that is computed anew, because the gates' votes were undecided.
    pub disputed: Option<u64>,
}

/// The state that catching up starts from.
pub struct Origin {
    pub state: State,
    /// The same, for another try that stops before an entry that cannot be applied.
    pub base: Snapshot,
    /// The log's last life ended properly, or is not over.
    pub clean: bool,
    /// The log is not the last: see [`crate::store::Loaded::torn`].
    pub torn: bool,
    pub last_known: u64,
    /// The answers to this gate's last batch on record, and its serial.
    pub answered: Option<(u64, Vec<Joined>)>,
    pub restart: Restart,
}

/// A log that is to begin in place of the epoch `seen`, above `last_known`.
pub struct NewLog {
    pub seen: u64,
    pub last_known: u64,
    pub basis: Basis,
}

/// The state with which a new log starts.
pub enum Basis {
    /// The present rooms of this gate.
    Rooms(State),
    /// The rooms some time before the end of a log that one gate had to itself.
    Torn(State),
    /// No state: the log is the first, or all gates lost it.
    Nothing,
}

/// The next step of a phase.
#[expect(clippy::large_enum_variant, reason = "one at a time, and only handed on")]
pub enum Turn {
    Ask(Asked, Ask),
    /// Until this uptime, or until there is a message.
    Wait(Duration),
    /// Until this uptime, regardless of messages.
    Rest(Duration),
    /// A genuine token is of this epoch: a new log is to begin above it.
    BeginAbove(u64),
}

impl Transition {
    pub fn restart(old: Option<State>, disputed: Option<u64>) -> Self {
        Self::Restart(Restart { old, disputed })
    }

    pub fn begin(seen: u64, last_known: u64, basis: Basis) -> Self {
        Self::Begin(NewLog {
            seen,
            last_known,
            basis,
        })
    }
}
