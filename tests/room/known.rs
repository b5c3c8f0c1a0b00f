//! Known answers: what a long history from a fixed seed comes to, on every machine and with every build.
//!
//! `scripts/test foreign` asks for the same answers on a machine of another word size and byte order. A build that has
//! others for a machine version that is in use would disagree with the gates of the build before: a change of the rules or
//! of the bytes takes a new version.

use anteroom::room::{Chain, OLDEST, VERSION};

use super::life::Life;

/// A machine version, the chain over its history's entries, and the hash of the state at the end.
const KNOWN: [(u16, &str, &str); 2] = [
    (
        OLDEST,
        "0e73dbc52d2a5b828b6a86211a9b43a7c62caf7b9de95d008bd39794283cd325",
        "02587c6b8792439890ae09d192876833549a6fb9eb4c04cf49d57f35bfa94959",
    ),
    (
        VERSION,
        "fd91ab4940a75257378996d6d33d9728ad732865b30c754bc383bffbfd43895a",
        "14becfdf90ed17e5282d057c050e2d57863d1e8e92a5c1b94685cba1ffbaae64",
    ),
];

#[test]
fn the_same_history_comes_to_the_same_hashes_on_every_machine() {
    for (version, chain, hash) in KNOWN {
        let state = Life::new(version).live();
        let came_to = [state.chain(), Chain(state.hash())].map(|hash| hash.to_string());
        assert_eq!(came_to, [chain, hash], "machine version {version}");
    }
}
