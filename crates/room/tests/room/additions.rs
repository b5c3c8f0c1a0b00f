//! Rooms that operators add and remove: their record in the log, in its snapshots, and in the next log.

use ropeline_room::{
    Addition, Batch, Change, Changed, Deed, Edition, MAX_ADDED, MAX_ROOM_TEXT, Mode, Overrides, RoomChange, RoomName,
    Settings, State, Wall, Who,
};

use crate::recovery::fork::Fork;
use ropeline_room::testing::log::{Log, room, settings};

fn name(name: &str) -> RoomName {
    RoomName::new(name).unwrap()
}

fn anna() -> Who {
    Who {
        name: "anna".to_owned(),
        reason: "friday".to_owned(),
    }
}

fn add(text: &str) -> Change {
    Change::Add(Box::new(Addition {
        text: text.to_owned(),
        settings: settings(7),
        at: None,
    }))
}

fn said(log: &mut Log, room: &str, change: Change) -> Changed {
    let revision = log.state.view().rooms.get(&name(room)).map_or(0, |room| room.revision) + 1;
    let change = RoomChange {
        room: name(room),
        revision,
        change,
        who: Some(anna()),
    };
    let batch = Batch {
        rooms: vec![change],
        ..Batch::default()
    };
    log.apply(1_000, batch).changed[0]
}

/// The texts of all rooms that were added, by their names.
fn added(log: &mut Log) -> Vec<(String, String)> {
    let view = log.state.view();
    let all = view.additions.iter();
    all.map(|(room, added)| (room.to_string(), added.text.clone()))
        .collect()
}

fn pair(room: &str, text: &str) -> (String, String) {
    (room.to_owned(), text.to_owned())
}

#[test]
fn a_room_is_there_with_its_text_until_it_is_removed() {
    let mut log = Log::new(settings(1));
    assert_eq!(said(&mut log, "vip", add("the table")), Changed::Taken);
    let view = log.state.view();
    let vip = &view.rooms[&name("vip")];
    assert_eq!(
        (vip.settings.capacity, &vip.orders.iter().next().unwrap().deed),
        (7, &Deed::Added)
    );
    let kept = view.additions.get(&name("vip")).unwrap();
    assert_eq!(
        (kept.text.as_str(), &kept.who, kept.at),
        ("the table", &Some(anna()), view.time)
    );
    assert!(view.additions.get(&room()).is_none(), "that one is of a file");
    assert_eq!(said(&mut log, "vip", add("another")), Changed::Refused);
    assert_eq!(
        said(&mut log, room().as_str(), add("another")),
        Changed::Refused,
        "of a file"
    );
    assert_eq!(added(&mut log), [pair("vip", "the table")]);
    let before = log.state.view().additions.clone();
    log.join(3);
    assert!(
        std::sync::Arc::ptr_eq(&before, &log.state.view().additions),
        "it is no other"
    );

    assert_eq!(said(&mut log, "vip", Change::Remove), Changed::Taken);
    let view = log.state.view();
    assert!(added(&mut log).is_empty() && !view.rooms.contains_key(&name("vip")));
    let noted: Vec<_> = view
        .additions
        .noted()
        .map(|noted| (noted.added, noted.who.clone()))
        .collect();
    assert_eq!(noted, [(false, Some(anna())), (true, Some(anna()))]);
    assert_eq!(said(&mut log, "vip", Change::Remove), Changed::Refused);
    assert_eq!(said(&mut log, "vip", add("once more")), Changed::Taken);
}

#[test]
fn a_room_that_is_added_again_begins_above_every_edition_of_the_one_removed() {
    let mut log = Log::new(settings(1));
    let edition = |log: &mut Log, room: &str| {
        let view = log.state.view();
        let room = &view.rooms[&name(room)];
        (room.edition, room.voided)
    };
    assert_eq!(said(&mut log, "vip", add("a table")), Changed::Taken);
    assert_eq!(edition(&mut log, "vip"), (Edition(0), Edition(0)));
    for _ in 0..2 {
        assert_eq!(said(&mut log, "vip", Change::Reset), Changed::Taken);
    }
    assert_eq!(said(&mut log, "vip", Change::Remove), Changed::Taken);
    let again = State::decode(&log.state.encode()).unwrap();
    assert_eq!(again.hash(), log.state.hash());
    log.state = again;
    assert_eq!(said(&mut log, "vip", add("once more")), Changed::Taken);
    assert_eq!(
        edition(&mut log, "vip"),
        (Edition(3), Edition(3)),
        "old tokens are void"
    );
    // An old token proves no loss.
    let of_old = Change::Edition(Edition(2));
    assert_eq!(said(&mut log, "vip", of_old), Changed::Refused);
    assert_eq!(said(&mut log, "other", add("another name")), Changed::Taken);
    assert_eq!(edition(&mut log, "other").0, Edition(3), "one number for all names");
}

/// This applies to rooms of a file and to added ones: no change based on a removed room counts for the next one of its name.
#[test]
fn whatever_was_made_of_a_room_that_was_removed_is_nothing_to_the_next() {
    let mut log = Log::new(settings(1));
    let shop = room();
    let shop = shop.as_str();
    for (of, make) in [("vip", add("a table")), (shop, Change::Configure(settings(2)))] {
        if of != shop {
            assert_eq!(said(&mut log, of, make.clone()), Changed::Taken);
        }
        for _ in 0..3 {
            assert_eq!(said(&mut log, of, Change::Reset), Changed::Taken);
        }
        let before = log.state.view().rooms[&name(of)].clone();
        // The entry of a gate that has not read of the removal.
        let late = |change| RoomChange {
            room: name(of),
            revision: before.revision + 1,
            change,
            who: Some(anna()),
        };
        assert_eq!(said(&mut log, of, Change::Remove), Changed::Taken);
        assert_eq!(said(&mut log, of, make), Changed::Taken);
        let paused = Overrides {
            mode: Some(Mode::Hold),
            ..Overrides::default()
        };
        for change in [Change::Override(paused), Change::Reset, Change::Remove] {
            let batch = Batch {
                rooms: vec![late(change)],
                ..Batch::default()
            };
            assert_eq!(log.apply(0, batch).changed, [Changed::Stale], "{of}");
        }
        // Nor does an old token prove that anything was lost.
        let edition = Change::Edition(before.edition);
        assert_eq!(said(&mut log, of, edition), Changed::Refused, "{of}");
        let after = log.state.view().rooms[&name(of)].clone();
        assert!(
            after.edition > before.edition && after.revision > before.revision,
            "{of}"
        );
        let same = State::decode(&log.state.encode()).unwrap();
        assert_eq!(same.hash(), log.state.hash());
    }
}

#[test]
fn a_room_that_is_brought_to_a_full_log_comes_without_its_text() {
    let mut fork = Fork::of(Log::new(settings(1)));
    assert_eq!(said(&mut fork.old, "vip", add("the table")), Changed::Taken);
    fork.old.join(1);
    for at in 0..MAX_ADDED {
        assert_eq!(
            said(&mut fork.new, &format!("room-{at}"), add("a table")),
            Changed::Taken
        );
    }
    fork.bring();
    let view = fork.new.state.view();
    assert_eq!(view.rooms[&name("vip")].settings.capacity, 7);
    assert!(view.additions.get(&name("vip")).is_none());
    assert_eq!(said(&mut fork.new, "more", add("a table")), Changed::Refused);
}

#[test]
fn texts_and_rooms_are_bounded() {
    let mut log = Log::new(settings(1));
    assert_eq!(said(&mut log, "none", add("")), Changed::Refused);
    assert_eq!(
        said(&mut log, "long", add(&"x".repeat(MAX_ROOM_TEXT + 1))),
        Changed::Refused
    );
    assert_eq!(said(&mut log, "long", add(&"x".repeat(MAX_ROOM_TEXT))), Changed::Taken);
    for at in 1..MAX_ADDED {
        assert_eq!(said(&mut log, &format!("room-{at}"), add("a table")), Changed::Taken);
    }
    assert_eq!(said(&mut log, "more", add("a table")), Changed::Refused);
    assert_eq!(said(&mut log, "long", Change::Remove), Changed::Taken);
    assert_eq!(said(&mut log, "more", add("a table")), Changed::Taken);
    let view = log.state.view();
    assert_eq!(
        (view.additions.iter().count(), view.additions.noted().count()),
        (MAX_ADDED, 50)
    );
}

#[test]
fn a_snapshot_has_them_and_so_has_the_log_that_begins_from_it() {
    let mut log = Log::new(settings(1));
    said(&mut log, "vip", add("the table"));
    said(&mut log, "gone", add("another"));
    said(&mut log, "gone", Change::Remove);
    let bytes = log.state.encode();
    let mut read = State::decode(&bytes).unwrap();
    assert_eq!(read.encode(), bytes);
    assert_eq!(read.view().additions, log.state.view().additions);
}

#[test]
fn what_a_lost_log_knew_of_them_is_brought_back() {
    let mut fork = Fork::of(Log::new(settings(1)));
    let old = &mut fork.old;
    let long = "x".repeat(MAX_ROOM_TEXT);
    for room in ["a", "b", "c", "d", "e"] {
        assert_eq!(said(old, room, add(&long)), Changed::Taken);
    }
    assert_eq!(said(old, "both", add("the table")), Changed::Taken);
    let paused = Overrides {
        mode: Some(Mode::Hold),
        ..Overrides::default()
    };
    assert_eq!(said(old, "both", Change::Override(paused.clone())), Changed::Taken);
    old.join(1);
    // There another gate's file has a room of that name.
    assert_eq!(
        said(&mut fork.new, "both", Change::Configure(Settings::default())),
        Changed::Taken
    );
    let was = fork.old.state.view().additions.clone();
    assert_eq!(fork.bring(), 0);
    let view = fork.new.state.view();
    assert!(was.iter().eq(view.additions.iter()), "texts, times and names");
    assert_eq!(view.rooms[&name("both")].overrides, paused);
    assert_eq!(view.rooms[&name("a")].settings.capacity, 7);
    assert_eq!(view.additions.noted().count(), 0, "nobody added them here");
    assert!(view.additions.get(&name("a")).unwrap().at > Wall(0));
    assert!(
        fork.old
            .state
            .adoption(&fork.new.state)
            .iter()
            .all(|batch| batch.rooms.is_empty())
    );
}
