//! Names that tables and keys had before: a file that uses one is refused with the present name.

/// Each with its table in front, the old name first.
pub const RENAMED: [(&str, &str); 2] = [("log", "logging"), ("room.admission", "room.load_control")];

/// The present name of the key that had the name `name`.
#[must_use]
pub fn present_name(name: &str) -> Option<&'static str> {
    let mut pairs = RENAMED.iter();
    pairs.find(|(old, _)| *old == name).map(|(_, new)| *new)
}
