//! What happens to a request: the outside contract's rows, tried top to bottom. Pure; the shell in `mod.rs` carries it out.

use crate::room::{Mode, PendingId};

use super::kind::Kind;

/// What the request's pass is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PassState {
    /// None sent, or none that is ours and in force.
    None,
    /// A genuine one whose session is over, or of an older edition.
    Void,
    Valid,
}

/// What the request's ticket is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TicketState {
    /// None sent, or none that is ours.
    None,
    /// The visitor arrived while no number could be given.
    Pending(PendingId),
    Waiting,
    /// Genuine, and the room has never heard of it: its place may have been lost.
    Unknown,
    /// Called, or inside and no request has carried the pass yet: the ticket yields the pass.
    Called,
    /// Void, and the visitor is told why.
    Void(Void),
}

/// Why a genuine token is no longer worth anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Void {
    /// Two turns missed, or back after the late window.
    Late,
    /// The session is over.
    Ended,
    /// The operator reset the room.
    Reset,
}

/// What somebody without a place meets at the room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Door {
    Line,
    /// Who came now would be called at once.
    Open,
    /// The gate is cut off, and the room lets everybody past its line meanwhile.
    LetPast,
}

/// How the account that a request names goes with what the room asks and with the tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Account {
    Fits,
    /// What is shown is another account's place.
    Other,
    /// Nobody joins without one, and the request names none.
    Nobody,
}

/// All that the decision rests on.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub kind: Kind,
    /// On one of the room's `return_routes`, where a payment provider sends the visitor back.
    pub returning: bool,
    pub mode: Mode,
    /// All of the line's stock is sold.
    pub sold_out: bool,
    pub door: Door,
    /// A form or frame of another site, from where the browser sends none of the room's cookies, or keeps none.
    pub held_back: bool,
    pub account: Account,
    pub pass: PassState,
    pub ticket: TicketState,
}

/// What to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Forward without a session.
    Forward,
    /// Forward under the limit and body cap for return routes.
    ForwardReturn,
    /// Forward as the session of the pass.
    ForwardInside,
    /// Forward past the line, and count it.
    LetPast,
    /// Set the pass and forward: the ticket's number has been called.
    Claim,
    /// Number the visitor; forward if called at once, else show the page.
    Join {
        pending: Option<PendingId>,
        told: Option<Void>,
    },
    /// Show the waiting page.
    Wait,
    /// Show the page that says the room is closed, or not open yet.
    Closed,
    /// Show the page that says that all is sold: nobody joins.
    SoldOut,
    /// Offer a link to the same path, since the visitor's cookies were held back.
    SameSiteLink,
    /// 403: what is shown is another account's place; with a way to join afresh.
    NotYours,
    /// 403: nobody joins here without an account.
    SignIn,
    /// 503, in a form that suits the asker.
    NotNow,
}

impl Verdict {
    /// The request goes on to the shop by nothing but what it carries: nobody has to be numbered, and no cookie to be set.
    #[must_use]
    pub fn passes(self) -> bool {
        matches!(
            self,
            Self::Forward | Self::ForwardReturn | Self::ForwardInside | Self::LetPast
        )
    }
}

/// The rows for a request to one of a room's routes; those above, up to preflights, and what belongs to no room have been
/// answered before.
#[must_use]
pub fn decide(facts: &Facts) -> Verdict {
    if facts.pass == PassState::Valid && facts.account != Account::Other {
        return Verdict::ForwardInside;
    }
    if facts.returning {
        return Verdict::ForwardReturn;
    }
    if facts.account == Account::Other {
        return Verdict::NotYours;
    }
    if facts.door == Door::LetPast && facts.ticket != TicketState::Called {
        return Verdict::LetPast;
    }
    match facts.kind {
        _ if facts.held_back => Verdict::SameSiteLink,
        Kind::Passive | Kind::Api | Kind::Preflight if facts.door == Door::Open => Verdict::Forward,
        Kind::Passive | Kind::Api | Kind::Preflight => Verdict::NotNow,
        _ if facts.sold_out && facts.ticket != TicketState::Called => Verdict::SoldOut,
        _ if facts.mode == Mode::Closed => Verdict::Closed,
        Kind::Navigation | Kind::Post | Kind::CrossSitePost | Kind::CrossSiteFrame => by_ticket(facts),
    }
}

fn by_ticket(facts: &Facts) -> Verdict {
    match facts.ticket {
        TicketState::Called => Verdict::Claim,
        TicketState::Waiting | TicketState::Unknown => Verdict::Wait,
        _ if facts.account == Account::Nobody => Verdict::SignIn,
        TicketState::Pending(id) => Verdict::Join {
            pending: Some(id),
            told: None,
        },
        TicketState::Void(why) => Verdict::Join {
            pending: None,
            told: Some(why),
        },
        TicketState::None => {
            let told = (facts.pass == PassState::Void).then_some(Void::Ended);
            Verdict::Join { pending: None, told }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts = Facts {
        kind: Kind::Navigation,
        returning: false,
        mode: Mode::Auto,
        sold_out: false,
        door: Door::Line,
        held_back: false,
        account: Account::Fits,
        pass: PassState::None,
        ticket: TicketState::None,
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
                assert_eq!(decide(&facts), Verdict::ForwardInside);
            }
        }
    }

    #[test]
    fn a_return_route_is_forwarded_without_a_session_even_when_closed() {
        let facts = Facts {
            kind: Kind::CrossSitePost,
            returning: true,
            held_back: true,
            mode: Mode::Closed,
            ..FACTS
        };
        assert_eq!(decide(&facts), Verdict::ForwardReturn);
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
                assert_eq!(decide(&Facts { ticket, ..facts }), Verdict::LetPast, "{kind:?}");
            }
            let inside = Facts {
                pass: PassState::Valid,
                ..facts
            };
            assert_eq!(decide(&inside), Verdict::ForwardInside);
        }
        let called = Facts {
            door: Door::LetPast,
            ticket: TicketState::Called,
            ..FACTS
        };
        assert_eq!(decide(&called), Verdict::Claim);
        let returning = Facts {
            returning: true,
            door: Door::LetPast,
            ..FACTS
        };
        assert_eq!(decide(&returning), Verdict::ForwardReturn);
    }

    #[test]
    fn a_form_from_another_site_without_cookies_gets_a_link_and_never_a_place() {
        let facts = Facts {
            kind: Kind::CrossSitePost,
            held_back: true,
            ..FACTS
        };
        assert_eq!(decide(&facts), Verdict::SameSiteLink);
        assert_eq!(
            decide(&Facts {
                door: Door::Open,
                ..facts
            }),
            Verdict::SameSiteLink
        );
        assert_eq!(
            decide(&Facts {
                held_back: false,
                ..facts
            }),
            JOIN
        );
    }

    #[test]
    fn a_frame_in_another_sites_page_gets_a_link_unless_its_cookies_are_kept() {
        let facts = Facts {
            kind: Kind::CrossSiteFrame,
            held_back: true,
            ..FACTS
        };
        assert_eq!(decide(&facts), Verdict::SameSiteLink);
        assert_eq!(
            decide(&Facts {
                held_back: false,
                ..facts
            }),
            JOIN
        );
    }

    #[test]
    fn what_no_person_looks_at_passes_an_open_room_and_never_joins() {
        for kind in [Kind::Passive, Kind::Api] {
            for ticket in [TicketState::None, TicketState::Waiting, TicketState::Called] {
                assert_eq!(
                    decide(&Facts {
                        kind,
                        door: Door::Open,
                        ticket,
                        ..FACTS
                    }),
                    Verdict::Forward
                );
                assert_eq!(decide(&Facts { kind, ticket, ..FACTS }), Verdict::NotNow);
            }
        }
    }

    #[test]
    fn a_navigation_goes_by_its_ticket() {
        let by = |ticket| decide(&Facts { ticket, ..FACTS });
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
            decide(&facts),
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
            assert_eq!(decide(&Facts { ticket, ..sold_out }), Verdict::SoldOut);
        }
        let called = TicketState::Called;
        assert_eq!(
            decide(&Facts {
                ticket: called,
                ..sold_out
            }),
            Verdict::Claim
        );
        let inside = Facts {
            pass: PassState::Valid,
            ..sold_out
        };
        assert_eq!(decide(&inside), Verdict::ForwardInside);
        assert_eq!(
            decide(&Facts {
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
                decide(&Facts {
                    mode: Mode::Closed,
                    ticket,
                    ..FACTS
                }),
                Verdict::Closed
            );
        }
    }
}
