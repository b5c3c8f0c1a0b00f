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
        "2b5268a78d75deabb82bb1a1451091c2b2e81afc842283a093851bbaec6ef912",
        "a373417ffd2bf0b21a526ee0e75966b370f0223246679855838023aaeb445545",
    ),
    (
        VERSION,
        "4d044b372777a951c1b8b6fae5ceff4b36b7fd9e6e4b86f57e71c19416e991c9",
        "72652727bcd16451d4614d06ba8f39e6dd2f1ec14114b7133f14d5c4c46958a8",
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
