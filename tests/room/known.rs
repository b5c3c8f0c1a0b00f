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
        "d61c07166d83abb9b1a5ae635ff335bc230137a83b254b4a851518d219a0da27",
        "024c819d275e1170194475835f5667c40f7c07798364532a3f3029c4e1c53578",
    ),
    (
        3,
        3,
        "295443327ac64f0b6d79fb421a100c89ee873c9a2f2931b9e3ad5706df6df81f",
        "d5a7fd09e5f0e5b98a991800f2db111499583b587077b1bbca2df9b6e6418420",
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
