//! One request to the upstream and its answer back, streamed both ways.

pub(crate) mod answer_body;
pub(crate) mod exchange;
pub(crate) mod heard;
pub(crate) mod http2;
pub(crate) mod pool;
pub(crate) mod request_body;
pub(crate) mod retry;
pub(crate) mod servers;
pub(crate) mod socket;
pub(crate) mod tunnel;
pub(crate) mod uploads;

use std::sync::Arc;

use http::header::{CONNECTION, CONTENT_TYPE, EXPECT, HOST};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Version};
use http_body::Body as _;
use hyper::body::Incoming;

use crate::body::Body;
use crate::client::framing;
use crate::client::request_body::{Progress, RequestBody};
use crate::error::{ForwardError, Kind};
use crate::forward::Forward;
use crate::hygiene;
use crate::memory::{BodyOf, Ration};
use crate::settings::UpstreamSettings;
use crate::stats::{Stats, Unanswered};
use crate::upstream::answer_body::UpstreamBody;
use crate::upstream::exchange::{Exchange, Sender};
use crate::upstream::pool::{Lease, Pool};
use crate::upstream::servers::{Outlook, UpstreamServers};

/// One core's way to the upstream. Make it inside that core's runtime; clones share its connections.
#[derive(Clone)]
pub struct Upstream(Arc<Pool>);

impl Upstream {
    /// Must be called inside the runtime that will use it.
    #[must_use]
    pub fn new(servers: UpstreamServers, stats: Arc<Stats>) -> Self {
        Self(Pool::new(servers, stats))
    }

    fn settings(&self) -> &UpstreamSettings {
        self.0.settings()
    }

    /// The present state of the servers for a request.
    #[must_use]
    pub fn outlook(&self) -> Outlook {
        self.0.servers().outlook()
    }

    /// The memory for a body.
    #[must_use]
    pub fn ration(&self, whose: BodyOf) -> Ration {
        self.0.servers().uploads().ration(whose)
    }

    /// Receives the part of a body that is read before a connection to the upstream is taken, and sends `100 Continue` to a
    /// client that waits for it. The caller must decide on the request again afterwards, because this may take long.
    pub async fn receive(
        &self,
        headers: &HeaderMap,
        body: &mut RequestBody,
        whose: BodyOf,
    ) -> Result<(), ForwardError> {
        if body.is_too_large() {
            return Err(Kind::BodyTooLarge.into());
        }
        if !body.is_complete() && !body.is_streamed() {
            // PERF: few requests have a body.
            Box::pin(self.0.servers().uploads().receive(headers, body, whose)).await?;
        }
        Ok(())
    }

    async fn received(
        &self,
        request: Box<Request<RequestBody>>,
        whose: BodyOf,
    ) -> Result<Box<Request<RequestBody>>, ForwardError> {
        let (head, mut body) = request.into_parts();
        self.receive(&head.headers, &mut body, whose).await?;
        Ok(Box::new(Request::from_parts(head, body)))
    }

    /// Forwards a request and returns the answer once its head has arrived; its body streams behind it. The settings say how
    /// much of the request's body is [received](Self::receive) first.
    ///
    /// The answer's [signal](Forward::signal) is removed and reported. A granted 101 is returned as an answer whose guards
    /// live as long as the tunnel. The rules for retries are in `exchange`. Dropping the future or the answer's body cancels
    /// the request at the upstream.
    pub async fn forward(
        &self,
        mut request: Box<Request<RequestBody>>,
        forward: &Forward<'_>,
    ) -> Result<Response<Body>, ForwardError> {
        let _unanswered = Unanswered::count(self.0.stats());
        let noted = request.body().noted();
        if noted.via && hygiene::is_loop(request.headers()) {
            return Err(Kind::Loop.into());
        }
        // PERF: most bodies are complete here, and to take a request apart copies it.
        if !request.body().is_complete() || request.body().is_too_large() {
            request = Box::pin(self.received(request, forward.whose)).await?;
        }
        let upgrade = tunnel::asked(&mut request);
        let version = request.version();
        if version == Version::HTTP_10 {
            // RFC 9110, section 10.1.1: an HTTP/1.0 client does not wait for an interim answer.
            request.headers_mut().remove(EXPECT);
        }
        hygiene::clean_request(request.headers_mut(), noted, version, forward);
        request.body_mut().keep_from_trailers(forward.said_by_proxies);
        if let Some(host) = &self.settings().host {
            request.headers_mut().insert(HOST, host.clone());
        }
        if let Some(upgrade) = &upgrade {
            upgrade.ask(request.headers_mut());
        }
        let progress = request.body().progress();
        let sent = Sender {
            progress: progress.as_deref(),
            client: forward.whose.client(),
            is_tunnel: upgrade.is_some(),
            still: forward.still,
            stage: forward.stage,
        };
        let exchange = Exchange::new(&self.0, sent);
        let (mut answer, mut lease) = exchange.run(request).await?;
        if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
            let asked = upgrade
                .filter(|asked| asked.is_granted(&answer))
                .ok_or_else(|| faulty(&lease, Kind::UnaskedSwitch))?;
            return Ok(self.switch(asked, answer, lease, forward));
        }
        if !framing::is_clear(&answer) {
            return Err(faulty(&lease, Kind::Ambiguous).into());
        }
        lease.judge(answer.status(), is_event_stream(&answer));
        let signal = hygiene::clean_response(answer.headers_mut(), forward.signal);
        (forward.heard)(answer.status(), signal.as_ref());
        if upgrade.is_some() {
            // SECURITY: bytes that the client sent behind its request were meant for another protocol: never read them as
            // HTTP.
            answer
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let is_crowded = forward.whose.is_strangers() || lease.target().is_crowded();
        let ration = (is_crowded && !is_event_stream(&answer)).then(|| self.ration(forward.whose));
        Ok(self.stream(answer, lease, progress, ration).await?)
    }

    async fn stream(
        &self,
        answer: Response<Incoming>,
        lease: Lease,
        upload: Option<Arc<Progress>>,
        ration: Option<Ration>,
    ) -> Result<Response<Body>, Kind> {
        let (mut head, incoming) = answer.into_parts();
        head.version = Version::HTTP_11;
        let is_whole = upload.as_ref().is_none_or(|upload| upload.is_whole());
        if incoming.is_end_stream() && is_whole {
            lease.give_back();
            return Ok(Response::from_parts(head, Body::empty()));
        }
        let mut body = UpstreamBody::new(incoming, lease, self.settings().body_idle, upload);
        if let Some(ration) = ration {
            body.take_over(ration).await?;
        }
        Ok(Response::from_parts(head, Body::upstream(body)))
    }

    fn switch(
        &self,
        asked: tunnel::Asked,
        mut answer: Response<Incoming>,
        mut lease: Lease,
        forward: &Forward<'_>,
    ) -> Response<Body> {
        // A socket that only the tunnel uses has a write deadline of its own.
        let patience = lease.fate().map(|_| self.settings().write);
        let shop = (hyper::upgrade::on(&mut answer), patience);
        lease.judge(answer.status(), true);
        let held = lease.detach();
        let headers = answer.headers_mut();
        let signal = hygiene::clean_response(headers, forward.signal);
        (forward.heard)(StatusCode::SWITCHING_PROTOCOLS, signal.as_ref());
        asked.ask(headers);
        let cancel = forward.cancel.clone();
        let strings = asked.open(shop, self.settings().tunnel_idle, cancel, Arc::clone(self.0.stats()));
        strings.tie(Box::new(held));
        let (mut head, _) = answer.into_parts();
        head.version = Version::HTTP_11;
        Response::from_parts(head, Body::tunnel(strings))
    }
}

fn is_event_stream(answer: &Response<Incoming>) -> bool {
    const KIND: &[u8] = b"text/event-stream";
    let kind = answer
        .headers()
        .get(CONTENT_TYPE)
        .map_or(&[][..], HeaderValue::as_bytes);
    kind.get(..KIND.len())
        .is_some_and(|kind| kind.eq_ignore_ascii_case(KIND))
}

/// Counts the answer against its server.
fn faulty(lease: &Lease, kind: Kind) -> Kind {
    lease.target().failed_with(kind);
    kind
}
