//! Known answers: the result of a long history from a fixed seed, the same on every machine and with every build.
//!
//! `scripts/test foreign` asks for the same answers on a machine of another word size and byte order. A build that has
//! others for a machine version that is in use would disagree with the gates of the build before: once there is a release, a
//! change of the rules or of the bytes takes a new version.

use ropeline_room::{Chain, NEWEST, VERSION};

use crate::laws::life::Life;

/// The machine version that a history begins with, the newest that its gates know, the chain over its history's entries, and the hash of the state at the end.
const KNOWN: [(u16, u16, &str, &str); 2] = [
    (
        VERSION,
        VERSION,
        "c19bb47d94a69b8fcf4ef8360ea40d734553f247d0d650a463681407d1faa4ee",
        "3dc571e1afba2e030ea97698d86707b46dc7ec4a0a10f143082c56ef11ffdd27",
    ),
    (
        VERSION,
        NEWEST,
        "8d925a8464407a19347fc8cbb20b529dfa25d79e5b9fa7345815dd5999d21a69",
        "1961a8eaecd74054ebf597a540824150e551feab2f71af4b4cc5ef1093010c3b",
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
