//! Laws over random tokens: signed values are read back, and unsigned ones are refused.

use proptest::prelude::*;

use super::super::*;
use super::{BASE64URL, line, ring, room};
use ropeline_ids::{Edition, Epoch, LaneId, LineName, Number, PendingId, RoomName, Tag, Wall};

fn names() -> impl Strategy<Value = (RoomName, LineName)> {
    ("[a-z0-9-]{1,32}", "[a-z0-9 é한]{0,16}").prop_map(|(of_room, of_line)| (room(&of_room), line(&of_line)))
}

fn places() -> impl Strategy<Value = TicketPlace> {
    let numbered =
        (any::<u64>(), any::<u32>()).prop_map(|(epoch, n)| TicketPlace::Numbered(Number { epoch: Epoch(epoch), n }));
    prop_oneof![
        numbered,
        any::<[u8; 12]>().prop_map(|id| TicketPlace::Pending(PendingId(id)))
    ]
}

prop_compose! {
    fn tickets()(
        (room, line) in names(), lane: u8, edition: u32, place in places(), joined_at: u64, identity: Option<[u8; 8]>,
    ) -> Ticket {
        let (lane, edition, joined_at) = (LaneId(lane), Edition(edition), Wall(joined_at));
        Ticket { room, line, lane, edition, place, joined_at, identity: identity.map(Tag) }
    }
}

prop_compose! {
    fn passes()(
        (room, line) in names(), lane: u8, edition: u32, epoch: u64, n: u32, call: u8, id: [u8; 8], expires_at: u64,
    ) -> Pass {
        let number = Number { epoch: Epoch(epoch), n };
        Pass {
            room, line, lane: LaneId(lane), edition: Edition(edition), number, call, id: PassId(id), expires_at: Wall(expires_at),
        }
    }
}

proptest! {
    #[test]
    fn a_ticket_is_read_back_as_it_was_signed(ticket in tickets(), id in "[a-z0-9-]{1,16}", seed: u8) {
        let ring = ring(&[(&id, seed)]);
        let token = ticket.sign(&ring);
        prop_assert!(token.len() <= MAX_TOKEN);
        prop_assert_eq!(Ticket::read(&ring, &ticket.room, &ticket.line, &token), Some(ticket));
    }

    #[test]
    fn a_pass_is_read_back_as_it_was_signed(pass in passes(), id in "[a-z0-9-]{1,16}", seed: u8) {
        let ring = ring(&[(&id, seed)]);
        let token = pass.sign(&ring);
        prop_assert!(token.len() <= MAX_TOKEN);
        prop_assert_eq!(Pass::read(&ring, &pass.room, &pass.line, &token), Some(pass));
    }

    #[test]
    fn a_ticket_of_other_names_is_none(ticket in tickets(), (room, line) in names()) {
        let ring = ring(&[("now", 1)]);
        let token = ticket.sign(&ring);
        let same = (&room, &line) == (&ticket.room, &ticket.line);
        prop_assert_eq!(Ticket::read(&ring, &room, &line, &token).is_some(), same);
    }

    #[test]
    fn two_characters_changed_are_refused_too(ticket in tickets(), first: prop::sample::Index, second: prop::sample::Index,
        symbols: (prop::sample::Index, prop::sample::Index)) {
        let ring = ring(&[("now", 1)]);
        let token = ticket.sign(&ring);
        let mut mutant = token.clone().into_bytes();
        let length = mutant.len();
        mutant[first.index(length)] = BASE64URL[symbols.0.index(64)];
        mutant[second.index(length)] = BASE64URL[symbols.1.index(64)];
        let mutant = String::from_utf8(mutant).expect("ASCII");
        prop_assert_eq!(Ticket::read(&ring, &ticket.room, &ticket.line, &mutant).is_some(), mutant == token);
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in ".{0,200}", plain in "[A-Za-z0-9_-]{0,200}") {
        let ring = ring(&[("now", 1)]);
        for text in [text, plain] {
            prop_assert_eq!(Ticket::read(&ring, &room("shop"), &LineName::ONLY, &text), None);
            prop_assert_eq!(Pass::read(&ring, &room("shop"), &LineName::ONLY, &text), None);
        }
    }
}
