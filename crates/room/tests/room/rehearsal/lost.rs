//! Rehearsals over histories that the log has lost: one that is lost with them is over, and one that is not goes on.

use ropeline_room::{Batch, Change, Changed, Claim, Number, Section};

use crate::recovery::fork::{Fork, held};
use crate::rehearsal::{ID, begin, held_by, is_under_way, join, mark, of, order, say};
use ropeline_room::testing::log::{LANE, Log, settings};

#[test]
fn a_log_that_is_lost_ends_the_rehearsal_and_people_keep_their_order() {
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
    assert!(!is_under_way(&mut fork.new));
    assert_eq!((held_by(&mut fork.new), fork.new.figures().waiting), ((0, 0, 0), 5));
    let reals: Vec<Number> = mixed.iter().map(|(_, real)| *real).collect();
    assert_eq!(fork.aheads(&reals), [0, 1, 2, 3, 4].map(Some));
    assert!(!mark(&mut fork.new, ID, mixed[0].0), "nobody virtual comes back");
}

#[test]
fn virtual_visitors_of_lost_entries_come_back_as_such_where_their_rehearsal_goes_on() {
    let mut log = Log::new(held(2));
    begin(&mut log, order(50));
    let before = join(&mut log, ID, 2);
    let mut fork = Fork::of(log);
    let lost = join(&mut fork.old, ID, 2);
    let real = fork.old.join(1)[0];
    fork.bring();
    for number in before.iter().chain(&lost) {
        assert!(mark(&mut fork.new, ID, *number));
    }
    assert_eq!((held_by(&mut fork.new), fork.new.figures().waiting), ((4, 0, 0), 5));
    assert_eq!(fork.aheads(&[lost[0], real]), [2, 4].map(Some));
    say(&mut fork.new, Change::EndRehearsal(ID));
    assert_eq!((held_by(&mut fork.new), fork.new.figures().waiting), ((0, 0, 0), 1));
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
fn sessions_of_lost_entries_are_virtual_still() {
    let mut log = Log::new(settings(2));
    begin(&mut log, order(50));
    let mut fork = Fork::of(log);
    let virtuals = join(&mut fork.old, ID, 2);
    let claims = vec![Claim {
        lane: LANE,
        number: virtuals[0],
        carried: true,
    }];
    fork.old.say(Section { claims, ..of(ID) });
    let real = fork.old.join(1)[0];
    fork.bring();
    fork.new.say(Section {
        reopens: vec![(LANE, virtuals[0])],
        ..of(ID)
    });
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
