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
        "bc4a319587e52358b92da0a289964b3d6f59242763aa8dc6e1bbdf8a5fca3afa",
        "eb00c59bb04adda34d9a43dc05ec31e9833f9301410687d8fb88f0a139fd0b1c",
    ),
    (
        2,
        2,
        "01a96a2479edbce9c4b491d0d3963d1744c40221ce8e01acbdb9577421c8d89a",
        "411c8c40c349d519aafa559270184bb48855056d13a6e2ed6fcc6d16cc234c6f",
    ),
    (
        2,
        3,
        "382ac82a4cd95c7c0746e320e60b51e944f186bcd65b929bde2c7ece747c04bb",
        "3593b829bef791086f56de35909da091571a425da874bf12a58914aaa001edb3",
    ),
    (
        3,
        3,
        "7c3a91708a6185ba6cf838e061576cb2944221d5f1f95f17cf44eee0374ea9f6",
        "13227d4692f994b10e311de7c8498f1e49472044626a68e6c6034742e49a7e3a",
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
