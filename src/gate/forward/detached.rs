//! Requests that go on though their client has hung up.
//!
//! Shops work on where nobody waits for the answer. So a place in a bound is kept until the shop has answered, or has not in time; and
//! what the answer says of the session is noted. What no server has when the client hangs up is not sent.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use prometheus_client::metrics::counter::Counter;
use tokio_util::sync::CancellationToken;

use crate::limit::Held;
use crate::metrics::Metrics;
use crate::proxy::{Body, BodyOf, Detachable, Forward, ForwardError, Hop, RequestBody, Stage, Upstream, read_rest};
use crate::room::Visitor;
use crate::time;

use super::super::fields::Fields;
use super::super::in_flight::Guard;
use super::super::meter::Watched;
use super::super::sockets::Socket;
use super::super::unadmitted::Place;
use super::super::visit::Visit;
use super::super::{Gate, Shared};
use super::SESSION_HEADER;
use super::ending::Endable;
use super::failed::{failed_by_shop, note_failure};

/// How many of sessions there may be.
pub struct Detached {
    held: Arc<Held<Arc<Visitor>>>,
    refused: Counter,
}

/// Of one visitor, who would else have as many requests at the shop as can be sent and hung up on.
const MOST_OF_ONE: usize = 4;
/// Of all visitors: some people hang up while they pay, and hardly ever more than this within one answer's time.
const MOST: usize = 1_024;

impl Detached {
    /// What was under way `before` goes on being counted.
    pub fn new(metrics: &Metrics, before: Option<&Self>) -> Self {
        Self {
            held: before.map_or_else(|| Held::within(MOST, MOST_OF_ONE), |before| Arc::clone(&before.held)),
            refused: metrics.limited("detached"),
        }
    }

    /// One more, to be held while it is under way; `None` where there are as many as may be.
    fn take(&self, visitor: &Arc<Visitor>) -> Option<Box<dyn Send>> {
        let taken = self.held.take(Arc::clone(visitor));
        if taken.is_none() {
            self.refused.inc();
        }
        Some(Box::new(taken?))
    }
}

/// What a request takes with it to the shop, and what is done with its answer. PERF: in a box, since it is handed on twice.
pub struct Taken {
    pub hop: Arc<Hop>,
    pub peer_trusted: bool,
    pub whose: BodyOf,
    pub ours: Fields,
    pub cancel: Option<CancellationToken>,
    pub endable: Option<Endable>,
    pub watched: Option<Watched>,
    pub kept: Kept,
}

/// What is held until the answer has ended: the session, a socket's place, and one in a bound.
pub type Kept = (Option<Guard>, Option<Socket>, Option<Place>);

/// What became of a request, and what is held still.
pub type Ended = (Result<Response<Body>, ForwardError>, Kept);

impl Taken {
    /// Forwards a request for as long as its client waits, or on and on where a `stage` is told how far it is.
    pub async fn forward(
        self: Box<Self>,
        (shared, upstream): (&Shared, &Upstream),
        request: Box<Request<RequestBody>>,
        still: &(dyn Fn() -> bool + Sync),
        stage: Option<&Stage>,
    ) -> Ended {
        let endable = self.endable.as_ref();
        let forward = Forward {
            hop: &self.hop,
            whose: self.whose,
            peer_trusted: self.peer_trusted,
            said_by_proxies: &shared.said_by_proxies,
            headers: self.ours.as_slice(),
            still,
            cancel: self.cancel,
            signal: Some(&SESSION_HEADER),
            heard: &|status, word| {
                endable.inspect(|endable| endable.note(shared, status, word));
            },
            stage,
        };
        let result = upstream.forward(request, &forward).await;
        if let Some(watched) = self.watched {
            watched.over(failed_by_shop(&result));
        }
        (result, self.kept)
    }
}

impl Gate {
    /// Forwards a request, since `asked`, that goes on though its client hangs up.
    pub(super) fn forward_detachable(
        &self,
        (visit, asked): (&Visit, Duration),
        upstream: &Upstream,
        request: Box<Request<RequestBody>>,
        taken: Box<Taken>,
    ) -> impl Future<Output = Ended> + Send + use<> {
        let (shared, upstream) = (Arc::clone(&self.shared), upstream.clone());
        let id = visit.id;
        // A place in a bound is a right by itself.
        let (_, _, place) = &taken.kept;
        let of_session = taken.endable.as_ref().filter(|_| place.is_none());
        let visitor = of_session.map(|endable| Arc::clone(endable.visitor()));
        let bounds = Arc::clone(&shared);
        let may = move || match &visitor {
            Some(visitor) => bounds.detached.take(visitor),
            None => Some(Box::new(()) as Box<dyn Send>),
        };
        Detachable::new(&visit.hop, may, |stage| async move {
            let endable = taken.endable.clone();
            // What failed is not sent again for nobody.
            let still = || !stage.is_detached() && endable.as_ref().is_none_or(|endable| !endable.is_over(&shared));
            let (mut result, kept) = taken.forward((&shared, &upstream), request, &still, Some(&stage)).await;
            if stage.is_detached() {
                shared.metrics.upstream.observe(time::uptime().saturating_sub(asked));
                match &mut result {
                    Ok(response) => read_rest(response.body_mut()).await,
                    Err(error) => note_failure(&shared, id, *error),
                }
            }
            (result, kept)
        })
    }
}
