//! A request for the upstream: turned away at once, let through without a room, or decided by the rules of its room.

use http::StatusCode;
use http::header::UPGRADE;
use http_body::Body as _;

use crate::metrics::Outcome;
use crate::pages::PageKind;
use crate::proxy;
use crate::router::{InRoom, LineOf, Routed};

use super::answers::{self, Answer, Refusal};
use super::arrival::Newcomer;
use super::decide::{PassState, Purpose, Verdict, decide};
use super::{bypass, cacheable, inside, join, line_page, outage, refusals, settle, sign_in_form, while_off};
use crate::gate::forward::{self, Permission, ending};
use crate::gate::forward_auth;
use crate::gate::request::kind::{self, Kind};
use crate::gate::request::visit::Visit;
use crate::gate::request::{form_check, method};
use crate::gate::seat::worth::Worth;
use crate::gate::seat::{Seat, codes, ownership, reissue, stale_cookies};
use crate::gate::state::gate::{Gate, Halves};

/// A request for the shop: turned away at once, let through without a room, or the room's.
pub async fn routed(
    gate: &Gate,
    visit: &mut Visit,
    mut request: Box<Halves>,
    routed: Routed,
) -> (Option<usize>, Answer) {
    let shared = &*gate.shared;
    // PERF: few requests have a body.
    if !request.body.is_end_stream() {
        request.told = form_check::told(shared, &request.head, &routed);
    }
    if routed.misdirected {
        return (None, answers::unknown_host(&shared.pages, visit));
    }
    let room = routed.room.as_ref().map(|place| place.index);
    request.is_protected = room.is_some();
    let pages = room.map_or(&shared.pages, |at| &shared.rules[at].pages);
    if routed.streamed.0 {
        request.body.stream();
    }
    if visit.aim.counts_first()
        && let Err(over) = shared.limits.routes(&routed.limits, visit.client)
    {
        return (room, over.answer(pages, visit));
    }
    let holds_back = |room: usize| !shared.lets_all_in(room, visit.client);
    let answer = match (routed.room, routed.outside) {
        (Some(place), _) if holds_back(place.index) => match visit.kind {
            Kind::Preflight => Box::pin(bypass::preflight(gate, visit, request)).await,
            _ => in_room(gate, visit, request, place).await,
        },
        (place, outside) => {
            let held_back = outside.filter(|outside| holds_back(outside.room));
            let (outcome, right) = match (&place, held_back) {
                (Some(place), _) => {
                    visit.counts = is_use(visit, place, shared.rules[place.index].room.active.is_some());
                    while_off::right_beside(&gate.shared, visit, &request.head, place)
                }
                (None, Some(outside)) => (
                    Outcome::Outside,
                    bypass::right_outside(&gate.shared, visit, &request.head, outside),
                ),
                (None, None) => (Outcome::Outside, Permission::Free),
            };
            if let Some(place) = &place {
                request.meets = place.ends_on;
                shared.note_network(place, visit);
            }
            forward::forward(gate, visit, request, pages, outcome, right).await
        }
    };
    (room, answer)
}

/// A request to a protected route.
pub async fn in_room(gate: &Gate, visit: &mut Visit, request: Box<Halves>, place: InRoom) -> Answer {
    let rules = &gate.shared.rules[place.index];
    visit.counts = is_use(visit, &place, rules.room.active.is_some());
    let worn = stale_cookies::worn(&gate.shared, &place, &request.head, visit);
    // SECURITY: any site can lead a browser through enough lines to make it forget the first.
    if worn.costs_a_place && kind::is_cross_site(&request.head.headers) {
        return refusals::same_site_page(&rules.pages, visit);
    }
    let method = request.head.method.clone();
    let mut answer = before_line(gate, visit, request, place).await;
    if !forward_auth::is_leave(&answer) {
        cacheable::give(&worn.cleared, false, &method, &mut answer.response);
    }
    answer
}

/// Reads the tokens of a request to a protected route, decides, carries out.
pub async fn before_line(gate: &Gate, visit: &mut Visit, mut request: Box<Halves>, place: InRoom) -> Answer {
    let rules = &gate.shared.rules[place.index];
    let LineOf::Line(line) = place.line else {
        let refusal = Refusal::new(
            StatusCode::NOT_FOUND,
            "unknown_line",
            PageKind::UnknownLine,
            Outcome::TurnedAway,
        );
        return refusal.answer(&rules.pages, visit);
    };
    let mut seat = Seat::of(&gate.shared, rules, line, &request.head, visit);
    if seat.shown.is_doubtful() {
        return form_check::Refused::Otherwise.answer(&rules.pages, visit);
    }
    if place.names
        && let Some(answer) = Box::pin(sign_in_form::named_by_form(gate, &mut seat, visit, &mut request)).await
    {
        return answer;
    }
    let seat = &seat;
    // SECURITY: a return ends with its answer; a tunnel would not.
    let returning = place.returning && !request.head.headers.contains_key(UPGRADE);
    let orders = (visit.has_body || proxy::asks_for_tunnel(&request.head.headers) || !method::is_read(&request.head))
        && gate.shared.sells(&rules.room.name);
    let purpose = Purpose { returning, orders };
    if let Some(answer) = codes::take_code(seat, visit, &request.head) {
        return answer;
    }
    let settled = settle::settle(gate, seat, visit, Some(&mut request), purpose, decide).await;
    let (worth, verdict) = match settled {
        Ok(settled) => settled,
        Err(unsettled) => return settle::unsettled(&gate.shared, &unsettled, &rules.pages, visit),
    };
    (request.meets, request.holds) = (place.ends_on, place.holds);
    // PERF: most requests go on by the session of their pass.
    let by_pass = worth.pass() == PassState::Valid && verdict == Verdict::ForwardInside;
    request.former = (!by_pass).then(|| ending::former(seat, &worth)).flatten();
    match verdict {
        Verdict::Forward => {
            let right = Permission::Open(seat);
            forward::forward(gate, visit, request, &rules.pages, Outcome::Open, right).await
        }
        Verdict::LetPast => Box::pin(outage::let_past(gate, seat, visit, request, &worth)).await,
        Verdict::Crawl => Box::pin(bypass::crawl(gate, seat, visit, request, &worth)).await,
        Verdict::ForwardReturn => Box::pin(bypass::return_route(gate, visit, request, rules)).await,
        Verdict::ForwardInside | Verdict::Claim | Verdict::Parked => {
            inside::inside(gate, seat, visit, request, &worth).await
        }
        Verdict::Join { pending, told } => {
            let coming = Newcomer {
                pending,
                told,
                edition: worth.edition,
            };
            Box::pin(join::join(gate, seat, visit, request, coming)).await
        }
        Verdict::Wait => line_page::wait(seat, visit, &worth),
        Verdict::Closed => closed(seat, visit, &worth),
        Verdict::SoldOut => reissue::with_ticket_anew(seat, &worth, line_page::sold_out(seat, visit, &worth)),
        Verdict::SameSiteLink => refusals::same_site_link(seat, visit),
        Verdict::NotYours => ownership::not_yours(seat, visit),
        Verdict::SignIn => ownership::sign_in(seat, visit),
        Verdict::NotNow => reissue::with_ticket_anew(seat, &worth, refusals::not_now(seat, visit, &worth)),
        Verdict::No => forward_auth::no(),
    }
}

/// Whether a request is use of its session, and keeps a slot. Rooms without active slots count every request.
fn is_use(visit: &Visit, place: &InRoom, has_active_slots: bool) -> bool {
    // A person who opens the address of a poll is there.
    let is_background = place.background && !visit.kind.is_navigation();
    !has_active_slots || (visit.kind != Kind::Passive && !is_background)
}

/// The row "navigation while closed": a visitor with a place keeps it by being present.
fn closed(seat: &Seat<'_>, visit: &Visit, worth: &Worth) -> Answer {
    refusals::note(seat, worth.presence(), seat.ticket_visitor());
    reissue::with_ticket_anew(seat, worth, line_page::closed(seat, visit))
}
