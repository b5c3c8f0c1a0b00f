//! Known answers: the result of a long history from a fixed seed, the same on every machine and with every build.
//!
//! `scripts/test foreign` asks for the same answers on a machine of another word size and byte order. A build that has
//! others for a machine version that is in use would disagree with the gates of the build before: once there is a release, a
//! change of the rules or of the bytes takes a new version.

use ropeline_room::{Chain, NEWEST, VERSION};

use crate::laws::life::Life;

/// The machine version that a history begins with, the newest that its gates know, the chain over its history's entries, and the hash of the state at the end.
const KNOWN: [(u16, u16, &str, &str); 2] = [
    (
        VERSION,
        VERSION,
        "4c7be1aafc03c9f85b6377eadc6af19cd89fe66304b05bc34b163fceea2949cc",
        "eb6b4a28e5c2b997b04350eb2a942b67c022b388286ca7eddbc54752c9dd03d6",
    ),
    (
        VERSION,
        NEWEST,
        "e65033c1d5f63e8f7ad0af5bbf12afee83b52584c776af509ee5e010ae113e09",
        "fd673a927b1b02222a72845ca50d826a58f01d2c3a7772738cad3a2a356d4b6e",
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
