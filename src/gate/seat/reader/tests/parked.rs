//! Sessions without a slot, in rooms with active slots.

use super::*;
use crate::room::ActiveSlots;

const IDLE_MS: u64 = 20_000;

/// When a session that was used now asks first: after the idle time and a step.
const ASKS_AFTER_MS: u64 = IDLE_MS + IDLE_MS / 4;

fn room() -> Room {
    let active = Some(ActiveSlots {
        idle_after_ms: IDLE_MS,
        max_sessions: None,
    });
    Room::with(Settings {
        active,
        ..Settings::default()
    })
}

fn must_ask(reader: &Reader<'_>, pass: &Pass) -> bool {
    let worth = reader.pass(pass.clone());
    assert_eq!(worth.state, PassState::Valid);
    worth.must_ask
}

#[test]
fn a_session_asks_from_two_seconds_before_it_is_parked() {
    let mut room = room();
    let number = room.join();
    room.claim(number, true);
    let pass = room.pass(number, 1, SESSION_MS);
    let at = |room: &Room, ms| {
        let now = room.view.clock.plus(ms);
        must_ask(&Reader { now, ..room.reader() }, &pass)
    };
    assert!(!at(&room, ASKS_AFTER_MS - 1));
    assert!(at(&room, ASKS_AFTER_MS));
    room.pass_time(ASKS_AFTER_MS + SLACK_MS + 1_000, &[]);
    assert!(matches!(room.standing(number), Standing::Inside(inside) if inside.parked));
    assert!(at(&room, 0));
}

#[test]
fn a_gate_that_is_cut_off_judges_by_its_last_view() {
    let mut room = room();
    let number = room.join();
    room.claim(number, true);
    let pass = room.pass(number, 1, SESSION_MS);
    let cut_off = |room: &Room, ms| {
        let now = room.view.clock.plus(ms);
        let extension_ms = Some(SESSION_MS);
        must_ask(
            &Reader {
                now,
                extension_ms,
                ..room.reader()
            },
            &pass,
        )
    };
    assert!(!cut_off(&room, 2 * ASKS_AFTER_MS), "it was in use");
    room.pass_time(ASKS_AFTER_MS + SLACK_MS + 1_000, &[]);
    assert!(cut_off(&room, 0), "it was parked");
}

/// Of a lost log, and of a call that the log has lost.
#[test]
fn a_pass_that_the_room_does_not_know_asks_only_where_slots_are_active() {
    let lost = Number {
        epoch: Epoch(u64::MAX),
        n: 1,
    };
    for (room, asks) in [(room(), true), (Room::new(), false)] {
        let pass = room.pass(lost, 1, SESSION_MS);
        assert_eq!(must_ask(&room.reader(), &pass), asks);
    }
    for (mut room, asks) in [(room(), true), (Room::new(), false)] {
        let (_first, second) = (room.join(), room.join());
        let pass = room.pass(second, 1, SESSION_MS);
        assert_eq!(
            must_ask(&room.reader(), &pass),
            asks,
            "in line, and let in by another log"
        );
    }
}

/// A call holds a slot until its deadline.
#[test]
fn a_called_visitor_asks_for_nothing() {
    let mut room = room();
    let number = room.join();
    let pass = room.pass(number, 1, CLAIM_MS);
    assert!(!must_ask(&room.reader(), &pass));
    room.claim(number, false);
    let ticket = room.ticket(TicketPlace::Numbered(number));
    let now = room.view.clock.plus(ASKS_AFTER_MS + 1);
    assert!(!room.reader().ticket(ticket.clone()).must_ask);
    assert!(
        Reader { now, ..room.reader() }.ticket(ticket).must_ask,
        "the ticket names a session too"
    );
}
