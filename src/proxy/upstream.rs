//! One request to the shop and its answer back, streamed both ways.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONNECTION, EXPECT, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, Version};
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::address::is_trusted;
use super::body::Body;
use super::conn::{Conn, Proto};
use super::error::{ForwardError, Kind};
use super::from_shop::FromShop;
use super::pool::{Lease, Pool};
use super::request_body::{Outcome, Progress, RequestBody};
use super::sent::Sent;
use super::settings::UpstreamSettings;
use super::stats::{Stats, up};
use super::{framing, hygiene, tunnel};

/// One core's way to the shop. Make it inside that core's runtime; clones share its connections.
#[derive(Clone)]
pub struct Upstream {
    pool: Arc<Pool>,
    settings: Arc<UpstreamSettings>,
    stats: Arc<Stats>,
}

/// What the shop is told about a request besides the request itself.
#[derive(Debug)]
pub struct Forward<'a> {
    /// The socket's other end, which joins `X-Forwarded-For`.
    pub peer: IpAddr,
    /// Whether the peer is a trusted proxy: then what it says in `X-Forwarded-*` stands.
    pub peer_trusted: bool,
    /// How the client reached us.
    pub proto: Proto,
    /// The port it reached us on.
    pub port: u16,
    /// Fields of ours to set, such as `Anteroom-Session`.
    pub headers: &'a [(HeaderName, HeaderValue)],
    /// Cancelling it closes the request's tunnel, if it opens one; an answer under way is left to finish.
    pub cancel: Option<CancellationToken>,
}

impl Forward<'_> {
    /// A request that came over `conn`, with no fields of ours and nothing that cancels it.
    #[must_use]
    pub fn over(conn: &Conn, trusted: &[ipnet::IpNet]) -> Self {
        let peer = conn.peer().ip();
        Self {
            peer,
            peer_trusted: is_trusted(peer, trusted),
            proto: conn.proto(),
            port: conn.local().port(),
            headers: &[],
            cancel: None,
        }
    }
}

impl Upstream {
    /// Must be called inside the runtime that will use it.
    #[must_use]
    pub fn new(settings: UpstreamSettings, stats: Arc<Stats>) -> Self {
        let settings = Arc::new(settings);
        let pool = Pool::new(Arc::clone(&settings), Arc::clone(&stats));
        Self { pool, settings, stats }
    }

    /// Forwards a request and returns the answer once its head is here; bodies stream behind it, nothing is stored.
    ///
    /// The answer's `Anteroom-Session` is taken out and stands in its extensions as [`super::SessionWord`]. A 101 that was
    /// asked for comes back as an answer whose guards live as long as the tunnel. A request is sent a second time only when
    /// it has no body, its method is idempotent, and a kept connection died under it before any byte of an answer (RFC 9110,
    /// section 9.2.2). Dropping the future or the answer's body cancels the request at the shop.
    pub async fn forward(
        &self,
        mut request: Request<RequestBody>,
        forward: &Forward<'_>,
    ) -> Result<Response<Body>, ForwardError> {
        if request.body().is_too_large() {
            return Err(Kind::BodyTooLarge.into());
        }
        if hygiene::is_loop(request.headers()) {
            return Err(Kind::Loop.into());
        }
        let upgrade = tunnel::asked(&mut request);
        let version = request.version();
        if version == Version::HTTP_10 {
            // RFC 9110, section 10.1.1: an HTTP/1.0 client does not wait for an interim answer.
            request.headers_mut().remove(EXPECT);
        }
        hygiene::clean_request(request.headers_mut(), version, forward);
        if let Some(upgrade) = &upgrade {
            upgrade.ask(request.headers_mut());
        }
        let progress = request.body().progress();
        let (mut answer, lease) = self.exchange(request, progress.as_deref()).await?;
        if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
            let asked = upgrade
                .filter(|asked| asked.is_granted(&answer))
                .ok_or(Kind::UnaskedSwitch)?;
            return Ok(self.switch(asked, answer, lease, forward.cancel.clone()));
        }
        if !framing::is_clear(&answer) {
            return Err(Kind::Ambiguous.into());
        }
        if let Some(word) = hygiene::clean_response(answer.headers_mut()) {
            answer.extensions_mut().insert(word);
        }
        if upgrade.is_some() {
            // SECURITY: what the client sent behind its request was meant for another protocol: never read it as HTTP.
            answer
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Ok(self.stream(answer, lease, progress.as_deref()))
    }

    async fn exchange(
        &self,
        request: Request<RequestBody>,
        progress: Option<&Progress>,
    ) -> Result<(Response<Incoming>, Lease), Kind> {
        let (head, body) = request.into_parts();
        let head = Head {
            method: head.method,
            uri: head.uri,
            headers: head.headers,
        };
        let Some(progress) = progress else {
            return self.exchange_head(head).await;
        };
        let lease = match self.pool.kept().await {
            Some(kept) => kept,
            None => self.pool.fresh().await?,
        };
        let request = self.with_body(head, body);
        self.send(lease, request, Some(progress))
            .await
            .map_err(|(kind, _)| kind)
    }

    /// A request without a body: it may be sent again.
    async fn exchange_head(&self, mut head: Head) -> Result<(Response<Incoming>, Lease), Kind> {
        head.headers.remove(EXPECT);
        if let Some(lease) = self.pool.kept().await {
            let again = head.method.is_idempotent().then(|| head.clone());
            match (self.send(lease, head.into_request(Sent::nothing()), None).await, again) {
                (Err((Kind::Broken, Unheard(true))), Some(again)) => {
                    up(&self.stats.upstream_retries);
                    head = again;
                }
                (outcome, _) => return outcome.map_err(|(kind, _)| kind),
            }
        }
        let lease = self.pool.fresh().await?;
        self.send(lease, head.into_request(Sent::nothing()), None)
            .await
            .map_err(|(kind, _)| kind)
    }

    fn with_body(&self, mut head: Head, body: RequestBody) -> Request<Sent> {
        if body.size_hint().exact().is_none() {
            // Said outright: without it hyper would send a GET without its body.
            head.headers
                .insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        let expects = head.headers.contains_key(EXPECT);
        let mut request = head.into_request(Sent::new(body));
        if expects {
            Sent::await_continue(&mut request, self.settings.continue_wait);
        }
        request
    }

    async fn send(
        &self,
        mut lease: Lease,
        request: Request<Sent>,
        progress: Option<&Progress>,
    ) -> Result<(Response<Incoming>, Lease), (Kind, Unheard)> {
        let answer = lease.sender().send_request(request);
        let answer = tokio::select! {
            answer = answer => answer,
            () = too_late(progress, self.settings.response) => return Err((Kind::ResponseTimeout, Unheard(false))),
        };
        match answer {
            Ok(answer) => {
                let is_whole = progress.is_none_or(|progress| progress.outcome() == Outcome::Whole);
                // After an early answer the rest of the request is still under way; an HTTP/1.0 peer would make hyper
                // speak 1.0 from now on, and drop chunked bodies.
                if is_whole && answer.version() == Version::HTTP_11 {
                    lease.may_be_kept();
                }
                Ok((answer, lease))
            }
            Err(_) => Err(match progress.map(Progress::outcome) {
                Some(Outcome::Failed(error)) => (error.into(), Unheard(false)),
                _ => (Kind::Broken, Unheard(lease.is_reused() && !lease.is_answered())),
            }),
        }
    }

    fn stream(&self, answer: Response<Incoming>, lease: Lease, progress: Option<&Progress>) -> Response<Body> {
        let (mut head, incoming) = answer.into_parts();
        head.version = Version::HTTP_11;
        let is_whole = progress.is_none_or(|progress| progress.outcome() == Outcome::Whole);
        if incoming.is_end_stream() && is_whole {
            lease.give_back();
            return Response::from_parts(head, Body::empty());
        }
        let body = FromShop::new(incoming, lease, self.settings.body_idle);
        Response::from_parts(head, Body::shop(body))
    }

    fn switch(
        &self,
        asked: tunnel::Asked,
        mut answer: Response<Incoming>,
        lease: Lease,
        cancel: Option<CancellationToken>,
    ) -> Response<Body> {
        let shop = hyper::upgrade::on(&mut answer);
        lease.detach();
        let headers = answer.headers_mut();
        let word = hygiene::clean_response(headers);
        asked.ask(headers);
        let strings = asked.open(shop, self.settings.tunnel_idle, cancel, Arc::clone(&self.stats));
        let (mut head, _) = answer.into_parts();
        head.version = Version::HTTP_11;
        if let Some(word) = word {
            head.extensions.insert(word);
        }
        Response::from_parts(head, Body::tunnel(strings))
    }
}

/// A request's head, kept while it may have to be sent again.
#[derive(Clone)]
struct Head {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
}

impl Head {
    fn into_request(self, body: Sent) -> Request<Sent> {
        let mut request = Request::new(body);
        *request.method_mut() = self.method;
        *request.uri_mut() = self.uri;
        *request.headers_mut() = self.headers;
        request
    }
}

/// Whether a failed exchange had a kept connection under it that died without a byte.
struct Unheard(bool);

/// Ends when the shop has had the whole request for `patience` and not answered. While a body is still coming its own
/// deadlines hold: the client's for what does not arrive, the socket's for what the shop does not take.
async fn too_late(progress: Option<&Progress>, patience: Duration) {
    let mut due = Instant::now() + patience;
    loop {
        sleep_until(due).await;
        let Some(progress) = progress else { return };
        due = match progress.outcome() {
            Outcome::Coming => Instant::now() + patience,
            _ if progress.last_moved() + patience > due => progress.last_moved() + patience,
            _ => return,
        };
    }
}
