//! What is read of a request's body before it goes on to the shop as it came: who joins by it, and whether it says of line and
//! method what the head says.

use http::StatusCode;
use http::header::CONTENT_ENCODING;
use http::request::Parts;

use crate::config::Source;
use crate::config::routes::{Brings, PerSource, Routed};
use crate::identity::{MAX_BODY, NoField, field_of};
use crate::metrics::Outcome;
use crate::names::form::{self, Kind};
use crate::names::parameter;
use crate::names::spelling::Doubtful;
use crate::proxy::{BodyError, BodyOf, Ration, RequestBody};
use crate::room::Tag;
use crate::time;
use crate::waiting::PageKind;

use super::accounts::tags_of;
use super::answers::{Answer, Refusal};
use super::forward::EXHAUSTED_RETRY_SECS;
use super::forward_auth::Aim;
use super::kind::is_cross_site;
use super::method;
use super::pages::Pages;
use super::rules::Rules;
use super::seat::Seat;
use super::shared::Shared;
use super::visit::{self, Visit};
use super::{Gate, Halves};

impl Gate {
    /// Learns the account that a request on the room's form names, by which its visitor joins; `Some`: the answer where it names none.
    pub(super) async fn named_by_form(
        &self,
        seat: &mut Seat<'_>,
        visit: &mut Visit,
        request: &mut Halves,
    ) -> Option<Answer> {
        let rules = seat.rules;
        if visit.aim != Aim::Shop {
            // SECURITY: of a body that a proxy sends along the gate may see a part, or none.
            return Some(Refused::Field(NoField::Type).answer(&rules.pages, visit));
        }
        if visit.rehearsed.is_some() {
            return None;
        }
        // SECURITY: it would bind the visitor's place to an account that another site chose.
        if is_cross_site(&request.head.headers) {
            return Some(seat.cross_site(visit));
        }
        let (begun, ration) = (time::uptime(), self.ration(BodyOf::Stranger(visit.client)));
        let account = account(&self.shared, rules, request, ration).await;
        visit.has_waited(begun);
        match account {
            Ok(tags) => (seat.tags, visit.kind) = (tags, visit.kind.signing_in()),
            Err(refused) => return Some(refused.answer(&rules.pages, visit)),
        }
        None
    }
}

/// The account that the body of the room's form names: it is read, and goes on to the shop as it came. A body that does not
/// name exactly one is refused, or one person could have a place for each spelling that the gate does not read.
async fn account(
    shared: &Shared,
    rules: &Rules,
    request: &mut Halves,
    ration: Option<Ration>,
) -> Result<Vec<Tag>, Refused> {
    let Some(Source::Field { name, .. }) = rules.room.identity.as_ref().map(|identities| &identities.source) else {
        return Ok(Vec::new());
    };
    // SECURITY: a stack that merges query and form may read the query's.
    let query = request.head.uri.query().unwrap_or_default();
    if parameter::value_in_query(query, name)?.is_some() {
        return Err(NoField::Malformed.into());
    }
    // What is packed would have to be unpacked, within bounds of its own.
    if request.head.headers.contains_key(CONTENT_ENCODING) {
        return Err(NoField::Type.into());
    }
    let kind = form::Kind::of(&request.head.headers);
    if !matches!(kind, Kind::Urlencoded | Kind::Multipart(_) | Kind::Json) {
        return Err(NoField::Type.into());
    }
    let body = &mut request.body;
    body.receive(MAX_BODY, ration).await?;
    if !body.is_complete() || body.buffered().len() > MAX_BODY {
        return Err(Refused::TooLong);
    }
    let identity = field_of(&kind, body.buffered(), name)?;
    Ok(tags_of(shared, rules, Some(identity)))
}

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

/// What a form in the body could say otherwise than the head, by which the request was decided.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The room whose lines are told apart by a parameter of the query.
    line: Option<usize>,
    /// What the request would be under another method, if that is something else.
    routed: Option<Box<Routed>>,
}

impl Shared {
    /// What has to be looked for in the body of a request that belongs there.
    #[must_use]
    pub fn told(&self, head: &Parts, routed: &Routed) -> Told {
        let by_query = |at: &usize| {
            matches!(
                self.rules[*at].room.per.as_ref().map(|per| &per.source),
                Some(PerSource::Query(_))
            )
        };
        let line = routed.room.as_ref().map(|room| room.index).filter(by_query);
        // Most frameworks hear of another method in a form that was posted, Hono and CakePHP in one of any method but GET.
        let differs = self.router.tells_methods_apart() && self.differs_by_method(head, routed);
        Told {
            line,
            routed: differs.then(|| Box::new(routed.clone())),
        }
    }

    fn differs_by_method(&self, head: &Parts, routed: &Routed) -> bool {
        let Some(target) = visit::target(head) else { return true };
        let mut methods = self.router.methods();
        methods.any(|method| self.router.route(method, &target, Brings::More).as_ref() != Ok(routed))
    }

    /// Reads the first bytes of a body that some stack takes for a form, and refuses it where that says something else. Of a body in
    /// another type what is here is looked through: one that is streamed is not waited for.
    pub async fn agrees(
        &self,
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
            && let Some(PerSource::Query(name)) = self.rules[room].room.per.as_ref().map(|per| &per.source)
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
                    if self.router.route(&other, &target, Brings::More).as_ref() != Ok(routed) {
                        return Err(Refused::Otherwise);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Told {
    /// Nothing that a body could say would change anything.
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
