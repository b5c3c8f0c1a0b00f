//! Places of accounts, by the rows of the contract.

use super::*;
use crate::gate::request::kind::Kind;
use crate::gate::verdict::decide::tests::FACTS;
use crate::gate::verdict::decide::{Account, Door, Facts, Purpose, Verdict, Void, verdict};
use ropeline_ids::PendingId;

#[test]
fn anothers_place_is_refused_on_every_route_but_a_return() {
    for (pass, ticket) in [
        (PassState::Valid, TicketState::None),
        (PassState::None, TicketState::Called),
    ] {
        for kind in [Kind::Navigation, Kind::Post, Kind::Passive, Kind::Api] {
            let facts = Facts {
                kind,
                pass,
                ticket,
                account: Account::Other,
                ..FACTS
            };
            assert_eq!(verdict(&facts), Verdict::NotYours);
            assert_eq!(
                verdict(&Facts {
                    purpose: Purpose {
                        returning: true,
                        ..FACTS.purpose
                    },
                    ..facts
                }),
                Verdict::ForwardReturn
            );
        }
    }
    assert!(!Verdict::NotYours.passes() && !Verdict::SignIn.passes());
}

#[test]
fn without_an_account_nobody_joins_and_nobody_loses_a_place() {
    let nameless = |ticket| {
        verdict(&Facts {
            ticket,
            account: Account::Nobody,
            ..FACTS
        })
    };
    let id = PendingId([1; 12]);
    for ticket in [
        TicketState::None,
        TicketState::Pending(id),
        TicketState::Void(Void::Ended),
    ] {
        assert_eq!(nameless(ticket), Verdict::SignIn, "{ticket:?}");
    }
    assert_eq!(nameless(TicketState::Waiting), Verdict::Wait);
    assert_eq!(nameless(TicketState::Called), Verdict::Claim);
}

#[test]
fn a_place_that_lets_in_without_its_account_leads_to_the_sign_in() {
    for kind in [Kind::Navigation, Kind::Post, Kind::Passive, Kind::Api] {
        for (pass, ticket) in [
            (PassState::Valid, TicketState::None),
            (PassState::None, TicketState::Called),
            (PassState::None, TicketState::Pending(PendingId([1; 12]))),
        ] {
            for door in [Door::Line, Door::Open] {
                let facts = Facts {
                    kind,
                    door,
                    pass,
                    ticket,
                    account: Account::Missing,
                    ..FACTS
                };
                assert_eq!(verdict(&facts), Verdict::SignIn);
                let returning = Facts {
                    purpose: Purpose {
                        returning: true,
                        ..FACTS.purpose
                    },
                    ..facts
                };
                assert_eq!(verdict(&returning), Verdict::ForwardReturn);
            }
        }
    }
}
