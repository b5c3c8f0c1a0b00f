//! A mistake in a configuration: its place, the mistake, and a right value.

use std::fmt;

use toml::de::Error;

use ropeline_ids::RoomName;

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
    /// The correction.
    pub right: String,
}

impl Mistake {
    /// Of a text that is no TOML.
    pub(in crate::config) fn of_syntax(text: &str, error: &Error) -> Self {
        let at = error.span().map_or(0, |span| span.start);
        Self {
            origin: Origin::Line(line(text, at)),
            key: String::new(),
            wrong: format!("this is no TOML: {}", error.message()),
            right: "lines of key = value below [table], texts in double quotes".to_owned(),
        }
    }

    /// Whether it is in the text of this room, which was added at run time.
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
    pub(in crate::config) fn new(path: String, list: Vec<Mistake>) -> Self {
        Self { path, list }
    }

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

/// A number with its noun.
pub(in crate::config) fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// The line of a byte, from 1.
pub(super) fn line(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    before.split(|b| *b == b'\n').count()
}
