//! Keys and the keyring. The first key signs and all keys verify, so that keys can be rotated without voiding a token.

use ropeline_ids::Secret;
use std::fmt;
use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::audience::{Audience, MAX_AUDIENCES};

/// Fewest bytes of a secret. HMAC loses strength with fewer bytes than its digest has (RFC 2104, section 3).
pub const MIN_SECRET: usize = 32;

/// Most keys of a ring; two are enough to rotate.
pub const MAX_KEYS: usize = 16;

/// One key as an operator configures it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    pub id: KeyId,
    pub secret: Secret,
}

/// The name of a key in the tokens that it signs: 1 to 16 of `a-z`, `0-9` and `-`. Not a secret.
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

/// Why a list of keys is not a valid keyring.
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
    #[error("there are {0} audiences, at most {MAX_AUDIENCES} are allowed")]
    TooManyAudiences(usize),
}

/// The keys in force, each combined with every audience. Clones share the keys.
#[derive(Clone)]
pub struct Keyring {
    signers: Arc<[Signer]>,
}

/// The signer of a ring that made a token, by its index. A signer is a key combined with an audience.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignedBy(usize);

impl SignedBy {
    /// The signer of new tokens; also named for tokens that are never signed again.
    pub const FIRST: Self = Self(0);

    #[must_use]
    pub fn is_first(self) -> bool {
        self == Self::FIRST
    }

    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// The identity of a signer across rings. Not a secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignerMark {
    /// The key's id, and its audience if it has one; for display.
    pub name: String,
    /// First bytes of a MAC. They differ for two secrets with the same id.
    pub print: [u8; 8],
}

impl Keyring {
    /// A ring without audiences. The first key signs, all keys verify; the order of the others does not matter.
    ///
    /// # Errors
    /// If there are no keys, too many keys, two keys with one id, or a secret that is too short.
    pub fn new(keys: Vec<Key>) -> Result<Self, KeyError> {
        Self::for_audiences(keys, &[])
    }

    /// A ring with audiences. The first key with the first audience signs, every key with every audience verifies.
    ///
    /// # Errors
    /// As [`Keyring::new`], and if there are too many audiences.
    pub fn for_audiences(keys: Vec<Key>, audiences: &[Audience]) -> Result<Self, KeyError> {
        if keys.is_empty() {
            return Err(KeyError::None);
        }
        if keys.len() > MAX_KEYS {
            return Err(KeyError::TooMany(keys.len()));
        }
        if audiences.len() > MAX_AUDIENCES {
            return Err(KeyError::TooManyAudiences(audiences.len()));
        }
        let any = [Audience::NONE];
        let audiences = if audiences.is_empty() { &any } else { audiences };
        let mut signers: Vec<Signer> = Vec::with_capacity(keys.len() * audiences.len());
        for key in keys {
            if signers.iter().any(|signer| signer.id == key.id) {
                return Err(KeyError::Repeated(key.id));
            }
            for audience in audiences {
                signers.push(Signer::for_audience(&key, audience)?);
            }
        }
        Ok(Self {
            signers: signers.into(),
        })
    }

    /// Whether `other` is this ring or a clone of it.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.signers, &other.signers)
    }

    /// The identities of its signers, in the order of [`SignedBy::index`].
    #[must_use]
    pub fn marks(&self) -> Vec<SignerMark> {
        self.signers.iter().map(Signer::mark).collect()
    }

    /// The signer of new tokens.
    pub(super) fn first(&self) -> &Signer {
        &self.signers[0]
    }

    /// The signers of the key with this id, one for each audience.
    pub(super) fn find(&self, id: &[u8]) -> impl Iterator<Item = (SignedBy, &Signer)> {
        let all = self.signers.iter().enumerate();
        all.filter_map(move |(at, signer)| (signer.id() == id).then_some((SignedBy(at), signer)))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Signer> {
        self.signers.iter()
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.signers.iter().map(|signer| signer.id.as_str()))
            .finish()
    }
}

/// A key combined with an audience. It holds the HMAC state after the key, which saves two of four hash blocks for each token.
pub(super) struct Signer {
    id: KeyId,
    audience: Audience,
    keyed: Hmac<Sha256>,
}

impl Signer {
    pub(super) fn new(key: &Key) -> Result<Self, KeyError> {
        Self::for_audience(key, &Audience::NONE)
    }

    fn for_audience(key: &Key, audience: &Audience) -> Result<Self, KeyError> {
        let bytes = key.secret.expose().len();
        if bytes < MIN_SECRET {
            let id = key.id.clone();
            return Err(KeyError::Short { id, bytes });
        }
        let secret = audience.derive(&key.secret);
        let keyed = Hmac::new_from_slice(secret.expose()).expect("HMAC takes a key of any length");
        Ok(Self {
            id: key.id.clone(),
            audience: audience.clone(),
            keyed,
        })
    }

    fn mark(&self) -> SignerMark {
        // SECURITY: no token's MAC begins like this, since no cookie's name has a space in it.
        let mac: [u8; 32] = self.mac_of(&[b"ropeline key print"]).finalize().into_bytes().into();
        let mut print = [0; 8];
        print.copy_from_slice(&mac[..8]);
        let name = match self.audience.as_str() {
            "" => self.id.to_string(),
            audience => format!("{} for {audience}", self.id),
        };
        SignerMark { name, print }
    }

    pub(super) fn name(&self) -> &str {
        self.id.as_str()
    }

    pub(super) fn id(&self) -> &[u8] {
        self.id.0.as_bytes()
    }

    /// A MAC with this key and no input yet.
    pub(super) fn mac(&self) -> Hmac<Sha256> {
        self.keyed.clone()
    }

    /// A MAC over the concatenation of `parts`. Callers choose parts so that no two lists concatenate to the same bytes.
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
        let most = (0..MAX_KEYS).map(|n| key(&format!("k{n}"), 32)).collect();
        assert!(Keyring::new(most).is_ok());
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
