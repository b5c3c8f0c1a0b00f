//! The audience: the name of the installation that tokens are for. Two installations with the same keys and different
//! audiences refuse each other's tokens.
//!
//! An audience is mixed into each key by HKDF-SHA256 (RFC 5869). The operator chooses it. It is not taken from a host name or
//! an address: those change, and behind some proxies a staging installation has the same ones.

use hkdf::Hkdf;
use sha2::Sha256;

use ropeline_ids::Secret;

/// Most audiences of a ring; two are enough to rename one. Each may cost one more MAC for each token that is read.
pub const MAX_AUDIENCES: usize = 4;

/// The name of an installation: up to 64 of letters, digits and `.`, `-`, `_`, `:`, `/`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Audience(String);

impl Audience {
    pub const MAX_LEN: usize = 64;

    /// No audience: keys are used unchanged.
    pub const NONE: Self = Self(String::new());

    /// `None` for text that is too long or has another character. The empty text is [`Audience::NONE`].
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_:/".contains(&b));
        (text.len() <= Self::MAX_LEN && plain).then(|| Self(text.to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The secret that signs for this audience.
    pub(super) fn derive(&self, secret: &Secret) -> Secret {
        if self.0.is_empty() {
            return secret.clone();
        }
        let mut derived = [0; 32];
        Hkdf::<Sha256>::new(Some(SALT), secret.expose())
            .expand(self.0.as_bytes(), &mut derived)
            .expect("a digest's length is no more than HKDF gives");
        Secret::new(derived)
    }
}

/// Keeps these keys apart from any other key derived from the same secret (RFC 5869, section 3.1).
const SALT: &[u8] = b"ropeline tokens audience 1";

#[cfg(test)]
mod tests {
    use super::*;

    /// HKDF-SHA256 of 32 bytes of 1, computed with Python's `hmac`.
    #[test]
    fn the_form_of_a_derived_key_is_fixed() {
        let derived = Audience::new("shop.example").unwrap().derive(&Secret::new([1; 32]));
        let expected = [
            10, 99, 41, 173, 27, 117, 185, 178, 70, 162, 18, 227, 108, 187, 246, 44, 130, 25, 157, 125, 76, 236, 203,
            9, 2, 241, 54, 231, 146, 89, 253, 123,
        ];
        assert_eq!(derived.expose(), expected);
    }

    #[test]
    fn without_an_audience_a_key_is_as_it_is() {
        let secret = Secret::new([1; 40]);
        assert_eq!(Audience::NONE.derive(&secret), secret);
        assert_ne!(
            Audience::new("a").unwrap().derive(&secret),
            Audience::new("b").unwrap().derive(&secret)
        );
    }

    #[test]
    fn an_audience_is_a_plain_name() {
        for good in ["", "shop", "https://shop.example:8443/x_y", &"a".repeat(64)] {
            assert!(Audience::new(good).is_some(), "{good}");
        }
        for bad in [" ", "a b", "\u{e4}", "a\0", &"a".repeat(65)] {
            assert!(Audience::new(bad).is_none(), "{bad:?}");
        }
    }
}
