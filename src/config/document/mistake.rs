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
    /// A place of the file.
    File(Place),
    /// A place in the text of a room that was added at run time.
    Added(String, Place),
}

/// A place in a text: a line and a character in it, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

impl Place {
    /// The place of a byte; one behind the end has the place of the end.
    pub(super) fn of(text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
        }
    }
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
            origin: Origin::File(Place::of(text, at)),
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
            Origin::File(place) => write!(f, "line {}: ", place.line)?,
            Origin::Added(room, place) => write!(f, "room {room}, line {}: ", place.line)?,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_counted_in_lines_and_characters_from_1() {
        let text = "a = 1\nöß = 2\n";
        let place = |at: usize| (Place::of(text, at).line, Place::of(text, at).column);
        assert_eq!((place(0), place(4), place(6)), ((1, 1), (1, 5), (2, 1)));
        let two = text.find('2').expect("it is there");
        assert_eq!((place(two), place(text.len()), place(99)), ((2, 6), (3, 1), (3, 1)));
    }
}
