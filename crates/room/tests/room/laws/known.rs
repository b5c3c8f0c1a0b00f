//! Known answers: what a long history from a fixed seed comes to, on every machine and with every build.
//!
//! `scripts/test foreign` asks for the same answers on a machine of another word size and byte order. A build that has
//! others for a machine version that is in use would disagree with the gates of the build before: a change of the rules or
//! of the bytes takes a new version.

use ropeline_room::Chain;

use crate::laws::life::Life;

/// The machine version that a history begins with, the newest that its gates know, the chain over its history's entries, and the hash of the state at the end.
const KNOWN: [(u16, u16, &str, &str); 4] = [
    (
        1,
        2,
        "fea7a89cfc6e05769f56f70cc992fe2d6a45a3f1ca41c0279f08624d07933d0a",
        "f82b08596fe980b20215574e7f9b59936ca123f70d68e44e1d12b39261836267",
    ),
    (
        2,
        2,
        "30fcd7ce326d6ec98ddc799bea2df539527f5353302e785c5c6ee8fe92c4e73d",
        "a433f35666832a1c53e60df666fbef8206175fe5e70866966bc994fa21efcf4d",
    ),
    (
        2,
        3,
        "56906d7adde784a9c238c440a67a3a67222df5bc47adda80b9d82d7487206f7c",
        "fca08415c75a0a8106b01c103781e5c25dfd12c2ddae2e9ae0ef45cfc2fbcf7f",
    ),
    (
        3,
        3,
        "47b9f6a962ec615051e8e7c2518123eb379ff804c4d53dc8b18b738df85f31e6",
        "81366ee4f7e5603d045489598b7e59381a3922e828bcf5c18a5046f5d6ff2d1e",
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
