//! Epochs that a gate brings back from a history that the others lost: the places of their visitors.

use ropeline_room::{Batch, Epoch, Number, Root, Standing, State};

use crate::recovery::fork::{Fork, go, held};
use ropeline_room::testing::log::{EPOCH, Log, settings};

#[test]
fn a_known_epochs_further_numbers_stand_before_the_next_epochs() {
    let mut log = Log::new(held(1));
    let shared = log.join(3);
    let mut fork = Fork::of(log);
    let lost = fork.old.join(2);
    fork.old.mark(shared[1]);
    let newer = fork.new.join(2);
    assert_eq!(fork.bring(), 0);
    let order: Vec<Number> = [&shared[..], &lost, &newer].concat();
    assert_eq!(fork.aheads(&order), (0..7).map(Some).collect::<Vec<_>>());
    assert_eq!(fork.new.healing(), None, "nothing is unknown");
    go(&mut fork.new);
    assert!(fork.new.is_called(shared[0]));
}

#[test]
fn what_older_epochs_visitors_did_in_a_lost_log_comes_back_with_it() {
    let mut log = Log::new(held(3));
    let old = log.join(5);
    log.state.begin(EPOCH + 50, Root::Own);
    log.rejoin();
    log.apply(0, Batch::default());
    let mut fork = Fork::of(log);
    go(&mut fork.old);
    for number in &old[..4] {
        fork.old.mark(*number);
    }
    for number in &old[..2] {
        assert!(fork.old.claim(*number, true));
    }
    assert!(fork.old.leave(old[0]));
    let newer = fork.new.join(1)[0];
    assert_eq!(fork.bring(), 0);
    assert!(fork.old.state.adoption(&fork.new.state).is_empty());
    assert_eq!(fork.new.standing(old[0]), Standing::Ended);
    assert!(fork.new.is_inside(old[1]), "{:?}", fork.new.standing(old[1]));
    assert_eq!(
        fork.aheads(&[old[2], old[3], newer]),
        [Some(0), Some(1), Some(2)],
        "who was called or has checked in there is present here"
    );
    assert!(!fork.new.is_present(old[4]));
}

#[test]
fn the_horizon_of_an_older_epoch_stays_where_it_is() {
    let mut log = Log::new(held(9));
    let old = log.join(2);
    log.state.begin(EPOCH + 50, Root::Own);
    log.rejoin();
    log.apply(0, Batch::default());
    let mut fork = Fork::of(log);
    // Numbers of the end of that epoch, which was lost before.
    let [absent, called] = [7, 9].map(|n| Number { n, ..old[0] });
    go(&mut fork.old);
    assert!(fork.old.mark(called));
    fork.old.pass(90_000);
    assert_eq!(fork.old.standing(absent), Standing::Late);
    fork.new.pass(90_000);
    assert!(fork.new.mark(absent));
    fork.bring();
    assert!(fork.new.is_present(absent), "nobody was called before it here");
}

#[test]
fn what_was_brought_back_once_is_known() {
    let mut fork = Fork::of({
        let mut log = Log::new(held(1));
        log.join(3);
        log
    });
    fork.old.join(2);
    let at = fork.old.state.position();
    fork.bring();
    assert_eq!(fork.new.state.ended_at(Epoch(EPOCH)), Some(at.sequence));
    assert!(fork.old.state.adoption(&fork.new.state).is_empty());
    assert!(fork.new.state.adoption(&fork.old.state).is_empty(), "nor the other way");
    fork.old.join(1);
    assert!(!fork.old.state.adoption(&fork.new.state).is_empty());
}

#[test]
fn an_unknown_epoch_comes_whole_and_without_healing() {
    let mut log = Log::new(settings(2));
    let old = log.join(6);
    log.claim(old[0], true);
    log.pass(4_500);
    log.mark(old[4]);
    log.mark(old[2]);
    let mut fork = Fork::of_nothing(log, held(2));
    let newer = fork.new.join(1)[0];
    assert_eq!(fork.bring(), 0);
    assert!(fork.new.is_inside(old[0]));
    assert_eq!(fork.new.figures().excess, 1, "a session is excess");
    assert_eq!(
        fork.aheads(&[old[1], old[2], old[4], newer]),
        [Some(0), Some(1), Some(2), Some(3)]
    );
    assert_eq!(fork.new.healing(), None);
    go(&mut fork.new);
    assert!(fork.new.is_called(old[1]), "who was called is next");
    assert!(!fork.new.is_called(old[2]), "and there is one slot only");
}

#[test]
fn what_is_used_up_is_never_called_again() {
    let mut log = Log::new(settings(3));
    let old = log.join(5);
    log.claim(old[0], true);
    log.leave(old[0]);
    log.leave(old[4]);
    for unknown in [true, false] {
        let copy = log.fork();
        let mut fork = if unknown {
            Fork::of_nothing(copy, held(9))
        } else {
            Fork::of(copy)
        };
        fork.old.leave(old[3]);
        for number in [old[0], old[3], old[4]] {
            fork.new.mark(number);
        }
        fork.bring();
        go(&mut fork.new);
        for number in [old[0], old[3], old[4]] {
            assert!(!fork.new.mark(number) && !fork.new.reopen(number), "{number:?}");
            assert_eq!(fork.new.standing(number), Standing::Ended, "{number:?}");
        }
        fork.new.apply(0, Batch::default());
        assert!(fork.new.is_called(old[1]));
    }
}

#[test]
fn a_healing_that_a_ticket_began_ends_with_the_adoption_of_its_epoch() {
    let mut log = Log::new(settings(1));
    let old = log.join(3);
    log.leave(old[0]);
    log.pass(500);
    let mut fork = Fork::of_nothing(log, settings(1));
    assert!(fork.new.mark(old[2]), "a ticket is there before the gate");
    let heals = fork.new.healing();
    assert!(heals.is_some_and(|until| until > fork.new.now()));
    let again = State::decode(&fork.new.state.encode()).unwrap();
    assert_eq!(again.hash(), fork.new.state.hash());
    let mut other = fork.new.fork();
    let unknown = Number {
        epoch: Epoch(EPOCH - 5),
        n: 3,
    };
    assert!(other.mark(unknown));
    for (new, healed) in [(&mut fork.new, true), (&mut other, false)] {
        for batch in fork.old.state.adoption(&new.state) {
            new.apply(0, batch);
        }
        new.apply(0, Batch::default());
        assert_eq!(new.healing().is_none(), healed);
        assert_eq!(new.is_called(old[1]), healed);
    }
    other.pass(20_000);
    assert_eq!(other.healing(), None);
}

#[test]
fn what_the_horizon_had_passed_stays_void() {
    let mut log = Log::new(settings(1));
    let old = log.join(3);
    log.leave(old[0]);
    log.leave(old[1]);
    log.claim(old[2], true);
    for _ in 0..9 {
        log.pass(7_500);
        log.renew(old[2]);
    }
    assert_eq!(log.standing(old[0]), Standing::Late);
    assert!(log.is_inside(old[2]) || log.standing(old[2]) == Standing::Ended);
    let mut fork = Fork::of_nothing(log, settings(1));
    assert!(fork.new.mark(old[0]), "nobody knows yet");
    fork.bring();
    assert!(!fork.new.mark(old[0]) && !fork.new.mark(old[1]));
    assert_eq!(fork.new.standing(old[0]), Standing::Late);
    assert!(!fork.new.is_present(old[0]));
    let behind = Number { n: 7, ..old[0] };
    assert!(
        fork.new.mark(behind),
        "who joined after the last entry read has a place"
    );
}

#[test]
fn an_epoch_that_is_void_leaves_room_for_the_next() {
    let mut log = Log::new(settings(2));
    let (first, absent) = (log.join(1)[0], log.join(1)[0]);
    log.claim(first, true);
    log.leave(absent);
    let behind = log.fork();
    log.pass(500);
    log.state.begin(EPOCH + 50, Root::Own);
    log.rejoin();
    log.join(1);
    for _ in 0..9 {
        log.pass(7_500);
        log.renew(first);
    }
    assert_eq!(log.standing(absent), Standing::Late, "the horizon has passed its epoch");
    assert_eq!(
        log.standing(first),
        Standing::Ended,
        "which is kept for somebody inside a while ago"
    );
    let waiting = log.join(3)[2];
    let mut fork = Fork::of(behind);
    fork.old = log;
    assert_eq!(fork.bring(), 1, "who is inside stays there");
    assert!(fork.new.is_present(waiting));
}

#[test]
fn a_session_of_a_second_call_keeps_its_call() {
    let mut log = Log::new(settings(1));
    let person = log.join(1)[0];
    log.pass(12_500);
    log.mark(person);
    log.claim(person, true);
    let call = |log: &mut Log| match log.standing(person) {
        Standing::Inside(inside) => inside.call,
        other => panic!("{other:?}"),
    };
    assert_eq!(call(&mut log).count, 2);
    let mut fork = Fork::of_nothing(log, settings(1));
    fork.bring();
    assert_eq!(call(&mut fork.new).count, 2);
}

#[test]
fn a_second_call_that_was_lost_is_made_again_as_the_second() {
    let mut log = Log::new(settings(1));
    let person = log.join(1)[0];
    log.pass(12_500);
    log.mark(person);
    let mut fork = Fork::of_nothing(log, settings(1));
    fork.bring();
    fork.new.apply(0, Batch::default());
    assert!(matches!(fork.new.standing(person), Standing::Called(called) if called.call.count == 2));
}
