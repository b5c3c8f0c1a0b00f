//! Known answers: the result of a long history from a fixed seed, the same on every machine and with every build.
//!
//! `scripts/test foreign` asks for the same answers on a machine of another word size and byte order. A build that has
//! others for a machine version that is in use would disagree with the gates of the build before: once there is a release, a
//! change of the rules or of the bytes takes a new version.

use ropeline_room::{Chain, NEWEST, VERSION};

use crate::laws::life::Life;

/// The machine version that a history begins with, the newest that its gates know, the chain over its history's entries, and the hash of the state at the end.
const KNOWN: [(u16, u16, &str, &str); 4] = [
    (
        1,
        1,
        "23091716a234ed0a9a268abb6526b39833c536da1941eb1bf5076bece94be192",
        "2d8dbd20cd3ead9b91d226f1da8d985b1b34dfb88443225594d1092459e2ddee",
    ),
    (
        1,
        2,
        "afd5865d3295618f0659a8b116493657510f83bc8890b84f9aea747b37a63de7",
        "705269adb1777f8dae763514304d5eb5e376b268cf519f6497a60285dda93fbf",
    ),
    (
        VERSION,
        VERSION,
        "24f5dc8fcb08a7eaff6181d7753dba840fc9ea67c30db15172a94d2884eeec1d",
        "b2b5ebba0466d30425cb75845a949a75876ddd71a82d4cc229ec970fa29b75b9",
    ),
    (
        VERSION,
        NEWEST,
        "09db62a25f444517ac9664e58bee2f5180718644cf52c8752e114674d9b93cce",
        "6c91447c5e8a4d5bc4b92272f9813d6739fd6599cf4f3d014176e3f5e89e28ca",
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
