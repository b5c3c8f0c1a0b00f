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
        "1e2e682ebfc66f17b6ecc843405eacbed897bd426e262c4e1b095e0885a32a78",
        "0187d17bee9649c6525ee9790db410d5a2686ad769abc8c97c703bf00bdf3ad2",
    ),
    (
        3,
        3,
        "e7001a3172e704fde2452342ac034204325a4c802d94e85c30e85a4d3f4e73a7",
        "c6c7c882140a045e5ae6f98735de7c3452ecad9939444682bc7174d49b53362b",
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
