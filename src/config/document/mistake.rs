//! What is wrong with a configuration, in words for the one who writes it.

use std::fmt;

use super::{Config, NamedFile};
use crate::room::RoomName;

/// Where a value came from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Origin {
    /// No file: the defaults.
    Defaults,
    /// An option of the command line, such as `--upstream`.
    Option(&'static str),
    /// A line of the file, from 1.
    Line(usize),
    /// A line of a room that was added at run time.
    Added(String, usize),
}

/// One mistake or warning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    pub origin: Origin,
    /// With its table in front, such as `room[1].grace`; empty for the file as a whole.
    pub key: String,
    pub wrong: String,
    /// What would be right.
    pub right: String,
}

impl Mistake {
    /// Whether it stands in the text of this room, which was added at run time.
    #[must_use]
    pub fn is_of(&self, room: &RoomName) -> bool {
        matches!(&self.origin, Origin::Added(name, _) if name == room.as_str())
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::Line(line) => write!(f, "line {line}: ")?,
            Origin::Added(room, line) => write!(f, "room {room}, line {line}: ")?,
            Origin::Option(option) => write!(f, "{option}: ")?,
            Origin::Defaults => {}
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        write!(f, "{}; right: {}", self.wrong, self.right)
    }
}

/// All mistakes of a configuration, so that it is not used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistakes {
    path: String,
    list: Vec<Mistake>,
}

impl Mistakes {
    #[must_use]
    pub fn list(&self) -> &[Mistake] {
        &self.list
    }
}

impl std::error::Error for Mistakes {}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for mistake in &self.list {
            writeln!(f, "{}: {mistake}", self.path)?;
        }
        write!(f, "{}: {}", self.path, count(self.list.len(), "mistake"))
    }
}

/// What reading a configuration gave: everything wrong with it, everything odd, and itself where nothing is wrong.
#[derive(Debug)]
pub struct Report {
    pub(in crate::config) path: String,
    pub(in crate::config) files: Vec<NamedFile>,
    pub(in crate::config) config: Option<Config>,
    pub(in crate::config) mistakes: Vec<Mistake>,
    pub(in crate::config) warnings: Vec<Mistake>,
}

impl Report {
    #[must_use]
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }

    #[must_use]
    pub fn warnings(&self) -> &[Mistake] {
        &self.warnings
    }

    /// The files that it names, right or wrong.
    #[must_use]
    pub fn files(&self) -> &[NamedFile] {
        &self.files
    }

    /// These are to be looked at too.
    pub fn names_too(&mut self, files: &[NamedFile]) {
        let new = files.iter().filter(|file| !self.files.contains(file));
        let new: Vec<NamedFile> = new.cloned().collect();
        self.files.extend(new);
    }

    /// The configuration, where nothing is wrong with it.
    #[must_use]
    pub fn config(&self) -> Option<&Config> {
        self.config.as_ref()
    }

    /// The configuration with its warnings, or all mistakes.
    pub fn finish(self) -> Result<(Config, Vec<Mistake>), Mistakes> {
        match self.config {
            Some(config) if self.mistakes.is_empty() => Ok((config, self.warnings)),
            _ => Err(Mistakes {
                path: self.path,
                list: self.mistakes,
            }),
        }
    }
}

/// A line for each mistake and warning, then one with their number: what `ropeline check` prints.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for mistake in &self.mistakes {
            writeln!(f, "{}: {mistake}", self.path)?;
        }
        for warning in &self.warnings {
            writeln!(f, "{}: warning: {warning}", self.path)?;
        }
        let (mistakes, warnings) = (self.mistakes.len(), self.warnings.len());
        match (mistakes, warnings) {
            (0, 0) => writeln!(f, "{}: good", self.path),
            (0, _) => writeln!(f, "{}: good, with {}", self.path, count(warnings, "warning")),
            (_, 0) => writeln!(f, "{}: {}", self.path, count(mistakes, "mistake")),
            _ => writeln!(
                f,
                "{}: {}, {}",
                self.path,
                count(mistakes, "mistake"),
                count(warnings, "warning")
            ),
        }
    }
}

fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
