//! The cost of a proof of work for a program that is written for it, and for the gate that checks it, on one core.
//!
//! ```text
//! cargo run --release --example proof_cost
//! ```

use std::hint::black_box;

use ropeline::time::uptime;
use ropeline::token::proof::{PARTS, most, solves};
use sha2::{Digest, Sha256};

const PRICE: u32 = 1_000_000;
const ROUNDS: u32 = 20;

fn main() {
    let begun = uptime();
    let mut tried: u64 = 0;
    let solved: Vec<(String, Vec<u32>)> = (0..ROUNDS)
        .map(|round| {
            let text = format!("a challenge of about as many characters as a real one has, number {round}");
            let nonces: Vec<u32> = (0..PARTS).map(|part| solve(&text, part)).collect();
            tried += nonces.iter().map(|nonce| u64::from(*nonce) + 1).sum::<u64>();
            (text, nonces)
        })
        .collect();
    let seconds = uptime().saturating_sub(begun).as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = tried as f64 / seconds / 1e6;
    println!(
        "solving: {rate:.1} million hashes a second, {:.0} ms for a price of {PRICE}",
        seconds * 1e3 / f64::from(ROUNDS)
    );
    let begun = uptime();
    for _ in 0..1_000 {
        for (text, nonces) in &solved {
            assert!(solves(black_box(text), PRICE, nonces));
        }
    }
    let each = uptime().saturating_sub(begun) / (1_000 * ROUNDS);
    println!("checking: {each:?} for each");
}

fn solve(text: &str, part: u32) -> u32 {
    let seed = Sha256::digest(format!("{text}:{part}"));
    let keyed = Sha256::new().chain_update(seed);
    let begins = |nonce: &u32| {
        let hash: [u8; 32] = keyed.clone().chain_update(nonce.to_be_bytes()).finalize().into();
        u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]) <= most(PRICE)
    };
    (0..=u32::MAX)
        .find(begins)
        .expect("there is one among four thousand million")
}
