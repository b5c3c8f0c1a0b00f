//! Known answers: what a long history from a fixed seed comes to, on every machine and with every build.
//!
//! `scripts/test foreign` asks for the same answers on a machine of another word size and byte order. A build that has
//! others for a machine version that is in use would disagree with the gates of the build before: a change of the rules or
//! of the bytes takes a new version.

use anteroom::room::Chain;

use super::life::Life;

/// The machine version that a history begins with, the newest that its gates know, the chain over its history's entries, and the hash of the state at the end.
const KNOWN: [(u16, u16, &str, &str); 4] = [
    (
        1,
        2,
        "cb28b7915ec77e9f1b955c42c9576f7ed73a2ba7130dbc3782da33cec8fe060e",
        "7cc194caa7f498cad710e98653f5ade899856d6d8d59c68ec95cc255a28b60a1",
    ),
    (
        2,
        2,
        "515d32bebe258038670a2470f490abafd4f98c18d82ba1534ea25b3995d5a80b",
        "0f9ff1ab5c6dc06bb32816a2f3ae80600e9cf176bda63dd71e7c76d3871f9c37",
    ),
    (
        2,
        3,
        "862b253a4f8eec6364851b6a1ab9321ebf4e16271c8b29db48a28e439482f9a4",
        "d89d4f41d884ddfac57e2272c8092e4cb8d77b0dbe4b2443dec61ac1452ce5c2",
    ),
    (
        3,
        3,
        "7c5861ab08adc320835eda5afaa2328c71c59ad74d3a0d50da736aa54f169302",
        "7977948f0cb64a2d4078d5846a0fc46dd94125ead7c1a270fc388ee76236b308",
    ),
];

#[test]
fn the_same_history_comes_to_the_same_hashes_on_every_machine() {
    let came_to = KNOWN.map(|(version, newest, ..)| {
        let state = Life::new(version, newest).live();
        [state.chain(), Chain(state.hash())].map(|hash| hash.to_string())
    });
    assert_eq!(
        came_to,
        KNOWN.map(|(_, _, chain, hash)| [chain, hash].map(str::to_owned))
    );
}
