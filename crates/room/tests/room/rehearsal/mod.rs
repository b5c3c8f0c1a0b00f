//! Rehearsals: virtual visitors stand in line and hold slots as others do, and all of them are removed when the rehearsal is
//! no longer renewed.

mod lost;
mod sale;

use std::sync::Arc;

use ropeline_room::{
    Batch, Change, Changed, Deed, Edition, Entry, LEASE_MS, LineName, LineView, MAX_REHEARSED, Number, PendingId,
    RehearsalId, RehearsalOrder, RoomChange, Section, Settings, Standing, State, Wall, Who,
};

use crate::draw::{SECRET, drawing, promise, reveal, until};
use crate::stock::{done, selling, tally, winners};
use ropeline_room::testing::log::{LANE, Log, numbers, only, room, settings};

pub const ID: RehearsalId = RehearsalId([7; 8]);
const OTHER: RehearsalId = RehearsalId([8; 8]);

pub fn order(size: u32) -> RehearsalOrder {
    RehearsalOrder {
        id: ID,
        size,
        forward: false,
        anyway: false,
        for_ms: 600_000,
        by: anna(),
    }
}

fn anna() -> Who {
    Who {
        name: "anna".to_owned(),
        reason: "practice".to_owned(),
    }
}

pub fn say(log: &mut Log, change: Change) -> Changed {
    let revision = log.state.view().rooms[&room()].revision + 1;
    let rooms = vec![RoomChange {
        room: room(),
        revision,
        change,
        who: Some(anna()),
    }];
    let batch = Batch {
        rooms,
        ..Batch::default()
    };
    log.apply(0, batch).changed[0]
}

pub fn begin(log: &mut Log, order: RehearsalOrder) -> Changed {
    say(log, Change::Rehearse(Box::new(order)))
}

fn renew(log: &mut Log, id: RehearsalId) -> Changed {
    say(log, Change::Renew(id))
}

pub fn of(id: RehearsalId) -> Section {
    Section {
        rehearsal: Some(id),
        ..only()
    }
}

/// Numbers of `count` virtual newcomers; fewer where fewer are numbered.
pub fn join(log: &mut Log, id: RehearsalId, count: u32) -> Vec<Number> {
    let effects = log.say(Section {
        joins: vec![(LANE, count)],
        ..of(id)
    });
    numbers(effects.joined[0].first, count)
}

pub fn mark(log: &mut Log, id: RehearsalId, number: Number) -> bool {
    let marks = vec![(LANE, number)];
    log.say(Section { marks, ..of(id) }).skipped == 0
}

/// Waiting, called and inside: of them virtual.
pub fn held_by(log: &mut Log) -> (u64, u64, u64) {
    let virtuals = line(log).rehearsed();
    (virtuals.waiting, virtuals.called, virtuals.inside)
}

fn line(log: &mut Log) -> Arc<LineView> {
    Arc::clone(&log.state.view().rooms[&room()].lines[&LineName::ONLY])
}

pub fn is_under_way(log: &mut Log) -> bool {
    log.state.view().rooms[&room()].rehearsal.is_some()
}

/// Time goes on with the lease held.
fn rehearse_for(log: &mut Log, ms: u64) {
    for _ in 0..ms / 5_000 {
        log.pass(5_000);
        assert_eq!(renew(log, ID), Changed::Taken);
    }
}

#[test]
fn virtual_visitors_stand_among_the_others_and_are_gone_with_the_lease() {
    let mut log = Log::new(settings(3));
    assert_eq!(begin(&mut log, order(100)), Changed::Taken);
    let first = log.join(1)[0];
    let virtuals = join(&mut log, ID, 4);
    let second = log.join(2)[0];
    assert!(log.is_called(first) && log.is_called(virtuals[0]) && log.is_called(virtuals[1]));
    assert_eq!(log.ahead(second), Some(2), "two virtual ones stand before");
    let claims = vec![ropeline_room::Claim {
        lane: LANE,
        number: virtuals[0],
        carried: true,
    }];
    log.say(Section { claims, ..of(ID) });
    assert_eq!(held_by(&mut log), (2, 1, 1));
    let mut twin = log.fork();
    log.pass(LEASE_MS - 500);
    for number in &virtuals[2..] {
        mark(&mut log, ID, *number);
    }
    log.mark(second);
    assert!(is_under_way(&mut log));
    log.pass(500);
    assert!(!is_under_way(&mut log));
    assert_eq!(held_by(&mut log), (0, 0, 0));
    assert!(virtuals.iter().all(|number| log.standing(*number) == Standing::Ended));
    assert!(log.is_called(second), "the slots are the others'");
    let figures = log.figures();
    assert_eq!((figures.joins, figures.inside), (7, 0));
    // A late gate's report about them has no effect.
    assert!(!mark(&mut log, ID, virtuals[3]));
    assert!(
        log.say(Section {
            reopens: vec![(LANE, virtuals[0])],
            ..of(ID)
        })
        .skipped
            > 0
    );
    assert_eq!(held_by(&mut log), (0, 0, 0));
    // Another replica, from the bytes of the middle, gets the same result.
    twin.pass(LEASE_MS + 1_000);
    assert_eq!(held_by(&mut twin), (0, 0, 0));
}

#[test]
fn every_replica_ends_it_at_the_same_entry() {
    let mut log = Log::new(settings(2));
    begin(&mut log, order(100));
    let mut twin = log.fork();
    let mut entries: Vec<Entry> = Vec::new();
    let mut apply = |log: &mut Log, ms, batch| {
        let entry = log.entry(ms, batch);
        log.state.apply(&entry.clone().into());
        entries.push(entry);
    };
    for step in 0..40 {
        let sections = vec![
            Section {
                joins: vec![(LANE, 1)],
                ..only()
            },
            Section {
                joins: vec![(LANE, 3)],
                ..of(ID)
            },
        ];
        let batch = Batch {
            sections,
            ..Batch::default()
        };
        apply(&mut log, 500, if step % 2 == 0 { batch } else { Batch::default() });
    }
    assert_eq!(log.figures().joins, 20 + 45, "its own join while it goes on");
    for entry in &entries {
        let read = Entry::decode(&entry.encode()).unwrap();
        assert_eq!(read, *entry);
        twin.state.apply(&read.into());
        // A gate that starts from the bytes goes on as the others.
        twin.state = State::decode(&twin.state.encode()).unwrap();
    }
    assert_eq!(twin.state.hash(), log.state.hash());
    assert!(!is_under_way(&mut twin));
}

#[test]
fn it_goes_on_while_it_is_renewed_and_no_longer_than_it_was_to() {
    let mut log = Log::new(settings(1));
    begin(
        &mut log,
        RehearsalOrder {
            for_ms: 40_000,
            ..order(10)
        },
    );
    join(&mut log, ID, 3);
    let revision = log.state.view().rooms[&room()].revision;
    rehearse_for(&mut log, 35_000);
    assert_eq!(
        log.state.view().rooms[&room()].revision,
        revision,
        "nobody's change is stale for it"
    );
    assert_eq!(renew(&mut log, OTHER), Changed::Refused);
    log.pass(5_000);
    assert!(!is_under_way(&mut log));
    assert_eq!(renew(&mut log, ID), Changed::Refused);
}

/// Also at a gate that is cut off, whose view stands.
#[test]
fn its_requests_are_accepted_until_its_end_and_no_others() {
    let mut log = Log::new(settings(10));
    let order = order(5);
    begin(&mut log, order.clone());
    let view = log.state.view();
    let rehearsal = view.rooms[&room()].rehearsal.as_ref().unwrap();
    let end = rehearsal.since.plus(order.for_ms);
    assert!(rehearsal.accepts(order.id, Wall(end.0 - 1)));
    assert!(!rehearsal.accepts(order.id, end));
    assert!(!rehearsal.accepts(RehearsalId([0xee; 8]), rehearsal.since));
}

#[test]
fn one_at_a_time_and_the_same_again_changes_nothing() {
    let mut log = Log::new(settings(1));
    for wrong in [
        order(0),
        order(MAX_REHEARSED + 1),
        RehearsalOrder { for_ms: 0, ..order(1) },
        RehearsalOrder {
            for_ms: 24 * 3_600_000 + 1,
            ..order(1)
        },
    ] {
        assert_eq!(begin(&mut log, wrong), Changed::Refused);
    }
    assert_eq!(begin(&mut log, order(5)), Changed::Taken);
    join(&mut log, ID, 2);
    let revision = log.state.view().rooms[&room()].revision;
    assert_eq!(begin(&mut log, order(9)), Changed::Taken);
    assert_eq!(log.state.view().rooms[&room()].revision, revision);
    let rehearsal = log.state.view().rooms[&room()].rehearsal.clone().unwrap();
    assert_eq!(
        (rehearsal.order.size, rehearsal.joined, rehearsal.order.by.name.as_str()),
        (5, 2, "anna")
    );
    let other = RehearsalOrder { id: OTHER, ..order(5) };
    assert_eq!(begin(&mut log, other.clone()), Changed::Refused);
    assert!(join(&mut log, OTHER, 1).is_empty(), "not its own");
    assert_eq!(say(&mut log, Change::EndRehearsal(OTHER)), Changed::Refused);
    assert_eq!(say(&mut log, Change::EndRehearsal(ID)), Changed::Taken);
    assert_eq!(held_by(&mut log), (0, 0, 0));
    let view = log.state.view();
    let deeds: Vec<&Deed> = view.rooms[&room()]
        .orders
        .iter()
        .take(2)
        .map(|order| &order.deed)
        .collect();
    let deed = |began| Deed::Rehearsal { size: 5, began };
    assert_eq!(deeds, [&deed(false), &deed(true)]);
    assert_eq!(say(&mut log, Change::EndRehearsal(ID)), Changed::Refused);
    assert_eq!(begin(&mut log, other), Changed::Taken);
}

#[test]
fn no_more_join_than_it_is_for() {
    let mut log = Log::new(settings(1));
    begin(&mut log, order(5));
    assert_eq!(join(&mut log, ID, 4).len(), 4);
    assert!(join(&mut log, ID, 2).is_empty());
    let effects = log.say(Section {
        pending_joins: vec![(LANE, PendingId([1; 12])), (LANE, PendingId([2; 12]))],
        ..of(ID)
    });
    let joined: Vec<bool> = effects
        .pending_joined
        .iter()
        .map(|joined| joined.first.is_some())
        .collect();
    assert_eq!(joined, [true, false]);
    assert_eq!(held_by(&mut log), (4, 1, 0));
    assert_eq!(log.join(3).len(), 3, "whoever is no virtual visitor joins");
    assert_eq!(say(&mut log, Change::Reset), Changed::Taken);
    assert!(!is_under_way(&mut log));
}

#[test]
fn figures_tell_virtual_visitors_apart_through_all_that_happens_to_them() {
    let mut log = Log::new(settings(2));
    begin(&mut log, order(50));
    let virtuals = join(&mut log, ID, 6);
    let real = log.join(2);
    // One comes in and idles out, the other misses the turn.
    let claims = vec![ropeline_room::Claim {
        lane: LANE,
        number: virtuals[0],
        carried: true,
    }];
    log.say(Section { claims, ..of(ID) });
    let all = |log: &mut Log| {
        for number in &virtuals {
            mark(log, ID, *number);
        }
        for number in &real {
            log.mark(*number);
        }
    };
    for _ in 0..8 {
        all(&mut log);
        rehearse_for(&mut log, 5_000);
    }
    let leaves = vec![(LANE, virtuals[5])];
    log.say(Section { leaves, ..of(ID) });
    let (virtually, figures) = (line(&mut log), log.figures());
    let (joined, missed) = (virtually.virtual_joins(), virtually.rehearsed().no_shows);
    assert_eq!(joined, 6);
    assert!(
        (1..=figures.no_shows).contains(&missed),
        "{missed} of {}",
        figures.no_shows
    );
    let called = virtuals.iter().filter(|number| log.is_called(**number)).count();
    assert_eq!(u64::try_from(called).unwrap(), held_by(&mut log).1);
    assert_eq!(State::decode(&log.state.encode()).unwrap().encode(), log.state.encode());
    say(&mut log, Change::EndRehearsal(ID));
    log.apply(0, Batch::default());
    let figures = log.figures();
    assert_eq!(
        (held_by(&mut log), figures.waiting + u64::from(figures.called)),
        ((0, 0, 0), 2)
    );
}

#[test]
fn nobody_virtual_buys_and_a_sale_that_decides_is_not_rehearsed_in() {
    let mut log = Log::new(selling(3, 2));
    assert_eq!(begin(&mut log, order(5)), Changed::Refused);
    let anyway = RehearsalOrder {
        anyway: true,
        ..order(5)
    };
    assert_eq!(begin(&mut log, anyway), Changed::Taken);
    let virtuals = join(&mut log, ID, 2);
    assert_eq!(tally(&mut log), (2, 0, 2, 0), "a piece is held for each that is called");
    let completions = virtuals.iter().map(|number| done(*number, 0, 0)).collect();
    log.say(Section { completions, ..of(ID) });
    assert!(winners(&mut log).is_empty());
    say(&mut log, Change::EndRehearsal(ID));
    log.apply(0, Batch::default());
    assert_eq!(tally(&mut log), (2, 0, 0, 2), "and is free again");
    let mut drawn = Log::new(drawing(1, None));
    until(&mut drawn, 10_000);
    assert_eq!(begin(&mut drawn, order(5)), Changed::Refused);
}

#[test]
fn a_draw_moves_virtual_visitors_with_their_places() {
    let mut log = Log::new(drawing(1, None));
    until(&mut log, 10_000);
    let anyway = RehearsalOrder {
        anyway: true,
        ..order(50)
    };
    assert_eq!(begin(&mut log, anyway), Changed::Taken);
    let edition = log.state.view().rooms[&room()].edition;
    assert_eq!(say(&mut log, promise(edition.0, None)), Changed::Taken);
    let virtuals = join(&mut log, ID, 40);
    let real = log.join(40);
    let keep = |log: &mut Log| {
        for number in &virtuals {
            mark(log, ID, *number);
        }
        for number in &real {
            log.mark(*number);
        }
        assert_eq!(renew(log, ID), Changed::Taken);
    };
    for at in [18_000, 26_000, 30_000] {
        keep(&mut log);
        until(&mut log, at);
    }
    keep(&mut log);
    assert_eq!(say(&mut log, reveal(edition.0, SECRET, None)), Changed::Taken);
    let (waiting, called, _) = held_by(&mut log);
    assert_eq!(waiting + called, 40);
    say(&mut log, Change::EndRehearsal(ID));
    log.apply(0, Batch::default());
    let figures = log.figures();
    assert_eq!(
        (held_by(&mut log), figures.waiting + u64::from(figures.called)),
        ((0, 0, 0), 40)
    );
    assert!(virtuals.iter().all(|number| log.standing(*number) == Standing::Ended));
}

#[test]
fn sections_that_no_gate_writes_are_refused() {
    let batch = Batch {
        sections: vec![of(ID), of(OTHER)],
        ..Batch::default()
    };
    let bytes = batch.encode();
    let at = bytes.windows(8).position(|bytes| bytes == ID.0).unwrap();
    // Where the section stands is one byte before its rehearsal.
    for (first, second) in [(1, 1), (1, 0), (0, 2)] {
        let mut altered = bytes.clone();
        (altered[at - 1], altered[at + 8]) = (first, second);
        assert!(Batch::decode(&altered).is_err(), "{first} {second}");
    }
}

#[test]
fn a_sale_that_begins_leaves_the_sessions_of_the_rehearsal_to_it() {
    let mut log = Log::new(Settings {
        draw: None,
        ..drawing(2, None)
    });
    until(&mut log, 10_000);
    begin(&mut log, order(5));
    join(&mut log, ID, 3);
    log.change(Change::Edition(Edition(9)));
    assert!(is_under_way(&mut log));
    say(&mut log, Change::EndRehearsal(ID));
    assert_eq!(held_by(&mut log), (0, 0, 0));
}
