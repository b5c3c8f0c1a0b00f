//! The request signature (`Ropeline-Signature`): lets an upstream refuse requests that did not pass through the gate.
//!
//! It is an HMAC-SHA256 with a key of its own, which gate and upstream share. It covers five lines: a label with the version,
//! the time in seconds since 1970, the method, the target as it stands in the request, and the value of `Ropeline-Session`
//! (empty if there is none). No line can contain the line feed that separates them, so no two requests give the same text.

use std::fmt;

use hmac::Mac as _;

use super::key::{Key, KeyError, Signer};
use ropeline_ids::Wall;

/// Signs forwarded requests.
pub struct RequestSigner(Signer);

impl RequestSigner {
    /// A signer with the operator's key.
    ///
    /// # Errors
    /// If the secret is too short.
    pub fn new(key: &Key) -> Result<Self, KeyError> {
        Signer::new(key).map(Self)
    }

    /// The header's value: `v1;k=KEY ID;t=SECONDS;h=64 hexadecimal digits`. Costs one HMAC of three to five blocks.
    #[must_use]
    pub fn sign(&self, method: &str, target: &str, session: &str, now: Wall) -> String {
        debug_assert!(
            ![method, target, session].iter().any(|part| part.contains('\n')),
            "no part of a request's head holds a line feed"
        );
        let secs = (now.0 / 1_000).to_string();
        let parts = [LABEL, &secs, "\n", method, "\n", target, "\n", session];
        let tag = self.0.mac_of(&parts.map(str::as_bytes)).finalize().into_bytes();
        let mut text = String::with_capacity(128);
        text.push_str("v1;k=");
        text.push_str(self.0.name());
        text.push_str(";t=");
        text.push_str(&secs);
        text.push_str(";h=");
        let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
        text.extend(tag.into_iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
        text
    }
}

impl fmt::Debug for RequestSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestSigner({})", self.0.name())
    }
}

/// Checks the signatures of requests in an upstream that is written in Rust.
///
/// Give it only keys of `[upstream] signature_key`. The holder of a key of `[tokens]` could make passes.
///
/// ```
/// use ropeline_token::{Key, KeyId, RequestCheck, RequestSigner, Secret, Wall};
///
/// let key = Key { id: KeyId::new("2026-11").unwrap(), secret: Secret::new(*b"a secret that gate and shop share!") };
/// let check = RequestCheck::new(std::slice::from_ref(&key))?;
/// let now = Wall(1_790_000_000_000);
/// let field = RequestSigner::new(&key)?.sign("GET", "/cart", "", now);
/// assert!(check.is_signed("GET", "/cart", "", &field, now));
/// assert!(!check.is_signed("GET", "/order", "", &field, now), "it was signed for another path");
/// assert!(!check.is_signed("GET", "/cart", "", &field, now.plus(61_000)), "it is too old");
/// # Ok::<(), ropeline_token::KeyError>(())
/// ```
pub struct RequestCheck(Vec<Signer>);

impl RequestCheck {
    /// Largest difference between the time of a signature and the upstream's clock, in seconds, in both directions.
    pub const WITHIN_SECS: u64 = 60;

    /// A check with the current key, and during a change of keys also with the previous one.
    ///
    /// # Errors
    /// If a secret is too short.
    pub fn new(keys: &[Key]) -> Result<Self, KeyError> {
        keys.iter().map(Signer::new).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a gate with one of the keys signed this request at most [`Self::WITHIN_SECS`] from `now`. `method` and `target`
    /// are those of the request line, `session` is the value of `Ropeline-Session` or empty, and `signature` is the value of
    /// the only `Ropeline-Signature`. Costs one HMAC for each key with the signature's id.
    #[must_use]
    pub fn is_signed(&self, method: &str, target: &str, session: &str, signature: &str, now: Wall) -> bool {
        let Some(parts) = Parts::of(signature) else {
            return false;
        };
        let text = [LABEL, parts.secs, "\n", method, "\n", target, "\n", session].map(str::as_bytes);
        let of_key = |signer: &&Signer| signer.name() == parts.key;
        parts.at_secs.abs_diff(now.0 / 1_000) <= Self::WITHIN_SECS
            && self
                .0
                .iter()
                .filter(of_key)
                .any(|signer| signer.mac_of(&text).verify_slice(&parts.tag).is_ok())
    }
}

impl fmt::Debug for RequestCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(Signer::name)).finish()
    }
}

/// The fields of a signature.
struct Parts<'a> {
    key: &'a str,
    /// The time exactly as in the field: leading zeros are signed too.
    secs: &'a str,
    at_secs: u64,
    tag: [u8; 32],
}

impl<'a> Parts<'a> {
    fn of(signature: &'a str) -> Option<Self> {
        let rest = signature.strip_prefix("v1;k=")?;
        let (key, rest) = rest.split_once(";t=")?;
        let (secs, tag) = rest.split_once(";h=")?;
        let digits = secs.bytes().all(|byte| byte.is_ascii_digit());
        let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if !(1..=MAX_SECS_DIGITS).contains(&secs.len()) || !digits || tag.len() != 64 || !tag.bytes().all(hex) {
            return None;
        }
        Some(Self {
            key,
            secs,
            at_secs: secs.parse().ok()?,
            tag: ropeline_ids::Hash::parse(tag)?.0,
        })
    }
}

/// Most digits of a time: enough for thirty thousand years.
const MAX_SECS_DIGITS: usize = 12;

const LABEL: &str = "ropeline-signature-v1\n";
