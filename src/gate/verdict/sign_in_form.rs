//! The form of a room by which visitors sign in: its body names the account that joins.

use http::header::CONTENT_ENCODING;

use crate::accounts::{MAX_BODY, NoField, field_of};
use crate::config::Source;
use crate::names::form::{self, Kind};
use crate::names::parameter;
use crate::proxy::{BodyOf, Ration};
use crate::time;
use ropeline_ids::Tag;

use super::answers::Answer;
use super::refusals;
use crate::gate::request::account::tags_of;
use crate::gate::request::aim::Aim;
use crate::gate::request::form_check::Refused;
use crate::gate::request::kind::is_cross_site;
use crate::gate::request::visit::Visit;
use crate::gate::seat::Seat;
use crate::gate::state::gate::{Gate, Halves};
use crate::gate::state::rules::Rules;
use crate::gate::state::shared::Shared;

/// Reads the account that a request on the room's form names, by which its visitor joins; `Some`: the answer where it names none.
pub async fn named_by_form(
    gate: &Gate,
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
        return Some(refusals::cross_site(seat, visit));
    }
    let (begun, ration) = (time::uptime(), gate.ration(visit, BodyOf::Stranger(visit.client)));
    let account = account(&gate.shared, rules, request, ration).await;
    visit.has_waited(begun);
    match account {
        Ok(tags) => {
            seat.shown.sign_in(tags);
            visit.kind = visit.kind.signing_in();
        }
        Err(refused) => return Some(refused.answer(&rules.pages, visit)),
    }
    None
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
    // A compressed form would have to be decompressed, within separate bounds.
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
