//! The decision about a request: the rows of the outside contract, tried top to bottom. Pure.
//!
//! A decision that lacks a fact says which one. `settle` fetches it, asks again, and `in_room.rs` carries the verdict out.

use crate::room::{Mode, PendingId};

use crate::gate::request::kind::Kind;

/// The validity of the request's pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PassState {
    /// None sent, or none that is ours and in force.
    None,
    /// A genuine one whose session is over, or of an older edition.
    Void,
    Valid,
}

/// The validity of the request's ticket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TicketState {
    /// None sent, or none that is ours.
    None,
    /// The visitor arrived while no number could be given.
    Pending(PendingId),
    Waiting,
    /// Genuine, but unknown to the room: its place may have been lost.
    Unknown,
    /// Called: the ticket yields the pass.
    Called,
    /// Inside, and no request has carried the pass yet: the ticket names the session as the pass does.
    Inside,
    /// Void, and the visitor's page says why.
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

/// The state of the room for a visitor without a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Door {
    Line,
    /// A visitor who joined now would be called at once.
    Open,
    /// The gate is cut off, and the room lets everybody past its line meanwhile.
    LetPast,
}

/// How the account that a request names relates to the room's requirement and to the tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Account {
    Fits,
    /// The tokens are of another account's place.
    Other,
    /// The tokens would admit their account, and the request does not name it.
    Missing,
    /// The room requires an account, and the request names none.
    Nobody,
}

/// Whether the session that the tokens name has a slot, in a room with active slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// It has one, or needs none.
    Held,
    /// The request has to ask for one before it is forwarded.
    Missing,
    /// The request needs one and may not ask: it is no use of the session.
    Denied,
}

/// The purpose of a request, where that matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Purpose {
    /// On one of the room's `return_routes`, where a payment provider sends the visitor back.
    pub returning: bool,
    /// It may be an order, in a room that sells by stock.
    pub orders: bool,
}

/// All that the decision rests on.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub kind: Kind,
    pub purpose: Purpose,
    pub mode: Mode,
    /// All of the line's stock is sold.
    pub sold_out: bool,
    pub door: Door,
    /// A form, frame or link of another site, from where the browser sends none of the room's cookies, or keeps none.
    pub held_back: bool,
    pub account: Account,
    pub pass: PassState,
    pub ticket: TicketState,
    pub slot: Slot,
    /// The visitor waits, and shows a code whose use the log decides.
    pub uses_code: bool,
    /// A proxy asks only whether the request may pass: nothing but a yes is carried out.
    pub leave_only: bool,
    pub open: Open,
}

/// Facts that are not known yet and can be fetched. Each is fetched at most once.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Open {
    /// The log has not heard which account the tokens belong to.
    pub owner: bool,
    /// The log was not asked about a place that the view does not know.
    pub place: bool,
    /// The request body is not here.
    pub body: bool,
    /// The room was not asked for a slot.
    pub slot: bool,
}

/// A fact that a decision waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fact {
    /// That the place belongs to the request's account. Waits for the log only where the place had no account.
    Owner,
    /// Whether the log knows the place that the ticket names. Waits for the log.
    Place,
    /// The request body, while the session of this token is kept alive. The credentials are judged anew afterwards.
    Body(Option<Token>),
    /// A slot for the session. Waits for the room, which gives them in the order of asking.
    Slot,
}

/// The token that names a request's session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token {
    Pass,
    Ticket,
}

/// The answer to a question about a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision<T> {
    Done(T),
    /// It cannot be answered without this fact.
    Needs(Fact),
}

/// Whether an endpoint may tell of the place that the tokens show, and change it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    Granted,
    /// It is another account's place.
    NotYours,
    /// It is an account's place, and the request names none.
    SignIn,
}

/// The decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Forward without a session.
    Forward,
    /// Forward under the limit and body cap for return routes.
    ForwardReturn,
    /// Forward as the session that the pass or the ticket names.
    ForwardInside,
    /// Answer that the session has no slot just now.
    Parked,
    /// Forward past the line, and count it.
    LetPast,
    /// Set the pass and forward as its session: the ticket's number is called, or inside.
    Claim,
    /// Forward past the line, if not too many are.
    Crawl,
    /// Number the visitor; forward if called at once, else show the page.
    Join {
        pending: Option<PendingId>,
        told: Option<Void>,
    },
    /// Show the waiting page.
    Wait,
    /// Show the page that says the room is closed, or not open yet.
    Closed,
    /// Show the page that says that all is sold: joining is over.
    SoldOut,
    /// Offer a link to the same path, since the visitor's cookies were held back.
    SameSiteLink,
    /// 403: the tokens are of another account's place; with a way to join afresh.
    NotYours,
    /// 403: the room requires an account, to join or to use an account's place, and the request names none.
    SignIn,
    /// 503, in a form that suits the asker.
    NotNow,
    /// No, to a proxy that understands nothing else.
    No,
}

impl Verdict {
    /// The request body is received before the verdict is carried out. Other ways to the shop hold the request to a limit first,
    /// or number the visitor.
    #[must_use]
    fn awaits_body(self) -> bool {
        matches!(self, Self::Forward | Self::ForwardInside | Self::LetPast | Self::Claim)
    }

    /// The request goes on to the upstream by the tokens that it carries: no number has to be given, and no cookie to be set.
    #[must_use]
    pub fn passes(self) -> bool {
        matches!(
            self,
            Self::Forward | Self::ForwardReturn | Self::ForwardInside | Self::LetPast
        )
    }
}

/// The decision about a request on one of a room's routes, or the fact that is missing for it.
#[must_use]
pub fn decide(facts: &Facts) -> Decision<Verdict> {
    let verdict = verdict(facts);
    if facts.leave_only && !verdict.passes() {
        return Decision::Done(Verdict::No);
    }
    if facts.open.owner && verdict != Verdict::NotYours {
        return Decision::Needs(Fact::Owner);
    }
    if facts.open.place && verdict == Verdict::Wait && facts.ticket == TicketState::Unknown {
        return Decision::Needs(Fact::Place);
    }
    let asks = facts.open.slot && facts.slot == Slot::Missing && lacks_slot(facts);
    // A slot is asked for by a request that is ready to use it.
    if facts.open.body && (verdict.awaits_body() || (asks && verdict == Verdict::Parked)) {
        return Decision::Needs(Fact::Body(session_of(verdict, facts)));
    }
    if asks {
        return Decision::Needs(Fact::Slot);
    }
    Decision::Done(verdict)
}

/// The token by whose session the request will be forwarded.
fn session_of(verdict: Verdict, facts: &Facts) -> Option<Token> {
    match verdict {
        Verdict::ForwardInside => Some(Token::Pass),
        Verdict::Claim if facts.ticket == TicketState::Inside => Some(Token::Ticket),
        _ => None,
    }
}

/// Whether `status` and `check-in` may tell of the place.
#[must_use]
pub fn may_see(facts: &Facts) -> Decision<Access> {
    if facts.open.place && facts.ticket == TicketState::Unknown {
        return Decision::Needs(Fact::Place);
    }
    if facts.account == Account::Other {
        return Decision::Done(Access::NotYours);
    }
    if facts.open.owner {
        return Decision::Needs(Fact::Owner);
    }
    Decision::Done(Access::Granted)
}

/// Whether `join` may assign a place, or the access that the tokens' place gives.
#[must_use]
pub fn may_join(facts: &Facts) -> Decision<Access> {
    match may_see(facts) {
        Decision::Needs(Fact::Owner) | Decision::Done(Access::Granted) if facts.account == Account::Missing => {
            Decision::Done(Access::SignIn)
        }
        decision => decision,
    }
}

/// The row of the contract by these facts alone. Rows up to preflights, and requests that belong to no room, are answered before.
#[must_use]
pub fn verdict(facts: &Facts) -> Verdict {
    let own = is_own(facts);
    if lacks_slot(facts) {
        return if facts.purpose.returning {
            Verdict::ForwardReturn
        } else {
            Verdict::Parked
        };
    }
    if facts.pass == PassState::Valid && own && facts.slot == Slot::Held {
        return Verdict::ForwardInside;
    }
    if facts.ticket == TicketState::Inside && own && facts.slot == Slot::Held {
        return by_session(facts);
    }
    let calls = facts.ticket == TicketState::Called && facts.slot == Slot::Held;
    match rest(facts) {
        // A called visitor is admitted by a forwarded request, whichever rule forwards it.
        Verdict::Forward | Verdict::ForwardReturn | Verdict::LetPast if calls && own => by_session(facts),
        verdict => verdict,
    }
}

/// The tokens may be used by who sends them.
fn is_own(facts: &Facts) -> bool {
    !matches!(facts.account, Account::Other | Account::Missing)
}

/// The request is a session's that has no slot. While all are let past the line, so are these.
fn lacks_slot(facts: &Facts) -> bool {
    let is_inside = facts.pass == PassState::Valid || facts.ticket == TicketState::Inside;
    is_inside && is_own(facts) && facts.slot != Slot::Held && facts.door != Door::LetPast
}

/// The ticket names the session: a person is given the pass with the answer.
fn by_session(facts: &Facts) -> Verdict {
    if facts.kind.takes_tokens() {
        Verdict::Claim
    } else {
        Verdict::ForwardInside
    }
}

fn rest(facts: &Facts) -> Verdict {
    if facts.purpose.returning {
        return Verdict::ForwardReturn;
    }
    if facts.account == Account::Other {
        return Verdict::NotYours;
    }
    if facts.door == Door::LetPast {
        return Verdict::LetPast;
    }
    if facts.account == Account::Missing {
        return Verdict::SignIn;
    }
    match facts.kind {
        _ if facts.held_back => Verdict::SameSiteLink,
        // No session holds a piece for it.
        Kind::Passive | Kind::Api if facts.purpose.orders => Verdict::NotNow,
        Kind::Passive | Kind::Crawler | Kind::Api | Kind::Preflight if facts.door == Door::Open => Verdict::Forward,
        // A room that an operator or the schedule holds or has closed stays so.
        Kind::Crawler if facts.mode == Mode::Auto => Verdict::Crawl,
        Kind::Passive | Kind::Crawler | Kind::Api | Kind::Preflight => Verdict::NotNow,
        _ if facts.sold_out && facts.ticket != TicketState::Called => Verdict::SoldOut,
        _ if facts.mode == Mode::Closed => Verdict::Closed,
        Kind::Navigation | Kind::Post | Kind::CrossSitePost | Kind::CrossSiteFrame | Kind::SignIn => by_ticket(facts),
    }
}

fn by_ticket(facts: &Facts) -> Verdict {
    match facts.ticket {
        TicketState::Called | TicketState::Inside => Verdict::Claim,
        TicketState::Waiting if facts.uses_code => Verdict::Join {
            pending: None,
            told: None,
        },
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
pub mod tests;
