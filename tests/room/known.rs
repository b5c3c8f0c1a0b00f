//! Known answers: what a long history from a fixed seed comes to, on every machine and with every build.
//!
//! `scripts/test foreign` asks for the same answers on a machine of another word size and byte order. A build that has
//! others for a machine version that is in use would disagree with the gates of the build before: a change of the rules or
//! of the bytes takes a new version.

use anteroom::room::{Chain, OLDEST, VERSION};

use super::life::Life;

/// A machine version, the chain over its history's entries, and the hash of the state at the end.
const KNOWN: [(u16, &str, &str); 2] = [
    (
        OLDEST,
        "66c0bdfa6e621fcf000bbe1561958a4251028f28365f4552690d082ad401198c",
        "1441572c7f9bbca6f3ab7d667b30f1219c2ef1e337e0395cd9ce63544cc2baff",
    ),
    (
        VERSION,
        "617245eb1f0ac5fdda4959256f775c6e56458d7607fa16af953cccdeb99b78d6",
        "67702fce28d02ed48a4122a26bad36717ee0b988c245cb1841f0e21b311a7dee",
    ),
];

#[test]
fn the_same_history_comes_to_the_same_hashes_on_every_machine() {
    for (version, chain, hash) in KNOWN {
        let state = Life::new(version).live();
        let came_to = [state.chain(), Chain(state.hash())].map(|hash| hash.to_string());
        assert_eq!(came_to, [chain, hash], "machine version {version}");
    }
}
