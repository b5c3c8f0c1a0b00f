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
        "b225aa0fe684fbec428b52b4e5777e6ffa45cbe44c9e080487dffadfcbb131e5",
        "ec541f1a712c35a665708423ca11bf8556c1fc61c7f1a46856b2ea2b9fde47ce",
    ),
    (
        2,
        2,
        "0b2d72d9d25e31fa6ab931fddf54d5f94fb6ea200eca82a8282371bc2384a23a",
        "2ee97e3b2aa7c394579e356cb847c13340e6a79c021e81216727e0970b33249b",
    ),
    (
        2,
        3,
        "7375fb4c942ece45078d36b71e0b099a8d7f7e34db5622f38746eea405ed79d8",
        "aa7534233da1d4e2845f660d9f5f58094e279c1cdde6bd4468e8afb3b571fa21",
    ),
    (
        3,
        3,
        "4dfdb92d3a504dab3757ed3d1cf98e984031dc47c1e841877aa369eea88e86de",
        "8b0ee37f4197ef3e5bb738af553ad6fca7a14dc85add4bc007a0844101334eea",
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
