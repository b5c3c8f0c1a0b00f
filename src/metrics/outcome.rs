//! The outcome of a request, as a label. The set is closed: the rows of the HTTP contract.

/// The outcome of one request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// 400: malformed, ambiguous, or readable in two ways.
    Malformed,
    /// Over a limit: 429; or with a pass that is in use from too many networks: 403.
    Limited,
    /// A newcomer was asked for a proof of work.
    Proof,
    /// The status endpoint.
    Status,
    /// An event stream was opened.
    Stream,
    /// Join, check-in, leave, health and everything else under the reserved prefix.
    Own,
    /// 308: came in the clear, and was sent to the same address over TLS.
    Redirected,
    /// A CORS preflight, forwarded.
    Preflight,
    /// Forwarded: outside every room, excepted, never queued, bypassed, or the room is off.
    Outside,
    /// Forwarded past the line, because the gate is cut off and the room has `on_outage = "open"`.
    LetPast,
    /// Forwarded past the line, as a verified crawler's.
    Crawler,
    /// Forwarded with a valid pass.
    Inside,
    /// Forwarded on a return route, without a session.
    Returned,
    /// Forwarded on the ticket of a called number: the claim.
    Claimed,
    /// Joined, called at once and forwarded.
    Admitted,
    /// Forwarded without a ticket or a session, because the room is open (asset, API call, crawler).
    Open,
    /// The waiting page for a ticket that already had its number.
    Waiting,
    /// The waiting page for a newcomer.
    Joined,
    /// 503 without a page: a request that no person waits with (asset, API call, crawler), while the room is not open.
    TurnedAway,
    /// 503, or 307 for a form: the session has no slot just now, and goes on without one.
    Parked,
    /// The page that says closed, sold out or not yet.
    Closed,
    /// The page with a same-site link, for a cross-site POST without cookies.
    SameSite,
    /// 502 or 504: the upstream could not answer.
    Upstream,
    /// A virtual visitor's, with any result.
    Rehearsed,
    /// The gate's own fault: 500 or 503 that none of the above explains.
    Failed,
}

impl Outcome {
    /// Every outcome, in the order of its discriminant.
    pub const ALL: [Self; 25] = [
        Self::Malformed,
        Self::Limited,
        Self::Proof,
        Self::Status,
        Self::Stream,
        Self::Own,
        Self::Redirected,
        Self::Preflight,
        Self::Outside,
        Self::LetPast,
        Self::Crawler,
        Self::Inside,
        Self::Returned,
        Self::Claimed,
        Self::Admitted,
        Self::Open,
        Self::Waiting,
        Self::Joined,
        Self::TurnedAway,
        Self::Parked,
        Self::Closed,
        Self::SameSite,
        Self::Upstream,
        Self::Rehearsed,
        Self::Failed,
    ];

    /// The label's value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Limited => "limited",
            Self::Proof => "proof",
            Self::Status => "status",
            Self::Stream => "stream",
            Self::Own => "own",
            Self::Redirected => "redirected",
            Self::Preflight => "preflight",
            Self::Outside => "outside",
            Self::LetPast => "let_past",
            Self::Crawler => "crawler",
            Self::Inside => "inside",
            Self::Returned => "returned",
            Self::Claimed => "claimed",
            Self::Admitted => "admitted",
            Self::Open => "open",
            Self::Waiting => "waiting",
            Self::Joined => "joined",
            Self::TurnedAway => "turned_away",
            Self::Parked => "parked",
            Self::Closed => "closed",
            Self::SameSite => "same_site",
            Self::Upstream => "upstream",
            Self::Rehearsed => "rehearsed",
            Self::Failed => "failed",
        }
    }
}

/// How the upstream failed a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UpstreamFault {
    /// No connection: refused, unreachable, too many, or not within the connect deadline.
    Connect,
    /// No head of an answer within the response deadline.
    Timeout,
    /// The connection broke, or the bytes were not valid HTTP.
    Broken,
}

impl UpstreamFault {
    /// Every fault, in the order of its discriminant.
    pub const ALL: [Self; 3] = [Self::Connect, Self::Timeout, Self::Broken];

    /// The label's value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Timeout => "timeout",
            Self::Broken => "broken",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_counts_under_its_own_label() {
        for (at, outcome) in Outcome::ALL.into_iter().enumerate() {
            assert_eq!(outcome as usize, at, "{outcome:?}");
            assert!(
                !Outcome::ALL[..at]
                    .iter()
                    .any(|other| other.as_str() == outcome.as_str()),
                "{outcome:?}"
            );
        }
        assert!(
            UpstreamFault::ALL
                .into_iter()
                .enumerate()
                .all(|(at, fault)| fault as usize == at)
        );
    }
}
