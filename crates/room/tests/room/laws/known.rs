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
        "e65f0960e36defecd0f3849c0f0ee186e162c6006a27d426ad49951f2f46e284",
        "721bb08cadce8c6a60310bb8c2c6967300bc23016529989a21171f4a1135a824",
    ),
    (
        VERSION,
        NEWEST,
        "1ac74101fc1a0aa94bdc1d17b37cd8f2bf1b15796a61e22101f4d88db3b1451b",
        "8e879d09bbffe438e8b40858f20447afa7bd18dc66002a9e6a24e0c4534303bc",
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
