//! Request signatures: what the check accepts, and everything that it refuses.

use super::*;

const NOW: Wall = Wall(1_790_000_000_000);

fn signed_by(key: &Key, at: Wall) -> String {
    RequestSigner::new(key)
        .expect("long enough")
        .sign("GET", "/cart", "session", at)
}

fn accepts(keys: &[Key], signature: &str, now: Wall) -> bool {
    let check = RequestCheck::new(keys).expect("long enough");
    check.is_signed("GET", "/cart", "session", signature, now)
}

#[test]
fn a_signature_names_its_key_and_never_shows_it() {
    let signer = RequestSigner::new(&key("2026-11", 7)).expect("long enough");
    let signature = signer.sign("GET", "/a?b=c", "", Wall(1_790_000_000_999));
    assert!(signature.starts_with("v1;k=2026-11;t=1790000000;h="), "{signature}");
    assert_eq!(
        (signature.len(), format!("{signer:?}")),
        (28 + 64, "RequestSigner(2026-11)".to_owned())
    );
    // Text moved from one line to the next makes another request.
    assert_ne!(
        signer.sign("GET", "/ab", "c", Wall(0)),
        signer.sign("GET", "/a", "bc", Wall(0))
    );
    let short = Key {
        id: KeyId::new("a").expect("a key id"),
        secret: Secret::new([7; 31]),
    };
    assert!(RequestSigner::new(&short).is_err());
}

#[test]
fn a_signature_is_for_one_method_target_and_session() {
    let check = RequestCheck::new(&[key("a", 1)]).expect("long enough");
    let signature = signed_by(&key("a", 1), NOW);
    assert!(check.is_signed("GET", "/cart", "session", &signature, NOW));
    for (method, target, session) in [
        ("POST", "/cart", "session"),
        ("GET", "/order", "session"),
        ("GET", "/cart", "other"),
        ("GET", "/cart", ""),
    ] {
        assert!(
            !check.is_signed(method, target, session, &signature, NOW),
            "{method} {target} {session}"
        );
    }
    assert_eq!(format!("{check:?}"), "[\"a\"]");
}

#[test]
fn a_signature_is_good_for_sixty_seconds_both_ways() {
    let (keys, signature) = ([key("a", 1)], signed_by(&key("a", 1), NOW));
    for (secs, good) in [(60, true), (61, false)] {
        assert_eq!(
            accepts(&keys, &signature, Wall(NOW.0 + secs * 1_000)),
            good,
            "{secs} s later"
        );
        assert_eq!(
            accepts(&keys, &signature, Wall(NOW.0 - secs * 1_000)),
            good,
            "{secs} s earlier"
        );
    }
}

#[test]
fn a_signature_counts_for_the_key_that_it_names() {
    let signature = signed_by(&key("a", 1), NOW);
    assert!(
        accepts(&[key("b", 2), key("a", 1)], &signature, NOW),
        "a key from before the rotation"
    );
    assert!(!accepts(&[key("a", 2)], &signature, NOW), "another secret");
    assert!(!accepts(&[key("b", 1)], &signature, NOW), "another id");
    assert!(!accepts(&[], &signature, NOW));
    assert!(
        RequestCheck::new(&[Key {
            secret: Secret::new([7; 31]),
            ..key("a", 1)
        }])
        .is_err()
    );
}

#[test]
fn a_signature_of_another_form_is_refused() {
    let keys = [key("a", 1)];
    let good = signed_by(&keys[0], NOW);
    let tag = good.split_once(";h=").expect("a tag").1;
    let with = |secs: &str| good.replace("1790000000", secs);
    for bad in [
        String::new(),
        good.replace("v1;", "v2;"),
        good.replace(";t=", ";s="),
        good.replace(";h=", ";g="),
        good.replace(tag, &tag.to_uppercase()),
        good.replace(tag, &tag[..62]),
        format!("{good}00"),
        format!(" {good}"),
        with(""),
        with("+1790000000"),
        with("0001790000000"),
        with("01790000000"),
    ] {
        assert!(!accepts(&keys, &bad, NOW), "{bad}");
    }
}
