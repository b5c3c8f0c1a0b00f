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
        "23091716a234ed0a9a268abb6526b39833c536da1941eb1bf5076bece94be192",
        "2d8dbd20cd3ead9b91d226f1da8d985b1b34dfb88443225594d1092459e2ddee",
    ),
    (
        VERSION,
        NEWEST,
        "afd5865d3295618f0659a8b116493657510f83bc8890b84f9aea747b37a63de7",
        "705269adb1777f8dae763514304d5eb5e376b268cf519f6497a60285dda93fbf",
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
