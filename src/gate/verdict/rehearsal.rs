//! Virtual visitors of a rehearsal: recognised by the mark that each of their requests carries, and kept from the upstream.
//!
//! SECURITY: a request with a mark is a virtual visitor's or is refused. A mark that is not genuine, has expired, or belongs
//! to a rehearsal that is not under way is refused on every path, so that a request that was sent for a rehearsal can never
//! count as a person's. A request that would go to the shop ends here, at [`forward`](crate::gate::forward::forward), unless
//! both the mark and the room say that it is forwarded. Tokens of virtual visitors have kinds of their own, which no other
//! code reads. While a rehearsal is under way, a request with such a cookie but without the mark (because a person copied it
//! or a proxy removed the mark) is kept from the upstream too.

use std::sync::Arc;

use http::HeaderValue;
use http::request::Parts;

use crate::metrics::Outcome;
use crate::proxy::Conn;
use crate::router::{InRoom, OWN_PREFIX, Routed};

use super::answers::Answer;

use crate::gate::endpoints;
use crate::gate::state::gate::{Gate, Halves};

use super::in_room;
use crate::gate::request::rehearsal_mark::{self, Refused};
use crate::gate::request::visit::{REHEARSAL_HEADER, Visit};
use crate::gate::state::shared::Shared;

/// A request that shows a mark.
pub async fn rehearsed(
    gate: &Gate,
    conn: &Arc<Conn>,
    visit: &mut Visit,
    request: Box<Halves>,
    mut routed: Routed,
) -> (Option<usize>, Answer) {
    let shared = &*gate.shared;
    let Some(at) = room_of(shared, &request.head, &routed) else {
        return (None, Refused::Mark.answer(&shared.pages, visit));
    };
    let rules = &shared.rules[at];
    let rehearsed = match rehearsal_mark::judge(&shared.keyring, &shared.replica.load(), &rules.room.name, visit) {
        Ok(rehearsed) => rehearsed,
        Err(refused) => return (Some(at), refused.answer(&rules.pages, visit)),
    };
    visit.rehearsed = Some(rehearsed);
    let mut answer = match routed.room.take() {
        Some(place) => in_room::in_room(gate, visit, request, virtual_place(place)).await,
        None => endpoints::endpoint(gate, conn, visit, &request.head, &routed).await.1,
    };
    answer.outcome = Outcome::Rehearsed;
    if let Ok(id) = HeaderValue::try_from(rehearsed.id.to_string()) {
        answer.response.headers_mut().insert(REHEARSAL_HEADER, id);
    }
    (Some(at), answer)
}

/// A return, or an account's form, is nothing to a virtual visitor.
fn virtual_place(place: InRoom) -> InRoom {
    InRoom {
        returning: false,
        names: false,
        ..place
    }
}

/// The room that a request is about: one of its routes, or one of the gate's own endpoints.
fn room_of(shared: &Shared, head: &Parts, routed: &Routed) -> Option<usize> {
    if routed.misdirected {
        return None;
    }
    if !routed.own {
        return routed.room.as_ref().map(|place| place.index);
    }
    let path = head.uri.path().strip_prefix(OWN_PREFIX)?.strip_prefix("/rooms/")?;
    let name = path.split('/').next()?;
    shared.room_at(name, routed.upstream)
}
