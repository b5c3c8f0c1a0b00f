//! Signed tokens, in a cookie and as a bearer's, and a cookie's bare value.

use std::fmt::Write as _;

use aws_lc_rs::encoding::{AsDer as _, PublicKeyX509Der};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use ropeline::time;
use serde_json::{Value, json};

use super::*;

pub fn key() -> Ed25519KeyPair {
    seeded(3)
}

/// The issuer's key of before.
fn old_key() -> Ed25519KeyPair {
    seeded(2)
}

pub fn seeded(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

pub fn pem(key: &Ed25519KeyPair) -> String {
    let der: PublicKeyX509Der<'_> = key.public_key().as_der().unwrap();
    format!(
        "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
        STANDARD.encode(der.as_ref())
    )
}

pub fn in_an_hour() -> u64 {
    time::wall().0 / 1_000 + 3_600
}

fn parts(header: &Value, payload: &Value) -> String {
    let encoded = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
    format!("{}.{}", encoded(header), encoded(payload))
}

pub fn signed(header: &Value, payload: &Value) -> String {
    signed_by(&key(), header, payload)
}

pub fn signed_by(key: &Ed25519KeyPair, header: &Value, payload: &Value) -> String {
    let text = parts(header, payload);
    let signature = key.sign(text.as_bytes());
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
}

fn token(name: &str) -> String {
    signed(
        &json!({ "alg": "EdDSA" }),
        &json!({ "sub": name, "aud": "shop", "exp": in_an_hour() }),
    )
}

/// A room for one behind tokens, while the issuer changes its key; the keys' file goes with the folder.
async fn by_tokens(more: &str) -> (House, Guest, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("accounts.pem");
    std::fs::write(&file, format!("{}{}", pem(&old_key()), pem(&key()))).unwrap();
    let mut identity = String::from(
        "[room.identity]\nfrom = \"jwt\"\nalgorithm = \"EdDSA\"\naudience = \"shop\"\nmissing = \"refuse\"\n",
    );
    writeln!(identity, "key_file = \"{}\"\n{more}", file.display()).unwrap();
    let house = House::open(&format!("{ONE}{identity}"), house::OFTEN).await;
    let mut inside = house.guest();
    show(&mut inside, &token("somebody"), more);
    for _ in 0..2 {
        let answer = inside.page("/").await;
        assert!(answer.is_the_shops(), "{}", answer.head);
    }
    (house, inside, folder)
}

pub fn show(guest: &mut Guest, token: &str, more: &str) {
    if more.is_empty() {
        guest.says("Authorization", &format!("Bearer {token}"));
    } else {
        guest.jar.insert("id".to_owned(), token.to_owned());
    }
}

#[tokio::test]
async fn a_genuine_token_names_its_account_in_a_cookie_and_as_a_bearers() {
    for more in ["", "name = \"id\""] {
        let (house, _inside, _folder) = by_tokens(more).await;
        let (mut one, mut two, mut bob) = (house.guest(), house.guest(), house.guest());
        show(&mut one, &token("ann"), more);
        let newer = json!({ "sub": "ann", "aud": ["other", "shop"], "exp": in_an_hour(), "iat": 1 });
        show(&mut two, &signed(&json!({ "alg": "EdDSA", "kid": "x" }), &newer), more);
        show(&mut bob, &token("bob"), more);
        let place = waits(&mut one).await;
        assert_eq!(waits(&mut two).await, place);
        assert!(waits(&mut bob).await > place);
        bob.jar
            .extend(one.jar.clone().into_iter().filter(|(name, _)| name != "id"));
        assert_not_yours(&bob.page("/seats").await);
    }
}

#[tokio::test]
async fn a_token_of_the_key_before_and_one_of_the_key_after_name_one_account() {
    let (house, _inside, _folder) = by_tokens("").await;
    let by = |key: &Ed25519KeyPair| {
        let payload = json!({ "sub": "ann", "aud": "shop", "exp": in_an_hour() });
        let mut guest = house.guest();
        show(&mut guest, &signed_by(key, &json!({ "alg": "EdDSA" }), &payload), "");
        guest
    };
    let place = waits(&mut by(&old_key())).await;
    assert_eq!(waits(&mut by(&key())).await, place);
    assert_eq!(by(&seeded(4)).page("/seats").await.word(), "sign_in", "of neither");
}

#[tokio::test]
async fn forged_and_spent_tokens_name_nobody() {
    let (house, _inside, _folder) = by_tokens("").await;
    let payload = json!({ "sub": "ann", "aud": "shop", "exp": in_an_hour() });
    let of = |more: Value| {
        let mut payload = payload.clone();
        payload
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        signed(&json!({ "alg": "EdDSA" }), &payload)
    };
    let without = |name: &str| {
        let mut payload = payload.clone();
        payload.as_object_mut().unwrap().remove(name);
        signed(&json!({ "alg": "EdDSA" }), &payload)
    };
    let hs256 = parts(&json!({ "alg": "HS256" }), &payload);
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(pem(&key()).as_bytes()).unwrap();
    mac.update(hs256.as_bytes());
    let hs256 = format!("{hs256}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()));
    let forged = [
        ("none", format!("{}.", parts(&json!({ "alg": "none" }), &payload))),
        ("HS256 with the public key", hs256),
        ("another algorithm's name", signed(&json!({ "alg": "RS256" }), &payload)),
        ("no expiry", without("exp")),
        ("an expiry that is none", of(json!({ "exp": "never" }))),
        ("expired", of(json!({ "exp": 1 }))),
        ("not valid yet", of(json!({ "nbf": in_an_hour() }))),
        ("a wrong audience", of(json!({ "aud": "other" }))),
        ("no audience", without("aud")),
        ("no subject", without("sub")),
        ("no name for a subject", of(json!({ "sub": ["ann"] }))),
        ("too long", of(json!({ "rest": "x".repeat(9_000) }))),
        ("cut", token("ann")[..60].to_owned()),
        ("empty", String::new()),
    ];
    for (what, token) in forged {
        let mut guest = house.guest();
        show(&mut guest, &token, "");
        let answer = guest.page("/seats").await;
        assert_eq!(
            (answer.status(), answer.word()),
            (403, "sign_in"),
            "{what}: {}",
            answer.head
        );
    }
    let mut basic = house.guest();
    basic.says("Authorization", &format!("Basic {}", token("ann")));
    assert_eq!(basic.page("/seats").await.word(), "sign_in");
    let mut torn = house.guest();
    show(&mut torn, &token("ann"), "");
    show(&mut torn, &token("bob"), "");
    assert_eq!(torn.page("/seats").await.status(), 400, "two tokens");
}

#[tokio::test]
async fn a_cookies_value_is_an_account_and_what_stacks_read_differently_is_refused() {
    let (house, _inside) = full("[room.identity]\nfrom = \"cookie\"\nname = \"session\"\nmissing = \"join\"\n").await;
    let with = |value: &str| {
        let mut guest = house.guest();
        guest.jar.insert("session".to_owned(), value.to_owned());
        guest
    };
    let place = waits(&mut with("abc")).await;
    assert_eq!(waits(&mut with("abc")).await, place);
    let mut other = with("abd");
    assert_ne!(waits(&mut other).await, place);
    let before = house.shop.seen().len();
    for cookies in [
        "session=abc; session=abd",
        "session=abc; SESSION=abd",
        "session=abc; session[]=abd",
        "session%00=abd",
        "session =abc",
        "a=1, session=abc",
        "session=\"abc\"",
        "session=a%62c",
        "session=abc\r\nCookie: a=b",
    ] {
        let mut torn = house.guest();
        torn.says("Cookie", cookies);
        let answer = torn.page("/seats").await;
        assert_eq!(
            (answer.status(), answer.word()),
            (400, "malformed"),
            "{cookies}: {}",
            answer.head
        );
    }
    assert_eq!(house.shop.seen().len(), before);
    let (mut plain, mut escaped) = (with("s:x+/="), with("s%3Ax%2B%2F%3D"));
    assert_eq!(
        waits(&mut plain).await,
        waits(&mut escaped).await,
        "decoded, it is one account"
    );
    // The trap: a shop that gives another session at the sign-in makes another account of its visitor.
    let mut signs_in = with("before");
    waits(&mut signs_in).await;
    signs_in.jar.insert("session".to_owned(), "after".to_owned());
    assert_not_yours(&signs_in.page("/seats").await);
}
