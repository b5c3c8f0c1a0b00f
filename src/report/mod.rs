//! The fairness report: verifies a log's history, replays it, and checks the order of calls.
//!
//! [`audit`] walks through folders of an archive, or one gate's data folder, one file at a time. The rooms say which visitors were
//! called; whether one with a lower number was present is computed here from the gates' entries (`order`), so that
//! a fault of the rooms would show. The result is [`Findings`], as text, JSON, or a page.

mod advice;
mod closings;
mod codes;
pub mod describe;
mod findings;
mod interventions;
mod life;
mod line;
mod page;
mod plot;
mod replay;
mod sentence;
mod series;
mod source;
mod start;
pub mod structured;
mod text;
mod trail;
mod verdict;
mod votes;

use std::path::PathBuf;

pub use findings::*;
pub use life::Sought;
pub use page::html;
pub use sentence::verdict;
pub use series::{Moment, Point, Points, Series};
pub use source::{OpenError, Source};
pub use text::text;

use crate::room::{Chain, RoomName};

/// The input of an audit, and its scope.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only this room's lines.
    pub room: Option<RoomName>,
    /// The chain that a gate showed, or that an earlier report ended with: it must be in the history.
    pub expect: Option<Chain>,
    /// The chain before the first available entry, if the history before is not to be examined; `None`: the history has to
    /// begin with a log's first start.
    pub from: Option<Chain>,
    /// A visitor whose life is followed.
    pub visitor: Option<Sought>,
}

/// Given from time to time while an audit runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress<'a> {
    pub file: &'a str,
    pub index: usize,
    pub of: usize,
    pub entries: u64,
}

/// Reads the history in `folders` and reports on it. Nothing is changed.
pub fn audit(
    folders: &[PathBuf],
    options: &Options,
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<Findings, OpenError> {
    let source = Source::open(folders)?;
    let mut replay = replay::Replay::new(options, progress);
    let end = source.walk(&mut |step| replay.step(step));
    Ok(replay.end(end))
}
