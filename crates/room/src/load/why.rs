//! The reason that limits calls, and the figures of load control that a room shows.

use crate::codec::codec;
use crate::entry::commands::Who;
use crate::load::figures::Measured;
use ropeline_ids::{Clock, Wall};

/// The reason that limits calls, apart from slots and rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Why {
    /// No limit.
    #[default]
    Free,
    /// The upstream has requests: fewer are called than at rest.
    Requests,
    /// Requests take long.
    Latency,
    /// Requests fail.
    Errors,
    /// The gates send requests to no server: no visitor is called, except one per step as a trial.
    Circuit,
    /// There are no valid figures: no visitor is called.
    Figures,
}

codec! {
    enum Why { 0 => Free, 1 => Requests, 2 => Latency, 3 => Errors, 4 => Circuit, 5 => Figures };
}

/// The figures of load control that a room shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadView {
    pub why: Why,
    /// Since when, and since when calls are made or stopped.
    pub since: Wall,
    /// Visitors called per step at most, in thousandths; 0: none.
    pub step_milli: u64,
    /// About as many visitors are called as are allowed: more would be called without load control.
    pub binds: bool,
    /// The figures in force.
    pub seen: Option<Measured>,
    /// Number of gates whose reports are in force.
    pub gates: usize,
    /// Until when outside figures are in force, and who gave them.
    pub outside: Option<(Clock, Option<Who>)>,
    /// Thousandths of the called visitors who come.
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
