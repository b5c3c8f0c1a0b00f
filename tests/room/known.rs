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
        "b225aa0fe684fbec428b52b4e5777e6ffa45cbe44c9e080487dffadfcbb131e5",
        "ec541f1a712c35a665708423ca11bf8556c1fc61c7f1a46856b2ea2b9fde47ce",
    ),
    (
        VERSION,
        "0b2d72d9d25e31fa6ab931fddf54d5f94fb6ea200eca82a8282371bc2384a23a",
        "2ee97e3b2aa7c394579e356cb847c13340e6a79c021e81216727e0970b33249b",
    ),
];

#[test]
fn the_same_history_comes_to_the_same_hashes_on_every_machine() {
    let came_to = KNOWN.map(|(version, ..)| {
        let state = Life::new(version).live();
        [state.chain(), Chain(state.hash())].map(|hash| hash.to_string())
    });
    assert_eq!(came_to, KNOWN.map(|(_, chain, hash)| [chain, hash].map(str::to_owned)));
}
