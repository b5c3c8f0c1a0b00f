//! Tokens as issuers make them, and as attackers do.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair};
use aws_lc_rs::{encoding::AsDer as _, encoding::PublicKeyX509Der};
use hmac::{Hmac, KeyInit as _, Mac as _};
use proptest::prelude::*;
use serde_json::json;
use sha2::Sha256;

use super::*;

const NOW_SECS: u64 = 1_800_000_000;
const NOW: Wall = Wall(NOW_SECS * 1_000);

fn ed25519() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap()
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

fn ed25519_pem() -> String {
    let key = ed25519();
    let der: PublicKeyX509Der<'_> = key.public_key().as_der().unwrap();
    pem("PUBLIC KEY", der.as_ref())
}

fn verifier(algorithm: Algorithm, pem: &str) -> Verifier {
    Verifier {
        key: PublicKey::read(algorithm, pem.as_bytes()).unwrap(),
        claim: "sub".to_owned(),
        issuer: None,
        audience: None,
        leeway_secs: 0,
    }
}

fn ours() -> Verifier {
    verifier(Algorithm::EdDsa, &ed25519_pem())
}

fn encoded(part: &str) -> String {
    URL_SAFE_NO_PAD.encode(part)
}

/// A token of these two parts, signed by the right key.
fn signed(header: &str, payload: &str) -> String {
    let text = format!("{}.{}", encoded(header), encoded(payload));
    let signature = ed25519().sign(text.as_bytes());
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
}

const EDDSA: &str = r#"{"alg":"EdDSA","typ":"JWT","kid":"../../etc/passwd"}"#;

fn with(payload: &serde_json::Value) -> String {
    signed(EDDSA, &payload.to_string())
}

fn ann() -> String {
    with(&json!({ "sub": "ann", "exp": NOW_SECS + 60 }))
}

fn refused(token: &str) -> Refused {
    ours().verify(token, NOW).unwrap_err()
}

#[test]
fn a_genuine_token_names_its_account_until_it_is_over() {
    let token = ann();
    assert_eq!(ours().identity(&token, NOW), Identity::new("ann"));
    let last = Wall((NOW_SECS + 60) * 1_000 - 1);
    assert!(ours().verify(&token, last).is_ok());
    assert_eq!(ours().verify(&token, last.plus(1)), Err(Refused::Expired));
    let patient = Verifier {
        leeway_secs: 30,
        ..ours()
    };
    assert!(patient.verify(&token, last.plus(1)).is_ok());
    assert_eq!(patient.verify(&token, last.plus(30_001)), Err(Refused::Expired));
}

#[test]
fn rs256_tokens_are_verified_with_an_rsa_key() {
    let key = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let der: PublicKeyX509Der<'_> = key.public_key().as_der().unwrap();
    let text = format!(
        "{}.{}",
        encoded(r#"{"alg":"RS256"}"#),
        encoded(&json!({ "sub": 17, "exp": NOW_SECS + 60 }).to_string())
    );
    let mut signature = vec![0; key.public_modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature)
        .unwrap();
    let token = format!("{text}.{}", URL_SAFE_NO_PAD.encode(&signature));
    let pem = pem("PUBLIC KEY", der.as_ref());
    assert_eq!(
        verifier(Algorithm::Rs256, &pem).identity(&token, NOW),
        Identity::new("17")
    );
    assert_eq!(PublicKey::read(Algorithm::EdDsa, pem.as_bytes()), Err(KeyFault::Other));
    assert_eq!(
        PublicKey::read(Algorithm::Rs256, ed25519_pem().as_bytes()),
        Err(KeyFault::Other)
    );
}

#[test]
fn the_token_chooses_no_algorithm() {
    let payload = json!({ "sub": "ann", "exp": NOW_SECS + 60 }).to_string();
    for header in [
        r#"{"alg":"none"}"#,
        r#"{"alg":"None"}"#,
        r#"{"alg":"eddsa"}"#,
        r#"{"alg":"RS256"}"#,
        r#"{"alg":null}"#,
        r#"{"alg":["EdDSA"]}"#,
        r#"{"typ":"JWT"}"#,
        r#"{"alg":"EdDSA","crit":["b64"],"b64":false}"#,
    ] {
        assert_eq!(refused(&signed(header, &payload)), Refused::Algorithm, "{header}");
    }
    let unsigned = format!("{}.{}.", encoded(r#"{"alg":"none"}"#), encoded(&payload));
    assert_eq!(refused(&unsigned), Refused::Algorithm);
    let twice = signed(r#"{"alg":"none","alg":"EdDSA"}"#, &payload);
    assert_eq!(refused(&twice), Refused::Malformed);
}

/// The classic confusion: the public key, which everybody has, taken for the secret of an HMAC.
#[test]
fn the_public_key_is_never_the_secret_of_an_hmac() {
    let payload = encoded(&json!({ "sub": "ann", "exp": NOW_SECS + 60 }).to_string());
    for header in [r#"{"alg":"HS256"}"#, EDDSA] {
        let text = format!("{}.{payload}", encoded(header));
        for secret in [ed25519_pem().into_bytes(), ed25519().public_key().as_ref().to_vec()] {
            let mut mac = Hmac::<Sha256>::new_from_slice(&secret).unwrap();
            mac.update(text.as_bytes());
            let token = format!("{text}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()));
            let told = refused(&token);
            assert!(matches!(told, Refused::Algorithm | Refused::Signature), "{told:?}");
        }
    }
}

#[test]
fn dates_are_required_and_must_be_dates() {
    let payload = |dates: serde_json::Value| {
        let mut payload = json!({ "sub": "ann" });
        payload
            .as_object_mut()
            .unwrap()
            .extend(dates.as_object().unwrap().clone());
        with(&payload)
    };
    for (dates, told) in [
        (json!({}), Refused::Endless),
        (json!({ "exp": "never" }), Refused::Endless),
        (json!({ "exp": null }), Refused::Endless),
        (json!({ "exp": [NOW_SECS + 60] }), Refused::Endless),
        (json!({ "exp": -1 }), Refused::Endless),
        (json!({ "exp": 1e300 }), Refused::Endless),
        (json!({ "exp": NOW_SECS }), Refused::Expired),
        (json!({ "exp": NOW_SECS + 60, "nbf": NOW_SECS + 1 }), Refused::Early),
        (
            json!({ "exp": NOW_SECS + 60, "nbf": (NOW_SECS + 1).to_string() }),
            Refused::Early,
        ),
        (json!({ "exp": NOW_SECS + 60, "nbf": null }), Refused::Early),
    ] {
        assert_eq!(refused(&payload(dates.clone())), told, "{dates}");
    }
    for dates in [
        json!({ "exp": 1_800_000_060.5 }),
        json!({ "exp": u64::MAX, "nbf": NOW_SECS }),
    ] {
        assert!(ours().verify(&payload(dates.clone()), NOW).is_ok(), "{dates}");
    }
}

#[test]
fn a_token_for_others_is_refused() {
    let payload = |more: serde_json::Value| {
        let mut payload = json!({ "sub": "ann", "exp": NOW_SECS + 60 });
        payload
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        with(&payload)
    };
    let told = |verifier: &Verifier, more| verifier.verify(&payload(more), NOW).err();
    let strict = Verifier {
        issuer: Some("https://id.example".to_owned()),
        audience: Some("shop".to_owned()),
        ..ours()
    };
    let right = json!({ "iss": "https://id.example", "aud": "shop" });
    assert_eq!(told(&strict, right), None);
    assert_eq!(
        told(
            &strict,
            json!({ "iss": "https://id.example", "aud": ["other", "shop"] })
        ),
        None
    );
    for wrong in [
        json!({}),
        json!({ "aud": "shop" }),
        json!({ "iss": "https://id.example" }),
        json!({ "iss": "https://id.example", "aud": "other" }),
        json!({ "iss": "https://id.example", "aud": [] }),
        json!({ "iss": "https://id.example", "aud": { "shop": 1 } }),
        json!({ "iss": ["https://id.example"], "aud": "shop" }),
    ] {
        assert_eq!(told(&strict, wrong.clone()), Some(Refused::Foreign), "{wrong}");
    }
    assert_eq!(
        told(&ours(), json!({ "aud": "other" })),
        Some(Refused::Foreign),
        "no audience is configured"
    );
}

#[test]
fn what_is_no_token_is_refused_unread() {
    let token = ann();
    let (without, signature) = token.rsplit_once('.').unwrap();
    for wrong in [
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        "...".to_owned(),
        without.to_owned(),
        format!("{token}."),
        format!("{token}="),
        format!(" {token}"),
        format!("{token}.{signature}"),
        "a".repeat(MAX_JWT + 1),
    ] {
        let told = refused(&wrong);
        assert!(
            matches!(told, Refused::Malformed | Refused::Signature),
            "{wrong}: {told:?}"
        );
    }
    let long = with(&json!({ "sub": "ann", "exp": NOW_SECS + 60, "rest": "x".repeat(MAX_JWT) }));
    assert_eq!(refused(&long), Refused::Malformed);
    let twice = signed(
        EDDSA,
        &format!(r#"{{"sub":"bob","sub":"ann","exp":{}}}"#, NOW_SECS + 60),
    );
    assert_eq!(refused(&twice), Refused::Malformed);
}

#[test]
fn a_claim_that_is_no_name_names_nobody() {
    for claim in [
        json!(null),
        json!(["ann"]),
        json!({ "a": 1 }),
        json!(1.5),
        json!(""),
        json!(true),
    ] {
        let token = with(&json!({ "sub": claim, "exp": NOW_SECS + 60 }));
        assert_eq!(ours().identity(&token, NOW), None, "{claim}");
    }
    let other = Verifier {
        claim: "email".to_owned(),
        ..ours()
    };
    assert_eq!(other.identity(&ann(), NOW), None);
}

#[test]
fn a_key_file_holds_one_public_key_and_no_private_one() {
    let read = |text: &str| PublicKey::read(Algorithm::EdDsa, text.as_bytes()).err();
    let public = ed25519_pem();
    assert_eq!(read(&public), None);
    assert_eq!(read(&format!("A note.\n{public}")), None);
    let private = pem("PRIVATE KEY", ed25519().to_pkcs8().unwrap().as_ref());
    assert_eq!(read(&private), Some(KeyFault::Private));
    assert_eq!(read(&format!("{public}{private}")), Some(KeyFault::Private));
    assert_eq!(read(&format!("{public}{public}")), Some(KeyFault::Several));
    assert_eq!(read(&pem("PUBLIC KEY", b"no key")), Some(KeyFault::Other));
    for nothing in ["", "secret", &pem("CERTIFICATE", b"x")] {
        assert_eq!(read(nothing), Some(KeyFault::NoKey), "{nothing}");
    }
    let printed = format!("{:?}", PublicKey::read(Algorithm::EdDsa, public.as_bytes()));
    assert_eq!(printed, "Ok(PublicKey(EdDSA))");
}

proptest! {
    #[test]
    fn a_token_with_any_byte_changed_is_refused(at in 0_usize..200, to in any::<u8>()) {
        let mut bytes = ann().into_bytes();
        let at = at % bytes.len();
        prop_assume!(bytes[at] != to && to.is_ascii());
        bytes[at] = to;
        let token = String::from_utf8(bytes).unwrap();
        prop_assert!(ours().verify(&token, NOW).is_err());
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,200}") {
        prop_assert!(ours().verify(&text, NOW).is_err());
    }
}
