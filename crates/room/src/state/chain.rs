//! The chain: one hash over every entry of the log, in order, from epoch to epoch.
//!
//! It is part of the state, so every replica knows it wherever it started, and a vote on a checkpoint confirms the whole
//! history before it. To alter an archived entry, an attacker has to alter every hash after it.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::codec::codec;

/// SHA-256 over (the chain before, the mark of an entry that was skipped, the encoded entry); an epoch begins with a link of
/// its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Chain(pub [u8; 32]);

codec! {
    struct Chain(hash);
}

/// The label of an epoch's first link, so that no entry can pass for one.
const LABEL: &[u8] = b"ropeline chain 1\n";

impl Chain {
    /// The chain of an epoch before its first entry: SHA-256 over a label, the epoch (8 bytes, little-endian)
    /// and the chain that its rooms ended with in the log before (zeros for rooms begun from nothing).
    #[must_use]
    pub fn begin(epoch: u64, before: Self) -> Self {
        let mut hash = Sha256::new();
        hash.update(LABEL);
        hash.update(epoch.to_le_bytes());
        hash.update(before.0);
        Self(hash.finalize().into())
    }

    /// The chain after an entry, given as [`Entry::encode`](crate::Entry::encode) writes it: SHA-256 over the chain before, one
    /// byte that is 1 if an operator had the entry passed over and 0 otherwise, and the entry.
    #[must_use]
    pub fn then(self, entry: &[u8], passed_over: bool) -> Self {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update([u8::from(passed_over)]);
        hash.update(entry);
        Self(hash.finalize().into())
    }

    /// Parses the text that [`Display`](fmt::Display) writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        crate::draw::Hash::parse(text).map(|hash| Self(hash.0))
    }
}

/// 64 hexadecimal digits.
impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::draw::Hash(self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_depends_on_what_was_before_and_on_every_byte() {
        let first = Chain::begin(7, Chain::default());
        assert_ne!(first, Chain::begin(8, Chain::default()));
        assert_ne!(first, Chain::begin(7, first));
        assert_ne!(first.then(b"entry", false), first.then(b"entrz", false));
        assert_ne!(first.then(b"entry", false), first.then(b"entry", true));
        assert_ne!(
            first.then(b"a", false).then(b"b", false),
            first.then(b"b", false).then(b"a", false)
        );
    }

    /// Computed with `sha256sum`, so that others can check the archives of today.
    #[test]
    fn the_form_of_a_link_is_fixed() {
        let first = Chain::begin(1, Chain::default());
        assert_eq!(
            first.to_string(),
            "550992ffc27cdb789f169074fdc1897a547af064801f40131630996a94974e98"
        );
        assert_eq!(
            first.then(b"an entry", false).to_string(),
            "7639ab0d1295de6d057f59f4bad35496acf2ae3f0fae1db7765223bac1fb4d55"
        );
    }

    #[test]
    fn a_chain_is_read_back_and_nothing_else_is() {
        let chain = Chain::begin(9, Chain::default());
        assert_eq!(Chain::parse(&chain.to_string()), Some(chain));
        for other in ["", "00", &"g".repeat(64), &"0".repeat(63), &"é".repeat(32)] {
            assert_eq!(Chain::parse(other), None, "{other}");
        }
    }
}
