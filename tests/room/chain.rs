//! The chain in the state: over every entry, whoever applied it and wherever they began.

use anteroom::room::{Batch, Chain, Section, State};

use super::support::{INCARNATION, LANE, Log, only, settings};

#[test]
fn every_entry_is_chained_in_order_also_through_a_snapshot() {
    let mut log = Log::new(settings(1));
    let mut late = State::decode(&log.state.encode()).unwrap();
    // The room's settings were the first entry.
    let mut chain = log.state.chain();
    assert_ne!(chain, Chain::begin(INCARNATION, Chain::default()));
    for joins in [3, 0, 1] {
        let section = Section {
            joins: vec![(LANE, joins)],
            ..only()
        };
        let entry = log.entry(
            500,
            Batch {
                sections: vec![section],
                ..Batch::default()
            },
        );
        log.state.apply(&entry);
        late.apply(&entry);
        chain = chain.then(&entry.encode());
        assert_eq!((log.state.chain(), late.chain()), (chain, chain));
        // A second time it changes nothing.
        log.state.apply(&entry);
        assert_eq!(log.state.chain(), chain);
    }
    assert_eq!(log.state.view().chain, chain);
}

#[test]
fn states_that_differ_in_nothing_but_the_past_have_different_hashes() {
    let ended = |bypasses: [u32; 2]| {
        let mut log = Log::new(settings(1));
        for bypasses in bypasses {
            log.say(Section { bypasses, ..only() });
        }
        log.state.hash()
    };
    assert_ne!(ended([1, 2]), ended([2, 1]));
}
