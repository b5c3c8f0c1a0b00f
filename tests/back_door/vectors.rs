//! Known answers: the gate's own signer wrote none of them.

use ropeline::room::Wall;
use ropeline::token::{Key, KeyId, RequestCheck, RequestSigner, Secret};

use crate::languages::{Case, answers};

const VECTORS: &str = include_str!("../../examples/back-door/vectors.txt");
const NOW_SECS: u64 = 1_790_000_000;
/// The keys that the drivers know.
pub const KEY: (&str, &str) = ("2026-11", "a secret that gate and shop share!");
const OLD: (&str, &str) = ("old", "the secret that was used before it");

fn vectors() -> Vec<(bool, Case, &'static str)> {
    let rows = VECTORS.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| {
        let [answer, method, target, session, signature, why] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("six columns, not {row}");
        };
        let case = Case {
            method: method.to_owned(),
            target: target.to_owned(),
            session: session.to_owned(),
            signature: signature.to_owned(),
            now_secs: NOW_SECS,
        };
        (answer == "yes", case, why)
    })
    .collect()
}

#[test]
fn every_check_gives_the_known_answers() {
    let vectors = vectors();
    let cases: Vec<Case> = vectors.iter().map(|(_, case, _)| case.clone()).collect();
    for (name, answers) in answers(&cases) {
        for ((right, case, why), answer) in vectors.iter().zip(answers) {
            assert_eq!(answer, *right, "{name}, {why}: {case:?}");
        }
    }
}

#[test]
fn the_gate_signs_as_the_known_answers_have_it() {
    let mut count = 0;
    for (_, case, why) in vectors().into_iter().filter(|(right, ..)| *right) {
        let (id, secret) = if case.signature.contains("k=old;") { OLD } else { KEY };
        let signer = RequestSigner::new(&Key {
            id: KeyId::new(id).unwrap(),
            secret: Secret::new(secret.as_bytes()),
        });
        let time = case.signature.split(';').find_map(|part| part.strip_prefix("t="));
        let now = Wall(time.unwrap().parse::<u64>().unwrap() * 1_000 + 999);
        let signature = signer.unwrap().sign(&case.method, &case.target, &case.session, now);
        assert_eq!(signature, case.signature, "{why}");
        count += 1;
    }
    assert!(count > 3);
}

#[test]
fn the_check_for_shops_in_rust_gives_the_known_answers() {
    let keys = [KEY, OLD].map(|(id, secret)| Key {
        id: KeyId::new(id).unwrap(),
        secret: Secret::new(secret.as_bytes()),
    });
    let check = RequestCheck::new(&keys).unwrap();
    for (right, case, why) in vectors() {
        let now = Wall(case.now_secs * 1_000);
        let answer = check.is_signed(&case.method, &case.target, &case.session, &case.signature, now);
        assert_eq!(answer, right, "{why}: {case:?}");
    }
}
