//! The permission by which a request is forwarded: a session's, or one without a session within a bound.

use std::net::IpAddr;
use std::sync::Arc;

use http::HeaderValue;
use http::header::UPGRADE;
use http::request::Parts;

use crate::proxy::{self, BodyOf, ForwardError};
use crate::token::Pass;
use ropeline_ids::{Edition, LineName, RoomName, Visitor};

use super::super::seat::Seat;
use crate::gate::bounds::unadmitted::{CrawlerHold, Sort};
use crate::gate::request::visit::Visit;
use crate::gate::state::in_flight::Right;
use crate::gate::state::rules::Rules;
use crate::gate::state::sessions;
use crate::gate::state::shared::Shared;
use crate::gate::verdict::answers::Answer;
use crate::gate::verdict::refusals;

/// A request that is forwarded as somebody's session.
pub struct Session<'a> {
    pub rules: &'a Rules,
    pub visitor: Arc<Visitor>,
    /// Of the pass.
    pub edition: Edition,
    /// The session's name in the header for the upstream.
    pub name: String,
    /// Cookies to set on the answer.
    pub cookies: Vec<HeaderValue>,
    /// The cookies are the visitor's only proof of the place: an answer that caches may share is made private for them.
    pub must_set: bool,
    /// Where a newcomer's browser shows whether it keeps cookies, and is sent back from.
    pub check: Option<String>,
    /// Its visitor was called, and is admitted by this request.
    pub is_new: bool,
}

impl<'a> Session<'a> {
    /// The session of a pass, with cookies to set if the answer allows it.
    #[must_use]
    pub fn of(seat: &Seat<'a>, pass: &Pass, cookies: Vec<HeaderValue>) -> Self {
        Self {
            rules: seat.rules,
            visitor: Arc::new(seat.visitor(pass.lane, pass.number)),
            edition: pass.edition,
            name: seat.session_name(pass),
            cookies,
            must_set: false,
            check: None,
            is_new: false,
        }
    }
}

/// Why a request is forwarded.
pub enum Permission<'a> {
    /// It belongs to no room, or needs no admission.
    Free,
    /// It passes the line without a session, within this bound, and within that of crawlers if it is one's.
    Bounded(Sort, Option<CrawlerHold>),
    /// The room is open.
    Open(&'a Seat<'a>),
    /// An outage has opened the room.
    LetPast(&'a Seat<'a>),
    /// The room is off.
    Off(RoomName, LineName),
    Session(Session<'a>),
}

impl<'a> Permission<'a> {
    /// The right that is watched while the request is under way: a session, or a socket that the open room admitted.
    pub fn held(&self, head: &Parts) -> Option<Right> {
        match self {
            Self::Session(session) => Some(Right::Session(Arc::clone(&session.visitor))),
            Self::Open(seat) if head.headers.contains_key(UPGRADE) => {
                Some(Right::Open(seat.rules.room.name.clone(), seat.line.clone()))
            }
            Self::LetPast(seat) if head.headers.contains_key(UPGRADE) => {
                Some(Right::LetPast(seat.rules.room.name.clone(), seat.line.clone()))
            }
            Self::Off(room, line) if head.headers.contains_key(UPGRADE) => {
                Some(Right::Open(room.clone(), line.clone()))
            }
            Self::Open(_) | Self::LetPast(_) | Self::Off(..) | Self::Bounded(..) | Self::Free => None,
        }
    }

    /// The owner of the body's memory.
    pub fn body_of(&self, client: IpAddr) -> BodyOf {
        match self {
            Self::Bounded(..) => BodyOf::Stranger(client),
            _ => BodyOf::Inside(client),
        }
    }

    pub fn session(&self) -> Option<&Session<'a>> {
        match self {
            Self::Session(session) => Some(session),
            _ => None,
        }
    }

    /// The answer to a request that entered an open room which closed while it waited: as if it came now.
    pub fn refused(&self, error: ForwardError, visit: &Visit) -> Option<Answer> {
        let (Self::Open(seat) | Self::LetPast(seat), proxy::Kind::Withdrawn) = (self, error.kind) else {
            return None;
        };
        let worth = seat.worth(visit)?;
        Some(refusals::not_now(seat, visit, &worth))
    }

    /// It has ended since the request was judged.
    pub fn is_over(&self, shared: &Shared) -> bool {
        match self {
            Self::Session(session) => {
                sessions::is_over(shared, &session.visitor, session.edition) && !shared.is_off(&session.visitor.room)
            }
            Self::Open(seat) => sessions::is_shut(shared, &seat.rules.room.name, &seat.line),
            Self::LetPast(seat) => {
                shared.replica.cut_off().is_none() && sessions::is_shut(shared, &seat.rules.room.name, &seat.line)
            }
            Self::Off(room, line) => sessions::is_shut(shared, room, line),
            Self::Bounded(..) | Self::Free => false,
        }
    }
}
