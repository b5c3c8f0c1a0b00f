//! Known answers: the result of a long history from a fixed seed, the same on every machine and with every build.
//!
//! `scripts/test foreign` asks for the same answers on a machine of another word size and byte order. A build that has
//! others for a machine version that is in use would disagree with the gates of the build before: once there is a release, a
//! change of the rules or of the bytes takes a new version.

use ropeline_room::{Chain, NEWEST, VERSION};

use crate::laws::life::Life;

/// The machine version that a history begins with, the newest that its gates know, the chain over its history's entries, and the hash of the state at the end.
const KNOWN: [(u16, u16, &str, &str); 4] = [
    (
        1,
        1,
        "23091716a234ed0a9a268abb6526b39833c536da1941eb1bf5076bece94be192",
        "2d8dbd20cd3ead9b91d226f1da8d985b1b34dfb88443225594d1092459e2ddee",
    ),
    (
        1,
        2,
        "f75539a9ce95d9de8bd185807dabefd142f045d1501519365ca10015f902d8cb",
        "fc232621a39f6218f5c4b5ef59463921d42906a0ee4a1bc90105b057b5720c15",
    ),
    (
        VERSION,
        VERSION,
        "54bf15faa4c4f2c7f03872050a7979892ea6c1bb396394cafac5aa562f98e031",
        "1145d2bc86f969fc4fe79e49b162a25e6cef16660214bdc38d30bf27435d4101",
    ),
    (
        VERSION,
        NEWEST,
        "461459112c53b1fcfedef20e6fcfedd09237f447d8bd67815d0ac55544bafefe",
        "c3504cc2840527da10510840b51f48c92c7030c13f8abc30bc12998bf2db47f1",
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
