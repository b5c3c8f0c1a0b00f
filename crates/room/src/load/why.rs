//! What stands in the way of calls, and what a room shows of it.

use crate::codec::codec;
use crate::entry::commands::Who;
use crate::load::figures::Measured;
use ropeline_ids::{Clock, Wall};

/// What stands in the way of calls, but for slots and rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Why {
    /// Nothing.
    #[default]
    Free,
    /// The upstream has requests: fewer are called than at rest.
    Requests,
    /// Requests take long.
    Latency,
    /// Requests fail.
    Errors,
    /// The gates ask no server: nobody is called, but for one a step to see whether that is over.
    Circuit,
    /// There are no figures that hold: nobody is called.
    Figures,
}

codec! {
    enum Why { 0 => Free, 1 => Requests, 2 => Latency, 3 => Errors, 4 => Circuit, 5 => Figures };
}

/// What a room shows of this.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadView {
    pub why: Why,
    /// Since when, and since when somebody is called or nobody.
    pub since: Wall,
    /// Visitors called a step at most, in thousandths; 0: nobody.
    pub step_milli: u64,
    /// As many are called as are allowed: more would be, were it not for this.
    pub binds: bool,
    /// The figures that hold.
    pub seen: Option<Measured>,
    /// Gates whose reports hold.
    pub gates: usize,
    /// The figures are given from outside until then, by whom.
    pub outside: Option<(Clock, Option<Who>)>,
    /// Thousandths of those called who come.
    pub share_permille: u64,
}

impl Why {
    pub const ALL: [Self; 6] = [
        Self::Free,
        Self::Requests,
        Self::Latency,
        Self::Errors,
        Self::Circuit,
        Self::Figures,
    ];

    /// As in the API, metrics and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Requests => "requests",
            Self::Latency => "latency",
            Self::Errors => "errors",
            Self::Circuit => "circuit",
            Self::Figures => "figures",
        }
    }
}
