//! The facts of a draw, the three fingerprints that are published one after the other, and the key.
//!
//! Each fingerprint is published before the next fact is known: the commitment before the opening, the closing when no
//! visitor can join the draw any more, the seal when the beacon's value is there. Each covers the one before.

use std::sync::Arc;

use crate::draw::orders::{AdmissionOrder, Arrangement};
use ropeline_ids::Hash;

/// Longest name of a beacon, in bytes.
pub const MAX_BEACON_NAME: usize = 200;

/// Digits of a beacon's value: 32 or 64 bytes, as publishers of randomness give them.
const BEACON_DIGITS: [usize; 2] = [64, 128];

/// Whether a text is spelled as a beacon's value: exactly 64 or 128 lower-case hexadecimal digits. One value has one
/// spelling, so that the operator cannot choose among several.
#[must_use]
pub fn is_beacon_value(text: &str) -> bool {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    BEACON_DIGITS.contains(&text.len()) && text.bytes().all(digit)
}

/// A public value that could not be known before the line was closed: its name is published with the commitment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Beacon<'a> {
    pub name: &'a str,
    pub value: &'a str,
}

/// One lane's draw with all its facts.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a> {
    /// The order in which the drawn visitors are called.
    pub order: AdmissionOrder,
    pub room: &'a str,
    /// Empty in a room with a single line.
    pub line: &'a str,
    pub edition: u32,
    pub lane: u8,
    /// When the line begins to form, and the opening that was promised for it: milliseconds since 1970.
    pub begins_ms: u64,
    pub opens_ms: u64,
    /// When the line was closed for the draw.
    pub closed_ms: u64,
    /// How many are drawn.
    pub count: u32,
    pub secret: Hash,
    pub beacon: Option<Beacon<'a>>,
}

impl Draw<'_> {
    /// Published before the opening: it shows nothing of the secret, and no other secret fits it, nor another opening. All lines
    /// and lanes of a room's edition have the same.
    #[must_use]
    pub fn commitment(&self) -> Hash {
        let edition = u64::from(self.edition).to_le_bytes();
        let (begins, opens) = (self.begins_ms.to_le_bytes(), self.opens_ms.to_le_bytes());
        let fields = [
            self.room.as_bytes(),
            &edition,
            &begins,
            &opens,
            self.beacon_name().as_bytes(),
            &self.secret.0,
        ];
        Hash::over(&self.label("commitment"), &fields)
    }

    /// Published when the line is closed for the draw: over the commitment, the line, the lane, the count and the time.
    #[must_use]
    pub fn closing(&self, commitment: Hash) -> Hash {
        let (lane, count) = (u64::from(self.lane).to_le_bytes(), u64::from(self.count).to_le_bytes());
        Hash::over(
            &self.label("closing"),
            &[
                &commitment.0,
                self.line.as_bytes(),
                &lane,
                &count,
                &self.closed_ms.to_le_bytes(),
            ],
        )
    }

    /// Published with the secret: over the closing and the beacon's value.
    #[must_use]
    pub fn seal(&self, closing: Hash) -> Hash {
        Hash::over(&self.label("seal"), &[&closing.0, self.beacon_value().as_bytes()])
    }

    /// The resulting order of all visitors.
    #[must_use]
    pub fn arranged(&self) -> Arc<dyn Arrangement> {
        self.order.arrange(&self.key().0, self.count)
    }

    /// The key of the order.
    #[must_use]
    pub fn key(&self) -> Hash {
        let fields = [
            self.room.as_bytes(),
            self.line.as_bytes(),
            &u64::from(self.lane).to_le_bytes(),
            &u64::from(self.edition).to_le_bytes(),
            &u64::from(self.count).to_le_bytes(),
            &self.secret.0,
            self.beacon_name().as_bytes(),
            self.beacon_value().as_bytes(),
        ];
        Hash::over(&self.label("key"), &fields)
    }

    /// The label of a hash's input, with the form that names the order.
    fn label(&self, what: &str) -> String {
        format!("ropeline draw {} {what}", self.order.form())
    }

    fn beacon_name(&self) -> &str {
        self.beacon.map_or("", |beacon| beacon.name)
    }

    fn beacon_value(&self) -> &str {
        self.beacon.map_or("", |beacon| beacon.value)
    }
}
