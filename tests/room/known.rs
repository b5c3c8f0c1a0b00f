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
        "6f94533e803e73360b99c9a9e9bd9bf6d580293c71a7a62fa2c0f32ca48ff591",
        "8d6c22f287888cdc06756cde60d37f5ae3078dcd392bb1b4d6dcabae0e7358d5",
    ),
    (
        3,
        3,
        "813d080f0412c6383b30f4ddaf1ab5a6e0f4c11bc4f503a6f672473c5663a734",
        "9c527e3c3a6f3d3b4e8c340b004e9b3ad138f5aa384c892cb0d9de35412d938d",
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
