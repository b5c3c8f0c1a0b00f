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

const LABEL: &str = "ropeline-signature-v1\n";
