//! What each gate tells the others, in the store they share: which keys it has, and how its clock stands. No secret is in it.

use serde::{Deserialize, Serialize};

use crate::token::SignerMark;

/// A gate's note.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Note {
    /// How far the gate's clock is ahead of the store's, in milliseconds.
    pub ahead_ms: i64,
    /// Its keys, the first signs.
    pub keys: Vec<KeyMark>,
}

/// A key by its name, and by a mark that tells two secrets apart.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeyMark {
    pub name: String,
    pub print: [u8; 8],
}

impl Note {
    #[must_use]
    pub fn new(ahead_ms: i64, keys: &[SignerMark]) -> Self {
        Self {
            ahead_ms,
            keys: marks(keys),
        }
    }

    #[must_use]
    pub fn encode(&self) -> String {
        // Numbers and texts: nothing that JSON cannot hold.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// `None` for a text that no gate of this kind has left.
    #[must_use]
    pub fn decode(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// The keys of a ring, as gates tell each other.
pub fn marks(keys: &[SignerMark]) -> Vec<KeyMark> {
    let mark = |key: &SignerMark| KeyMark {
        name: key.name.clone(),
        print: key.print,
    };
    keys.iter().map(mark).collect()
}
