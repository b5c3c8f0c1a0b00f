//! The chain in the state: over every entry, whichever gate applied it and wherever it began.

use std::sync::Arc;

use ropeline_room::{Batch, CallId, Chain, LineName, Section, State};

use ropeline_room::testing::log::{EPOCH, LANE, Log, only, room, settings};

#[test]
fn every_entry_is_chained_in_order_also_through_a_snapshot() {
    let mut log = Log::new(settings(1));
    let mut late = State::decode(&log.state.encode()).unwrap();
    // The room's settings were the first entry.
    let mut chain = log.state.chain();
    assert_ne!(chain, Chain::begin(EPOCH, Chain::default()));
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
        log.state.apply(&entry.clone().into());
        late.apply(&entry.clone().into());
        chain = chain.then(&entry.encode(), false);
        assert_eq!((log.state.chain(), late.chain()), (chain, chain));
        // A second time it changes nothing.
        log.state.apply(&entry.clone().into());
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

#[test]
fn who_was_called_or_came_in_since_an_earlier_view_is_listed() {
    let mut log = Log::new(settings(2));
    let line = |log: &mut Log| Arc::clone(&log.state.view().rooms[&room()].lines[&LineName::ONLY]);
    let numbers = log.join(3);
    let first = line(&mut log);
    let seated = |since: Vec<CallId>| since.iter().map(|call| (call.number, call.count)).collect::<Vec<_>>();
    assert_eq!(seated(first.seated_since(None)), [(numbers[0], 1), (numbers[1], 1)]);
    log.claim(numbers[0], true);
    log.mark(numbers[2]);
    let second = line(&mut log);
    assert_eq!(seated(second.seated_since(Some(&first))), [(numbers[0], 1)]);
    log.leave(numbers[0]);
    let third = line(&mut log);
    assert_eq!(seated(third.seated_since(Some(&second))), [(numbers[2], 1)]);
    assert_eq!(third.seated_since(Some(&third)), []);
}
