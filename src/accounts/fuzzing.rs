//! The laws of identities that a fuzzer tries to break: no bytes of a stranger panic or name an account by accident.

use super::field::field_of;
use super::jwt::{Algorithm, PublicKeys, Verifier};
use super::{Identity, MAX_IDENTITY};
use crate::names::form::Kind;
use ropeline_ids::Wall;

/// The input is a body of each kind, and a token after a genuine head.
///
/// # Panics
/// When a law does not hold.
pub fn identity(data: &[u8]) {
    for kind in [
        Kind::Urlencoded,
        Kind::Multipart("b".to_owned()),
        Kind::Json,
        Kind::Other,
    ] {
        let found = field_of(&kind, data, "email");
        assert!(found.as_ref().is_ok_and(is_bounded) || found.is_err());
    }
    let text = String::from_utf8_lossy(data);
    let verifier = verifier();
    for token in [text.clone().into_owned(), format!("eyJhbGciOiJFZERTQSJ9.{text}")] {
        // No fuzzer has the key: a token taken for genuine was forged.
        assert!(verifier.verify(&token, Wall(1_800_000_000_000)).is_err());
    }
    assert!(Identity::new(&text).as_ref().is_none_or(is_bounded));
}

fn is_bounded(identity: &Identity) -> bool {
    (1..=MAX_IDENTITY).contains(&identity.expose().len())
}

/// With the public key of RFC 8037, appendix A.2.
fn verifier() -> Verifier {
    let pem = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n";
    Verifier {
        keys: PublicKeys::read(Algorithm::EdDsa, pem.as_bytes()).expect("a public key"),
        claim: "sub".to_owned(),
        issuer: None,
        audience: None,
        leeway_secs: 0,
    }
}
