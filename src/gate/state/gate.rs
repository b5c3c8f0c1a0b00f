//! One core's gate, and a request on its way through it.

use std::sync::Arc;

use http::Request;
use http::request::Parts;

use crate::proxy::{BodyOf, Ration, RequestBody, Upstream};

use super::in_flight::InFlight;
use super::shared::Shared;
use super::upstream::UpstreamState;
use crate::gate::forward;
use crate::gate::request::form_check;
use crate::gate::request::visit::Visit;

/// One core's gate, as one configuration has it.
pub struct Gate {
    pub shared: Arc<Shared>,
    /// In the order of [`Shared::upstreams`]; empty: the gate only answers proxies that ask.
    pub upstreams: Vec<Upstream>,
    pub in_flight: Arc<InFlight>,
}

/// A request as it goes from one step to the next. PERF: boxed, because a step's future keeps its argument beside the value
/// made from it (<https://github.com/rust-lang/rust/issues/62958>).
pub struct Halves {
    pub head: Parts,
    pub body: RequestBody,
    /// The facts that a form in the body must not contradict.
    pub told: form_check::Told,
    /// Bits of the room's `ends_on` and `completes_on` rules that the request meets.
    pub meets: u32,
    /// Bits of the room's `hold_slot` rules that the request meets.
    pub holds: u16,
    /// Its route is a room's.
    pub is_protected: bool,
    /// The session of a pass that it shows and is not forwarded by: a purchase counts all the same.
    pub former: Option<forward::Former>,
}

impl Halves {
    pub fn of(request: Request<RequestBody>) -> Box<Self> {
        let (head, body) = request.into_parts();
        Box::new(Self {
            head,
            body,
            told: form_check::Told::default(),
            meets: 0,
            holds: 0,
            is_protected: false,
            former: None,
        })
    }
}

impl Gate {
    /// The upstream that a request is for.
    #[must_use]
    pub fn upstream(&self, visit: &Visit) -> Option<(&Upstream, &UpstreamState)> {
        Some((
            self.upstreams.get(visit.upstream?)?,
            self.shared.upstream(visit.upstream)?,
        ))
    }

    /// The memory for the request's body.
    #[must_use]
    pub fn ration(&self, visit: &Visit, whose: BodyOf) -> Option<Ration> {
        let (upstream, _) = self.upstream(visit)?;
        Some(upstream.ration(whose))
    }
}
