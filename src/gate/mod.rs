//! The gate: one request from its head to its answer.
//!
//! ```text
//! crawler::visit    the sender, the kind of request, and whether it is a known crawler's
//! Shared::route     upstream, room, line and limits; 400 where host or path can be read in two ways
//! challenge         an authority's question about an order of the gates is answered
//! redirect          308 for a request in the clear, if the operator wants it
//! rehearsal         a virtual visitor's request: treated as any visitor's, but kept from the upstream
//! in_room           limits (429), then the room:
//!   Seat::of          the genuine tokens of the request
//!   settle, decide    the row of the contract, with the facts that it rests on
//!   forward | join | page | refusal
//! Shared::finish    metrics and access log: every answer passes it
//! ```
//!
//! Where a proxy asks about a request (`forward_auth`), the request takes the same path, and instead of being forwarded it is
//! permitted. Handlers are functions of their inputs: a visitor's `Seat`, and the `Gate` where they forward.

mod bounds;
mod endpoints;
mod forward;
mod forward_auth;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod meter;
mod request;
mod seat;
mod state;
mod verdict;

use std::pin::Pin;
use std::sync::Arc;

use http::{Request, Response, StatusCode};
use http_body::Body as _;

use crate::metrics::Outcome;
use crate::pages::PageKind;
use crate::proxy::{Body, Conn, RequestBody, boxed};

use forward_auth::Question;
use request::visit::Visit;
use request::{challenge, crawler, redirect};
use state::gate::{Gate, Halves};
use verdict::answers::{self, Answer, Refusal};
use verdict::{in_room, rehearsal};

pub use seat::reader;
pub use state::cores::{Core, Cores};
pub use state::key_use::Odd;
pub use state::shared::{Parts as GateParts, Shared};
pub use verdict::decide;

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
            if let Some(question) = Question::of(&self.shared.askers, &request.head) {
                return Box::pin(forward_auth::judge(&self, &conn, question, request)).await;
            }
            let has_body = !request.body.is_end_stream();
            let mut visit = crawler::visit(
                (&self.shared.trusted, &self.shared.crawlers),
                &conn,
                &mut request.head,
                has_body,
            );
            visit.noted = request.body.noted();
            let record = self.shared.record(&request.head);
            let (room, answer) = self.route(&conn, &mut visit, request).await;
            self.shared.finish(&visit, record, room, answer)
        })
    }

    /// Finds the room of a request; requests of no room are answered here.
    async fn route(&self, conn: &Arc<Conn>, visit: &mut Visit, request: Box<Halves>) -> (Option<usize>, Answer) {
        let shared = &*self.shared;
        if let Some(answer) = challenge::answer(shared, &request.head) {
            return (None, answer);
        }
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
        visit.upstream = routed.upstream;
        if let Some(answer) = redirect::answer(shared, visit, &request.head) {
            return (None, answer);
        }
        if visit.mark.is_some() {
            return rehearsal::rehearsed(self, conn, visit, request, routed).await;
        }
        if routed.own {
            return endpoints::endpoint(self, conn, visit, &request.head, &routed).await;
        }
        if self.upstreams.is_empty() {
            return (None, answers::no_upstream(&shared.pages, visit));
        }
        in_room::routed(self, visit, request, routed).await
    }
}
