//! Signed tokens (RFC 7519, in the compact form of RFC 7515), verified by the operator's keys and one algorithm, which the operator names.
//!
//! The token's own header chooses nothing: it must name the configured algorithm, so `none`, and a public key taken for an
//! HMAC's secret, have no way in. `kid` is ignored, as each key is tried, and `crit` is refused. `exp` is required and must be a number, as
//! must `nbf` where there is one. The clock is passed in. [`Claims`] are those of a verified token.
//!
//! Not `jsonwebtoken` (11.1): it accepts a list of issuers, an `aud` that is no text where no audience is configured, and `crit`, so
//! header, dates, issuer and audience would be read here all the same, and it would save only the call that verifies a signature.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::rsa::PublicEncryptingKey;
use aws_lc_rs::signature::{ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls_pki_types::pem::{PemObject as _, SectionKind};
use serde_json::Value;

use super::Identity;
use super::json::{Object, name_of};
use ropeline_ids::Wall;

/// Longest token in characters; a longer one is refused unread.
pub const MAX_JWT: usize = 8 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Ed25519 (RFC 8037).
    EdDsa,
    /// RSASSA-PKCS1-v1_5 with SHA-256, keys of 2,048 to 8,192 bits.
    Rs256,
}

/// Most public keys of an issuer: the old and the new while it changes them, and as many to spare. Each is tried with a forged token.
pub const MAX_KEYS: usize = 4;

/// The public keys that tokens are verified with, at least one, and the only algorithm that they are good for.
#[derive(Clone)]
pub struct PublicKeys {
    algorithm: Algorithm,
    keys: Arc<[ParsedPublicKey]>,
}

/// Why a file holds no key to verify with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    #[error("it holds a private key, which no gate should have")]
    Private,
    #[error("it holds no public key in PEM")]
    NoKey,
    #[error("it holds more than {MAX_KEYS} public keys")]
    TooMany,
    #[error("what it holds is broken or cut off, not PEM from end to end")]
    Broken,
    #[error("a key of it is not one for this algorithm")]
    Other,
    #[error("a key of it does not have 2,048 to 8,192 bits")]
    Length,
}

/// How tokens are verified, and which claim names the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verifier {
    pub keys: PublicKeys,
    pub claim: String,
    pub issuer: Option<String>,
    pub audience: Option<String>,
    pub leeway_secs: u64,
}

/// The claims of a token whose signature and dates are valid. Only their names are printed.
#[derive(Clone, PartialEq)]
pub struct Claims(Object);

/// Why a token is as good as none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("it is no token in the compact form, or too long")]
    Malformed,
    #[error("it names another algorithm")]
    Algorithm,
    #[error("its signature is wrong")]
    Signature,
    #[error("it has no date of expiry")]
    Endless,
    #[error("it is over")]
    Expired,
    #[error("it is not valid yet")]
    Early,
    #[error("it is another issuer's, or for another audience")]
    Foreign,
}

impl Algorithm {
    /// The name in a token's header.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EdDsa => "EdDSA",
            Self::Rs256 => "RS256",
        }
    }
}

impl PublicKeys {
    /// All public keys of a PEM file (`PUBLIC KEY`, RFC 7468 section 13). An unreadable part is a fault at any place: of a file
    /// that is half there it is unknown which keys are missing.
    pub fn read(algorithm: Algorithm, pem: &[u8]) -> Result<Self, KeyFault> {
        // SECURITY: also one under a name that the parser passes over, such as an encrypted one.
        if pem.windows(PRIVATE.len()).any(|bytes| bytes == PRIVATE) {
            return Err(KeyFault::Private);
        }
        if !is_closed(pem) {
            return Err(KeyFault::Broken);
        }
        let mut keys = Vec::new();
        for section in <(SectionKind, Vec<u8>)>::pem_slice_iter(pem) {
            let (kind, der) = section.map_err(|_| KeyFault::Broken)?;
            if kind == SectionKind::PublicKey {
                keys.push(public_key(algorithm, &der)?);
            }
        }
        match keys.len() {
            0 => Err(KeyFault::NoKey),
            1..=MAX_KEYS => Ok(Self {
                algorithm,
                keys: keys.into(),
            }),
            _ => Err(KeyFault::TooMany),
        }
    }

    /// Whether one of them made the signature.
    fn made(&self, signature: &[u8], signed: &[u8]) -> bool {
        self.keys.iter().any(|key| key.verify_sig(signed, signature).is_ok())
    }
}

/// Whether each section has its first and its last line. The parser would take two of which the first has no last line for one.
fn is_closed(pem: &[u8]) -> bool {
    let mut lines = pem.split(|byte| matches!(byte, b'\r' | b'\n'));
    let open = lines.try_fold(false, |open, line| {
        let (begins, ends) = (line.starts_with(b"-----BEGIN "), line.starts_with(b"-----END "));
        match (begins || ends, begins != open) {
            (false, _) => Some(open),
            (true, fits) => fits.then_some(begins),
        }
    });
    open == Some(false)
}

/// How the first line ends of every private key in PEM.
const PRIVATE: &[u8] = b"PRIVATE KEY-----";

fn public_key(algorithm: Algorithm, der: &[u8]) -> Result<ParsedPublicKey, KeyFault> {
    let parsed = match algorithm {
        Algorithm::EdDsa => ParsedPublicKey::new(&ED25519, der),
        Algorithm::Rs256 => ParsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, der),
    };
    let parsed = parsed.map_err(|_| KeyFault::Other)?;
    // The parser takes any length, and then every signature is refused; this one looks at the modulus, of 2,048 to 8,192 bits.
    if algorithm == Algorithm::Rs256 && PublicEncryptingKey::from_der(der).is_err() {
        return Err(KeyFault::Length);
    }
    Ok(parsed)
}

impl PartialEq for PublicKeys {
    fn eq(&self, other: &Self) -> bool {
        let bytes = |keys: &Self| keys.keys.iter().map(|key| key.as_ref().to_vec()).collect::<Vec<_>>();
        self.algorithm == other.algorithm && bytes(self) == bytes(other)
    }
}

impl Eq for PublicKeys {}

impl fmt::Debug for PublicKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKeys({} of {})", self.keys.len(), self.algorithm.as_str())
    }
}

impl Verifier {
    /// The claims of a token, if it is genuine and in force at `now`.
    pub fn verify(&self, token: &str, now: Wall) -> Result<Claims, Refused> {
        if token.len() > MAX_JWT {
            return Err(Refused::Malformed);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(Refused::Malformed)?;
        let (header, payload) = signed.split_once('.').ok_or(Refused::Malformed)?;
        self.fits(&object(header)?)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| Refused::Malformed)?;
        // SECURITY: before a byte of the payload is looked at.
        if !self.keys.made(&signature, signed.as_bytes()) {
            return Err(Refused::Signature);
        }
        let claims = Claims(object(payload)?);
        self.in_force(&claims, now.0 / 1_000)?;
        self.is_meant(&claims)?;
        Ok(claims)
    }

    /// The account that a verified token's claims name.
    #[must_use]
    pub fn account(&self, claims: &Claims) -> Option<Identity> {
        Identity::new(&claims.text(&self.claim)?)
    }

    /// The header only has to fit; it does not choose anything. SECURITY: an extension that must be understood is refused
    /// (RFC 7515, section 4.1.11).
    fn fits(&self, header: &Object) -> Result<(), Refused> {
        let algorithm = header.get("alg").and_then(Value::as_str);
        let fits = algorithm == Some(self.keys.algorithm.as_str()) && header.get("crit").is_none();
        if fits { Ok(()) } else { Err(Refused::Algorithm) }
    }

    /// The dates, in seconds since 1970 (RFC 7519, sections 4.1.4 and 4.1.5).
    fn in_force(&self, claims: &Claims, now_secs: u64) -> Result<(), Refused> {
        let ends = claims.get("exp").and_then(secs).ok_or(Refused::Endless)?;
        if now_secs >= ends.saturating_add(self.leeway_secs) {
            return Err(Refused::Expired);
        }
        // SECURITY: a date that cannot be read is not one that is missing.
        let begins = claims.get("nbf").map(|value| secs(value).ok_or(Refused::Early));
        match begins.transpose()? {
            Some(begins) if now_secs.saturating_add(self.leeway_secs) < begins => Err(Refused::Early),
            _ => Ok(()),
        }
    }

    /// A token for an audience is for no other, also where none is configured (RFC 7519, section 4.1.3).
    fn is_meant(&self, claims: &Claims) -> Result<(), Refused> {
        let issuer = claims.get("iss").and_then(Value::as_str);
        let by = self.issuer.is_none() || issuer == self.issuer.as_deref();
        let to = match (claims.get("aud"), &self.audience) {
            (None, wanted) => wanted.is_none(),
            (Some(Value::String(audience)), Some(wanted)) => audience == wanted,
            (Some(Value::Array(audiences)), Some(wanted)) => {
                audiences.iter().any(|audience| audience.as_str() == Some(wanted))
            }
            (Some(_), _) => false,
        };
        if by && to { Ok(()) } else { Err(Refused::Foreign) }
    }
}

impl Claims {
    /// A claim of the token, unchanged.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A claim that is a text, or a whole number as its digits.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(name_of)
    }
}

impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Claims").field(&self.0).finish()
    }
}

/// One part of a token. Base64 is strict: no padding, no stray bit.
fn object(part: &str) -> Result<Object, Refused> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| Refused::Malformed)?;
    Object::read(&bytes).ok_or(Refused::Malformed)
}

/// A date; fractions of a second are cut off.
fn secs(value: &Value) -> Option<u64> {
    let whole = || {
        Duration::try_from_secs_f64(value.as_f64()?)
            .ok()
            .map(|date| date.as_secs())
    };
    value.as_u64().or_else(whole)
}

#[cfg(test)]
mod tests;
