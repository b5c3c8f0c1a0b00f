//! Turns that were missed.

use super::*;

#[test]
fn a_missed_turn_waits_again_and_a_second_one_is_late() {
    let mut room = Room::new();
    let number = room.called();
    room.pass_time(CLAIM_MS + 5_000, &[]);
    let Standing::Waiting(waiting) = room.standing(number) else {
        panic!("{:?}", room.standing(number))
    };
    assert!(waiting.missed_at.is_some());
    assert_eq!(room.by_ticket(number), (TicketState::Waiting, Some(Note::Mark)));
    room.section(|section| section.marks = vec![(LANE, number)]);
    room.say(SHORT, Batch::default());
    assert_eq!(room.by_ticket(number).0, TicketState::Called);
    assert_eq!(
        room.by_pass(room.pass(number, 1, 0)),
        VOID,
        "the pass of the turn that was missed"
    );
    assert_eq!(
        room.by_pass(room.pass(number, 1, SESSION_MS)),
        VOID,
        "called again since"
    );
    room.pass_time(CLAIM_MS + 5_000, &[]);
    assert_eq!(room.by_ticket(number), (TicketState::Void(Void::Late), None));
}

/// As where a gate could not tell the log of the request that it forwarded, and died.
#[test]
fn the_pass_of_a_missed_turn_is_good_where_a_forwarded_request_has_dated_it_later() {
    let mut room = Room::new();
    let number = room.called();
    let given = room.pass(number, 1, SESSION_MS);
    let handed_out = room.pass(number, 1, CLAIM_MS);
    room.pass_time(CLAIM_MS + 5_000, &[]);
    assert!(matches!(room.standing(number), Standing::Waiting(_)));
    assert_eq!(room.by_pass(given), (PassState::Valid, Some(Note::Reopen)));
    assert_eq!(room.by_pass(handed_out.clone()), VOID);
    let cut_off = Reader {
        extension_ms: Some(SESSION_MS),
        ..room.reader()
    };
    assert_eq!(
        cut_off.pass(handed_out).state,
        PassState::Void,
        "no outage makes it good"
    );
}

/// Another gate has recorded the request that it forwarded, and this one has not read it yet.
#[test]
fn so_is_the_pass_of_a_second_turn_while_and_after_its_slot_is_held() {
    let mut room = Room::new();
    let number = room.called();
    room.pass_time(CLAIM_MS + 5_000, &[]);
    room.section(|section| section.marks = vec![(LANE, number)]);
    room.say(SHORT, Batch::default());
    let given = room.pass(number, 2, SESSION_MS);
    let handed_out = room.pass(number, 2, CLAIM_MS);
    for after in [CLAIM_MS + 1_000, 2_000] {
        room.pass_time(after, &[]);
        assert_eq!(room.standing(number), Standing::Late);
        assert_eq!(room.by_pass(given.clone()), (PassState::Valid, Some(Note::Reopen)));
        assert_eq!(room.by_pass(handed_out.clone()), VOID);
    }
    room.section(|section| section.reopens = vec![(LANE, number)]);
    assert!(matches!(room.standing(number), Standing::Inside(_)));
    room.end(number);
    assert_eq!(room.by_pass(given), VOID, "the session is over");
}

/// To a room that has lost its log the session is that of a first call, whatever the pass says.
#[test]
fn the_pass_of_a_second_turn_is_good_for_the_session_that_it_brought_back() {
    let mut room = Room::new();
    let number = room.join();
    let pass = room.pass(number, 2, SESSION_MS);
    assert_eq!(
        room.by_pass(pass.clone()),
        (PassState::Valid, CARRIED),
        "called once here"
    );
    room.section(|section| section.reopens = vec![(LANE, number)]);
    let Standing::Inside(inside) = room.standing(number) else {
        panic!("{:?}", room.standing(number))
    };
    assert_eq!(inside.call.count, 1);
    assert_eq!(room.by_pass(pass.clone()), (PassState::Valid, None));
    room.end(number);
    assert_eq!(room.by_pass(pass), VOID, "the session is over");
}
