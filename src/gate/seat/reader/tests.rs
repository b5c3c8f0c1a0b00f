//! Tokens judged by views that the room's own machine made, entry by entry.

mod missed;
mod parked;

use std::sync::Arc;

use super::*;
use crate::room::testing::Hand;
use crate::room::{
    Batch, CallId, Change, Claim, Edition, End, LaneId, Number, PendingId, Root, Section, Settings, View,
};
use crate::token::{Key, KeyId, Secret};

const LANE: LaneId = LaneId(0);
const START: u64 = 1_000_000;
const SESSION_MS: u64 = 60_000;
const CLAIM_MS: u64 = 10_000;
const SHORT: u64 = 100;

/// A room with one slot, driven by the test.
struct Room {
    name: RoomName,
    line: LineName,
    keyring: Keyring,
    hand: Hand,
    view: Arc<View>,
}

impl Room {
    fn new() -> Self {
        Self::with(Settings::default())
    }

    /// With these settings, and one slot.
    fn with(settings: Settings) -> Self {
        let secret = Secret::new(vec![7; 32]);
        let id = KeyId::new("k").unwrap();
        let mut hand = Hand::with_room(Settings {
            capacity: 1,
            session_ms: SESSION_MS,
            claim_deadline_ms: CLAIM_MS,
            ..settings
        });
        Self {
            name: Hand::room(),
            line: LineName::ONLY,
            keyring: Keyring::new(vec![Key { id, secret }]).unwrap(),
            view: hand.state.view(),
            hand,
        }
    }

    fn change(&mut self, change: Change) {
        self.hand.change(SHORT, change);
        self.view = self.hand.state.view();
    }

    /// Applies a batch, `after_ms` later; the first number it gave.
    fn say(&mut self, after_ms: u64, batch: Batch) -> Option<Number> {
        let (_, effects) = self.hand.say(after_ms, batch);
        self.view = self.hand.state.view();
        effects.joined.first().and_then(|joined| joined.first)
    }

    fn section(&mut self, fill: impl FnOnce(&mut Section)) -> Option<Number> {
        let mut section = Hand::section();
        fill(&mut section);
        self.say(
            SHORT,
            Batch {
                sections: vec![section],
                ..Batch::default()
            },
        )
    }

    fn join(&mut self) -> Number {
        self.section(|section| section.joins = vec![(LANE, 1)]).unwrap()
    }

    fn claim(&mut self, number: Number, carried: bool) {
        let claim = Claim {
            lane: LANE,
            number,
            carried,
        };
        self.section(|section| section.claims = vec![claim]);
    }

    fn end(&mut self, number: Number) {
        let end = End {
            lane: LANE,
            number,
            after_ms: 0,
        };
        self.section(|section| section.ends = vec![end]);
    }

    /// Lets time pass, while all visitors in `marked` check in.
    fn pass_time(&mut self, ms: u64, marked: &[Number]) {
        let step = 1_000;
        for _ in 0..ms / step {
            let mut section = Hand::section();
            section.marks = marked.iter().map(|number| (LANE, *number)).collect();
            self.say(
                step,
                Batch {
                    sections: vec![section],
                    ..Batch::default()
                },
            );
        }
    }

    /// A number called while it waited, by the end of the session before it.
    fn called(&mut self) -> Number {
        let (first, second) = (self.join(), self.join());
        self.claim(first, true);
        self.end(first);
        self.say(SHORT, Batch::default());
        second
    }

    fn reader(&self) -> Reader<'_> {
        Reader {
            keyring: &self.keyring,
            known: None,
            room: &self.name,
            line: &self.line,
            view: &self.view,
            edition: self.view.rooms[&self.name].edition,
            voided: self.view.rooms[&self.name].voided,
            spared: self.view.rooms[&self.name].spared,
            now: self.view.clock,
            wall: Wall(self.hand.time),
            extension_ms: None,
        }
    }

    fn standing(&self, number: Number) -> Standing {
        self.reader().standing(Edition::default(), LANE, number)
    }

    fn ticket(&self, place: TicketPlace) -> Ticket {
        Ticket {
            room: self.name.clone(),
            line: LineName::ONLY,
            lane: LANE,
            edition: Edition(0),
            place,
            joined_at: Wall(START),
            identity: None,
        }
    }

    /// The pass of a number's `count`th call, good for `ms` from now.
    fn pass(&self, number: Number, count: u8, ms: u64) -> Pass {
        let call = CallId {
            lane: LANE,
            number,
            count,
        };
        Pass {
            room: self.name.clone(),
            line: LineName::ONLY,
            lane: LANE,
            edition: Edition(0),
            number,
            call: count,
            id: PassId::new(&self.keyring, &self.name, &LineName::ONLY, Edition(0), call),
            expires_at: Wall(self.hand.time + ms),
        }
    }

    fn by_pass(&self, pass: Pass) -> (PassState, Option<Note>) {
        let worth = self.reader().pass(pass);
        (worth.state, worth.note)
    }

    fn by_ticket(&self, number: Number) -> (TicketState, Option<Note>) {
        let worth = self.reader().ticket(self.ticket(TicketPlace::Numbered(number)));
        assert_eq!(
            worth.state == TicketState::Unknown,
            worth.standing == Some(Standing::Unknown)
        );
        (worth.state, worth.note)
    }
}

const CARRIED: Option<Note> = Some(Note::Claim { carried: true });
const VOID: (PassState, Option<Note>) = (PassState::Void, None);

#[test]
fn the_pass_of_a_call_is_good_until_its_deadline_and_claims() {
    let mut room = Room::new();
    let number = room.join();
    assert!(matches!(room.standing(number), Standing::Called(_)));
    assert_eq!(
        room.by_pass(room.pass(number, 1, CLAIM_MS)),
        (PassState::Valid, CARRIED)
    );
    assert_eq!(
        room.by_pass(room.pass(number, 2, CLAIM_MS)),
        (PassState::Valid, CARRIED),
        "of a later call, which the log has lost"
    );
}

#[test]
fn the_pass_of_a_session_is_good_as_long_as_the_room_says_whatever_its_own_date() {
    let mut room = Room::new();
    let number = room.join();
    room.claim(number, false);
    assert_eq!(
        room.by_pass(room.pass(number, 1, 0)),
        (PassState::Valid, CARRIED),
        "nothing has carried it yet"
    );
    room.claim(number, true);
    assert_eq!(room.by_pass(room.pass(number, 1, 0)), (PassState::Valid, None));
    assert_eq!(
        room.by_pass(room.pass(number, 2, 0)),
        (PassState::Valid, None),
        "of a later call, which the log has lost"
    );
    room.pass_time(SESSION_MS / 10, &[]);
    assert_eq!(
        room.by_pass(room.pass(number, 1, 0)),
        (PassState::Valid, Some(Note::Renew))
    );
    room.end(number);
    assert_eq!(
        room.by_pass(room.pass(number, 1, SESSION_MS)),
        VOID,
        "ended, though it is in date"
    );
}

#[test]
fn a_pass_outlives_its_session_by_the_slack_alone_or_by_the_extension_when_cut_off() {
    let mut room = Room::new();
    let number = room.join();
    room.claim(number, true);
    let Standing::Inside(inside) = room.standing(number) else {
        panic!("inside")
    };
    let at = |past_ms, extension_ms| {
        let now = inside.expires.plus(past_ms);
        let reader = Reader {
            now,
            extension_ms,
            ..room.reader()
        };
        reader.pass(room.pass(number, 1, 0)).state
    };
    assert_eq!(at(SLACK_MS, None), PassState::Valid);
    assert_eq!(at(SLACK_MS + 1, None), PassState::Void);
    assert_eq!(at(SLACK_MS + 5_000, Some(5_000)), PassState::Valid);
    assert_eq!(at(SLACK_MS + 5_001, Some(5_000)), PassState::Void);
}

#[test]
fn where_the_room_has_never_heard_of_the_call_the_passs_date_decides() {
    let mut room = Room::new();
    let never = Number { n: 500, ..room.join() };
    let reopened = (PassState::Valid, Some(Note::Reopen));
    assert_eq!(room.by_pass(room.pass(never, 1, 1)), reopened);
    assert_eq!(room.by_pass(room.pass(never, 1, 0)), VOID);
    // A call that the log lost: to the room the number still waits.
    let waiting = room.join();
    assert_eq!(room.by_pass(room.pass(waiting, 1, 1)), reopened);
    assert_eq!(room.by_pass(room.pass(waiting, 1, 0)), VOID);
}

/// As where a gate was started while its store was away, and knows no visitor.
#[test]
fn while_cut_off_a_pass_that_the_room_has_never_heard_of_is_good_for_the_extension_too() {
    let mut room = Room::new();
    let never = Number { n: 500, ..room.join() };
    let by = |room: &Room, extension_ms, late_ms| {
        let reader = Reader {
            extension_ms: Some(extension_ms),
            wall: Wall(room.hand.time + late_ms),
            ..room.reader()
        };
        reader.pass(room.pass(never, 1, 0)).state
    };
    assert_eq!(by(&room, SESSION_MS, SESSION_MS - 1), PassState::Valid);
    assert_eq!(by(&room, SESSION_MS, SESSION_MS), PassState::Void);
    assert_eq!(by(&room, 0, 0), PassState::Void, "strict");
}

#[test]
fn a_reset_voids_tickets_and_passes_of_the_edition_before() {
    let mut room = Room::new();
    let number = room.join();
    room.claim(number, true);
    let pass = room.pass(number, 1, SESSION_MS);
    room.change(Change::Reset);
    assert_eq!(room.by_pass(pass.clone()), VOID);
    assert_eq!(room.by_ticket(number), (TicketState::Void(Void::Reset), None));
    let newer = Pass {
        edition: Edition(9),
        ..pass
    };
    assert_eq!(
        room.by_pass(newer).0,
        PassState::Valid,
        "of an edition that the log lost"
    );
}

#[test]
fn an_edition_that_came_back_spares_whoever_joined_while_it_was_lost() {
    let mut room = Room::new();
    let number = room.called();
    let pending = TicketPlace::Pending(PendingId([7; 12]));
    let lost = Ticket {
        edition: Edition(2),
        ..room.ticket(TicketPlace::Numbered(number))
    };
    assert_eq!(room.reader().ticket(lost.clone()).state, TicketState::Unknown);
    room.change(Change::Edition(Edition(2)));
    assert_eq!(room.reader().ticket(lost).state, TicketState::Called, "worth its place");
    assert_eq!(room.by_ticket(number).0, TicketState::Called);
    assert_eq!(
        room.reader().ticket(room.ticket(pending)).state,
        TicketState::Pending(PendingId([7; 12]))
    );
    room.claim(number, true);
    assert_eq!(room.by_pass(room.pass(number, 1, SESSION_MS)).0, PassState::Valid);
    // One of the edition before, and one of an epoch before the loss.
    let older = Number {
        epoch: Epoch(number.epoch.0 - 1),
        ..number
    };
    assert_eq!(room.by_ticket(older), (TicketState::Void(Void::Reset), None));
    assert_eq!(room.by_pass(room.pass(older, 1, SESSION_MS)), VOID);
    room.change(Change::Reset);
    assert_eq!(room.by_ticket(number), (TicketState::Void(Void::Reset), None));
    let void = room.reader().ticket(room.ticket(pending));
    assert_eq!(void.state, TicketState::Void(Void::Reset));
}

/// The room knows them, from the log that went before the one that lost the reset.
#[test]
fn a_reset_that_came_back_voids_whoever_was_called_before_the_loss() {
    let mut room = Room::new();
    let number = room.called();
    room.hand.state.begin(number.epoch.0 + 1, Root::Own);
    room.say(SHORT, Batch::default());
    assert_eq!(room.by_ticket(number).0, TicketState::Called);
    room.change(Change::Edition(Edition(2)));
    assert!(matches!(room.standing(number), Standing::Called(_)), "it ends nothing");
    assert_eq!(room.by_ticket(number), (TicketState::Void(Void::Reset), None));
}

#[test]
fn a_ticket_waits_and_marks_once_a_generation() {
    let mut room = Room::new();
    room.join();
    let number = room.join();
    assert_eq!(room.by_ticket(number), (TicketState::Waiting, Some(Note::Mark)));
    room.section(|section| section.marks = vec![(LANE, number)]);
    assert_eq!(room.by_ticket(number), (TicketState::Waiting, None));
}

#[test]
fn a_called_ticket_claims_and_names_the_session_until_the_pass_is_shown() {
    let claim = (TicketState::Called, Some(Note::Claim { carried: false }));
    let mut room = Room::new();
    let at_join = room.join();
    assert_eq!(room.by_ticket(at_join), claim);
    let mut room = Room::new();
    let number = room.called();
    assert_eq!(room.by_ticket(number), claim);
    room.claim(number, false);
    assert_eq!(
        room.by_ticket(number),
        (TicketState::Inside, None),
        "the answer with the pass may have been lost"
    );
    room.pass_time(SESSION_MS / 10, &[]);
    assert_eq!(room.by_ticket(number), (TicketState::Inside, Some(Note::Renew)));
    let cut_off = Reader {
        extension_ms: Some(SHORT),
        ..room.reader()
    };
    let ticket = room.ticket(TicketPlace::Numbered(number));
    assert_eq!(cut_off.ticket(ticket).note, Some(Note::Reopen));
    room.claim(number, true);
    assert_eq!(
        room.by_ticket(number),
        (TicketState::Void(Void::Ended), None),
        "a session without its pass"
    );
}

#[test]
fn a_ticket_whose_session_is_over_is_void_whether_or_not_its_pass_was_seen() {
    let mut room = Room::new();
    let number = room.called();
    room.claim(number, false);
    let Standing::Inside(inside) = room.standing(number) else {
        panic!("inside")
    };
    let later = Reader {
        now: inside.expires.plus(SLACK_MS + 1),
        ..room.reader()
    };
    let ticket = room.ticket(TicketPlace::Numbered(number));
    assert_eq!(later.ticket(ticket).state, TicketState::Void(Void::Ended));
    room.end(number);
    assert_eq!(room.by_ticket(number), (TicketState::Void(Void::Ended), None));
}

/// A second request within a tenth of the session is not recorded, so the session lasts that much longer.
#[test]
fn a_session_is_good_for_its_whole_length_after_the_last_request() {
    let mut room = Room::new();
    let number = room.join();
    room.claim(number, true);
    room.pass_time(SESSION_MS / 10 - 1_000, &[]);
    let pass = room.pass(number, 1, 0);
    assert_eq!(room.by_pass(pass.clone()), (PassState::Valid, None), "not recorded");
    room.pass_time(SESSION_MS, &[]);
    assert_eq!(room.by_pass(pass.clone()), (PassState::Valid, Some(Note::Renew)));
    room.pass_time(4_000, &[]);
    assert_eq!(room.by_pass(pass), VOID);
}

#[test]
fn a_number_unknown_to_the_room_asks_for_its_place_and_a_pending_one_for_a_number() {
    let mut room = Room::new();
    let number = Number { n: 500, ..room.join() };
    assert_eq!(room.by_ticket(number), (TicketState::Unknown, Some(Note::Mark)));
    let id = PendingId([3; 12]);
    let worth = room.reader().ticket(room.ticket(TicketPlace::Pending(id)));
    assert_eq!((worth.state, worth.note), (TicketState::Pending(id), None));
}

#[test]
fn a_pass_whose_id_no_key_knows_gets_another() {
    let mut room = Room::new();
    let number = room.join();
    let genuine = room.pass(number, 1, CLAIM_MS);
    let outlived = Pass {
        id: PassId([0; 8]),
        ..genuine.clone()
    };
    let worth = room.reader().pass(outlived);
    assert_eq!((worth.state, worth.pass), (PassState::Valid, genuine));
}
