//! Active slots after a log was lost, and at gates that were cut off.

use ropeline_room::testing::log::{EPOCH, Log, active, only};
use ropeline_room::{Epoch, Number, Section, Standing, State};

use super::{PARKS, fill, held};
use crate::recovery::fork::Fork;

/// Passes of a log that is lost with every gate.
fn lost(count: u32) -> impl Iterator<Item = Number> {
    (0..count).map(|n| Number {
        epoch: Epoch(EPOCH - 4),
        n,
    })
}

fn after_a_loss(capacity: u32, max_sessions: u32) -> Log {
    Log::of(State::after_a_loss(EPOCH), active(capacity, max_sessions))
}

#[test]
fn after_a_lost_log_a_pass_brings_a_right_and_a_slot_if_one_is_free() {
    let mut log = after_a_loss(1, 9);
    let passes: Vec<Number> = lost(2).collect();
    assert!(passes.iter().all(|pass| log.ask(*pass)));
    assert_eq!(held(&mut log), (0, 1, 1));
    assert!(log.is_active(passes[0]) && log.is_parked(passes[1]));
    assert_eq!(log.figures().excess, 0);
    assert!(log.leave(passes[0]));
    assert!(log.is_active(passes[1]), "though the room heals");
}

#[test]
fn unknown_passes_come_back_under_the_cap_of_rights() {
    let mut log = after_a_loss(1, 3);
    let passes: Vec<Number> = lost(5).collect();
    let came: Vec<bool> = passes.iter().map(|pass| log.ask(*pass)).collect();
    assert_eq!(came, [true, true, true, false, false]);
    assert_eq!(held(&mut log), (0, 1, 2));
    assert!(log.leave(passes[2]));
    assert!(log.ask(passes[4]));
    assert_eq!(held(&mut log), (0, 1, 2));
    assert!(!log.reopen(passes[3]), "nor by the word of a gate");
}

#[test]
fn a_pass_that_asks_proves_the_loss_as_any_other() {
    let mut log = Log::new(active(1, 9));
    // An epoch that no history of this log knows.
    log.state.begin(EPOCH + 50, ropeline_room::Root::Own);
    log.rejoin();
    log.pass(500);
    assert_eq!(log.healing(), None);
    let unknown = Number {
        epoch: Epoch(EPOCH + 7),
        n: 3,
    };
    assert!(log.ask(unknown));
    assert!(log.healing().is_some() && log.is_active(unknown));
    let newcomer = log.join(1)[0];
    assert!(!log.is_called(newcomer));
}

#[test]
fn sessions_that_a_gate_brings_back_come_parked_and_under_the_cap() {
    let mut log = Log::new(active(2, 9));
    let people = fill(&mut log, 2);
    log.pass(1_000);
    let mut fork = Fork::of_nothing(log, active(2, 9));
    let newer = fork.new.join(2);
    assert!(newer.iter().all(|newer| fork.new.claim(*newer, true)));
    assert_eq!(fork.bring(), 0);
    assert_eq!(held(&mut fork.new), (0, 2, 2), "nobody is above the slots");
    assert!(people.iter().all(|person| fork.new.is_parked(*person)));
    assert!(fork.new.ask(people[1]) && fork.new.leave(newer[0]));
    assert!(fork.new.is_active(people[1]));
}

#[test]
fn what_a_gate_brings_beyond_the_rights_is_left_out() {
    let mut log = Log::new(active(2, 9));
    fill(&mut log, 2);
    let mut fork = Fork::of_nothing(log, active(2, 3));
    let newer = fork.new.join(2);
    assert!(newer.iter().all(|newer| fork.new.claim(*newer, true)));
    fork.bring();
    assert_eq!(held(&mut fork.new), (0, 2, 1));
}

#[test]
fn a_session_that_a_cut_off_gate_went_on_with_is_in_use_beyond_the_slots() {
    let mut log = Log::new(active(1, 9));
    let people = fill(&mut log, 3);
    log.pass(PARKS);
    assert!(log.is_parked(people[0]) && log.claim(people[1], true));
    // The gate says both: it has been in use, and is to be opened again if it is over.
    let said = Section {
        reopens: vec![(ropeline_room::LaneId(0), people[0])],
        renewals: vec![(ropeline_room::LaneId(0), people[0])],
        ..only()
    };
    log.say(said);
    assert_eq!((held(&mut log), log.figures().excess), ((0, 2, 0), 1));
    assert!(log.leave(people[1]));
    log.mark(people[2]);
    assert_eq!(held(&mut log), (0, 1, 0), "its slot is the only one");
    log.pass(PARKS);
    assert!(log.is_parked(people[0]) && log.figures().excess == 0);
}

#[test]
fn a_snapshot_has_the_queue_and_all_who_are_parked() {
    let mut log = Log::new(active(2, 9));
    let people = fill(&mut log, 4);
    log.pass(PARKS);
    assert!(log.claim(people[2], true) && log.claim(people[3], true));
    assert!(log.ask(people[1]) && log.ask(people[0]));
    let mut again = log.fork();
    for log in [&mut log, &mut again] {
        assert_eq!(held(log), (0, 2, 2));
        log.leave(people[3]);
        assert!(log.is_active(people[1]) && log.is_parked(people[0]));
        log.pass(9_500);
        log.pass(PARKS);
    }
    assert_eq!(log.state.hash(), again.state.hash());
    assert_eq!(log.standing(people[2]), again.standing(people[2]));
    assert!(!matches!(log.standing(people[0]), Standing::Unknown));
}
