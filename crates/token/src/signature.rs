//! The signature that a forwarded request carries (`Ropeline-Signature`), for a shop that can be reached around the gate.
//!
//! It is an HMAC-SHA256 under a key of its own, which gate and shop share, over five lines: a label with the version, the
//! time in seconds since 1970, the method, the target as it stands in the request, the value of `Ropeline-Session` (empty
//! when there is none). None of them can hold the line feed that parts them, so no two requests give the same text.

use std::fmt;

use hmac::Mac as _;

use super::key::{Key, KeyError, Signer};
use ropeline_ids::Wall;

/// Signs requests; made once from the operator's key.
pub struct RequestSigner(Signer);

impl RequestSigner {
    /// # Errors
    /// When the secret is too short.
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

/// Checks requests: what a shop in Rust asks of each request that reaches it.
///
/// The keys are those of `[upstream] signature_key`, and nothing else: the holder of a key of `[tokens]` could make passes.
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
    /// Furthest that the time of a signature may lie from the shop's clock, in seconds, both ways.
    pub const WITHIN_SECS: u64 = 60;

    /// With the key in use; while keys change also with the one before.
    ///
    /// # Errors
    /// When a secret is too short.
    pub fn new(keys: &[Key]) -> Result<Self, KeyError> {
        keys.iter().map(Signer::new).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a gate with one of the keys forwarded this request at most [`Self::WITHIN_SECS`] ago. `method` and `target` are
    /// those of the request line, `session` the value of `Ropeline-Session` or nothing, `signature` that of the only
    /// `Ropeline-Signature`. A signature in another form is no signature. Costs an HMAC for each key of its id.
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

/// What a signature consists of.
struct Parts<'a> {
    key: &'a str,
    /// As it stands in the field, leading zeros included: that is what was signed.
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
