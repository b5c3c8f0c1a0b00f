//! What a draw is made of, the three fingerprints that are published one after the other, and the key.
//!
//! Each fingerprint is there before the next fact is known: the commitment before the opening, the closing when nobody can
//! join the draw any more, the seal when the beacon's value is there. Each goes over the one before.

use super::hash::Hash;
use super::permutation::Permutation;

/// Longest name of a beacon, in bytes.
pub const MAX_BEACON_NAME: usize = 200;

/// Longest value of a beacon, in bytes.
pub const MAX_BEACON_VALUE: usize = 1_000;

/// A public value that nobody could know before the line was closed: its name is published with the commitment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Beacon<'a> {
    pub name: &'a str,
    pub value: &'a str,
}

/// One lane's draw, all of it known.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a> {
    pub room: &'a str,
    /// Empty in a room with a single line.
    pub line: &'a str,
    pub edition: u32,
    pub lane: u8,
    /// How many are drawn.
    pub count: u32,
    pub secret: Hash,
    pub beacon: Option<Beacon<'a>>,
}

impl Draw<'_> {
    /// Published before the opening: it shows nothing of the secret, and no other secret fits it. All lines and lanes of a
    /// room's edition have the same.
    #[must_use]
    pub fn commitment(&self) -> Hash {
        let edition = u64::from(self.edition).to_le_bytes();
        let fields = [
            self.room.as_bytes(),
            &edition,
            self.beacon_name().as_bytes(),
            &self.secret.0,
        ];
        Hash::over("anteroom draw 1 commitment", &fields)
    }

    /// Published when the line is closed for the draw: over the commitment, the line, the lane and the count.
    #[must_use]
    pub fn closing(&self, commitment: Hash) -> Hash {
        let (lane, count) = (u64::from(self.lane).to_le_bytes(), u64::from(self.count).to_le_bytes());
        Hash::over(
            "anteroom draw 1 closing",
            &[&commitment.0, self.line.as_bytes(), &lane, &count],
        )
    }

    /// Published with the secret: over the closing and the beacon's value.
    #[must_use]
    pub fn seal(&self, closing: Hash) -> Hash {
        Hash::over("anteroom draw 1 seal", &[&closing.0, self.beacon_value().as_bytes()])
    }

    /// The order that all of it gives.
    #[must_use]
    pub fn permutation(&self) -> Permutation {
        Permutation::new(&self.key().0, self.count)
    }

    /// What the order is made from.
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
        Hash::over("anteroom draw 1 key", &fields)
    }

    fn beacon_name(&self) -> &str {
        self.beacon.map_or("", |beacon| beacon.name)
    }

    fn beacon_value(&self) -> &str {
        self.beacon.map_or("", |beacon| beacon.value)
    }
}
