//! Which facts a decision waits for: no request waits for a fact that it does not need.

use super::*;

const ALL: Open = Open {
    owner: true,
    place: true,
    body: true,
    slot: true,
};

const TICKETS: [TicketState; 8] = [
    TicketState::None,
    TicketState::Pending(PendingId([1; 12])),
    TicketState::Waiting,
    TicketState::Unknown,
    TicketState::Called,
    TicketState::Inside,
    TicketState::Void(Void::Late),
    TicketState::Void(Void::Reset),
];

/// Every combination of the facts that distinguish requests, with everything still to be fetched.
fn all_facts() -> Vec<Facts> {
    let kinds = [&KINDS[..], &[Kind::Crawler, Kind::CrossSiteFrame, Kind::SignIn]].concat();
    let mut all = Vec::new();
    for kind in kinds {
        for mode in [Mode::Auto, Mode::Hold, Mode::Closed] {
            for door in [Door::Line, Door::Open, Door::LetPast] {
                for account in [Account::Fits, Account::Other, Account::Missing, Account::Nobody] {
                    for pass in [PassState::None, PassState::Void, PassState::Valid] {
                        for ticket in TICKETS {
                            let facts = Facts {
                                kind,
                                mode,
                                door,
                                account,
                                pass,
                                ticket,
                                open: ALL,
                                ..FACTS
                            };
                            all.extend((0..32).map(|bits| with_bits(facts, bits)));
                        }
                    }
                }
            }
        }
    }
    all
}

/// The same of sessions with and without a slot.
fn with_slots() -> impl Iterator<Item = Facts> {
    let slots = [Slot::Held, Slot::Missing, Slot::Denied];
    all_facts()
        .into_iter()
        .flat_map(move |facts| slots.map(|slot| Facts { slot, ..facts }))
}

/// With the facts that are true or false.
fn with_bits(facts: Facts, bits: u32) -> Facts {
    let is = |bit: u32| bits >> bit & 1 == 1;
    Facts {
        purpose: Purpose {
            returning: is(0),
            orders: is(1),
        },
        sold_out: is(2),
        held_back: is(3),
        uses_code: is(4),
        ..facts
    }
}

#[test]
fn only_a_page_that_would_show_a_lost_place_waits_for_the_log_to_know_it() {
    for facts in all_facts() {
        let facts = Facts {
            open: Open { owner: false, ..ALL },
            ..facts
        };
        let waits = decide(&facts) == Decision::Needs(Fact::Place);
        let shows = verdict(&facts) == Verdict::Wait && facts.ticket == TicketState::Unknown;
        assert_eq!(waits, shows, "{facts:?}");
        let status = may_see(&facts) == Decision::Needs(Fact::Place);
        assert_eq!(status, facts.ticket == TicketState::Unknown, "{facts:?}");
    }
}

#[test]
fn anothers_place_is_refused_before_the_log_hears_of_it() {
    for facts in all_facts() {
        let refused = verdict(&facts) == Verdict::NotYours;
        let expected = if refused {
            Decision::Done(Verdict::NotYours)
        } else {
            Decision::Needs(Fact::Owner)
        };
        assert_eq!(decide(&facts), expected, "{facts:?}");
        if facts.ticket != TicketState::Unknown {
            let access = match facts.account {
                Account::Other => Decision::Done(Access::NotYours),
                Account::Missing => Decision::Done(Access::SignIn),
                _ => Decision::Needs(Fact::Owner),
            };
            assert_eq!(may_join(&facts), access, "{facts:?}");
        }
    }
}

#[test]
fn only_the_body_of_a_request_that_goes_to_the_upstream_without_a_bound_is_waited_for() {
    for facts in all_facts() {
        let open = Open {
            body: true,
            ..Open::default()
        };
        let facts = Facts { open, ..facts };
        let session = match decide(&facts) {
            Decision::Needs(Fact::Body(session)) => Some(session),
            decision => {
                assert_eq!(decision, Decision::Done(verdict(&facts)), "{facts:?}");
                None
            }
        };
        let expected = match verdict(&facts) {
            Verdict::ForwardInside => Some(Some(Token::Pass)),
            Verdict::Claim if facts.ticket == TicketState::Inside => Some(Some(Token::Ticket)),
            Verdict::Claim | Verdict::Forward | Verdict::LetPast => Some(None),
            _ => None,
        };
        assert_eq!(session, expected, "{facts:?}");
    }
}

#[test]
fn each_fact_is_asked_for_at_most_once_and_then_the_row_stands() {
    for facts in with_slots() {
        let mut facts = facts;
        let mut asked = 0;
        let verdict_now = loop {
            match decide(&facts) {
                Decision::Done(verdict) => break verdict,
                Decision::Needs(Fact::Owner) => facts.open.owner = false,
                Decision::Needs(Fact::Place) => facts.open.place = false,
                Decision::Needs(Fact::Body(_)) => facts.open.body = false,
                Decision::Needs(Fact::Slot) => facts.open.slot = false,
            }
            asked += 1;
            assert!(asked <= 4, "{facts:?}");
        };
        assert_eq!(verdict_now, verdict(&facts));
    }
}

#[test]
fn only_a_session_without_a_slot_asks_for_one_and_only_by_a_request_that_is_use_of_it() {
    for facts in with_slots() {
        let open = Open {
            slot: true,
            ..Open::default()
        };
        let facts = Facts { open, ..facts };
        let asks = decide(&facts) == Decision::Needs(Fact::Slot);
        let own = matches!(facts.account, Account::Fits | Account::Nobody);
        let inside = facts.pass == PassState::Valid || facts.ticket == TicketState::Inside;
        let expected = own && inside && facts.slot == Slot::Missing && facts.door != Door::LetPast;
        assert_eq!(asks, expected, "{facts:?}");
        if inside && own && facts.slot != Slot::Held {
            let verdict = verdict(&facts);
            assert_ne!(verdict, Verdict::ForwardInside, "{facts:?}");
            assert_ne!(verdict, Verdict::Forward, "{facts:?}");
        }
    }
}

#[test]
fn a_slot_is_asked_for_when_the_body_is_here() {
    let form = Facts {
        kind: Kind::Post,
        pass: PassState::Valid,
        slot: Slot::Missing,
        open: Open { owner: false, ..ALL },
        ..FACTS
    };
    assert_eq!(
        decide(&form),
        Decision::Needs(Fact::Body(None)),
        "the session is not used by it"
    );
    let open = Open {
        body: false,
        ..form.open
    };
    assert_eq!(decide(&Facts { open, ..form }), Decision::Needs(Fact::Slot));
    let denied = Facts {
        slot: Slot::Denied,
        ..form
    };
    assert_eq!(decide(&denied), Decision::Done(Verdict::Parked), "whatever its body is");
}

#[test]
fn a_question_for_leave_alone_carries_nothing_out_but_a_yes() {
    for facts in all_facts() {
        let facts = Facts {
            leave_only: true,
            ..facts
        };
        let decision = decide(&facts);
        if verdict(&facts).passes() {
            assert_ne!(decision, Decision::Done(Verdict::No), "{facts:?}");
            assert_ne!(decision, Decision::Needs(Fact::Place), "{facts:?}");
        } else {
            assert_eq!(decision, Decision::Done(Verdict::No), "{facts:?}");
        }
    }
}

#[test]
fn a_visitor_who_waits_with_a_code_joins_by_it() {
    let waits = Facts {
        ticket: TicketState::Waiting,
        ..FACTS
    };
    assert_eq!(verdict(&waits), Verdict::Wait);
    assert_eq!(
        verdict(&Facts {
            uses_code: true,
            ..waits
        }),
        JOIN
    );
}
