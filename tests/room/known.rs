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
        "cb28b7915ec77e9f1b955c42c9576f7ed73a2ba7130dbc3782da33cec8fe060e",
        "7cc194caa7f498cad710e98653f5ade899856d6d8d59c68ec95cc255a28b60a1",
    ),
    (
        2,
        2,
        "515d32bebe258038670a2470f490abafd4f98c18d82ba1534ea25b3995d5a80b",
        "0f9ff1ab5c6dc06bb32816a2f3ae80600e9cf176bda63dd71e7c76d3871f9c37",
    ),
    (
        2,
        3,
        "545f9955d09671bbfba423e7a5315e3c38ffffc029dee859900c4de04d421930",
        "16de76b3822f9216bcf34b978e86b3a077508666033ae6abc6a23a6f4f8548cc",
    ),
    (
        3,
        3,
        "b522602f29f723e95ac789b844598d49f800504f3822a3c7aba916b61f12c9de",
        "1ff289cb1a804c70a9a6dff26ae1aec1ebc79634c6cb6aa1db7d41f45ef1c20c",
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
