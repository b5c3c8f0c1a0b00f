//! Active slots: who is parked and when, and how they come back.

mod calls;
mod exact;
mod laws;
mod lost;
mod returns;
mod sim;

use ropeline_room::testing::log::{Log, active};
use ropeline_room::{ActiveSlots, Change, Clock, Inside, Mode, Number, Overrides, Settings, Standing};

/// From the last note to the parking.
pub const PARKS: u64 = 12_000;

/// Joins so many visitors and lets them in as they are called.
pub fn fill(log: &mut Log, count: u32) -> Vec<Number> {
    let people = log.join(count);
    for person in &people {
        if log.is_called(*person) {
            assert!(log.claim(*person, true));
        }
    }
    people
}

/// With sessions that outlast the story.
pub fn long(capacity: u32, max_sessions: u32) -> Settings {
    Settings {
        session_ms: 2_000_000,
        session_max_ms: 20_000_000,
        claim_deadline_ms: 2_000_000,
        ..active(capacity, max_sessions)
    }
}

pub fn inside(log: &mut Log, number: Number) -> Inside {
    match log.standing(number) {
        Standing::Inside(inside) => inside,
        other => panic!("{other:?}"),
    }
}

/// Called, active, parked.
pub fn held(log: &mut Log) -> (u32, u32, u32) {
    let figures = log.figures();
    (figures.called, figures.inside, figures.parked)
}

pub fn mode(log: &mut Log, mode: Mode) {
    log.change(Change::Override(Overrides {
        mode: Some(mode),
        ..Overrides::default()
    }));
}

#[test]
fn who_is_idle_gives_the_slot_to_the_next_and_keeps_the_right() {
    let mut log = Log::new(active(1, 3));
    let people = fill(&mut log, 2);
    assert!(log.is_active(people[0]));
    log.pass(PARKS - 500);
    assert!(log.is_active(people[0]) && log.ahead(people[1]) == Some(0));
    log.pass(500);
    assert!(log.is_parked(people[0]) && log.is_called(people[1]));
    assert_eq!(held(&mut log), (1, 0, 1));
}

#[test]
fn a_note_of_activity_puts_the_parking_off() {
    let mut log = Log::new(active(1, 3));
    let people = fill(&mut log, 2);
    for _ in 0..4 {
        log.pass(PARKS - 500);
        assert!(log.renew(people[0]));
    }
    log.pass(PARKS - 500);
    assert!(log.is_active(people[0]));
    log.pass(500);
    assert!(log.is_parked(people[0]));
}

#[test]
fn nobody_is_called_beyond_the_rights() {
    let mut log = Log::new(active(2, 3));
    let people = fill(&mut log, 6);
    log.pass(PARKS);
    assert_eq!(
        held(&mut log),
        (1, 0, 2),
        "two are parked, and one is called in their place"
    );
    assert!(log.claim(people[2], true));
    assert_eq!(held(&mut log), (0, 1, 2));
    assert!(log.leave(people[0]));
    assert!(log.is_called(people[3]), "the right of the one who left");
}

#[test]
fn three_rights_a_slot_unless_said_otherwise() {
    let mut settings = long(2, 0);
    settings.active.as_mut().unwrap().max_sessions = None;
    assert_eq!(settings.most_rights(), Some(6));
    assert_eq!(Settings::default().most_rights(), None);
    let mut log = Log::new(settings);
    let mut called = 0;
    let people = log.join(20);
    for _ in 0..80 {
        for person in &people {
            called += u32::from(log.is_called(*person) && log.claim(*person, true));
        }
        log.pass(500);
        for person in &people {
            log.mark(*person);
        }
        let (called, active, parked) = held(&mut log);
        assert!(called + active <= 2 && called + active + parked <= 6);
    }
    assert_eq!(called, 6);
}

#[test]
fn a_gate_learns_until_when_it_may_forward_and_from_when_on_to_note() {
    let mut log = Log::new(active(1, 3));
    let people = fill(&mut log, 1);
    let began = log.now();
    let of = inside(&mut log, people[0]);
    assert_eq!(
        (of.renews_from, of.unasked_until),
        (began.plus(2_000), began.plus(PARKS - 2_000))
    );
    assert!(of.must_ask(of.unasked_until) && !of.must_ask(Clock(of.unasked_until.0 - 1)));
    log.pass(PARKS);
    let of = inside(&mut log, people[0]);
    assert!(of.parked && of.must_ask(Clock(1)));
    let mut plain = Log::new(ropeline_room::testing::log::settings(1));
    let people = fill(&mut plain, 1);
    let of = inside(&mut plain, people[0]);
    assert!(!of.parked && !of.must_ask(Clock(u64::MAX - 1)));
}

#[test]
fn activity_is_noted_up_to_the_very_end_of_a_long_session() {
    let mut log = Log::new(active(1, 3));
    let people = fill(&mut log, 1);
    for _ in 0..10 {
        log.pass(5_000);
        log.renew(people[0]);
    }
    let of = inside(&mut log, people[0]);
    assert_eq!(of.expires, of.ends_by);
    assert!(of.renews_from < of.ends_by, "or it would be parked while it is in use");
}

#[test]
fn a_parked_session_ends_as_any_other_and_its_right_is_free() {
    let mut log = Log::new(active(1, 2));
    let people = fill(&mut log, 3);
    log.pass(PARKS);
    assert!(log.is_parked(people[0]) && log.claim(people[1], true));
    // 20 s of session, 2 s more for what is not noted, and 2 s.
    for _ in 0..5 {
        log.pass(2_000);
        log.renew(people[1]);
        log.mark(people[2]);
    }
    assert!(log.is_parked(people[0]) || log.standing(people[0]) == Standing::Ended);
    assert!(!log.is_called(people[2]), "the slot is in use");
    log.pass(2_000);
    assert_eq!(log.standing(people[0]), Standing::Ended);
    assert_eq!(held(&mut log), (0, 1, 0));
    assert!(log.leave(people[1]));
    assert!(log.is_called(people[2]));
}

#[test]
fn a_payment_keeps_the_slot_until_its_date_and_the_session_with_it() {
    let mut log = Log::new(active(1, 3));
    let people = fill(&mut log, 2);
    log.pass(3_000);
    assert!(log.hold(people[0], 30_000));
    log.pass(29_500);
    assert!(log.is_active(people[0]), "longer than idle_after, and than a session");
    log.pass(500);
    assert!(log.is_parked(people[0]), "it was parked when the hold was over");
    // As of a request 12 s before: 22 s and 2 s.
    log.pass(9_500);
    assert!(log.is_parked(people[0]), "and may come back");
    log.pass(2_500);
    assert_eq!(log.standing(people[0]), Standing::Ended);
}

#[test]
fn activity_behind_a_hold_counts_and_a_shorter_hold_takes_nothing_away() {
    let mut log = Log::new(active(1, 3));
    let people = fill(&mut log, 1);
    assert!(log.hold(people[0], 30_000) && log.hold(people[0], 1_000));
    log.pass(25_000);
    assert!(log.renew(people[0]));
    log.pass(PARKS - 500);
    assert!(log.is_active(people[0]));
    log.pass(500);
    assert!(log.is_parked(people[0]));
    assert!(!log.hold(people[0], 30_000), "it has no slot to keep");
}

#[test]
fn a_request_during_a_hold_keeps_the_session_for_a_whole_one_from_then_on() {
    let mut log = Log::new(Settings {
        session_ms: 40_000,
        ..long(1, 3)
    });
    let people = fill(&mut log, 1);
    assert!(log.hold(people[0], 90_000));
    // Until 40 s before its end the session lasts long enough in any case.
    log.pass(45_000);
    assert!(!inside(&mut log, people[0]).renewal_due(log.now()));
    log.pass(35_000);
    assert!(inside(&mut log, people[0]).renewal_due(log.now()));
    assert!(log.renew(people[0]));
    log.pass(40_000);
    assert!(matches!(log.standing(people[0]), Standing::Inside(_)), "80 s and 40 s");
    assert!(log.is_parked(people[0]), "12 s after the hold");
}

#[test]
fn a_hold_ends_with_the_longest_session() {
    let mut log = Log::new(active(1, 3));
    let people = fill(&mut log, 1);
    assert!(log.hold(people[0], 10_000_000));
    log.pass(61_000);
    assert!(log.is_active(people[0]) || log.standing(people[0]) == Standing::Ended);
    log.pass(1_500);
    assert_eq!((log.standing(people[0]), held(&mut log)), (Standing::Ended, (0, 0, 0)));
}

#[test]
fn a_session_whose_end_is_set_keeps_its_slot_until_then() {
    let mut log = Log::new(active(1, 3));
    let people = fill(&mut log, 2);
    assert!(log.end(people[0], 15_000));
    log.pass(14_500);
    assert!(log.is_active(people[0]));
    log.pass(500);
    assert_eq!(log.standing(people[0]), Standing::Ended);
    assert!(log.is_called(people[1]));
}

/// Before, a session of ten minutes is noted once in a minute. Later, in steps of two seconds.
#[test]
fn where_active_slots_are_switched_on_or_idle_after_gets_shorter_nobody_is_parked_as_of_before() {
    let long = Settings {
        session_ms: 600_000,
        session_max_ms: 6_000_000,
        ..active(1, 3)
    };
    let idle = |idle_after_ms| ActiveSlots {
        idle_after_ms,
        max_sessions: Some(3),
    };
    for before in [None, Some(idle(300_000))] {
        let mut log = Log::new(Settings {
            active: before,
            ..long.clone()
        });
        let people = fill(&mut log, 1);
        log.pass(59_000);
        log.change(Change::Configure(long.clone()));
        log.pass(PARKS - 500);
        assert!(log.is_active(people[0]), "{before:?}");
        log.pass(500);
        assert!(log.is_parked(people[0]), "{before:?}");
    }
}

#[test]
fn where_active_slots_are_switched_off_nobody_is_parked_and_the_parked_come_back_as_before() {
    let mut log = Log::new(long(1, 3));
    let people = fill(&mut log, 2);
    log.pass(PARKS);
    assert!(log.is_parked(people[0]) && log.claim(people[1], true));
    log.change(Change::Configure(Settings {
        active: None,
        ..long(1, 3)
    }));
    log.pass(PARKS + 2_000);
    assert!(log.is_active(people[1]), "nobody is parked any more");
    assert!(log.is_parked(people[0]), "and nobody comes in above the slots by it");
    assert!(log.ask(people[0]) && log.is_parked(people[0]));
    assert!(log.leave(people[1]));
    assert!(log.is_active(people[0]));
}

#[test]
fn a_shorter_time_until_parking_counts_for_sessions_that_are_there() {
    let mut log = Log::new(active(1, 3));
    let people = fill(&mut log, 2);
    let mut shorter = active(1, 3);
    shorter.active.as_mut().unwrap().idle_after_ms = 4_000;
    log.change(Change::Configure(shorter));
    log.pass(6_500);
    assert!(log.is_active(people[0]));
    log.pass(500);
    assert!(log.is_parked(people[0]) && log.is_called(people[1]));
}
