//! Single rules of a visitor's way through the line, each as a short story.

use ropeline_room::{Change, Claim, Clock, End, Mode, Overrides, Section, Settings, Standing};

use ropeline_room::testing::log::{LANE, Log, only, settings};

#[test]
fn the_first_are_called_at_once_and_the_rest_wait_in_order() {
    let mut log = Log::new(settings(2));
    let people = log.join(5);
    assert!(log.is_called(people[0]) && log.is_called(people[1]));
    assert_eq!(
        [2, 3, 4].map(|i: usize| log.ahead(people[i])),
        [Some(0), Some(1), Some(2)]
    );
    let figures = log.figures();
    assert_eq!(
        (figures.waiting, figures.called, figures.joins, figures.calls),
        (3, 2, 5, 2)
    );
}

#[test]
fn a_called_visitor_claims_without_the_pass_whether_called_while_joining_or_in_line() {
    let mut log = Log::new(settings(1));
    let people = log.join(2);
    assert!(log.claim(people[0], false) && log.is_inside(people[0]));
    assert!(log.leave(people[0]));
    assert!(log.is_called(people[1]));
    assert!(log.claim(people[1], false) && log.is_inside(people[1]));
}

#[test]
fn a_session_idles_out_two_seconds_after_its_pass_unless_renewed() {
    let mut log = Log::new(settings(1));
    let people = log.join(2);
    log.claim(people[0], true);
    log.pass(19_000);
    assert!(log.renew(people[0]));
    log.mark(people[1]);
    log.pass(22_000);
    assert!(log.is_inside(people[0]), "a session and a tenth");
    log.pass(1_500);
    assert_eq!((log.standing(people[0]), log.figures().inside), (Standing::Ended, 1));
    log.pass(500);
    assert_eq!((log.figures().inside, log.is_called(people[1])), (0, true));
}

#[test]
fn renewals_stop_at_the_longest_session() {
    let mut log = Log::new(settings(1));
    let person = log.join(1)[0];
    log.claim(person, true);
    for _ in 0..6 {
        log.pass(10_000);
        log.renew(person);
    }
    let Standing::Inside(inside) = log.standing(person) else {
        panic!("not inside")
    };
    assert_eq!((inside.expires, inside.renews_from), (inside.ends_by, Clock(u64::MAX)));
    log.pass(2_000);
    assert_eq!(log.figures().inside, 0);
    assert!(!log.reopen(person), "the longest session is not reopened");
}

#[test]
fn a_renewal_is_due_once_a_tenth_of_the_session_has_passed() {
    let mut log = Log::new(settings(1));
    let person = log.join(1)[0];
    log.claim(person, true);
    log.pass(1_500);
    let (standing, now) = (log.standing(person), log.now());
    assert!(matches!(standing, Standing::Inside(inside) if !inside.renewal_due(now)));
    log.pass(500);
    let (standing, now) = (log.standing(person), log.now());
    assert!(matches!(standing, Standing::Inside(inside) if inside.renewal_due(now) && inside.carried));
}

#[test]
fn the_shops_end_comes_when_it_was_said_and_renewals_do_not_stretch_it() {
    let mut log = Log::new(settings(1));
    let people = log.join(2);
    log.claim(people[0], true);
    assert!(log.end(people[0], 5_000));
    assert!(!log.renew(people[0]));
    assert!(log.end(people[0], 15_000), "a later end is taken");
    log.mark(people[1]);
    log.pass(5_000);
    assert_eq!(
        log.standing(people[0]),
        Standing::Ended,
        "but does not put the first off"
    );
    assert!(log.is_called(people[1]));
    assert!(!log.reopen(people[0]), "what the shop ended stays ended");
}

#[test]
fn an_end_and_a_claim_of_one_batch_let_in_to_end() {
    let mut log = Log::new(settings(1));
    let person = log.join(1)[0];
    let end = End {
        lane: LANE,
        number: person,
        after_ms: 1_000,
    };
    let claim = Claim {
        lane: LANE,
        number: person,
        carried: true,
    };
    assert_eq!(
        log.say(Section {
            ends: vec![end],
            claims: vec![claim],
            ..only()
        })
        .skipped,
        0
    );
    assert!(log.is_inside(person));
    log.pass(1_000);
    assert_eq!((log.standing(person), log.figures().claims), (Standing::Ended, 1));
}

#[test]
fn who_misses_a_turn_is_next_again_after_checking_in_and_who_misses_two_is_late() {
    let mut log = Log::new(settings(1));
    let people = log.join(3);
    log.pass(12_000);
    assert!(
        matches!(log.standing(people[0]), Standing::Waiting(w) if !w.present && w.mark_due && w.missed_at.is_some())
    );
    assert!(log.mark(people[2]) && log.is_called(people[2]));
    assert!(log.mark(people[1]) && log.mark(people[0]));
    log.pass(12_000);
    assert!(log.is_called(people[0]), "back within the late window: called next");
    assert_eq!(log.ahead(people[1]), Some(0));
    log.pass(12_000);
    assert_eq!(log.standing(people[0]), Standing::Late);
    assert!(!log.mark(people[0]));
    assert_eq!(log.figures().no_shows, 3, "{:?}", log.figures());
}

/// The slot is held a little longer than the turn lasts: no other visitor gets it from one who comes back in that time.
#[test]
fn who_checks_in_after_the_deadline_while_the_slot_is_held_is_called_again_before_others() {
    let mut log = Log::new(settings(1));
    let people = log.join(2);
    log.pass(10_000);
    assert!(log.is_called(people[0]) && !log.mark(people[0]), "in time");
    log.pass(1_000);
    let waits = |log: &mut Log, due: bool| matches!(log.standing(people[0]), Standing::Waiting(w) if w.mark_due == due && w.missed_at.is_some());
    assert!(waits(&mut log, true));
    assert!(log.mark(people[0]) && log.mark(people[1]));
    assert!(waits(&mut log, false) && !log.is_called(people[1]));
    assert_eq!(log.figures().called, 1, "the slot is held");
    log.pass(1_000);
    assert!(log.is_called(people[0]) && !log.is_called(people[1]));
    let figures = log.figures();
    assert_eq!((figures.called, figures.no_shows, figures.calls), (1, 1, 2));
    log.pass(11_000);
    assert_eq!(log.standing(people[0]), Standing::Late);
    assert!(!log.mark(people[0]), "a second time");
    log.mark(people[1]);
    log.pass(1_000);
    assert!(log.is_called(people[1]));
}

/// No visitor could come in meanwhile: the turn begins anew, and can be missed as any.
#[test]
fn a_room_that_was_closed_after_the_deadline_forgets_who_was_back() {
    let mut log = Log::new(settings(1));
    let people = log.join(2);
    log.pass(11_000);
    assert!(log.mark(people[0]));
    let set = |log: &mut Log, mode| {
        log.change(Change::Override(Overrides {
            mode: Some(mode),
            ..Overrides::default()
        }))
    };
    set(&mut log, Mode::Closed);
    log.pass(2_000);
    set(&mut log, Mode::Auto);
    log.mark(people[1]);
    assert!(log.is_called(people[0]));
    log.pass(12_000);
    assert!(
        !log.is_called(people[0]) && log.is_called(people[1]),
        "nobody came back"
    );
}

#[test]
fn nobody_misses_a_turn_while_an_operator_lets_nobody_in() {
    for mode in [Mode::Closed, Mode::Off] {
        let mut log = Log::new(settings(1));
        let people = log.join(2);
        let set = |log: &mut Log, mode| {
            let mode = Some(mode);
            log.change(Change::Override(Overrides {
                mode,
                ..Overrides::default()
            }))
        };
        for _ in 0..4 {
            assert!(log.is_called(people[0]) && log.ahead(people[1]) == Some(0));
            set(&mut log, mode);
            for _ in 0..3 {
                log.pass(13_000);
                assert!(log.mark(people[1]));
            }
            set(&mut log, Mode::Auto);
            // There is the whole time to come in again.
            log.pass(9_500);
        }
        assert!(log.is_called(people[0]));
        log.pass(3_000);
        assert!(log.is_called(people[1]), "who does not come then has missed it");
        assert_eq!((log.figures().no_shows, log.figures().called), (1, 1));
    }
}

#[test]
fn whoever_never_checks_in_is_gone_after_seconds_and_keeps_the_place_for_a_while() {
    let mut log = Log::new(settings(1));
    let people = log.join(3);
    log.claim(people[0], true);
    log.mark(people[2]);
    log.pass(4_500);
    assert_eq!((log.ahead(people[2]), log.is_present(people[1])), (Some(0), false));
    assert!(log.mark(people[1]));
    assert_eq!((log.ahead(people[2]), log.ahead(people[1])), (Some(1), Some(0)));
}

#[test]
fn a_mark_lasts_a_whole_generation_and_at_most_two() {
    let mut log = Log::new(settings(0));
    let people = log.join(2);
    log.pass(5_000);
    log.mark(people[0]);
    log.pass(20_000);
    assert!(log.is_present(people[0]));
    assert!(matches!(log.standing(people[0]), Standing::Waiting(w) if w.mark_due));
    log.pass(20_500);
    assert!(!log.is_present(people[0]));
}

#[test]
fn the_horizon_follows_the_calls_and_who_comes_after_it_is_late() {
    let mut log = Log::new(settings(5));
    log.change(Change::Override(Overrides {
        mode: Some(Mode::Hold),
        ..Overrides::default()
    }));
    let people = log.join(3);
    log.pass(5_000);
    log.mark(people[1]);
    log.change(Change::Override(Overrides::default()));
    assert!(log.is_called(people[1]));
    log.pass(55_000);
    assert!(matches!(log.standing(people[0]), Standing::Waiting(_)));
    log.pass(6_500);
    assert_eq!(log.standing(people[0]), Standing::Late);
    assert!(!log.mark(people[0]));
    assert!(
        matches!(log.standing(people[2]), Standing::Waiting(_)),
        "its turn has not come"
    );
}

#[test]
fn nobody_present_is_passed_by_the_horizon() {
    let mut log = Log::new(settings(1));
    let people = log.join(2);
    log.claim(people[0], true);
    for _ in 0..30 {
        log.pass(10_000);
        log.renew(people[0]);
        log.mark(people[1]);
        if log.figures().inside == 0 {
            break;
        }
    }
    assert!(log.is_called(people[1]));
}

#[test]
fn leaving_is_final() {
    let mut log = Log::new(settings(1));
    let people = log.join(4);
    assert!(log.leave(people[2]) && log.leave(people[0]));
    assert!(log.is_called(people[1]));
    for left in [people[0], people[2]] {
        assert_eq!(log.standing(left), Standing::Ended);
        assert!(!log.mark(left) && !log.leave(left) && !log.reopen(left) && !log.claim(left, true));
    }
    assert_eq!(log.figures().left, 2);
}

#[test]
fn a_session_that_idled_out_is_reopened_as_excess() {
    let mut log = Log::new(settings(1));
    let people = log.join(2);
    log.claim(people[0], true);
    log.mark(people[1]);
    log.pass(24_000);
    assert!(log.is_called(people[1]));
    assert!(log.reopen(people[0]));
    assert!(!log.reopen(people[0]));
    assert!(log.is_inside(people[0]));
    let figures = log.figures();
    assert_eq!((figures.called, figures.inside, figures.excess), (1, 1, 1));
    log.leave(people[0]);
    assert_eq!(log.figures().excess, 0);
}

#[test]
fn lowering_the_capacity_evicts_nobody_and_calls_nobody_until_there_is_room() {
    let mut log = Log::new(settings(3));
    let people = log.join(5);
    log.change(Change::Override(Overrides {
        capacity: Some(1),
        ..Overrides::default()
    }));
    for person in &people[..3] {
        assert!(log.claim(*person, true));
    }
    log.leave(people[0]);
    log.leave(people[1]);
    assert_eq!(log.figures().called, 0);
    log.leave(people[2]);
    assert!(log.is_called(people[3]));
    assert_eq!(log.figures().called, 1);
}

#[test]
fn a_rate_calls_its_tokens_step_by_step() {
    let mut log = Log::new(Settings {
        rate_per_minute: Some(120),
        call_every_ms: 1_000,
        ..settings(100)
    });
    let people = log.join(20);
    assert_eq!(log.figures().calls, 2);
    log.pass(2_000);
    assert_eq!(log.figures().calls, 6);
    assert_eq!(log.ahead(people[10]), Some(4));
}
