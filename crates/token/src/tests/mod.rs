//! Tickets and passes case by case: any difference makes a token invalid.

mod audiences;
mod codes;
mod laws;
mod signatures;

use super::*;
use ropeline_ids::{CallId, Edition, Epoch, LaneId, LineName, Number, RoomName, Wall};

const BASE64URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn key(id: &str, seed: u8) -> Key {
    Key {
        id: KeyId::new(id).expect("a key id"),
        secret: Secret::new([seed; 32]),
    }
}

fn ring(keys: &[(&str, u8)]) -> Keyring {
    Keyring::new(keys.iter().map(|(id, seed)| key(id, *seed)).collect()).expect("a ring")
}

fn room(name: &str) -> RoomName {
    RoomName::new(name).expect("a room")
}

fn line(name: &str) -> LineName {
    LineName::new(name).expect("a line")
}

fn ticket() -> Ticket {
    let number = Number {
        epoch: Epoch(28_123_456_789_012_345),
        n: 41,
    };
    Ticket {
        room: room("shop"),
        line: LineName::ONLY,
        lane: LaneId(0),
        edition: Edition(3),
        place: TicketPlace::Numbered(number),
        joined_at: Wall(1_790_000_000_000),
        identity: None,
    }
}

fn pass() -> Pass {
    let Ticket {
        room,
        line,
        lane,
        edition,
        ..
    } = ticket();
    let number = Number {
        epoch: Epoch(28_123_456_789_012_345),
        n: 41,
    };
    Pass {
        room,
        line,
        lane,
        edition,
        number,
        call: 1,
        id: PassId(*b"pass-id!"),
        expires_at: Wall(1_790_000_300_000),
    }
}

/// Every text one step from `token`: a character replaced, left out or put in anywhere, cut short, or run on.
fn mutants(token: &str) -> impl Iterator<Item = String> {
    let cuts = (0..token.len()).map(|at| token[..at].to_owned());
    let tails = (1..token.len()).map(|at| token[at..].to_owned());
    let dropped = (0..token.len()).map(|at| format!("{}{}", &token[..at], &token[at + 1..]));
    let changed = (0..=token.len()).flat_map(move |at| {
        BASE64URL
            .iter()
            .map(|symbol| char::from(*symbol))
            .flat_map(move |symbol| {
                let inserted = format!("{}{symbol}{}", &token[..at], &token[at..]);
                let rest = token.get(at + 1..).unwrap_or_default();
                [inserted, format!("{}{symbol}{rest}", &token[..at])]
            })
    });
    let dressed = ["=", "==", " ", "\"", "\0", ";"]
        .into_iter()
        .flat_map(move |extra| [format!("{token}{extra}"), format!("{extra}{token}")]);
    let doubled = [format!("{token}{token}"), format!("\"{token}\"")];
    cuts.chain(tails)
        .chain(dropped)
        .chain(changed)
        .chain(dressed)
        .chain(doubled)
}

#[test]
fn every_character_of_a_ticket_counts() {
    let (ring, ticket) = (ring(&[("now", 1), ("old", 2)]), ticket());
    let token = ticket.sign(&ring);
    assert_eq!(
        Ticket::read(&ring, &ticket.room, &ticket.line, &token),
        Some(ticket.clone())
    );
    for mutant in mutants(&token).filter(|mutant| *mutant != token) {
        assert_eq!(
            Ticket::read(&ring, &ticket.room, &ticket.line, &mutant),
            None,
            "{mutant}"
        );
    }
}

#[test]
fn every_character_of_a_pass_counts() {
    let (ring, pass) = (ring(&[("now", 1), ("old", 2)]), pass());
    let token = pass.sign(&ring);
    assert_eq!(Pass::read(&ring, &pass.room, &pass.line, &token), Some(pass.clone()));
    for mutant in mutants(&token).filter(|mutant| *mutant != token) {
        assert_eq!(Pass::read(&ring, &pass.room, &pass.line, &mutant), None, "{mutant}");
    }
}

/// Payloads that this binary never signs, such as another version's, are refused whole though their tag is right.
#[test]
fn a_genuine_payload_of_another_shape_is_refused() {
    let (ring, shop, only) = (ring(&[("now", 1)]), room("shop"), LineName::ONLY);
    let tickets = seal::Scope::new(name::TICKET, &shop, &only);
    let passes = seal::Scope::new(name::PASS, &shop, &only);
    let read = |payload: &[u8]| {
        let ticket = Ticket::read(&ring, &shop, &only, &ring.seal(tickets, payload));
        (
            ticket.is_some(),
            Pass::read(&ring, &shop, &only, &ring.seal(passes, payload)).is_some(),
        )
    };
    for length in 0..=seal::MAX_PAYLOAD {
        assert_eq!(
            read(&vec![0; length]),
            (length == 26, length == 34),
            "{length} zero bytes"
        );
    }
    for flags in 0..=u8::MAX {
        let with_identity = std::iter::once(flags).chain([0; 33]).collect::<Vec<u8>>();
        assert_eq!(read(&with_identity).0, flags & 2 != 0 && flags < 4, "flags {flags}");
    }
}

#[test]
fn a_token_of_one_kind_is_refused_as_another_whatever_its_payload() {
    let (ring, shop, only) = (ring(&[("now", 1)]), room("shop"), LineName::ONLY);
    let tickets = seal::Scope::new(name::TICKET, &shop, &only);
    let token = ring.seal(tickets, &[0; 33]);
    assert!(ring.unseal(tickets, &token).is_some());
    assert_eq!(Pass::read(&ring, &shop, &only, &token), None);
}

/// The last character of 73 bytes holds four bits that belong to no byte: sixteen texts would encode one token.
#[test]
fn bits_beyond_the_last_byte_are_refused() {
    let ring = ring(&[("three", 1)]);
    let token = pass().sign(&ring);
    assert_ne!(token.len() % 4, 0, "a token whose last character holds spare bits");
    let last = BASE64URL
        .iter()
        .position(|symbol| token.ends_with(char::from(*symbol)))
        .expect("base64url");
    let twin = format!("{}{}", &token[..token.len() - 1], char::from(BASE64URL[last + 1]));
    assert_eq!(Pass::read(&ring, &room("shop"), &LineName::ONLY, &twin), None);
}

#[test]
fn a_token_is_good_for_its_own_kind_room_and_line_only() {
    let ring = ring(&[("now", 1)]);
    let mut ticket = ticket();
    ticket.line = line("a");
    let token = ticket.sign(&ring);
    assert!(Ticket::read(&ring, &room("shop"), &line("a"), &token).is_some());
    for (other_room, other_line) in [
        ("shop", ""),
        ("shop", "b"),
        ("shop", "A"),
        ("shop2", "a"),
        ("sho", "pa"),
    ] {
        assert_eq!(
            Ticket::read(&ring, &room(other_room), &line(other_line), &token),
            None,
            "{other_room} {other_line}"
        );
    }
    assert_eq!(Pass::read(&ring, &room("shop"), &line("a"), &token), None);
}

/// A line's cookie may be named like another room's: the MAC must tell them apart, not only the name.
#[test]
fn rooms_and_lines_with_one_cookie_name_do_not_share_tokens() {
    let ring = ring(&[("now", 1)]);
    let twin = room(&ticket_cookie(&room("shop"), &line("a"))["ropeline-ticket-".len()..]);
    assert_eq!(
        ticket_cookie(&twin, &LineName::ONLY),
        ticket_cookie(&room("shop"), &line("a"))
    );
    let token = Ticket {
        line: line("a"),
        ..ticket()
    }
    .sign(&ring);
    assert_eq!(Ticket::read(&ring, &twin, &LineName::ONLY, &token), None);
}

#[test]
fn keys_rotate_and_end() {
    let (old, both, new) = (ring(&[("a", 1)]), ring(&[("b", 2), ("a", 1)]), ring(&[("b", 2)]));
    let (ticket, pass) = (ticket(), pass());
    let by_old = (ticket.sign(&old), pass.sign(&old));
    let by_both = (ticket.sign(&both), pass.sign(&both));
    assert_eq!(by_both, (ticket.sign(&new), pass.sign(&new)), "the first key signs");
    for (tokens, keyring, good) in [
        (&by_old, &both, true),
        (&by_old, &new, false),
        (&by_both, &both, true),
        (&by_both, &old, false),
    ] {
        assert_eq!(
            Ticket::read(keyring, &ticket.room, &ticket.line, &tokens.0).is_some(),
            good
        );
        assert_eq!(Pass::read(keyring, &pass.room, &pass.line, &tokens.1).is_some(), good);
    }
}

#[test]
fn another_secret_under_the_same_id_is_another_key() {
    let token = ticket().sign(&ring(&[("a", 1)]));
    assert_eq!(
        Ticket::read(&ring(&[("a", 2)]), &room("shop"), &LineName::ONLY, &token),
        None
    );
    assert_eq!(
        Ticket::read(&ring(&[("b", 1)]), &room("shop"), &LineName::ONLY, &token),
        None
    );
}

#[test]
fn a_name_sent_twice_gives_the_newest_genuine_ticket() {
    let ring = ring(&[("now", 1)]);
    let signed = |edition, joined_at| {
        Ticket {
            edition: Edition(edition),
            joined_at: Wall(joined_at),
            ..ticket()
        }
        .sign(&ring)
    };
    let (oldest, older, newest) = (signed(1, 900), signed(2, 100), signed(2, 200));
    let values = ["", "forged", &oldest, &newest, &older];
    let read = Ticket::newest(&ring, &room("shop"), &LineName::ONLY, values.into_iter()).expect("one is genuine");
    assert_eq!((read.0.edition, read.0.joined_at), (Edition(2), Wall(200)));
    let many = std::iter::repeat_n("forged", MAX_TRIES).chain([newest.as_str()]);
    assert_eq!(
        Ticket::newest(&ring, &room("shop"), &LineName::ONLY, many),
        None,
        "tries are bounded"
    );
}

#[test]
fn a_name_sent_twice_gives_the_pass_that_lasts_longest() {
    let ring = ring(&[("now", 1)]);
    let signed = |expires_at| {
        Pass {
            expires_at: Wall(expires_at),
            ..pass()
        }
        .sign(&ring)
    };
    let (short, long) = (signed(100), signed(200));
    let read = Pass::newest(
        &ring,
        &room("shop"),
        &LineName::ONLY,
        [short.as_str(), "x", &long, &short].into_iter(),
    );
    assert_eq!(read.map(|(pass, _)| pass.expires_at), Some(Wall(200)));
    let many = std::iter::repeat_n("x", MAX_TRIES).chain([long.as_str()]);
    assert_eq!(
        Pass::newest(&ring, &room("shop"), &LineName::ONLY, many),
        None,
        "tries are bounded"
    );
}

#[test]
fn a_pass_id_is_of_one_call_of_one_number() {
    let ring = ring(&[("now", 1)]);
    let call = CallId {
        lane: LaneId(0),
        number: Number { epoch: Epoch(7), n: 41 },
        count: 1,
    };
    let of = |room_name: &str, line_name: &str, edition, call| {
        PassId::new(&ring, &room(room_name), &line(line_name), Edition(edition), call)
    };
    let ids = [
        of("shop", "", 1, call),
        of("sho", "p", 1, call),
        of("shop", "p", 1, call),
        of("shop", "", 2, call),
        of(
            "shop",
            "",
            1,
            CallId {
                lane: LaneId(1),
                ..call
            },
        ),
        of("shop", "", 1, CallId { count: 2, ..call }),
        of(
            "shop",
            "",
            1,
            CallId {
                number: Number { epoch: Epoch(8), n: 41 },
                ..call
            },
        ),
        of(
            "shop",
            "",
            1,
            CallId {
                number: Number { epoch: Epoch(7), n: 42 },
                ..call
            },
        ),
    ];
    for (at, id) in ids.iter().enumerate() {
        assert!(!ids[..at].contains(id), "{at}");
        let own = Pass {
            number: call.number,
            edition: Edition(1),
            id: *id,
            ..pass()
        };
        assert_eq!(own.has_known_id(&ring), at == 0);
    }
}

#[test]
fn a_pass_id_holds_through_a_key_change() {
    let (old, both, new) = (ring(&[("a", 1)]), ring(&[("b", 2), ("a", 1)]), ring(&[("b", 2)]));
    let call = CallId {
        lane: LaneId(0),
        number: Number { epoch: Epoch(7), n: 41 },
        count: 1,
    };
    let id = PassId::new(&old, &room("shop"), &LineName::ONLY, Edition(1), call);
    assert_ne!(id, PassId::new(&both, &room("shop"), &LineName::ONLY, Edition(1), call));
    let own = Pass {
        number: call.number,
        edition: Edition(1),
        id,
        ..pass()
    };
    assert!(own.has_known_id(&both) && !own.has_known_id(&new));
}

#[test]
fn the_name_of_a_session_is_one_per_session_and_no_token() {
    let pass = pass();
    let renewed = Pass {
        expires_at: Wall(1),
        ..pass.clone()
    };
    assert_eq!(pass.session_header(), renewed.session_header());
    assert_eq!(pass.session_header().len(), 54);
    let others = [
        Pass {
            id: PassId(*b"pass-id?"),
            ..pass.clone()
        },
        Pass {
            room: room("other"),
            ..pass.clone()
        },
        Pass {
            line: line("a"),
            ..pass.clone()
        },
        Pass {
            edition: Edition(4),
            ..pass.clone()
        },
    ];
    for other in others {
        assert_ne!(pass.session_header(), other.session_header());
    }
    assert!(Pass::read(&ring(&[("a", 1)]), &pass.room, &pass.line, &pass.session_header()).is_none());
}

#[test]
fn a_gate_knows_the_names_it_gave_and_no_other() {
    let (old, both, new) = (ring(&[("a", 1)]), ring(&[("b", 2), ("a", 1)]), ring(&[("b", 2)]));
    for (name, count) in [("", 1), ("", 2), ("5/a \u{d55c}", 1)] {
        let call = CallId {
            lane: LaneId(0),
            number: pass().number,
            count,
        };
        let id = PassId::new(&old, &room("shop"), &line(name), Edition(3), call);
        let text = Pass {
            id,
            line: line(name),
            ..pass()
        }
        .session_header();
        let read = SessionName::read(&text).expect("a name");
        assert_eq!(
            (&read.room, &read.line, read.number),
            (&room("shop"), &line(name), call.number)
        );
        assert_eq!(
            (read.call(&old), read.call(&both), read.call(&new)),
            (Some(call), Some(call), None)
        );
        for mutant in mutants(&text).filter(|mutant| *mutant != text) {
            let known = SessionName::read(&mutant).and_then(|name| name.call(&old));
            assert_eq!(known, None, "{mutant} for {text}");
        }
    }
}

#[test]
fn a_ring_is_itself_and_its_clones_only() {
    let one = ring(&[("a", 1)]);
    assert!(one.is(&one.clone()));
    assert!(!one.is(&ring(&[("a", 1)])), "another ring with the same keys");
}

/// The dates decide which cookies a browser keeps, so they are read without its keys.
#[test]
fn dates_are_read_from_any_token_of_the_right_form() {
    let foreign = ring(&[("foreign", 9)]);
    let (ticket, pass) = (ticket().sign(&foreign), pass().sign(&foreign));
    assert_eq!(unproved_joining(&ticket), Some(Wall(1_790_000_000_000)));
    assert_eq!(unproved_expiry(&pass), Some(Wall(1_790_000_300_000)));
    let cut = |token: &str, length: usize| token[..length].to_owned();
    let another_version = format!("B{}", &pass[1..]);
    for bad in [
        "",
        "AQ",
        "!",
        &another_version,
        &cut(&pass, 48),
        &"A".repeat(MAX_TOKEN + 1),
    ] {
        assert_eq!((unproved_joining(bad), unproved_expiry(bad)), (None, None), "{bad}");
    }
}
