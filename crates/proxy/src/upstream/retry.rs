//! When a request is sent again, and where: a pure policy. [`exchange`](crate::upstream::exchange) carries it out.
//!
//! A request that a server may have read is sent again only if it has no body, its method is idempotent, and no byte of an
//! answer has arrived (RFC 9110, section 9.2.2). Over HTTP/2 a server can say that it has not processed a request; then any
//! request may be sent again (RFC 9113, section 8.7).

use crate::error::Kind;
use crate::upstream::http2::Fate;

/// Most servers that one request is taken to.
pub(crate) const MOST_SERVERS: usize = 3;
/// How often one request is sent at most.
const MOST_SENT: u32 = 3;

/// A request that is about to be sent.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub has_body: bool,
    pub is_idempotent: bool,
    /// How often it was sent again already, and how often it may be.
    pub resent: u32,
    pub retries: u32,
    /// The connection has served a request before.
    pub is_reused: bool,
    pub is_http2: bool,
    pub has_many_servers: bool,
}

/// The cases in which a request is sent again. A copy of it is kept meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Repeatable {
    Never,
    /// If the server says that it has not processed it.
    Unprocessed,
    Always,
}

impl Attempt {
    pub(crate) fn repeatable(self) -> Repeatable {
        let has_where = self.is_reused || self.has_many_servers;
        if !self.has_body && self.is_idempotent && self.resent < self.retries && has_where {
            Repeatable::Always
        } else if self.is_http2 {
            Repeatable::Unprocessed
        } else {
            Repeatable::Never
        }
    }
}

/// An attempt that was sent and failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure {
    pub kind: Kind,
    /// No byte of an answer came.
    pub is_unheard: bool,
    /// The connection had served a request before.
    pub is_reused: bool,
    /// Its outcome on its stream of an HTTP/2 connection.
    pub fate: Option<Fate>,
}

/// The tries that are left after a failure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub repeatable: Repeatable,
    /// The deadline has passed.
    pub is_over: bool,
    pub resent: u32,
    /// With the one that failed.
    pub servers_tried: usize,
    /// There is a server that was not tried.
    pub has_other: bool,
}

/// Where a request goes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    Other,
    /// The same server only where there is no other.
    OtherOrSame,
    Same,
}

/// The next server for a request if the retry budget allows it, and the one if not; without one the request fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    pub in_budget: Option<Next>,
    pub otherwise: Option<Next>,
}

impl Failure {
    /// A kept connection had ended before the request reached the server, which may be well.
    pub(crate) fn had_died(self) -> bool {
        self.is_reused && self.is_unheard && self.kind == Kind::Broken && self.fate.is_none_or(Fate::is_of_connection)
    }

    /// Whether the server is to blame for it.
    pub(crate) fn is_servers(self) -> bool {
        let is_ordinary = self.kind == Kind::Broken && self.fate == Some(Fate::Left);
        matches!(self.kind, Kind::Broken | Kind::ResponseTimeout) && !self.had_died() && !is_ordinary
    }

    fn is_unprocessed(self) -> bool {
        self.kind == Kind::Broken && self.fate.is_some_and(Fate::is_unprocessed)
    }

    pub(crate) fn plan(self, left: Left) -> Plan {
        let may_repeat = match left.repeatable {
            Repeatable::Always => true,
            Repeatable::Unprocessed => self.is_unprocessed(),
            Repeatable::Never => false,
        };
        if !may_repeat || !self.is_unheard || left.is_over {
            return Plan::END;
        }
        let may_move = left.servers_tried < MOST_SERVERS;
        let is_elsewhere = may_move && left.has_other;
        if self.had_died() {
            // The server received no request, so the next try costs no budget.
            Plan {
                in_budget: is_elsewhere.then_some(Next::OtherOrSame),
                otherwise: (left.resent + 1 < MOST_SENT).then_some(Next::Same),
            }
        } else if self.is_unprocessed() {
            Plan {
                in_budget: may_move.then_some(Next::OtherOrSame),
                otherwise: None,
            }
        } else {
            Plan {
                in_budget: is_elsewhere.then_some(Next::Other),
                otherwise: None,
            }
        }
    }
}

impl Plan {
    const END: Self = Self {
        in_budget: None,
        otherwise: None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Attempt = Attempt {
        has_body: false,
        is_idempotent: true,
        resent: 0,
        retries: 1,
        is_reused: false,
        is_http2: false,
        has_many_servers: true,
    };

    #[rustfmt::skip]
    #[test]
    fn a_copy_is_kept_of_what_may_be_sent_again() {
        let one_server = Attempt { has_many_servers: false, ..FIRST };
        let http2 = Attempt { is_http2: true, ..FIRST };
        for (case, attempt, expected) in [
            ("a GET, several servers", FIRST, Repeatable::Always),
            ("one server, a new connection", one_server, Repeatable::Never),
            ("one server, a kept connection", Attempt { is_reused: true, ..one_server }, Repeatable::Always),
            ("a body", Attempt { has_body: true, ..FIRST }, Repeatable::Never),
            ("a POST", Attempt { is_idempotent: false, ..FIRST }, Repeatable::Never),
            ("no retries left", Attempt { resent: 1, ..FIRST }, Repeatable::Never),
            ("a body over HTTP/2", Attempt { has_body: true, ..http2 }, Repeatable::Unprocessed),
            ("a POST over HTTP/2", Attempt { is_idempotent: false, ..http2 }, Repeatable::Unprocessed),
            ("a GET over HTTP/2", http2, Repeatable::Always),
        ] {
            assert_eq!(attempt.repeatable(), expected, "{case}");
        }
    }

    fn failed(kind: Kind) -> Failure {
        Failure {
            kind,
            is_unheard: true,
            is_reused: false,
            fate: None,
        }
    }

    fn over_http2(kind: Kind, fate: Fate) -> Failure {
        Failure {
            fate: Some(fate),
            ..failed(kind)
        }
    }

    fn reused(failure: Failure) -> Failure {
        Failure {
            is_reused: true,
            ..failure
        }
    }

    fn heard(failure: Failure) -> Failure {
        Failure {
            is_unheard: false,
            ..failure
        }
    }

    #[rustfmt::skip]
    #[test]
    fn a_server_is_blamed_for_what_it_did() {
        use Kind::{BodyBroken, Broken, ResponseTimeout, TotalTimeout};
        for (case, failure, expected) in [
            ("it broke off on a new connection", failed(Broken), true),
            ("a kept connection had died", reused(failed(Broken)), false),
            ("it broke off in its answer", heard(reused(failed(Broken))), true),
            ("no answer in time", failed(ResponseTimeout), true),
            ("no answer in time on a kept connection", reused(failed(ResponseTimeout)), true),
            ("the total deadline", failed(TotalTimeout), false),
            ("the client's body broke off", failed(BodyBroken), false),
            ("it left in order", over_http2(Broken, Fate::Left), false),
            ("no answer in time, and it left in order", over_http2(ResponseTimeout, Fate::Left), true),
            ("it refused the stream", over_http2(Broken, Fate::Refused), true),
            ("a kept connection was lost", reused(over_http2(Broken, Fate::Lost)), false),
            ("a stream failed on a kept connection", reused(over_http2(Broken, Fate::Failed)), true),
        ] {
            assert_eq!(failure.is_servers(), expected, "{case}");
        }
    }

    /// Two servers, of which one was tried once.
    const LEFT: Left = Left {
        repeatable: Repeatable::Always,
        is_over: false,
        resent: 0,
        servers_tried: 1,
        has_other: true,
    };

    #[rustfmt::skip]
    #[test]
    fn a_failed_request_goes_where_it_is_safe_and_the_budget_allows() {
        use Kind::{BodyBroken, Broken, ResponseTimeout};
        use Next::{Other, OtherOrSame, Same};
        let died = reused(failed(Broken));
        let refused = over_http2(Broken, Fate::Refused);
        let one_server = Left { has_other: false, ..LEFT };
        let all_tried = Left { servers_tried: MOST_SERVERS, ..LEFT };
        let sent_often = Left { resent: 2, ..LEFT };
        let never = Left { repeatable: Repeatable::Never, ..LEFT };
        let unprocessed = Left { repeatable: Repeatable::Unprocessed, ..LEFT };
        for (case, failure, left, in_budget, otherwise) in [
            ("it broke off", failed(Broken), LEFT, Some(Other), None),
            ("it was late", failed(ResponseTimeout), LEFT, Some(Other), None),
            ("no other server", failed(Broken), one_server, None, None),
            ("enough servers were tried", failed(Broken), all_tried, None, None),
            ("a kept connection had died", died, LEFT, Some(OtherOrSame), Some(Same)),
            ("the same, no other server", died, one_server, None, Some(Same)),
            ("the same, enough servers tried", died, all_tried, None, Some(Same)),
            ("the same, sent often", died, sent_often, Some(OtherOrSame), None),
            ("the same, sent often, no other server", died, Left { resent: 2, ..one_server }, None, None),
            ("an answer had begun", heard(died), LEFT, None, None),
            ("the deadline has passed", died, Left { is_over: true, ..LEFT }, None, None),
            ("it may not be sent again", died, never, None, None),
            ("it may have been processed", died, unprocessed, None, None),
            ("the stream was refused", refused, unprocessed, Some(OtherOrSame), None),
            ("the same, no other server", refused, Left { has_other: false, ..unprocessed }, Some(OtherOrSame), None),
            ("the same, enough servers tried", refused, all_tried, None, None),
            ("the server left a new connection", over_http2(Broken, Fate::Unseen), unprocessed, Some(OtherOrSame), None),
            ("a stream failed", over_http2(Broken, Fate::Failed), unprocessed, None, None),
            ("a stream failed, it may be repeated", over_http2(Broken, Fate::Failed), LEFT, Some(Other), None),
            ("the client's body broke off", over_http2(BodyBroken, Fate::Refused), unprocessed, None, None),
        ] {
            assert_eq!(failure.plan(left), Plan { in_budget, otherwise }, "{case}");
        }
    }
}
