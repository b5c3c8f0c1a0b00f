//! Known answers: what a long history from a fixed seed comes to, on every machine and with every build.
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
        "1bc7a56d1b24f79db86c154604ab13839dff724236eb4b292322d59a26965e61",
        "a7cd2b4b7fdc4a89d6bd6383eb82cf92ec09fa7494f6a4467cc95babbd3ee4e5",
    ),
    (
        VERSION,
        NEWEST,
        "569732f1e1d6fabb625c909a0ee3b2e57ad6a90de6480f1520149980edfb19b9",
        "f279aa471167697d2407743d0514cffea73557b952f564b9a62f6508769709ae",
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
