//! Proofs of work at gates that share a store: one solution is one place, wherever and however often it is shown.

use std::net::Ipv4Addr;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU8, Ordering};

use ropeline::room::{LineName, PendingId, RoomName, Wall};
use ropeline::time::wall;
use ropeline::token::proof::{Challenge, PARTS, most};
use ropeline::token::{Key, KeyId, Keyring, Secret};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::gate::{Gate, Site};
use crate::harness::redis::{Options, Server};
use crate::until;
use crate::visitor::{Answer, Visitor};

/// A price that a test pays in a moment.
const WORK: &str = "[room.proof_of_work]\nenabled = true\nprice = { least = 1600, most = 160000 }\n\
    joins_per_minute = { few = 100000, many = 200000 }";

fn join(visitor: &mut Visitor, proof: &str) -> Answer {
    let fields = format!("Accept: application/json\r\nRopeline-Proof: {proof}\r\nContent-Length: 0\r\n");
    visitor.asks("POST /.ropeline/rooms/shop/join", &fields, "")
}

/// The solved proof for a newcomer at this gate.
fn proof(gate: &Gate) -> String {
    let asked = join(&mut gate.visitor(), "");
    assert_eq!((asked.status, asked.word()), (428, "proof"), "{asked:?}");
    solved(&asked.json())
}

fn solved(asked: &Value) -> String {
    let text = asked["challenge"].as_str().unwrap();
    let (parts, most) = (asked["parts"].as_u64().unwrap(), asked["most"].as_u64().unwrap());
    worked_out(text, parts, most)
}

fn worked_out(text: &str, parts: u64, most: u64) -> String {
    let nonce = |part| {
        let seed = Sha256::digest(format!("{text}:{part}"));
        let begins = |nonce: &u32| {
            let hash = Sha256::new().chain_update(seed).chain_update(nonce.to_be_bytes());
            let hash: [u8; 32] = hash.finalize().into();
            u64::from(u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])) <= most
        };
        (0..=u32::MAX).find(begins).unwrap()
    };
    (0..parts).fold(text.to_owned(), |shown, part| format!("{shown}.{:x}", nonce(part)))
}

/// Shows one solution at all of these at the same moment, from a browser of its own each.
fn at_once(gates: [&Gate; 4], proof: &str) -> Vec<Visitor> {
    let barrier = Barrier::new(gates.len());
    std::thread::scope(|scope| {
        let come = |gate: &Gate| {
            let (mut visitor, barrier) = (gate.visitor(), &barrier);
            scope.spawn(move || {
                barrier.wait();
                let answer = join(&mut visitor, proof);
                assert_eq!(answer.status, 200, "{answer:?}");
                visitor
            })
        };
        let all = gates.map(come);
        all.into_iter().map(|one| one.join().expect("no panic")).collect()
    })
}

fn figures(gate: &Gate) -> (u64, u64) {
    let room = gate.asks_admin("/api/v1/rooms/shop").json();
    let figure = |name: &str| room[name].as_u64().unwrap_or_else(|| panic!("no {name} in {room}"));
    (figure("joins"), figure("waiting"))
}

fn until_all_say(gates: &[&Gate], joins: u64, waiting: u64) {
    for gate in gates {
        until("the figures", || (figures(gate) == (joins, waiting)).then_some(()));
    }
}

#[test]
fn one_solution_is_one_place_at_all_gates_together() {
    let store = Server::start(&Options::default());
    let site = Site::shared(&store.url(), WORK);
    site.edit("join = { requests = 10,", "join = { requests = 100,");
    let (a, b) = (site.start(), site.start());
    for gate in [&a, &b] {
        gate.lives();
        until("the price", || {
            (gate.figure("ropeline_proof_price{room=\"shop\"}") == 1_600).then_some(())
        });
    }
    let both = [&a, &b, &a, &b];
    at_once(both, &proof(&a));
    until_all_say(&[&a, &b], 1, 0);
    let waits = proof(&a);
    let mut browsers = at_once(both, &waits);
    until_all_say(&[&a, &b], 2, 1);
    for browser in &mut browsers {
        until("the one place", || (browser.position() == Some(1)).then_some(()));
    }
    // At a gate that was not there when the challenge was made, and whose own memory holds nothing.
    b.kill();
    let b = site.start();
    b.lives();
    let mut late = b.visitor();
    assert_eq!(join(&mut late, &waits).status, 200);
    assert_eq!(late.position(), Some(1));
    until_all_say(&[&a, &b], 2, 1);
    // Worked out for one gate, and good at the other.
    let mut next = b.visitor();
    assert_eq!(join(&mut next, &proof(&a)).status, 200);
    until("a place of its own", || (next.position() == Some(2)).then_some(()));
    until_all_say(&[&a, &b], 3, 2);
}

/// A challenge that the site's gates would have made this long ago, for a client on this machine, with the work for it.
fn made_ago(secs: u64) -> String {
    let key = Key {
        id: KeyId::new("test").unwrap(),
        secret: Secret::new(*b"a secret of the tests, long enough for any key ring"),
    };
    let mut network = [0; 17];
    network[..16].copy_from_slice(&Ipv4Addr::new(127, 0, 0, 0).to_ipv6_mapped().octets());
    network[16] = 24;
    let challenge = Challenge {
        id: PendingId(fresh()),
        issued_at: Wall(wall().0 - secs * 1_000),
        price: 1_600,
        network,
    };
    let (ring, room) = (Keyring::new(vec![key]).unwrap(), RoomName::new("shop").unwrap());
    let text = challenge.sign(&ring, &room, &LineName::ONLY);
    worked_out(&text, u64::from(PARTS), most(challenge.price).into())
}

/// Each is another join.
fn fresh() -> [u8; 12] {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    [NEXT.fetch_add(1, Ordering::Relaxed); 12]
}

#[test]
fn a_challenge_is_good_for_five_minutes_or_for_the_late_window() {
    let keys = "[tokens]\nkeys = [{ id = \"test\", secret = \"a secret of the tests, long enough for any key ring\" }]";
    for (room, good, over) in [("", 100, 301), ("late_window = \"4 min\"", 100, 241)] {
        let site = Site::new(&format!("{room}\n{WORK}"), keys);
        let gate = site.start();
        for (age, status) in [(0, 200), (good, 200), (over, 428)] {
            let answer = join(&mut gate.visitor(), &made_ago(age));
            assert_eq!(answer.status, status, "{room}, {age} s ago: {answer:?}");
        }
    }
}
