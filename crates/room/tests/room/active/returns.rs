//! The way back of a parked session.

use ropeline_room::testing::log::{Log, active};
use ropeline_room::{Change, Mode, Number, Overrides, Settings, Standing};

use super::{PARKS, fill, held, inside, mode};

/// A room of one slot in which the first of these is parked and the second is inside, and the others wait.
fn full() -> (Log, Vec<Number>) {
    full_with(active(1, 9))
}

fn full_with(settings: Settings) -> (Log, Vec<Number>) {
    let mut log = Log::new(settings);
    let people = fill(&mut log, 4);
    log.pass(PARKS);
    assert!(log.is_parked(people[0]) && log.claim(people[1], true));
    (log, people)
}

#[test]
fn who_returns_gets_a_free_slot_before_all_who_wait() {
    let (mut log, people) = full();
    assert!(log.ask(people[0]));
    assert!(log.is_parked(people[0]), "the slot is taken");
    assert!(log.leave(people[1]));
    assert!(log.is_active(people[0]) && log.ahead(people[2]) == Some(0));
}

#[test]
fn with_a_free_slot_a_return_is_granted_in_the_entry_that_asks() {
    let mut log = Log::new(active(2, 9));
    let people = fill(&mut log, 1);
    log.pass(PARKS);
    assert!(log.is_parked(people[0]));
    assert!(log.ask(people[0]) && log.is_active(people[0]));
}

#[test]
fn those_who_return_come_in_the_order_in_which_they_asked_and_asking_again_keeps_the_place() {
    let mut log = Log::new(active(3, 9));
    let people = fill(&mut log, 6);
    log.pass(PARKS);
    let next = &people[3..6];
    assert!(next.iter().all(|person| log.claim(*person, true)));
    for at in [2, 0, 1, 2, 0] {
        assert!(log.ask(people[at]));
        for person in next {
            assert!(log.renew(*person));
        }
    }
    let mut order = Vec::new();
    for person in next {
        assert!(log.leave(*person));
        let back = (0..3).filter(|at| log.is_active(people[*at])).collect::<Vec<_>>();
        order.extend(back.into_iter().filter(|at| !order.contains(at)).collect::<Vec<_>>());
    }
    assert_eq!(order, [2, 0, 1]);
}

#[test]
fn a_return_takes_no_token_of_the_rate() {
    let (mut log, people) = full_with(Settings {
        rate_per_minute: Some(5),
        call_every_ms: 60_000,
        ..active(1, 9)
    });
    let before = log.figures().calls;
    assert!(log.ask(people[0]) && log.leave(people[1]));
    log.pass(1_000);
    assert!(log.is_active(people[0]));
    assert_eq!(log.figures().calls, before);
    assert!(log.leave(people[0]));
    assert!(log.is_called(people[2]), "the tokens are there still");
}

#[test]
fn returns_are_granted_in_hold_and_after_closing() {
    for stopped in [Mode::Hold, Mode::Closed] {
        let (mut log, people) = full();
        mode(&mut log, stopped);
        assert!(log.ask(people[0]) && log.leave(people[1]));
        assert!(log.is_active(people[0]), "{stopped:?}");
        assert_eq!(held(&mut log), (0, 1, 0));
    }
}

#[test]
fn returns_keep_within_a_lowered_capacity() {
    let mut log = Log::new(active(2, 9));
    let people = fill(&mut log, 4);
    log.pass(PARKS);
    assert!(log.claim(people[2], true) && log.claim(people[3], true));
    let capacity = |log: &mut Log, capacity| {
        log.change(Change::Override(Overrides {
            capacity: Some(capacity),
            ..Overrides::default()
        }));
    };
    capacity(&mut log, 1);
    assert!(log.ask(people[0]) && log.ask(people[1]));
    assert!(log.leave(people[2]));
    assert_eq!(held(&mut log), (0, 1, 2), "one is inside, and one slot is left");
    assert!(log.leave(people[3]));
    assert!(log.is_active(people[0]) && log.is_parked(people[1]));
    capacity(&mut log, 2);
    assert!(log.is_active(people[1]));
}

#[test]
fn a_slot_that_is_given_back_and_not_used_is_free_again_after_ten_seconds() {
    let (mut log, people) = full();
    assert!(log.ask(people[0]) && log.leave(people[1]));
    let back = log.now();
    let of = inside(&mut log, people[0]);
    assert_eq!(of.unasked_until, back.plus(10_000));
    assert!(of.renewal_due(back), "the first request is noted at once");
    log.mark(people[2]);
    log.pass(11_500);
    assert!(log.is_active(people[0]), "two seconds more, as a gate may be behind");
    log.pass(500);
    assert!(log.is_parked(people[0]) && log.is_called(people[2]));
    assert!(log.leave(people[2]));
    log.pass(1_000);
    assert!(log.is_parked(people[0]), "it has to ask again");
}

#[test]
fn a_slot_that_is_given_back_and_used_is_parked_as_any_other() {
    let (mut log, people) = full();
    assert!(log.ask(people[0]) && log.leave(people[1]));
    log.pass(9_000);
    assert!(log.renew(people[0]));
    log.pass(PARKS - 500);
    assert!(log.is_active(people[0]));
    log.pass(500);
    assert!(log.is_parked(people[0]));
}

#[test]
fn who_asks_does_not_run_out_of_the_session_in_the_queue() {
    let (mut log, people) = full();
    for _ in 0..5 {
        assert!(log.ask(people[0]));
        log.pass(9_000);
        assert!(log.renew(people[1]));
        assert!(log.is_parked(people[0]));
    }
}

#[test]
fn a_session_that_has_a_slot_and_asks_goes_on() {
    let (mut log, people) = full();
    log.pass(PARKS - 500);
    assert!(
        log.ask(people[1]),
        "its gate may not forward it without asking any more"
    );
    log.pass(PARKS - 500);
    assert!(log.is_active(people[1]));
}

#[test]
fn who_ends_or_leaves_while_in_the_queue_is_passed_over() {
    let mut log = Log::new(active(2, 9));
    let people = fill(&mut log, 4);
    log.pass(PARKS);
    assert!(log.claim(people[2], true) && log.claim(people[3], true));
    assert!(log.ask(people[0]) && log.ask(people[1]));
    assert!(log.leave(people[0]));
    assert_eq!(held(&mut log), (0, 2, 1));
    assert!(log.leave(people[2]));
    assert!(log.is_active(people[1]));
    assert_eq!(log.standing(people[0]), Standing::Ended);
    assert!(!log.ask(people[0]), "it is over");
}

#[test]
fn a_queue_of_many_who_came_and_went_stays_short() {
    let mut log = Log::new(active(1, 9));
    let people = fill(&mut log, 2);
    log.pass(PARKS);
    assert!(log.claim(people[1], true));
    let before = log.state.encode().len();
    for _ in 0..60 {
        assert!(
            log.ask(people[0]) && log.renew(people[0]),
            "forwarded by a gate that was cut off"
        );
        log.pass(PARKS - 2_000);
        assert!(log.renew(people[1]));
        log.pass(2_000);
        if !log.is_parked(people[0]) {
            break;
        }
    }
    assert!(log.state.encode().len() < before + 600);
}

#[test]
fn while_gates_bring_back_an_epoch_nothing_is_granted_and_then_at_once() {
    use ropeline_room::{Adopt, Batch, Epoch};
    let (mut log, people) = full();
    let adopt = |done| Batch {
        adopt: Some(Adopt {
            epoch: Epoch(500),
            done,
            ..Adopt::default()
        }),
        ..Batch::default()
    };
    log.apply(0, adopt(false));
    assert!(log.ask(people[0]) && log.leave(people[1]));
    assert!(log.is_parked(people[0]));
    log.pass(5_500);
    assert!(log.is_active(people[0]), "the gate was waited for long enough");
}
