//! Signed tokens (RFC 7519, in the compact form of RFC 7515): verified by one key and one algorithm, both the operator's.
//!
//! The token's own header chooses nothing: it must name the configured algorithm, so `none` and a public key taken for an
//! HMAC's secret have no way in. `kid` is ignored and `crit` refused. `exp` is required and must be a number, as must `nbf`
//! where there is one; the clock is passed in. What is verified is known to whoever reads [`Claims`].

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::signature::{ED25519, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls_pki_types::pem::{PemObject as _, SectionKind};
use serde_json::Value;

use super::Identity;
use super::json::{Object, name_of};
use crate::room::Wall;

/// Longest token in characters; a longer one is refused unread.
pub const MAX_JWT: usize = 8 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Ed25519 (RFC 8037).
    EdDsa,
    /// RSASSA-PKCS1-v1_5 with SHA-256, keys of 2,048 to 8,192 bits.
    Rs256,
}

/// A public key that tokens are verified with, and the only algorithm that it is good for.
#[derive(Clone)]
pub struct PublicKey {
    algorithm: Algorithm,
    key: Arc<ParsedPublicKey>,
}

/// Why a file holds no key to verify with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    #[error("it holds a private key, which no gate should have")]
    Private,
    #[error("it holds no public key in PEM")]
    NoKey,
    #[error("it holds more than one public key")]
    Several,
    #[error("its key is not one for this algorithm, or too short")]
    Other,
}

/// How tokens are verified, and which claim names the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verifier {
    pub key: PublicKey,
    pub claim: String,
    pub issuer: Option<String>,
    pub audience: Option<String>,
    pub leeway_secs: u64,
}

/// What a token says whose signature and dates are right.
#[derive(Clone, Debug, PartialEq)]
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
    /// As it stands in a token's header.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EdDsa => "EdDSA",
            Self::Rs256 => "RS256",
        }
    }
}

impl PublicKey {
    /// The one public key of a PEM file (`PUBLIC KEY`, RFC 7468 section 13).
    pub fn read(algorithm: Algorithm, pem: &[u8]) -> Result<Self, KeyFault> {
        let sections = <(SectionKind, Vec<u8>)>::pem_slice_iter(pem).map_while(Result::ok);
        let mut keys = Vec::new();
        for (kind, der) in sections {
            match kind {
                SectionKind::PrivateKey | SectionKind::RsaPrivateKey | SectionKind::EcPrivateKey => {
                    return Err(KeyFault::Private);
                }
                SectionKind::PublicKey => keys.push(der),
                _ => {}
            }
        }
        let [der] = keys.as_slice() else {
            return Err(if keys.is_empty() {
                KeyFault::NoKey
            } else {
                KeyFault::Several
            });
        };
        let parsed = match algorithm {
            Algorithm::EdDsa => ParsedPublicKey::new(&ED25519, der),
            Algorithm::Rs256 => ParsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, der),
        };
        let key = Arc::new(parsed.map_err(|_| KeyFault::Other)?);
        Ok(Self { algorithm, key })
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.algorithm == other.algorithm && (*self.key).as_ref() == (*other.key).as_ref()
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.algorithm.as_str())
    }
}

impl Verifier {
    /// What a token says, if it is genuine and in force at `now`.
    pub fn verify(&self, token: &str, now: Wall) -> Result<Claims, Refused> {
        if token.len() > MAX_JWT {
            return Err(Refused::Malformed);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(Refused::Malformed)?;
        let (header, payload) = signed.split_once('.').ok_or(Refused::Malformed)?;
        self.fits(&object(header)?)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| Refused::Malformed)?;
        // SECURITY: before a byte of the payload is looked at.
        let verified = self.key.key.verify_sig(signed.as_bytes(), &signature);
        verified.map_err(|_| Refused::Signature)?;
        let claims = Claims(object(payload)?);
        self.in_force(&claims, now.0 / 1_000)?;
        self.is_meant(&claims)?;
        Ok(claims)
    }

    /// The account that a token names.
    #[must_use]
    pub fn identity(&self, token: &str, now: Wall) -> Option<Identity> {
        self.verify(token, now)
            .ok()?
            .text(&self.claim)
            .and_then(|text| Identity::new(&text))
    }

    /// Nothing of the header is obeyed. SECURITY: an extension that must be understood is not (RFC 7515, section 4.1.11).
    fn fits(&self, header: &Object) -> Result<(), Refused> {
        let algorithm = header.get("alg").and_then(Value::as_str);
        let fits = algorithm == Some(self.key.algorithm.as_str()) && header.get("crit").is_none();
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

    /// A token for an audience is for nobody else, also where none is configured (RFC 7519, section 4.1.3).
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
    /// A claim as it stands in the token.
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
