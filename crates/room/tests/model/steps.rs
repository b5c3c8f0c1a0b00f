//! The steps of a world: acts of visitors, faults, and time.

use ropeline_room::Number;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    Join(usize),
    /// Asks with the ticket, as the waiting page does.
    Ask(usize),
    /// A request of one who is called.
    ComeIn(usize),
    /// A request with the pass.
    Use(usize),
    /// The same, and its gate crashes before the log has heard of it.
    UseAndCrash(usize),
    Leave(usize),
    /// Somebody shows an old ticket or pass of this visitor.
    Replay(usize),
    Time(When),
    Read,
    Crash,
    LoseEverything,
    Cut,
    Mend,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    Before,
    At,
    After,
}

/// What becomes of the entry of an act.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Fine,
    /// Its gate hears nothing of it and appends it again; the visitor gets no answer.
    Unanswered,
    /// The visitor has the answer, and the log comes back without the entry.
    Lost,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    pub gate: usize,
    pub act: Act,
    pub fate: Fate,
}

/// What came of an act, for the laws.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Came {
    /// A number that was given to a newcomer.
    pub numbered: Option<Number>,
    /// A visitor who was never away was told that the place is lost.
    pub thrown_out: Option<char>,
}

impl Step {
    pub fn fine(act: Act) -> Self {
        Self {
            gate: 0,
            act,
            fate: Fate::Fine,
        }
    }
}

impl Act {
    pub fn visitor(self) -> Option<usize> {
        match self {
            Self::Join(at)
            | Self::Ask(at)
            | Self::ComeIn(at)
            | Self::Use(at)
            | Self::UseAndCrash(at)
            | Self::Leave(at)
            | Self::Replay(at) => Some(at),
            _ => None,
        }
    }
}
