//! Tokens as issuers make them, and as attackers do.

use aws_lc_rs::encoding::{AsDer as _, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair};
use hmac::{Hmac, KeyInit as _, Mac as _};
use proptest::prelude::*;
use serde_json::json;
use sha2::Sha256;

use super::*;

const NOW_SECS: u64 = 1_800_000_000;
const NOW: Wall = Wall(NOW_SECS * 1_000);

fn ed25519() -> Ed25519KeyPair {
    seeded(7)
}

fn seeded(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

fn ed25519_pem() -> String {
    pem_of(7)
}

fn pem_of(seed: u8) -> String {
    let key = seeded(seed);
    let der: PublicKeyX509Der<'_> = key.public_key().as_der().unwrap();
    pem("PUBLIC KEY", der.as_ref())
}

fn verifier(algorithm: Algorithm, pem: &str) -> Verifier {
    Verifier {
        keys: PublicKeys::read(algorithm, pem.as_bytes()).unwrap(),
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
    signed_by(&ed25519(), header, payload)
}

fn signed_by(key: &Ed25519KeyPair, header: &str, payload: &str) -> String {
    let text = format!("{}.{}", encoded(header), encoded(payload));
    let signature = key.sign(text.as_bytes());
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

/// The account that a token names just now.
fn named(verifier: &Verifier, token: &str) -> Option<Identity> {
    verifier.account(&verifier.verify(token, NOW).ok()?)
}

#[test]
fn a_genuine_token_names_its_account_until_it_is_over() {
    let token = ann();
    assert_eq!(named(&ours(), &token), Identity::new("ann"));
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
    assert_eq!(named(&verifier(Algorithm::Rs256, &pem), &token), Identity::new("17"));
    assert_eq!(PublicKeys::read(Algorithm::EdDsa, pem.as_bytes()), Err(KeyFault::Other));
    assert_eq!(
        PublicKeys::read(Algorithm::Rs256, ed25519_pem().as_bytes()),
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

/// The classic confusion: the public key, which any attacker has, taken for the secret of an HMAC.
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
        assert_eq!(named(&ours(), &token), None, "{claim}");
    }
    let other = Verifier {
        claim: "email".to_owned(),
        ..ours()
    };
    assert_eq!(named(&other, &ann()), None);
}

fn read(algorithm: Algorithm, text: &str) -> Option<KeyFault> {
    PublicKeys::read(algorithm, text.as_bytes()).err()
}

#[test]
fn a_key_file_holds_public_keys_and_no_private_one() {
    let read = |text: &str| read(Algorithm::EdDsa, text);
    let public = ed25519_pem();
    assert_eq!(read(&public), None);
    assert_eq!(read(&format!("A note.\n{public}")), None);
    let der = ed25519().to_pkcs8().unwrap();
    for label in ["PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "OPENSSH PRIVATE KEY"] {
        let private = pem(label, der.as_ref());
        assert_eq!(read(&private), Some(KeyFault::Private));
        assert_eq!(read(&format!("{public}{private}")), Some(KeyFault::Private), "{label}");
    }
    assert_eq!(read(&pem("PUBLIC KEY", b"no key")), Some(KeyFault::Other));
    for nothing in ["", "secret", &pem("CERTIFICATE", b"x")] {
        assert_eq!(read(nothing), Some(KeyFault::NoKey), "{nothing}");
    }
    let printed = format!("{:?}", PublicKeys::read(Algorithm::EdDsa, public.as_bytes()));
    assert_eq!(printed, "Ok(PublicKeys(1 of EdDSA))");
}

/// The file while an issuer changes its keys: those of before, and those from now on.
#[test]
fn up_to_four_keys_are_each_tried() {
    let file = |seeds: &[u8]| seeds.iter().map(|seed| pem_of(*seed)).collect::<String>();
    let payload = json!({ "sub": "ann", "exp": NOW_SECS + 60 }).to_string();
    let told = |seeds: &[u8], by| {
        let token = signed_by(&seeded(by), EDDSA, &payload);
        verifier(Algorithm::EdDsa, &file(seeds)).verify(&token, NOW).err()
    };
    for by in 1..=4 {
        assert_eq!(told(&[1, 2, 3, 4], by), None, "{by}");
    }
    assert_eq!(told(&[1, 2, 3, 4], 5), Some(Refused::Signature));
    assert_eq!(told(&[1, 2], 3), Some(Refused::Signature));
    let read = |text: &str| read(Algorithm::EdDsa, text);
    assert_eq!(read(&file(&[1, 2, 3, 4, 5])), Some(KeyFault::TooMany));
    let rsa = pem("PUBLIC KEY", &rsa(RSA_2048));
    assert_eq!(read(&format!("{}{rsa}", pem_of(1))), Some(KeyFault::Other));
}

#[test]
fn a_key_file_is_read_from_end_to_end() {
    let (one, two) = (pem_of(1), pem_of(2));
    for (wrong, what) in [
        (&two[..two.len() - 10], "cut off in the last line"),
        (&two[..60], "cut off in a key"),
        (two.trim_end().trim_end_matches('-'), "a last line without its dashes"),
        (&two.replace("KEY-----\nM", "KEY-----\n*M"), "no Base64"),
        (&two.replacen("KEY-----", "KEY---", 1), "a first line that is none"),
    ] {
        assert_eq!(read(Algorithm::EdDsa, wrong), Some(KeyFault::Broken), "{what}");
        let after = format!("{one}{wrong}");
        assert_eq!(
            read(Algorithm::EdDsa, &after),
            Some(KeyFault::Broken),
            "{what}, after one"
        );
    }
    // Lines that are lost: the last of the first key, and the first of the second. DER of 294 bytes ends where its Base64 does.
    let rsa = pem("PUBLIC KEY", &rsa(RSA_2048));
    let (first, end) = rsa.split_once("-----END").unwrap();
    let (_, second) = rsa.split_once('\n').unwrap();
    for wrong in [
        format!("{first}{rsa}"),
        format!("{rsa}{second}"),
        format!("{first}{rsa}-----END{end}"),
    ] {
        assert_eq!(read(Algorithm::Rs256, &wrong), Some(KeyFault::Broken), "{wrong}");
    }
    let windows = format!("{rsa}{rsa}").replace('\n', "\r\n");
    assert_eq!(read(Algorithm::Rs256, &windows), None);
}

/// Moduli of which only the length is looked at: odd, with a first byte that fills it.
const RSA_2048: (usize, u8) = (256, 0x80);

/// A public key in DER, as of RFC 8017 within RFC 5280, for the exponent 65,537.
fn rsa((bytes, first): (usize, u8)) -> Vec<u8> {
    let item = |tag: u8, content: &[u8]| {
        let [high, low] = u16::try_from(content.len()).unwrap().to_be_bytes();
        let length = match content.len() {
            0..=127 => vec![low],
            128..=255 => vec![0x81, low],
            _ => vec![0x82, high, low],
        };
        [&[tag], length.as_slice(), content].concat()
    };
    let mut modulus = vec![0xff; bytes];
    modulus[0] = first;
    if first >= 0x80 {
        modulus.insert(0, 0);
    }
    let key = item(0x30, &[item(2, &modulus), item(2, &[1, 0, 1])].concat());
    let kind = [0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0];
    item(0x30, &[&kind[..], &item(3, &[&[0], key.as_slice()].concat())].concat())
}

/// One that `openssl genrsa 1024` made.
const RSA_1024: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDobJLWTElttXVAPrMLvM/VgcmE
wYe3zSJ5vsw00JgIfb6etK3TiNx9msHe44YqfPnDQUgpddYZruGpNBu7jFOZqnnc
HwHETr5ZcKhwIAs2cR1jBDNQiW4pNeK19IRp4YhT6CteNL29td7TR2td8+3UzD2L
xGZmgpocxcC8Dl/oUQIDAQAB
-----END PUBLIC KEY-----
";

#[test]
fn rsa_keys_have_2048_to_8192_bits() {
    let read = |length| read(Algorithm::Rs256, &pem("PUBLIC KEY", &rsa(length)));
    assert_eq!(
        (read(RSA_2048), read((384, 0xff)), read((1_024, 0xff))),
        (None, None, None)
    );
    for (length, bits) in [((128, 0xff), 1_024), ((256, 0x7f), 2_047), ((1_025, 1), 8_193)] {
        let told = read(length);
        assert!(
            matches!(told, Some(KeyFault::Length | KeyFault::Other)),
            "{bits}: {told:?}"
        );
    }
    let short = PublicKeys::read(Algorithm::Rs256, RSA_1024.as_bytes());
    assert_eq!(short, Err(KeyFault::Length));
    let beside = format!("{}{RSA_1024}", pem("PUBLIC KEY", &rsa(RSA_2048)));
    assert_eq!(
        PublicKeys::read(Algorithm::Rs256, beside.as_bytes()),
        Err(KeyFault::Length)
    );
}

#[test]
fn what_a_token_says_is_not_printed() {
    let claims = ours().verify(&ann(), NOW);
    assert_eq!(format!("{claims:?}"), r#"Ok(Claims({"exp", "sub"}))"#);
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
