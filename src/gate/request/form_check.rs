//! Checks of a form in a request body that could contradict the head: another line, or another method.

use http::StatusCode;
use http::request::Parts;

use crate::accounts::NoField;
use crate::metrics::Outcome;
use crate::names::form::{self, Kind};
use crate::names::parameter;
use crate::names::spelling::Doubtful;
use crate::pages::PageKind;
use crate::proxy::{BodyError, Ration, RequestBody};
use crate::router::{Brings, PerSource, Routed};

use super::method;
use super::visit::{self, Visit};
use crate::gate::state::pages::Pages;
use crate::gate::state::shared::Shared;
use crate::gate::verdict::answers::{Answer, EXHAUSTED_RETRY_SECS, Refusal};

/// Why the room's form is not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refused {
    #[error(transparent)]
    Body(#[from] BodyError),
    #[error(transparent)]
    Field(#[from] NoField),
    #[error("the body is longer than what is read of one")]
    TooLong,
    #[error("the body says another line or method than the head, or can be read in two ways where it matters")]
    Otherwise,
}

impl Refused {
    /// 400, 413 or 415.
    #[must_use]
    pub fn answer(self, pages: &Pages, visit: &Visit) -> Answer {
        let (status, word, page) = match self {
            Self::Field(NoField::Type) => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported", PageKind::BadRequest),
            Self::TooLong | Self::Body(BodyError::TooLarge) => {
                (StatusCode::PAYLOAD_TOO_LARGE, "too_large", PageKind::TooLarge)
            }
            Self::Body(BodyError::NoMemory) => {
                let unavailable = StatusCode::SERVICE_UNAVAILABLE;
                let mut refusal = Refusal::new(unavailable, "exhausted", PageKind::Unavailable, Outcome::Failed);
                refusal.retry_after_secs = Some(EXHAUSTED_RETRY_SECS);
                return refusal.answer(pages, visit);
            }
            Self::Body(BodyError::TooSlow) => (StatusCode::REQUEST_TIMEOUT, "too_slow", PageKind::BadRequest),
            Self::Field(NoField::Malformed) | Self::Body(BodyError::Broken) | Self::Otherwise => {
                (StatusCode::BAD_REQUEST, "malformed", PageKind::BadRequest)
            }
        };
        Refusal::new(status, word, page, Outcome::Malformed).answer(pages, visit)
    }
}

/// The facts decided by the head that a form in the body could contradict.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The room whose lines a parameter of the query distinguishes.
    line: Option<usize>,
    /// The route of the request under another method, if that differs.
    routed: Option<Box<Routed>>,
}

/// The facts to look for in the body of a request with this route.
#[must_use]
pub fn told(shared: &Shared, head: &Parts, routed: &Routed) -> Told {
    let by_query = |at: &usize| {
        matches!(
            shared.rules[*at].room.per.as_ref().map(|per| &per.source),
            Some(PerSource::Query(_))
        )
    };
    let line = routed.room.as_ref().map(|room| room.index).filter(by_query);
    // Most frameworks hear of another method in a form that was posted, Hono and CakePHP in one of any method but GET.
    let differs = shared.router.tells_methods_apart() && differs_by_method(shared, head, routed);
    Told {
        line,
        routed: differs.then(|| Box::new(routed.clone())),
    }
}

fn differs_by_method(shared: &Shared, head: &Parts, routed: &Routed) -> bool {
    let Some(target) = visit::target(head) else { return true };
    let mut methods = shared.router.methods();
    methods.any(|method| shared.router.route(method, &target, Brings::More).as_ref() != Ok(routed))
}

/// Reads the first bytes of a body that some stack takes for a form, and refuses it where that says something else. Of a body in
/// another type the received part is searched: one that is streamed is not waited for.
pub async fn agrees(
    shared: &Shared,
    told: &Told,
    head: &Parts,
    body: &mut RequestBody,
    ration: Option<Ration>,
) -> Result<(), Refused> {
    let kind = Kind::of(&head.headers);
    if kind.is_read() {
        body.receive(MAX_FORM, ration).await?;
    }
    let (seen, whole) = (body.buffered(), body.is_complete());
    let said = |name: &str| form::value_of(&kind, seen, whole, name);
    if let Some(room) = told.line
        && let Some(PerSource::Query(name)) = shared.rules[room].room.per.as_ref().map(|per| &per.source)
    {
        let query = head.uri.query().unwrap_or_default();
        let own = parameter::value_in_query(query, name)?.map(|own| own.bytes);
        let is_other = match kind {
            Kind::Json | Kind::Other => form::says_otherwise(seen, whole, name, own.as_deref()),
            _ => said(name)?.is_some_and(|value| Some(value.bytes) != own),
        };
        if is_other {
            return Err(Refused::Otherwise);
        }
    }
    if let Some(routed) = &told.routed {
        for name in method::PARAMETERS {
            if let Some(value) = said(name)? {
                let other = method::named(&value.bytes).map_err(|_| Refused::Otherwise)?;
                let target = visit::target(head).ok_or(Refused::Otherwise)?;
                if shared.router.route(&other, &target, Brings::More).as_ref() != Ok(routed) {
                    return Err(Refused::Otherwise);
                }
            }
        }
    }
    Ok(())
}

impl Told {
    /// No content of a body could change the decision.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.line.is_none() && self.routed.is_none()
    }
}

impl From<Doubtful> for Refused {
    fn from(_: Doubtful) -> Self {
        Self::Otherwise
    }
}

/// Bytes of a form that are looked through.
pub const MAX_FORM: usize = 64 * 1024;
