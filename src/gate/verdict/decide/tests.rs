//! The rows of the contract, one by one.

use super::*;

mod needs;

/// A newcomer's navigation to an ordinary room.
pub(in crate::gate) const FACTS: Facts = Facts {
    kind: Kind::Navigation,
    purpose: Purpose {
        returning: false,
        orders: false,
    },
    mode: Mode::Auto,
    sold_out: false,
    door: Door::Line,
    held_back: false,
    account: Account::Fits,
    pass: PassState::None,
    ticket: TicketState::None,
    slot: Slot::Held,
    uses_code: false,
    leave_only: false,
    open: Open {
        owner: false,
        place: false,
        body: false,
        slot: false,
    },
};
const RETURN: Purpose = Purpose {
    returning: true,
    orders: false,
};
const JOIN: Verdict = Verdict::Join {
    pending: None,
    told: None,
};
const KINDS: [Kind; 5] = [
    Kind::Navigation,
    Kind::Post,
    Kind::CrossSitePost,
    Kind::Passive,
    Kind::Api,
];

#[test]
fn a_valid_pass_is_forwarded_whatever_the_mode() {
    for mode in [Mode::Auto, Mode::Hold, Mode::Closed] {
        for kind in KINDS {
            let facts = Facts {
                kind,
                mode,
                pass: PassState::Valid,
                ..FACTS
            };
            assert_eq!(verdict(&facts), Verdict::ForwardInside);
        }
    }
}

#[test]
fn a_session_without_a_slot_is_forwarded_by_no_pass_and_no_ticket() {
    for kind in KINDS {
        for slot in [Slot::Missing, Slot::Denied] {
            let parked = Facts { kind, slot, ..FACTS };
            let by_pass = Facts {
                pass: PassState::Valid,
                ..parked
            };
            let by_ticket = Facts {
                ticket: TicketState::Inside,
                ..parked
            };
            for facts in [by_pass, by_ticket] {
                for door in [Door::Line, Door::Open] {
                    assert_eq!(verdict(&Facts { door, ..facts }), Verdict::Parked, "{kind:?}");
                }
                let purpose = RETURN;
                assert_eq!(verdict(&Facts { purpose, ..facts }), Verdict::ForwardReturn, "{kind:?}");
                let door = Door::LetPast;
                assert_eq!(verdict(&Facts { door, ..facts }), Verdict::LetPast, "{kind:?}");
            }
        }
    }
}

#[test]
fn a_return_route_is_forwarded_without_a_session_even_when_closed() {
    let facts = Facts {
        kind: Kind::CrossSitePost,
        purpose: RETURN,
        held_back: true,
        mode: Mode::Closed,
        ..FACTS
    };
    assert_eq!(verdict(&facts), Verdict::ForwardReturn);
}

#[test]
fn an_outage_that_opens_the_room_lets_everybody_past_but_who_has_a_turn() {
    for kind in KINDS {
        let facts = Facts {
            kind,
            door: Door::LetPast,
            held_back: kind == Kind::CrossSitePost,
            ..FACTS
        };
        for ticket in [TicketState::None, TicketState::Waiting, TicketState::Void(Void::Late)] {
            assert_eq!(verdict(&Facts { ticket, ..facts }), Verdict::LetPast, "{kind:?}");
        }
        let inside = Facts {
            pass: PassState::Valid,
            ..facts
        };
        assert_eq!(verdict(&inside), Verdict::ForwardInside);
    }
    let called = Facts {
        door: Door::LetPast,
        ticket: TicketState::Called,
        ..FACTS
    };
    assert_eq!(verdict(&called), Verdict::Claim);
    let returning = Facts {
        purpose: RETURN,
        door: Door::LetPast,
        ..FACTS
    };
    assert_eq!(verdict(&returning), Verdict::ForwardReturn);
}

#[test]
fn a_form_from_another_site_without_cookies_gets_a_link_and_never_a_place() {
    let facts = Facts {
        kind: Kind::CrossSitePost,
        held_back: true,
        ..FACTS
    };
    assert_eq!(verdict(&facts), Verdict::SameSiteLink);
    assert_eq!(
        verdict(&Facts {
            door: Door::Open,
            ..facts
        }),
        Verdict::SameSiteLink
    );
    assert_eq!(
        verdict(&Facts {
            held_back: false,
            ..facts
        }),
        JOIN
    );
}

#[test]
fn a_link_of_another_site_whose_cookies_were_held_back_gets_a_link_and_never_a_place() {
    let facts = Facts {
        held_back: true,
        ..FACTS
    };
    for door in [Door::Line, Door::Open] {
        assert_eq!(verdict(&Facts { door, ..facts }), Verdict::SameSiteLink);
    }
    for mode in [Mode::Hold, Mode::Closed] {
        assert_eq!(verdict(&Facts { mode, ..facts }), Verdict::SameSiteLink);
    }
    let returning = Facts {
        purpose: RETURN,
        ..facts
    };
    assert_eq!(verdict(&returning), Verdict::ForwardReturn);
}

#[test]
fn a_frame_in_another_sites_page_gets_a_link_unless_its_cookies_are_kept() {
    let facts = Facts {
        kind: Kind::CrossSiteFrame,
        held_back: true,
        ..FACTS
    };
    assert_eq!(verdict(&facts), Verdict::SameSiteLink);
    assert_eq!(
        verdict(&Facts {
            held_back: false,
            ..facts
        }),
        JOIN
    );
}

#[test]
fn what_no_person_looks_at_passes_an_open_room_and_never_joins() {
    for kind in [Kind::Passive, Kind::Api] {
        for ticket in [TicketState::None, TicketState::Waiting] {
            assert_eq!(
                verdict(&Facts {
                    kind,
                    door: Door::Open,
                    ticket,
                    ..FACTS
                }),
                Verdict::Forward
            );
            assert_eq!(verdict(&Facts { kind, ticket, ..FACTS }), Verdict::NotNow);
        }
    }
}

#[test]
fn an_order_of_a_room_that_sells_passes_by_a_session_alone() {
    let order = Facts {
        kind: Kind::Api,
        purpose: Purpose {
            orders: true,
            ..FACTS.purpose
        },
        door: Door::Open,
        ..FACTS
    };
    for kind in [Kind::Api, Kind::Passive] {
        for ticket in [TicketState::None, TicketState::Waiting, TicketState::Void(Void::Ended)] {
            for pass in [PassState::None, PassState::Void] {
                let facts = Facts {
                    kind,
                    pass,
                    ticket,
                    ..order
                };
                assert_eq!(verdict(&facts), Verdict::NotNow);
            }
        }
    }
    let inside = Facts {
        ticket: TicketState::Inside,
        ..order
    };
    assert_eq!(verdict(&inside), Verdict::ForwardInside);
    let form = Facts {
        kind: Kind::Post,
        ..order
    };
    assert_eq!(verdict(&form), JOIN, "it opens a session");
}

/// However it gets through: as a return, in an outage, or where the room is open.
#[test]
fn what_is_forwarded_of_a_called_visitor_is_forwarded_as_the_session() {
    let called = Facts {
        ticket: TicketState::Called,
        ..FACTS
    };
    for (returning, door) in [(true, Door::Line), (false, Door::Open), (false, Door::LetPast)] {
        for kind in KINDS {
            let verdict = verdict(&Facts {
                kind,
                purpose: Purpose {
                    returning,
                    ..FACTS.purpose
                },
                door,
                ..called
            });
            let expected = match kind {
                Kind::Passive | Kind::Api => Verdict::ForwardInside,
                _ => Verdict::Claim,
            };
            assert_eq!(verdict, expected, "{kind:?} {returning} {door:?}");
        }
    }
    for kind in [Kind::Passive, Kind::Api] {
        assert_eq!(
            verdict(&Facts { kind, ..called }),
            Verdict::NotNow,
            "nothing else lets it through"
        );
    }
    let other = Facts {
        purpose: RETURN,
        account: Account::Other,
        ..called
    };
    assert_eq!(verdict(&other), Verdict::ForwardReturn);
}

#[test]
fn the_ticket_of_a_session_is_worth_what_its_pass_is() {
    for mode in [Mode::Auto, Mode::Hold, Mode::Closed] {
        for kind in KINDS {
            let facts = Facts {
                kind,
                mode,
                sold_out: true,
                ticket: TicketState::Inside,
                ..FACTS
            };
            let expected = match kind {
                Kind::Passive | Kind::Api => Verdict::ForwardInside,
                _ => Verdict::Claim,
            };
            assert_eq!(verdict(&facts), expected, "{kind:?} {mode:?}");
            let other = Facts {
                account: Account::Other,
                ..facts
            };
            assert_eq!(verdict(&other), Verdict::NotYours);
        }
    }
}

#[test]
fn a_verified_crawler_goes_past_a_line_and_never_into_it() {
    for ticket in [TicketState::None, TicketState::Waiting] {
        let crawler = Facts {
            kind: Kind::Crawler,
            ticket,
            ..FACTS
        };
        assert_eq!(verdict(&crawler), Verdict::Crawl);
        let open = Facts {
            door: Door::Open,
            ..crawler
        };
        assert_eq!(verdict(&open), Verdict::Forward);
        for mode in [Mode::Hold, Mode::Closed] {
            assert_eq!(verdict(&Facts { mode, ..crawler }), Verdict::NotNow);
        }
    }
    assert!(!Verdict::Crawl.passes(), "a proxy that asks is told no");
}

#[test]
fn a_navigation_goes_by_its_ticket() {
    let by = |ticket| verdict(&Facts { ticket, ..FACTS });
    assert_eq!(by(TicketState::None), JOIN);
    assert_eq!(by(TicketState::Called), Verdict::Claim);
    assert_eq!(by(TicketState::Waiting), Verdict::Wait);
    assert_eq!(
        by(TicketState::Void(Void::Late)),
        Verdict::Join {
            pending: None,
            told: Some(Void::Late)
        }
    );
    let id = PendingId([7; 12]);
    assert_eq!(
        by(TicketState::Pending(id)),
        Verdict::Join {
            pending: Some(id),
            told: None
        }
    );
}

#[test]
fn a_pass_whose_session_is_over_joins_anew_and_says_so() {
    let facts = Facts {
        pass: PassState::Void,
        ..FACTS
    };
    assert_eq!(
        verdict(&facts),
        Verdict::Join {
            pending: None,
            told: Some(Void::Ended)
        }
    );
}

#[test]
fn when_all_is_sold_nobody_joins_but_those_whose_turn_it_is_go_on() {
    let sold_out = Facts {
        sold_out: true,
        ..FACTS
    };
    let void = TicketState::Void(Void::Late);
    for ticket in [TicketState::None, TicketState::Waiting, TicketState::Unknown, void] {
        assert_eq!(verdict(&Facts { ticket, ..sold_out }), Verdict::SoldOut);
    }
    let called = TicketState::Called;
    assert_eq!(
        verdict(&Facts {
            ticket: called,
            ..sold_out
        }),
        Verdict::Claim
    );
    let inside = Facts {
        pass: PassState::Valid,
        ..sold_out
    };
    assert_eq!(verdict(&inside), Verdict::ForwardInside);
    assert_eq!(
        verdict(&Facts {
            kind: Kind::Api,
            ..sold_out
        }),
        Verdict::NotNow
    );
}

#[test]
fn a_closed_room_shows_its_page_to_navigations_and_nobody_joins() {
    for ticket in [TicketState::None, TicketState::Waiting, TicketState::Called] {
        assert_eq!(
            verdict(&Facts {
                mode: Mode::Closed,
                ticket,
                ..FACTS
            }),
            Verdict::Closed
        );
    }
}
