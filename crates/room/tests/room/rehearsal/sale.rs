//! Rehearsals and sales that have winners: none goes on when such a sale begins, unless that was wanted.

use ropeline_room::{Change, Changed, LEASE_MS, RehearsalOrder, Schedule, Settings};

use crate::draw::{drawing, until};
use crate::rehearsal::{ID, begin, held_by, is_under_way, join, order, say};
use crate::stock::{selling, tally, window};
use ropeline_room::testing::log::{Log, room};

fn anyway(size: u32) -> RehearsalOrder {
    RehearsalOrder {
        anyway: true,
        ..order(size)
    }
}

fn decides(log: &mut Log) -> bool {
    log.state.view().rooms[&room()].decides
}

/// A stock of two, in a sale that begins after 10 s and closes after 20.
fn on_sale() -> Settings {
    let schedule = Schedule {
        rule: "one".to_owned(),
        windows: vec![window(10_000, 20_000, None)],
    };
    Settings {
        schedule: Some(schedule),
        ..selling(5, 2)
    }
}

#[test]
fn a_rehearsal_of_before_a_sale_that_decides_ends_with_its_first_entry() {
    for settings in [on_sale(), drawing(1, None)] {
        let mut log = Log::new(settings);
        assert!(!decides(&mut log));
        assert_eq!(begin(&mut log, order(5)), Changed::Taken);
        assert!(join(&mut log, ID, 1).is_empty(), "the room is closed");
        until(&mut log, 9_500);
        assert!(is_under_way(&mut log));
        let mut twin = log.fork();
        for log in [&mut log, &mut twin] {
            until(log, 10_000);
            assert!(decides(log) && !is_under_way(log));
            assert!(join(log, ID, 1).is_empty());
        }
        assert_eq!(begin(&mut log, order(5)), Changed::Refused);
    }
}

#[test]
fn what_was_to_go_on_anyway_does_and_a_closed_sale_decides_nothing() {
    let mut log = Log::new(on_sale());
    assert_eq!(begin(&mut log, anyway(5)), Changed::Taken);
    until(&mut log, 10_000);
    assert_eq!((join(&mut log, ID, 3).len(), is_under_way(&mut log)), (3, true));
    assert_eq!(tally(&mut log), (2, 0, 2, 0));
    until(&mut log, 10_000 + LEASE_MS);
    assert!(!decides(&mut log));
    assert_eq!(begin(&mut log, order(5)), Changed::Taken);
}

#[test]
fn a_stock_that_is_set_in_the_middle_of_a_rehearsal_ends_it() {
    let mut log = Log::new(Settings {
        stock: None,
        ..selling(5, 2)
    });
    begin(&mut log, order(5));
    assert_eq!(join(&mut log, ID, 3).len(), 3);
    assert_eq!(say(&mut log, Change::Configure(selling(5, 2))), Changed::Taken);
    log.pass(500);
    assert!(!is_under_way(&mut log));
    assert_eq!((held_by(&mut log), tally(&mut log)), ((0, 0, 0), (2, 0, 0, 2)));
}
