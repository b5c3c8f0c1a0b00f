//! The aim of a request to the gate: the answer of the upstream, or only leave for a proxy that carries the request itself.

use crate::config::Asker;

/// The aim of a request to the gate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aim {
    /// The shop's answer: the visitor's own request.
    Shop,
    /// Only whether the request may pass.
    Leave(Asker),
    /// After a no: the answer to give instead of the shop's.
    Words(Asker),
    /// Whether the request may pass, and if not the answer to give.
    LeaveOrWords(Asker),
}

impl Aim {
    /// The limits on routes are counted before the decision. A proxy that asks twice is counted when the answer is final.
    #[must_use]
    pub fn counts_first(self) -> bool {
        !self.is_for_leave_only()
    }

    /// The answer lets the request pass to the shop, unless a cookie has to be set first (`must_set`): then it leads back here.
    #[must_use]
    pub fn forwards(self, must_set: bool) -> bool {
        match self {
            Self::Shop => true,
            Self::Words(_) => false,
            Self::Leave(_) | Self::LeaveOrWords(_) => !must_set,
        }
    }

    /// The answer is a yes or a no, and nothing but a yes is carried out.
    #[must_use]
    pub fn is_for_leave_only(self) -> bool {
        matches!(self, Self::Leave(_))
    }
}
