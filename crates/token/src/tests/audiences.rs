//! Audiences: everything signed or derived for one audience is invalid for another with the same keys, and valid for a ring
//! with both.

use super::*;
use crate::proof::Challenge;
use ropeline_ids::{CodeId, Identity, PendingId, RehearsalId};

fn for_audiences(audiences: &[&str]) -> Keyring {
    let audiences: Vec<_> = audiences.iter().map(|text| Audience::new(text).unwrap()).collect();
    Keyring::for_audiences(vec![key("now", 1), key("old", 2)], &audiences).expect("a ring")
}

fn pending() -> Ticket {
    let place = TicketPlace::Pending(PendingId([3; 12]));
    Ticket { place, ..ticket() }
}

fn code() -> Code {
    Code {
        id: CodeId([7; 6]),
        starts: None,
        expires: None,
        grant: Grant::Bypass,
        single: true,
        issued: Wall(5_000),
    }
}

const CALL: u8 = 1;

fn own_pass(ring: &Keyring) -> Pass {
    let pass = Pass { call: CALL, ..pass() };
    let id = PassId::new(ring, &pass.room, &pass.line, pass.edition, pass.call());
    Pass { id, ..pass }
}

/// The kinds of `made`'s tokens that are valid for `other`.
fn taken(made: &Keyring, other: &Keyring) -> Vec<&'static str> {
    let (shop, only) = (&room("shop"), &LineName::ONLY);
    let rehearsal = RehearsalId([4; 8]);
    let challenge = Challenge {
        id: PendingId([5; 12]),
        issued_at: Wall(1),
        price: 2,
        network: [6; 17],
    };
    let mark = Mark {
        rehearsal,
        forward: true,
    };
    let own = own_pass(made);
    let name = SessionName::read(&own.session_header()).expect("a name");
    let account = Identity::new("ann").expect("an account");
    let tags = account_tags(other, shop, &account);
    let salt = [8; 16];
    let secret = draw_secrets(made, shop, Edition(3), &salt)[0];
    let virtual_ticket = ticket().sign_for(made, Some(rehearsal));
    let virtual_pass = own.sign_for(made, Some(rehearsal));
    let code = code().sign(made, shop, only).expect("a code");
    let kinds = [
        (
            "ticket",
            Ticket::read(other, shop, only, &ticket().sign(made)).is_some(),
        ),
        (
            "pending ticket",
            Ticket::read(other, shop, only, &pending().sign(made)).is_some(),
        ),
        ("pass", Pass::read(other, shop, only, &own.sign(made)).is_some()),
        ("pass id", own.has_known_id(other)),
        ("session name", name.call(other).is_some()),
        ("code", Code::read(other, shop, only, &code).is_some()),
        (
            "proof of work",
            Challenge::read(other, shop, only, &challenge.sign(made, shop, only)).is_some(),
        ),
        (
            "rehearsal's mark",
            Mark::read(other, shop, &mark.sign(made, shop)).is_some(),
        ),
        (
            "virtual ticket",
            Ticket::read_virtual(other, rehearsal, (shop, only), &virtual_ticket).is_some(),
        ),
        (
            "virtual pass",
            Pass::read_virtual(other, rehearsal, (shop, only), &virtual_pass).is_some(),
        ),
        ("account tag", tags.contains(&account_tags(made, shop, &account)[0])),
        (
            "draw's secret",
            draw_secrets(other, shop, Edition(3), &salt).contains(&secret),
        ),
    ];
    kinds.into_iter().filter_map(|(kind, is)| is.then_some(kind)).collect()
}

const KINDS: usize = 12;

#[test]
fn nothing_of_one_audience_is_worth_anything_to_another() {
    let none: [&str; 0] = [];
    let (staging, production, neither) = (
        for_audiences(&["staging"]),
        for_audiences(&["production"]),
        for_audiences(&[]),
    );
    for (made, other) in [
        (&staging, &production),
        (&production, &staging),
        (&neither, &production),
        (&production, &neither),
    ] {
        assert_eq!(taken(made, other), none);
    }
    assert_eq!(taken(&production, &for_audiences(&["production"])).len(), KINDS);
    assert_eq!(
        taken(&neither, &for_audiences(&[""])).len(),
        KINDS,
        "the empty text is none"
    );
}

#[test]
fn a_ring_for_both_takes_all_of_both_and_signs_for_the_first() {
    let (old, new) = (for_audiences(&["shop"]), for_audiences(&["store"]));
    let (before, after) = (for_audiences(&["shop", "store"]), for_audiences(&["store", "shop"]));
    for ring in [&before, &after] {
        assert_eq!((taken(&old, ring).len(), taken(&new, ring).len()), (KINDS, KINDS));
    }
    assert_eq!((taken(&before, &old).len(), taken(&before, &new).len()), (KINDS, 0));
    assert_eq!((taken(&after, &old).len(), taken(&after, &new).len()), (0, KINDS));
    let token = ticket().sign(&old);
    let by = |ring: &Keyring| {
        Ticket::open(ring, &room("shop"), &LineName::ONLY, &token)
            .expect("genuine")
            .1
    };
    assert!(by(&before).is_first() && !by(&after).is_first());
    assert_eq!((by(&before).index(), by(&after).index()), (0, 1));
    assert_eq!(after.marks()[by(&after).index()].name, "now for shop");
}

#[test]
fn a_ring_has_a_few_audiences() {
    let many: Vec<_> = (0..=MAX_AUDIENCES)
        .map(|n| Audience::new(&n.to_string()).unwrap())
        .collect();
    assert_eq!(
        Keyring::for_audiences(vec![key("a", 1)], &many).expect_err("too many"),
        KeyError::TooManyAudiences(MAX_AUDIENCES + 1)
    );
    assert!(Keyring::for_audiences(vec![key("a", 1)], &many[1..]).is_ok());
}
