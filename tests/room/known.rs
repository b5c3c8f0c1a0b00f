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
        "8a0915dde64fce2dc71d3bc1c6861b76f9db95e4b491f2b6c25c3a353f48d5f9",
        "ea49504b3550d4f193dae43267ec892b65d133becece11c823ef8a8b5a0d3bb0",
    ),
    (
        3,
        3,
        "698d78277725c29354482d32ce13757e339c6ef0f69fbdd74d23455c69f036b7",
        "19d6314a51dbdc7cc53f73ee526a9d21d3a58f31d486e94c10fa3e5898fb9ce0",
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
