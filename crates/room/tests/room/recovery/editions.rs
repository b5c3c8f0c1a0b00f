//! Editions that a log has lost: how one comes back, and the effect on visitors who are in the room.

use ropeline_room::{Batch, Change, Edition, Epoch, Root, Settings, State};

use ropeline_room::testing::log::{EPOCH, Log, room, settings};

fn edition(log: &mut Log) -> (u32, Option<Epoch>) {
    let view = log.state.view();
    (view.rooms[&room()].edition.0, view.rooms[&room()].spared)
}

/// The rooms of a log begun from nothing, of another epoch.
fn empty(settings: Settings, time: u64) -> Log {
    let mut new = Log::of(State::empty(EPOCH + 100), settings);
    new.time = time;
    new
}

#[test]
fn an_edition_only_rises_and_ends_nothing() {
    let mut log = Log::new(settings(1));
    let people = log.join(3);
    log.claim(people[0], true);
    let revision = log.state.view().rooms[&room()].revision;
    assert_eq!(log.change(Change::Edition(Edition(2))).skipped, 0);
    assert_eq!(edition(&mut log), (2, Some(Epoch(EPOCH))));
    assert_eq!(
        log.state.view().rooms[&room()].revision,
        revision,
        "an operator said nothing"
    );
    for lower in [2, 1, 0] {
        assert_eq!(log.change(Change::Edition(Edition(lower))).skipped, 1);
    }
    assert_eq!(edition(&mut log).0, 2);
    assert!(log.is_inside(people[0]));
    assert_eq!(log.ahead(people[2]), Some(1));
    let again = State::decode(&log.state.encode()).unwrap();
    assert_eq!(again.hash(), log.state.hash());
}

#[test]
fn a_reset_after_that_spares_nobody() {
    let mut log = Log::new(settings(1));
    log.change(Change::Edition(Edition(2)));
    log.state.begin(EPOCH + 5, Root::Own);
    log.rejoin();
    assert_eq!(edition(&mut log), (2, Some(Epoch(EPOCH))), "kept by a new log");
    log.change(Change::Reset);
    assert_eq!(edition(&mut log), (3, None));
    log.change(Change::Edition(Edition(7)));
    assert_eq!(edition(&mut log), (7, Some(Epoch(EPOCH + 5))));
}

#[test]
fn an_adoption_brings_the_edition_before_the_numbers() {
    let mut log = Log::new(settings(1));
    let before = log.join(2);
    log.change(Change::Reset);
    let old = log.join(3);
    log.leave(old[0]);
    for configured in [true, false] {
        let mut new = if configured {
            empty(settings(1), log.time)
        } else {
            Log::bare(State::empty(EPOCH + 100))
        };
        let batches = log.state.adoption(&new.state);
        assert!(batches[0].sections.is_empty() && !batches[0].rooms.is_empty());
        for batch in batches {
            assert_eq!(new.apply(0, batch).skipped, 0);
        }
        assert_eq!(edition(&mut new), (1, Some(Epoch(EPOCH + 100))));
        new.apply(0, Batch::default());
        assert!(new.is_called(old[1]));
        assert_eq!(new.ahead(old[2]), Some(0));
        assert!(!new.mark(before[0]), "void since the reset");
        assert!(log.state.adoption(&new.state).is_empty());
    }
    // Where the rooms were reset more often, the older places are void.
    let mut new = empty(settings(1), log.time);
    new.change(Change::Reset);
    new.change(Change::Reset);
    for batch in log.state.adoption(&new.state) {
        new.apply(0, batch);
    }
    assert_eq!(edition(&mut new), (2, None));
    assert_eq!(new.ahead(old[2]), None);
}
