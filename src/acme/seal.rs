//! Sealing of records: a store that is read by a stranger gives away no private key, and one that is written to by a stranger makes no
//! gate answer a challenge that is not its own.
//!
//! Each of `[tokens] keys` gives a key of AES-256-GCM by HKDF (RFC 5869). The first one seals, all open. The name of the record is
//! authenticated with it, so one record cannot stand in another's place.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, MAX_TAG_LEN, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};

use crate::token::Key;
use ropeline_ids::Wall;

/// Seals and opens records.
pub struct Sealer {
    keys: Vec<(String, LessSafeKey)>,
}

/// A record that was opened.
pub struct Opened {
    pub bytes: Vec<u8>,
    /// The first key sealed it.
    pub is_first: bool,
    pub written: Wall,
}

/// Why there is no sealed record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SealError {
    #[error("there is no key")]
    NoKey,
    #[error("the system gives no randomness, or the cipher fails")]
    Cipher,
}

/// Why a record cannot be opened.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OpenError {
    #[error("it is sealed with the key \"{key}\", which this gate does not have")]
    UnknownKey { key: String, written: Wall },
    #[error("it was altered, or sealed with another secret of the same name")]
    Altered {
        /// `None`: it is no sealed record at all.
        written: Option<Wall>,
    },
}

impl OpenError {
    /// When the record was written, as it says itself: nobody can prove it without the key.
    pub fn written(&self) -> Option<Wall> {
        match self {
            Self::UnknownKey { written, .. } => Some(*written),
            Self::Altered { written } => *written,
        }
    }
}

impl Sealer {
    pub fn new(keys: &[Key]) -> Self {
        let derived = keys.iter().filter_map(|key| Some((key.id.to_string(), derive(key)?)));
        Self {
            keys: derived.collect(),
        }
    }

    /// Seals the record of this name; when it was written can be read without a key.
    pub fn seal(&self, name: &str, bytes: &[u8], now: Wall) -> Result<Vec<u8>, SealError> {
        let (id, key) = self.keys.first().ok_or(SealError::NoKey)?;
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|_| SealError::Cipher)?;
        let mut sealed = head(id, now);
        let aad = [&sealed[..], name.as_bytes()].concat();
        let mut body = bytes.to_vec();
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(aad), &mut body)
            .map_err(|_| SealError::Cipher)?;
        sealed.extend_from_slice(&nonce);
        sealed.append(&mut body);
        Ok(sealed)
    }

    pub fn open(&self, name: &str, sealed: &[u8]) -> Result<Opened, OpenError> {
        let parts = parts(sealed).ok_or(OpenError::Altered { written: None })?;
        let altered = OpenError::Altered {
            written: Some(parts.written),
        };
        let found = self.keys.iter().position(|(id, _)| *id == parts.key);
        let Some(at) = found else {
            return Err(OpenError::UnknownKey {
                key: parts.key,
                written: parts.written,
            });
        };
        let nonce = Nonce::try_assume_unique_for_key(parts.nonce).map_err(|_| altered.clone())?;
        let aad = [parts.head, name.as_bytes()].concat();
        let mut body = parts.body.to_vec();
        let length = self.keys[at]
            .1
            .open_in_place(nonce, Aad::from(aad), &mut body)
            .map_err(|_| altered)?
            .len();
        body.truncate(length);
        Ok(Opened {
            bytes: body,
            is_first: at == 0,
            written: parts.written,
        })
    }
}

fn derive(key: &Key) -> Option<LessSafeKey> {
    let pseudorandom = Salt::new(HKDF_SHA256, SALT).extract(key.secret.expose());
    let expanded = pseudorandom.expand(&[PURPOSE], &AES_256_GCM).ok()?;
    Some(LessSafeKey::new(UnboundKey::from(expanded)))
}

struct Parts<'s> {
    head: &'s [u8],
    key: String,
    written: Wall,
    nonce: &'s [u8],
    body: &'s [u8],
}

/// Format, length of the key's id, the id, milliseconds.
fn head(id: &str, now: Wall) -> Vec<u8> {
    let length = u8::try_from(id.len()).unwrap_or(u8::MAX);
    let mut head = vec![FORMAT, length];
    head.extend_from_slice(&id.as_bytes()[..usize::from(length)]);
    head.extend_from_slice(&now.0.to_be_bytes());
    head
}

fn parts(sealed: &[u8]) -> Option<Parts<'_>> {
    let [FORMAT, length, rest @ ..] = sealed else {
        return None;
    };
    let (id, rest) = rest.split_at_checked(usize::from(*length))?;
    let (written, rest) = rest.split_first_chunk::<8>()?;
    let (nonce, body) = rest.split_at_checked(NONCE_LEN)?;
    (body.len() >= MAX_TAG_LEN).then_some(())?;
    Some(Parts {
        head: &sealed[..2 + id.len() + 8],
        key: String::from_utf8(id.to_vec()).ok()?,
        written: Wall(u64::from_be_bytes(*written)),
        nonce,
        body,
    })
}

const FORMAT: u8 = 1;
const SALT: &[u8] = b"ropeline";
const PURPOSE: &[u8] = b"records of certificates";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::KeyId;
    use ropeline_ids::Secret;

    fn key(id: &str, byte: u8) -> Key {
        Key {
            id: KeyId::new(id).unwrap(),
            secret: Secret::new(vec![byte; 32]),
        }
    }

    fn opened(sealer: &Sealer, name: &str, sealed: &[u8]) -> Option<(Vec<u8>, bool)> {
        let opened = sealer.open(name, sealed).ok()?;
        Some((opened.bytes, opened.is_first))
    }

    #[test]
    fn the_first_key_seals_and_every_key_opens() {
        let (old, both) = (Sealer::new(&[key("a", 1)]), Sealer::new(&[key("b", 2), key("a", 1)]));
        let by_old = old.seal("account", b"secret", Wall(5)).unwrap();
        let by_new = both.seal("account", b"secret", Wall(5)).unwrap();
        assert_eq!(opened(&both, "account", &by_old), Some((b"secret".to_vec(), false)));
        assert_eq!(opened(&both, "account", &by_new), Some((b"secret".to_vec(), true)));
        assert_eq!(
            old.open("account", &by_new).err(),
            Some(OpenError::UnknownKey {
                key: "b".to_owned(),
                written: Wall(5)
            })
        );
        // The same id with another secret.
        let other = Sealer::new(&[key("a", 3)]);
        let written = Some(Wall(5));
        assert_eq!(
            other.open("account", &by_old).err(),
            Some(OpenError::Altered { written })
        );
        assert_eq!(
            other.open("account", b"none").err(),
            Some(OpenError::Altered { written: None })
        );
        assert_eq!(Sealer::new(&[]).seal("account", b"", Wall(0)), Err(SealError::NoKey));
    }

    #[test]
    fn no_byte_can_be_another_and_no_record_stands_in_the_place_of_another() {
        let sealer = Sealer::new(&[key("a", 1)]);
        let sealed = sealer.seal("certificate:a.example", b"secret", Wall(5)).unwrap();
        assert!(opened(&sealer, "certificate:b.example", &sealed).is_none());
        for at in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[at] ^= 1;
            assert!(opened(&sealer, "certificate:a.example", &altered).is_none(), "{at}");
            assert!(
                opened(&sealer, "certificate:a.example", &sealed[..at]).is_none(),
                "{at}"
            );
        }
        assert!(!sealed.windows(6).any(|part| part == b"secret"));
    }

    #[test]
    fn two_records_of_one_content_differ() {
        let sealer = Sealer::new(&[key("a", 1)]);
        let seal = || sealer.seal("account", b"secret", Wall(5)).unwrap();
        assert_ne!(seal(), seal());
    }
}
