//! Keys and the ring of them: the first signs, all verify, so that keys can be rotated without voiding a token.

use std::fmt;
use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

/// Fewest bytes of a secret: the digest's length, below which HMAC loses strength (RFC 2104, section 3).
pub const MIN_SECRET: usize = 32;

/// Most keys of a ring; two are enough to rotate.
pub const MAX_KEYS: usize = 16;

/// One key as an operator configures it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    pub id: KeyId,
    pub secret: Secret,
}

/// Names a key in the tokens that it signed: 1 to 16 of `a-z`, `0-9` and `-`. Not a secret.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct KeyId(String);

impl KeyId {
    pub const MAX_LEN: usize = 16;

    /// `None` unless `id` is 1 to 16 of `a-z`, `0-9`, `-`.
    #[must_use]
    pub fn new(id: &str) -> Option<Self> {
        let fits = (1..=Self::MAX_LEN).contains(&id.len());
        let plain = id.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        (fits && plain).then(|| Self(id.to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A key's bytes: prints masked, and is overwritten when dropped.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl Secret {
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes themselves: only to key a MAC or to write the gate's own key file.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl PartialEq for Secret {
    /// SECURITY: in constant time, for secrets of one length.
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(masked)")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.fill(0);
        // Keeps the compiler from leaving out a write that nobody reads.
        std::hint::black_box(&mut self.0);
    }
}

/// Why keys make no ring.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeyError {
    #[error("there is no key")]
    None,
    #[error("there are {0} keys, at most {MAX_KEYS} are allowed")]
    TooMany(usize),
    #[error("the secret of key \"{id}\" has {bytes} bytes, at least {MIN_SECRET} are needed")]
    Short { id: KeyId, bytes: usize },
    #[error("two keys have the id \"{0}\"")]
    Repeated(KeyId),
}

/// The keys in force. Cloning shares them.
#[derive(Clone)]
pub struct Keyring {
    keys: Arc<[Signer]>,
}

impl Keyring {
    /// The first key signs, all verify; the order of the others does not matter.
    pub fn new(keys: Vec<Key>) -> Result<Self, KeyError> {
        if keys.is_empty() {
            return Err(KeyError::None);
        }
        if keys.len() > MAX_KEYS {
            return Err(KeyError::TooMany(keys.len()));
        }
        let mut signers: Vec<Signer> = Vec::with_capacity(keys.len());
        for key in keys {
            if signers.iter().any(|signer| signer.id == key.id) {
                return Err(KeyError::Repeated(key.id));
            }
            signers.push(Signer::new(key)?);
        }
        Ok(Self { keys: signers.into() })
    }

    /// Whether it is this ring, or a clone of it.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.keys, &other.keys)
    }

    /// The key that signs.
    pub(super) fn first(&self) -> &Signer {
        &self.keys[0]
    }

    pub(super) fn find(&self, id: &[u8]) -> Option<&Signer> {
        self.keys.iter().find(|signer| signer.id.0.as_bytes() == id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Signer> {
        self.keys.iter()
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.keys.iter().map(|signer| signer.id.as_str()))
            .finish()
    }
}

/// A key ready for use: its HMAC state after the key, which saves two of four hash blocks for every token.
pub(super) struct Signer {
    id: KeyId,
    keyed: Hmac<Sha256>,
}

impl Signer {
    pub(super) fn new(key: Key) -> Result<Self, KeyError> {
        let bytes = key.secret.expose();
        if bytes.len() < MIN_SECRET {
            return Err(KeyError::Short {
                id: key.id,
                bytes: bytes.len(),
            });
        }
        let keyed = Hmac::new_from_slice(bytes).expect("HMAC takes a key of any length");
        Ok(Self { id: key.id, keyed })
    }

    pub(super) fn name(&self) -> &str {
        self.id.as_str()
    }

    pub(super) fn id(&self) -> &[u8] {
        self.id.0.as_bytes()
    }

    /// A MAC under this key with nothing in it yet.
    pub(super) fn mac(&self) -> Hmac<Sha256> {
        self.keyed.clone()
    }

    /// A MAC over `parts`, which callers make so that no two lists of parts run together.
    pub(super) fn mac_of(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        parts.iter().fold(self.mac(), |mut mac, part| {
            mac.update(part);
            mac
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: &str, bytes: usize) -> Key {
        Key {
            id: KeyId::new(id).expect("a key id"),
            secret: Secret::new(vec![7; bytes]),
        }
    }

    #[test]
    fn secrets_below_32_bytes_are_refused() {
        let short = Keyring::new(vec![key("a", 32), key("b", 31)]).expect_err("31 bytes");
        assert_eq!(
            short.to_string(),
            "the secret of key \"b\" has 31 bytes, at least 32 are needed"
        );
        assert!(Keyring::new(vec![key("a", 32)]).is_ok());
    }

    #[test]
    fn a_ring_needs_a_key_and_has_no_id_twice_and_an_end() {
        assert_eq!(Keyring::new(vec![]).expect_err("none"), KeyError::None);
        let twice = Keyring::new(vec![key("a", 32), key("a", 40)]).expect_err("twice");
        assert!(matches!(twice, KeyError::Repeated(id) if id.as_str() == "a"));
        let many = (0..=MAX_KEYS).map(|n| key(&format!("k{n}"), 32)).collect();
        assert_eq!(
            Keyring::new(many).expect_err("too many"),
            KeyError::TooMany(MAX_KEYS + 1)
        );
    }

    #[test]
    fn key_ids_are_short_and_plain() {
        for good in ["a", "2026-05", "0123456789abcdef"] {
            assert!(KeyId::new(good).is_some(), "{good}");
        }
        for bad in ["", "0123456789abcdefg", "A", "a_b", "a b", "ä"] {
            assert!(KeyId::new(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn nothing_that_holds_a_secret_prints_it() {
        let key = Key {
            id: KeyId::new("a").expect("a key id"),
            secret: Secret::new(*b"0123456789abcdef0123456789abcdef"),
        };
        assert_eq!(format!("{key:?}"), "Key { id: KeyId(\"a\"), secret: Secret(masked) }");
        assert_eq!(format!("{:?}", Keyring::new(vec![key]).expect("a ring")), "[\"a\"]");
    }
}
