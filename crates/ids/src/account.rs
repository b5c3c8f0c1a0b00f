//! The name of an account, and the tags that represent it in a room.

use std::fmt;

/// Represents an account in one room: a keyed hash, which cannot be traced to the account without the gates' keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tag(pub [u8; 8]);

/// Longest identity in bytes; a longer one names no account.
pub const MAX_IDENTITY: usize = 1_024;

/// The source's name of an account: an opaque text, compared byte for byte. It prints masked.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity(String);

impl Identity {
    /// Without the white space around it. `None` when nothing is left, or too much.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = bare(text);
        (1..=MAX_IDENTITY).contains(&text.len()).then(|| Self(text.to_owned()))
    }

    /// The bytes themselves: only to be hashed with a key.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// A name without the characters that stacks trim around it: Unicode's white space, and U+FEFF, which JavaScript trims too.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}')
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity(masked)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_has_bytes_and_not_too_many_and_no_space_around_it() {
        assert_eq!(Identity::new(" ann\t"), Identity::new("ann"));
        for nobody in ["", "  ", &"x".repeat(MAX_IDENTITY + 1)] {
            assert_eq!(Identity::new(nobody), None);
        }
        assert!(Identity::new(&"x".repeat(MAX_IDENTITY)).is_some());
        assert_ne!(Identity::new("Ann"), Identity::new("ann"));
    }

    #[test]
    fn space_of_any_script_around_an_identity_makes_no_other_one() {
        let spaces = " \t\u{85}\u{A0}\u{1680}\u{2003}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";
        for space in spaces.chars() {
            for text in [
                format!("ann{space}"),
                format!("{space}ann"),
                format!(" {space}ann{space} "),
            ] {
                assert_eq!(Identity::new(&text), Identity::new("ann"), "{text:?}");
            }
            assert_eq!(Identity::new(&space.to_string()), None, "{space:?}");
            let within = format!("a{space}n");
            assert_eq!(Identity::new(&within).expect("an account").expose(), within.as_bytes());
        }
        assert_eq!(Identity::new(spaces), None);
    }

    #[test]
    fn an_identity_is_never_printed() {
        let printed = format!("{:?}", Identity::new("ann@shop.example"));
        assert_eq!(printed, "Some(Identity(masked))");
    }
}
