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
        "b34d0c034a36757087e1eb9a936223667c21a239e3458f7d2597cd57d0f92884",
        "08f89b9414c2dc8872cbdfa63e60bda73a2b935e3ee0220af0543cc536344af1",
    ),
    (
        3,
        3,
        "aa0d0d6d28ed1d308f72985b77722f484e2e57552a4161ad3c631044589e00d7",
        "1840a34d974bd4c4bea3f8174ac371d222dcb2e315ed7d7330d213348036d98f",
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
