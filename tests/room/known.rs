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
        "537c64f34319e4ed997f63d08da1319f5f2d09efdbf7e91cbb1234eac049d111",
        "b99170a3f0b8ff4e299bf74e4e47d4b0545e4e9c58c27270f03715cea0b26959",
    ),
    (
        3,
        3,
        "df4e9d85034bb2e45649d6698442b20b4cf8688699654f62cbaada8927e8b3fc",
        "9b1fe16b7404654d80534de3033962d9598dbddec6813ed94c31b6eb203ba12c",
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
