//! Requests that go on though their client has hung up.
//!
//! Shops continue to work although no client waits for the answer. So a place in a bound is kept until the upstream has
//! answered, or its deadline is over, and the answer's effect on the session is noted. A request that no server has when the
//! client hangs up is not sent.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use tokio_util::sync::CancellationToken;

use crate::proxy::{Body, BodyOf, Detachable, Forward, ForwardError, Hop, RequestBody, Stage, Upstream, read_rest};
use crate::time;

use super::super::meter::Watched;
use super::ending::Endable;
use super::failed::{failed_by_shop, note_failure};
use crate::gate::bounds::sockets::Socket;
use crate::gate::bounds::unadmitted::Place;
use crate::gate::request::headers::{Fields, SESSION_HEADER};
use crate::gate::request::visit::Visit;
use crate::gate::state::gate::Gate;
use crate::gate::state::in_flight::Guard;
use crate::gate::state::shared::Shared;

/// State that travels with a request to the upstream and is needed to handle its response. PERF: boxed, because it is moved
/// twice.
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

/// Guards held until the answer has ended: of the session, a socket's place, and a place in a bound.
pub type Kept = (Option<Guard>, Option<Socket>, Option<Place>);

/// The result of a request, and the guards that are still held.
pub type Ended = (Result<Response<Body>, ForwardError>, Kept);

impl Taken {
    /// Forwards a request for as long as its client waits; without an end where a `stage` follows how far it is.
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

/// Forwards a request, since `asked`, that goes on though its client hangs up.
pub fn forward_detachable(
    gate: &Gate,
    (visit, asked): (&Visit, Duration),
    upstream: &Upstream,
    request: Box<Request<RequestBody>>,
    taken: Box<Taken>,
) -> impl Future<Output = Ended> + Send + use<> {
    let (shared, upstream) = (Arc::clone(&gate.shared), upstream.clone());
    let (id, at) = (visit.id.clone(), visit.upstream);
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
        // A failed request is not sent again when its client is gone.
        let still = || !stage.is_detached() && endable.as_ref().is_none_or(|endable| !endable.is_over(&shared));
        let (mut result, kept) = taken.forward((&shared, &upstream), request, &still, Some(&stage)).await;
        if stage.is_detached() {
            let upstream = shared.upstream(at);
            upstream.inspect(|upstream| upstream.metrics.took.observe(time::uptime().saturating_sub(asked)));
            match &mut result {
                Ok(response) => read_rest(response.body_mut()).await,
                Err(error) => note_failure(upstream, &id, *error),
            }
        }
        (result, kept)
    })
}
