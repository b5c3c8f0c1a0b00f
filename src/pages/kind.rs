//! The kinds of pages, and the facts that a page needs.

use serde::{Deserialize, Serialize};

pub use super::stall::{Pause, Stall, whole_minutes};
use crate::draw::Published;
use crate::metrics::CodeFate;
use crate::room::{Estimate, LaneId, LineName, LineView, RoomName, RoomView, Settings, Stage, Wall};

/// The subject of a page. The gate chooses the status code of the answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageKind {
    /// In line, with a place; needs [`LineFacts::turn`].
    Waiting,
    /// Holds a pending ticket: arrival noted, not numbered yet.
    Joining,
    /// Before the opening.
    Early,
    /// By an operator.
    Closed,
    /// The last sale of the room's schedule has ended.
    Over,
    SoldOut,
    /// The answer to the Leave button.
    Left,
    /// The browser does not keep the ticket.
    CookiesRefused,
    /// A cross-site navigation without cookies: a link to the same path, never a re-post.
    SameSiteLink,
    /// The place that was shown is another account's (403): a button puts it away.
    TicketOwner,
    /// Joining needs an account (403).
    SignIn,
    /// Over a limit (429).
    Limited,
    /// Too many join from the visitor's network just now (429): comes again by itself.
    Busy,
    /// The pass is in use from as many other networks as the room allows (403).
    PassShared,
    /// Let in, and no slot is free just now (503): comes again by itself, before the whole line.
    Returning,
    /// A proof of work is required before the visitor joins; needs [`PageFacts::proof`].
    Proof,
    BadRequest,
    /// Head (431) or body (413) over its bound.
    TooLarge,
    /// A code that cannot be used (403): a link goes on without it.
    CodeRefused,
    /// A code that would take away the place that the visitor has: a button uses it, a link keeps the place.
    CodeUse,
    /// A value of `per` that is not allowed (404).
    UnknownLine,
    /// No more lines can be made (503).
    TooManyLines,
    BadGateway,
    GatewayTimeout,
    /// For all other cases: an internal error of the gate (503).
    Unavailable,
}

impl PageKind {
    pub const ALL: [Self; 25] = [
        Self::Waiting,
        Self::Joining,
        Self::Early,
        Self::Closed,
        Self::Over,
        Self::SoldOut,
        Self::Left,
        Self::CookiesRefused,
        Self::SameSiteLink,
        Self::TicketOwner,
        Self::SignIn,
        Self::Limited,
        Self::Busy,
        Self::PassShared,
        Self::Returning,
        Self::Proof,
        Self::BadRequest,
        Self::TooLarge,
        Self::CodeRefused,
        Self::CodeUse,
        Self::UnknownLine,
        Self::TooManyLines,
        Self::BadGateway,
        Self::GatewayTimeout,
        Self::Unavailable,
    ];

    /// The page looks after itself until something changes: it listens, polls, reloads.
    #[must_use]
    pub fn follows(self) -> bool {
        matches!(
            self,
            Self::Waiting | Self::Joining | Self::Early | Self::Closed | Self::Over | Self::SoldOut
        )
    }

    /// In line, or about to be.
    #[must_use]
    pub fn waits(self) -> bool {
        matches!(self, Self::Waiting | Self::Joining)
    }

    /// An obstacle that goes away by itself: such a page loads again, if that sends nothing a second time.
    #[must_use]
    pub fn passes(self) -> bool {
        matches!(
            self,
            Self::Limited | Self::Busy | Self::Returning | Self::BadGateway | Self::GatewayTimeout | Self::Unavailable
        )
    }

    /// The name as templates and the script read it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Joining => "joining",
            Self::Early => "early",
            Self::Closed => "closed",
            Self::Over => "over",
            Self::SoldOut => "sold_out",
            Self::Left => "left",
            Self::CookiesRefused => "cookies_refused",
            Self::SameSiteLink => "same_site_link",
            Self::TicketOwner => "ticket_owner",
            Self::SignIn => "sign_in",
            Self::Limited => "limited",
            Self::Busy => "busy",
            Self::PassShared => "pass_shared",
            Self::Returning => "returning",
            Self::Proof => "proof",
            Self::BadRequest => "bad_request",
            Self::TooLarge => "too_large",
            Self::CodeRefused => "code_refused",
            Self::CodeUse => "code_use",
            Self::UnknownLine => "unknown_line",
            Self::TooManyLines => "too_many_lines",
            Self::BadGateway => "bad_gateway",
            Self::GatewayTimeout => "gateway_timeout",
            Self::Unavailable => "unavailable",
        }
    }
}

/// The facts for any page.
#[derive(Clone, Copy, Debug)]
pub struct PageFacts<'a> {
    /// Stands on the page and in the log.
    pub request_id: &'a str,
    pub now: Wall,
    /// Path and query as the visitor asked for them: where "try again" and "go on" lead. Where an obstacle held up a form, the page
    /// with the form. A target that is not a path on this host is shown as `/`.
    pub here: &'a str,
    /// The shop's host as the visitor asked for it, without a port; `None` where it is not known.
    pub host: Option<&'a str>,
    /// The request was no GET: reloading must not send it again, and the page says that it did not go through.
    pub not_sent: bool,
    pub message: Option<Message<'a>>,
    pub retry_after_secs: Option<u32>,
    /// When a page whose obstacle passes ([`PageKind::passes`]) loads again by itself.
    pub again_secs: Option<u32>,
    /// Where the page's button posts to.
    pub button_url: Option<&'a str>,
    /// Where visitors sign in.
    pub sign_in: Option<&'a str>,
    /// Why a code cannot be used.
    pub code: Option<CodeFate>,
    /// `None` on a page that has nothing to do with a room.
    pub line: Option<LineFacts<'a>>,
    pub proof: Option<ProofFacts<'a>>,
}

/// The proof that a newcomer must give.
#[derive(Clone, Copy, Debug)]
pub struct ProofFacts<'a> {
    /// The challenge as text.
    pub challenge: &'a str,
    /// Puzzles, and the most that their hashes may begin with: see [`crate::token::proof`].
    pub parts: u32,
    pub most: u32,
    /// How long to wait instead.
    pub wait_secs: u32,
}

/// The operator's message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Message<'a> {
    /// Plain text.
    pub text: &'a str,
    /// The tag of its language, where it was given for one.
    pub lang: Option<&'a str>,
}

impl<'a> From<&'a str> for Message<'a> {
    fn from(text: &'a str) -> Self {
        Self { text, lang: None }
    }
}

impl<'a> PageFacts<'a> {
    /// A page outside every room.
    #[must_use]
    pub fn new(request_id: &'a str, now: Wall, here: &'a str) -> Self {
        Self {
            request_id,
            now,
            here,
            host: None,
            not_sent: false,
            message: None,
            retry_after_secs: None,
            again_secs: None,
            button_url: None,
            sign_in: None,
            code: None,
            line: None,
            proof: None,
        }
    }
}

impl PageFacts<'_> {
    /// Where no script runs, the whole page leads on with no delay, but for what it says once: time is left to read that.
    #[must_use]
    pub fn leads_on_at_once(&self) -> bool {
        let says_once = |line: &LineFacts<'_>| line.turn.as_ref().is_some_and(|turn| turn.notice.is_some());
        self.line.as_ref().is_some_and(|line| !says_once(line)) && !self.not_sent
    }
}

/// The facts for a page in a room.
#[derive(Clone, Copy, Debug)]
pub struct LineFacts<'a> {
    pub room: &'a RoomName,
    pub line: &'a LineName,
    pub settings: &'a Settings,
    /// [`RoomView::announced`]: when a frame carries another, the page asks for its status (a new message, a new mode).
    pub revision: u64,
    /// Until the page's first question, from [`crate::room::pace`].
    pub refresh_ms: u64,
    pub reload: Reload,
    /// Set where the stream alone proves nothing (behind a proxy, HTTP/2): how often the page has to check in.
    pub check_in_ms: Option<u64>,
    /// The request came without a ticket: the page finds out whether the browser kept the one it was given.
    pub fresh: bool,
    /// [`crate::room::Sale::stage`].
    pub lot: u8,
    pub stock: StockFacts,
    /// The room's stage in its schedule, if it has one.
    pub opening: Option<&'a Stage>,
    pub draw: Option<&'a DrawFacts<'a>>,
    pub turn: Option<TurnFacts<'a>>,
}

/// The facts for a visitor of a room that sells by stock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct StockFacts {
    /// As things stand all that is left goes to people ahead.
    pub beyond: bool,
    pub won: Option<bool>,
    /// When the results are shown, where that lies ahead.
    pub results: Option<Wall>,
}

impl StockFacts {
    /// Goes to the page's script with how far a draw has come: where it is another, so is the page.
    #[must_use]
    pub fn mark(self) -> u8 {
        let won = self.won.map_or(0, |won| if won { 8 } else { 16 });
        u8::from(self.beyond) << 2 | won
    }

    /// For a visitor whose visit is over.
    #[must_use]
    pub fn over(room: &RoomView, won: Option<bool>, now: Wall) -> Self {
        let sells = room.settings.stock.is_some();
        Self {
            beyond: false,
            won,
            results: room.results.filter(|at| sells && *at > now),
        }
    }

    /// Of a visitor in line.
    #[must_use]
    pub fn in_line(line: &LineView, lane: LaneId, ahead: u64) -> Self {
        Self {
            beyond: !line.is_reachable(lane, ahead),
            ..Self::default()
        }
    }
}

/// The draw that a visitor takes part in.
#[derive(Clone, Copy, Debug)]
pub struct DrawFacts<'a> {
    pub figures: &'a Published,
    /// The visitor's number in the draw, and the place that it gave; as [`LineView::entry`].
    pub entry: Option<(u32, Option<u32>)>,
}

/// Where a visitor with a ticket stands. In a room that calls nobody any more, or not now, only where the visitor stood, and the
/// reference.
#[derive(Clone, Copy, Debug)]
pub struct TurnFacts<'a> {
    pub joined_at: Wall,
    /// For support; see [`crate::token`]. `None` for a pending ticket.
    pub reference: Option<&'a str>,
    /// [`LineView::place`], by which the page finds its visitor in frames. `None` for a pending ticket or an unknown epoch.
    pub place: Option<u64>,
    /// Present visitors ahead; `None` for a pending ticket.
    pub ahead: Option<u64>,
    /// The lane's name, where it is not the one of everybody else.
    pub lane: Option<&'a str>,
    /// Present visitors in the lane.
    pub waiting: u64,
    pub estimate: Option<Estimate>,
    /// [`LineView::calls_lately`]; `None` while nobody can be called.
    pub let_in: Option<u64>,
    pub notice: Option<Notice>,
    pub stall: Option<Stall>,
    /// As in [`Pause`].
    pub resumes_secs: Option<u32>,
    /// More wait for a number than the gate notes: this arrival may not be noted yet.
    pub crowded: bool,
}

/// Reloading without JavaScript.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reload {
    /// By the page itself; it shows a link that stops it.
    #[default]
    Automatic,
    /// The same for who came by such a reload and so has seen the whole page and runs no script: a bare page, so that an
    /// hour of reloads stays small.
    Bare,
    /// The visitor stopped it; the page shows a link that starts it again.
    Stopped,
    /// The operator switched it off; only the "check now" link is left.
    Off,
}

impl Reload {
    /// The meaning of a visitor's mark; `None` for one that the gate never sets.
    #[must_use]
    pub fn marked(mark: &str) -> Option<Self> {
        match mark {
            "off" => Some(Self::Stopped),
            "bare" => Some(Self::Bare),
            _ => None,
        }
    }
}

/// Why a visitor's place differs from the one that they remember.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Notice {
    /// Called then, not there, and kept: next again.
    Missed(Wall),
    /// Missed twice, or back too late: joined anew at the back.
    Late,
    /// The session is over: joined anew at the back.
    Ended,
    /// The ticket was of an older edition: joined anew.
    Reset,
}
