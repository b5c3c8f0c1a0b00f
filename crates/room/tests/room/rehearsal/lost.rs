//! Rehearsals over histories that the log has lost: they go on with what is left of their lease, or nobody of them comes back.

use ropeline_room::{Batch, Change, Changed, Claim, LEASE_MS, Number, Section};

use crate::recovery::fork::{Fork, held};
use crate::rehearsal::{ID, begin, held_by, is_under_way, join, mark, of, order, say};
use ropeline_room::testing::log::{LANE, Log, room, settings};

#[test]
fn a_history_that_comes_back_brings_the_rehearsal_and_its_lease() {
    let mut log = Log::new(held(2));
    begin(&mut log, order(50));
    let mixed: Vec<(Number, Number)> = (0..5).map(|_| (join(&mut log, ID, 1)[0], log.join(1)[0])).collect();
    log.pass(5_000);
    for (virtual_one, real) in &mixed {
        mark(&mut log, ID, *virtual_one);
        log.mark(*real);
    }
    let mut fork = Fork::of_nothing(log, held(2));
    assert_eq!(fork.bring(), 0);
    assert_eq!(held_by(&mut fork.new), (5, 0, 0));
    assert_eq!(fork.new.figures().waiting, 10);
    let rehearsal = fork.new.state.view().rooms[&room()]
        .rehearsal
        .clone()
        .unwrap()
        .order
        .clone();
    assert_eq!((rehearsal.id, rehearsal.joined, rehearsal.size), (ID, 5, 50));
    let reals: Vec<Number> = mixed.iter().map(|(_, real)| *real).collect();
    assert_eq!(fork.aheads(&reals), [1, 3, 5, 7, 9].map(Some));
    // Nothing is in any figure of theirs yet, and whose the places are is in the bytes all the same.
    let mut twin = fork.new.fork();
    assert_eq!(held_by(&mut twin), (5, 0, 0));
    for log in [&mut fork.new, &mut twin] {
        log.pass(LEASE_MS - 1_000);
        assert!(is_under_way(log), "the lease begins anew");
        for (_, real) in &mixed {
            log.mark(*real);
        }
        log.pass(1_000);
        assert!(!is_under_way(log));
        assert_eq!((held_by(log), log.figures().waiting), ((0, 0, 0), 5));
    }
    assert_eq!(twin.state.hash(), fork.new.state.hash());
    assert_eq!(fork.aheads(&reals), [0, 1, 2, 3, 4].map(Some));
}

#[test]
fn what_is_said_of_a_rehearsal_that_a_log_does_not_know_brings_nobody_back() {
    let mut log = Log::new(held(2));
    begin(&mut log, order(50));
    let virtuals = join(&mut log, ID, 3);
    say(&mut log, Change::EndRehearsal(ID));
    let mut fork = Fork::of_nothing(log, held(2));
    assert!(
        !mark(&mut fork.new, ID, virtuals[0]),
        "before anybody has brought the epoch"
    );
    fork.bring();
    for number in &virtuals {
        assert!(!mark(&mut fork.new, ID, *number));
        assert!(
            !fork.new.mark(*number),
            "whatever their numbers are called: they are used up"
        );
    }
    assert_eq!(fork.new.figures().waiting, 0);
}

#[test]
fn sessions_that_come_back_are_virtual_still() {
    let mut log = Log::new(settings(2));
    begin(&mut log, order(50));
    let virtuals = join(&mut log, ID, 2);
    let claims = vec![Claim {
        lane: LANE,
        number: virtuals[0],
        carried: true,
    }];
    log.say(Section { claims, ..of(ID) });
    let real = log.join(1)[0];
    let mut fork = Fork::of_nothing(log, settings(2));
    fork.bring();
    fork.new.apply(0, Batch::default());
    assert_eq!(held_by(&mut fork.new).2, 1);
    let ended = say(&mut fork.new, Change::EndRehearsal(ID));
    fork.new.apply(0, Batch::default());
    let figures = fork.new.figures();
    assert_eq!(
        (ended, figures.inside, figures.excess, figures.called),
        (Changed::Taken, 0, 0, 1)
    );
    assert!(fork.new.is_called(real));
}
