//! The gate: one request from its head to its answer.
//!
//! `decide` holds the rows of the outside contract and is pure; what stands around it reads the request, asks the view,
//! and carries the verdict out with `proxy`, `waiting` and `limit`.
//!
//! ```text
//! Visit::of        who sent it, from where, what kind of request; a crawler's, if its address is known for that
//! Router::route    which room and line, which limits; 400 where it can be read in two ways
//! redirect         308 for who comes in the clear, if the operator wants it
//! rehearsed        a virtual visitor's: from here on what any visitor's is, but kept from the shop
//! Limits           429
//! Seat::of         the genuine tokens it carries
//! Seat::worth      what they are worth by the newest view
//! settle, decide   the row of the contract, with the facts that it rests on
//! forward | join | page | refusal      to the shop, or, where a proxy asks, its leave to pass (`forward_auth`)
//! finish           metrics, access log: every answer passes it
//! ```

mod accounts;
mod anew;
mod answers;
mod brings;
mod cacheable;
mod codes;
mod cookies;
mod crawl;
pub mod decide;
mod endpoints;
mod fields;
mod forms;
mod forward;
mod forward_auth;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod in_flight;
mod in_force;
mod inside;
mod join;
mod keeper;
mod key_use;
mod kind;
mod known;
mod limits;
mod line_page;
mod location;
mod meter;
mod method;
mod outage;
mod pages;
mod preflight;
mod proof;
mod redeem;
mod redirect;
mod rehearsal;
mod rules;
mod seat;
mod seat_answers;
mod settle;
mod shared;
mod sharing;
mod sockets;
mod told;
mod unadmitted;
mod visit;
mod while_off;
pub mod who;
mod worn;

use std::pin::Pin;
use std::sync::Arc;

use http::header::UPGRADE;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body::Body as _;

use crate::config::routes::{InRoom, LineOf, Routed};
use crate::metrics::Outcome;
use crate::proxy::{self, Body, BodyOf, Conn, Ration, RequestBody, Upstream, boxed};
use crate::waiting::PageKind;

use answers::{Answer, Refusal};
use decide::{PassState, Purpose, Verdict, decide};
use forward::Admission;
use in_flight::InFlight;
use join::Newcomer;
use kind::Kind;
use seat::{Seat, Worth};
use visit::Visit;

pub use in_force::{Core, Cores};
pub use key_use::Odd;
pub use shared::{Parts as GateParts, Shared};

/// A request as it goes from one step to the next. PERF: in a box of its own, since a step's future keeps what it was given beside
/// what it makes of it (<https://github.com/rust-lang/rust/issues/62958>).
pub struct Halves {
    head: Parts,
    body: RequestBody,
    /// What a form in the body must not say otherwise.
    told: forms::Told,
    /// Bits of the room's `ends_on` and `completes_on` rules that the request meets.
    meets: u32,
    /// Its route is a room's.
    is_protected: bool,
    /// The session of a pass that it shows and is not forwarded by: what is bought is bought all the same.
    former: Option<forward::Former>,
}

impl Halves {
    fn of(request: Request<RequestBody>) -> Box<Self> {
        let (head, body) = request.into_parts();
        Box::new(Self {
            head,
            body,
            told: forms::Told::default(),
            meets: 0,
            is_protected: false,
            former: None,
        })
    }
}

/// One core's gate, as one configuration has it.
pub struct Gate {
    shared: Arc<Shared>,
    /// `None`: the gate only answers proxies that ask.
    upstream: Option<Upstream>,
    in_flight: Arc<InFlight>,
}

impl Gate {
    /// Answers one request. PERF: its future is made anew for each, in its box, and as large as the largest of its ways: those that few
    /// requests go have rooms of their own (`Box::pin`), and the request is in its box before the future begins.
    pub fn handle(
        self: Arc<Self>,
        conn: Arc<Conn>,
        request: Request<RequestBody>,
    ) -> Pin<Box<dyn Future<Output = Response<Body>> + Send>> {
        let mut request = Halves::of(request);
        boxed(|| async move {
            if let Some(question) = self.shared.question(&request.head) {
                return Box::pin(self.judge(&conn, question, request)).await;
            }
            let has_body = !request.body.is_end_stream();
            let mut visit = self.shared.visit(&conn, &mut request.head, has_body);
            visit.noted = request.body.noted();
            let record = self.shared.record(&request.head);
            let (room, answer) = self.route(&conn, &mut visit, request).await;
            self.shared.finish(&visit, record, room, answer)
        })
    }

    /// Finds where a request belongs; what belongs nowhere in particular is answered here.
    async fn route(&self, conn: &Arc<Conn>, visit: &mut Visit, request: Box<Halves>) -> (Option<usize>, Answer) {
        let shared = &*self.shared;
        let Some(routed) = shared.route(&request.head, visit) else {
            conn.close();
            let refusal = Refusal::new(
                StatusCode::BAD_REQUEST,
                "malformed",
                PageKind::BadRequest,
                Outcome::Malformed,
            );
            return (None, refusal.answer(&shared.pages, visit));
        };
        if let Some(answer) = redirect::answer(shared, visit, &request.head) {
            return (None, answer);
        }
        if visit.mark.is_some() {
            return self.rehearsed(conn, visit, request, routed).await;
        }
        if routed.own {
            return self.endpoint(conn, visit, &request.head).await;
        }
        if self.upstream.is_none() {
            return (None, self.no_shop(visit));
        }
        self.routed(visit, request, routed).await
    }

    /// A request for the shop: turned away at once, let through without a room, or the room's.
    async fn routed(&self, visit: &mut Visit, mut request: Box<Halves>, routed: Routed) -> (Option<usize>, Answer) {
        let shared = &*self.shared;
        // PERF: few requests have a body.
        if !request.body.is_end_stream() {
            request.told = shared.told(&request.head, &routed);
        }
        if routed.misdirected {
            let status = StatusCode::MISDIRECTED_REQUEST;
            let refusal = Refusal::new(status, "unknown_host", PageKind::BadRequest, Outcome::Malformed);
            return (None, refusal.answer(&shared.pages, visit));
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
                Kind::Preflight => Box::pin(self.preflight(visit, request)).await,
                _ => self.in_room(visit, request, place).await,
            },
            (place, outside) => {
                let held_back = outside.filter(|outside| holds_back(outside.room));
                let (outcome, right) = match (&place, held_back) {
                    (Some(place), _) => self.right_beside(visit, &request.head, place),
                    (None, Some(outside)) => (Outcome::Outside, self.right_outside(visit, &request.head, outside)),
                    (None, None) => (Outcome::Outside, Admission::Free),
                };
                if let Some(place) = &place {
                    request.meets = place.ends_on;
                    shared.note_network(place, visit);
                }
                self.forward(visit, request, pages, outcome, right).await
            }
        };
        (room, answer)
    }

    /// A request to a protected route.
    async fn in_room(&self, visit: &mut Visit, request: Box<Halves>, place: InRoom) -> Answer {
        let worn = self.shared.worn(&place, &request.head, visit);
        // SECURITY: any site can lead a browser through so many lines that it forgets the first.
        if worn.costs_a_place && kind::is_cross_site(&request.head.headers) {
            return seat_answers::same_site_link(&self.shared.rules[place.index].pages, visit);
        }
        let method = request.head.method.clone();
        let mut answer = self.before_line(visit, request, place).await;
        if !forward_auth::is_leave(&answer) {
            forward::give(&worn.cleared, false, &method, &mut answer.response);
        }
        answer
    }

    /// Reads the tokens of a request to a protected route, decides, carries out.
    async fn before_line(&self, visit: &mut Visit, mut request: Box<Halves>, place: InRoom) -> Answer {
        let rules = &self.shared.rules[place.index];
        let LineOf::Line(line) = place.line else {
            let refusal = Refusal::new(
                StatusCode::NOT_FOUND,
                "unknown_line",
                PageKind::UnknownLine,
                Outcome::TurnedAway,
            );
            return refusal.answer(&rules.pages, visit);
        };
        let mut seat = Seat::of(&self.shared, rules, line, &request.head, visit);
        if seat.doubtful {
            return forms::Refused::Otherwise.answer(&rules.pages, visit);
        }
        if place.names
            && let Some(answer) = Box::pin(self.named_by_form(&mut seat, visit, &mut request)).await
        {
            return answer;
        }
        // SECURITY: a return ends with its answer; a tunnel would not.
        let returning = place.returning && !request.head.headers.contains_key(UPGRADE);
        let orders =
            (visit.has_body || proxy::asks_for_tunnel(&request.head.headers) || !method::is_read(&request.head))
                && self.shared.sells(&rules.room.name);
        let purpose = Purpose { returning, orders };
        if let Some(answer) = seat.take_code(visit, &request.head) {
            return answer;
        }
        let settled = self.settle(&seat, visit, Some(&mut request), purpose, decide).await;
        let (worth, verdict) = match settled {
            Ok(settled) => settled,
            Err(unsettled) => return self.unsettled(unsettled, &rules.pages, visit),
        };
        request.meets = place.ends_on;
        // PERF: most requests go on by the session of their pass.
        let by_pass = worth.pass() == PassState::Valid && verdict == Verdict::ForwardInside;
        request.former = (!by_pass).then(|| seat.former(&worth)).flatten();
        match verdict {
            Verdict::Forward => {
                let right = Admission::Open(&seat);
                self.forward(visit, request, &rules.pages, Outcome::Open, right).await
            }
            Verdict::LetPast => Box::pin(self.let_past(&seat, visit, request, &worth)).await,
            Verdict::Crawl => Box::pin(self.crawl(&seat, visit, request, &worth)).await,
            Verdict::ForwardReturn => Box::pin(self.return_route(visit, request, rules)).await,
            Verdict::ForwardInside | Verdict::Claim => self.inside(&seat, visit, request, &worth).await,
            Verdict::Join { pending, told } => {
                let coming = Newcomer {
                    pending,
                    told,
                    edition: worth.edition,
                };
                Box::pin(self.join(&seat, visit, request, coming)).await
            }
            Verdict::Wait => self.wait(&seat, visit, &worth),
            Verdict::Closed => closed(&seat, visit, &worth),
            Verdict::SoldOut => seat.with_ticket_anew(&worth, seat.sold_out(visit, &worth)),
            Verdict::SameSiteLink => seat.same_site_link(visit),
            Verdict::NotYours => seat.not_yours(visit),
            Verdict::SignIn => seat.sign_in(visit),
            Verdict::NotNow => seat.with_ticket_anew(&worth, seat.not_now(visit, &worth)),
            Verdict::No => forward_auth::no(),
        }
    }

    /// The memory for the request's body.
    fn ration(&self, whose: BodyOf) -> Option<Ration> {
        Some(self.upstream.as_ref()?.ration(whose))
    }

    /// Somebody came for the shop to a gate that has none behind it.
    fn no_shop(&self, visit: &Visit) -> Answer {
        let status = StatusCode::MISDIRECTED_REQUEST;
        Refusal::new(status, "no_upstream", PageKind::BadRequest, Outcome::Malformed).answer(&self.shared.pages, visit)
    }
}

/// The row "navigation while closed": who has a place keeps it by being there.
fn closed(seat: &Seat<'_>, visit: &Visit, worth: &Worth) -> Answer {
    seat.note(worth.presence(), seat.ticket_visitor());
    seat.with_ticket_anew(worth, seat.closed(visit))
}
