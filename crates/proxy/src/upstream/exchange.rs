//! Takes a request to a server and brings the head of its answer back, over as many attempts as the [policy](crate::upstream::retry) allows.
//!
//! A connection that cannot be made is tried at another server, for any request. A request that was sent and failed is sent
//! again within the retries and their budget.

use std::future::poll_fn;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::EXPECT;
use http::{Request, Response, Version};
use hyper::body::Incoming;
use tokio::time::{Instant, sleep_until};

use crate::client::request_body::{Outcome, Progress, RequestBody};
use crate::error::Kind;
use crate::hygiene;
use crate::settings::{UpstreamHttp2, UpstreamSettings};
use crate::stage::Stage;
use crate::stats::up;
use crate::upstream::http2::Unopened;
use crate::upstream::pool::{Lease, Pool};
use crate::upstream::request_body::{Sent, frame};
use crate::upstream::retry::{Attempt, Failure, Left, MOST_SERVERS, Next, Repeatable};
use crate::upstream::servers::{Busy, Target};
use crate::wire::alarm::{Alarm, poll_alarm};

/// The sender of the request.
pub(crate) struct Sender<'a> {
    /// How far the client has come with the body; `None` where there is none.
    pub progress: Option<&'a Progress>,
    pub client: IpAddr,
    /// It asks for a tunnel.
    pub is_tunnel: bool,
    /// Whether it may be forwarded still.
    pub still: &'a (dyn Fn() -> bool + Sync),
    /// Notified when a server has the request, if set.
    pub stage: Option<&'a Stage>,
}

/// One request's way to an answer.
pub(crate) struct Exchange<'a> {
    pool: &'a Arc<Pool>,
    settings: &'a UpstreamSettings,
    sender: Sender<'a>,
    deadline: Option<Instant>,
    /// Servers that are not tried again.
    tried: Vec<Arc<Target>>,
    /// Where a kept connection had died: the server may be well, and has the request again if no other may.
    spare: Option<Arc<Target>>,
    /// The retry may go to the spare alone.
    stays: bool,
    /// Kept connections have died: no other is trusted.
    only_fresh: bool,
    resent: u32,
    /// The error of the last try that was sent.
    last: Kind,
    /// It did not get a kept connection at once.
    waited: bool,
}

/// The request as it would be sent again.
struct Copy {
    request: Request<Sent>,
    repeatable: Repeatable,
}

/// A try that failed.
struct Failed {
    kind: Kind,
    /// No byte of an answer has arrived.
    unheard: bool,
    lease: Lease,
}

impl<'a> Exchange<'a> {
    pub(crate) fn new(pool: &'a Arc<Pool>, sender: Sender<'a>) -> Self {
        pool.budget().earn();
        let settings = pool.settings();
        Self {
            pool,
            settings,
            sender,
            deadline: settings.total.map(|total| Instant::now() + total),
            tried: Vec::new(),
            spare: None,
            stays: false,
            only_fresh: false,
            resent: 0,
            last: Kind::Unreachable,
            waited: false,
        }
    }

    /// The head of an answer, and the connection its body will come over.
    pub(crate) async fn run(mut self, request: Box<Request<RequestBody>>) -> Result<(Response<Incoming>, Lease), Kind> {
        let mut request = self.outgoing(request).await?;
        loop {
            let lease = self.lease().await?;
            // SECURITY: it may have waited, and the right to it may be over.
            if self.waited && !(self.sender.still)() {
                return Err(Kind::Withdrawn);
            }
            let copy = self.copy(&mut request, &lease);
            match self.send(lease, request).await {
                Ok(answered) => return Ok(answered),
                Err(failed) => {
                    self.sender.stage.inspect(|stage| stage.failed());
                    request = self.again(failed, copy)?;
                    self.waited = true;
                }
            }
        }
    }

    async fn outgoing(&mut self, request: Box<Request<RequestBody>>) -> Result<Request<Sent>, Kind> {
        let (mut head, mut body) = request.into_parts();
        if self.sender.progress.is_none() {
            if body.noted().expect {
                head.headers.remove(EXPECT);
            }
            return Ok(with_head(head, Sent::nothing()));
        }
        if !body.is_complete() {
            // PERF: rare, and its state is large.
            let uploads = self.pool.servers().uploads();
            self.waited = true;
            body.hold(Box::pin(uploads.stream(self.sender.client, self.deadline)).await?);
        }
        frame(&mut head.headers, &mut body, self.settings.http2 != UpstreamHttp2::Off);
        let expects = head.headers.contains_key(EXPECT);
        let mut request = with_head(head, Sent::new(body));
        if expects {
            Sent::await_continue(&mut request, self.settings.continue_wait);
        }
        Ok(request)
    }

    fn copy(&self, request: &mut Request<Sent>, lease: &Lease) -> Option<Copy> {
        let attempt = Attempt {
            has_body: self.sender.progress.is_some(),
            is_idempotent: request.method().is_idempotent(),
            resent: self.resent,
            retries: self.settings.retries,
            is_reused: lease.is_reused(),
            is_http2: lease.fate().is_some(),
            has_many_servers: self.pool.servers().are_many(),
        };
        let repeatable = attempt.repeatable();
        (repeatable != Repeatable::Never).then(|| {
            let mut copy = Request::new(request.body_mut().again());
            *copy.method_mut() = request.method().clone();
            *copy.uri_mut() = request.uri().clone();
            *copy.headers_mut() = request.headers().clone();
            Copy {
                request: copy,
                repeatable,
            }
        })
    }

    /// A connection to a server that has not been tried.
    async fn lease(&mut self) -> Result<Lease, Kind> {
        loop {
            if self.is_over() {
                return Err(self.last);
            }
            let stays = self.stays;
            let target = self.next().await.ok_or(self.last)?;
            let mut busy = match Busy::at(target) {
                Ok(busy) => busy,
                Err(full) => match self.turn(full, stays).await? {
                    Some(busy) => busy,
                    None if stays => return Err(self.last),
                    None => continue,
                },
            };
            if !self.only_fresh {
                match self.pool.kept(busy, self.sender.is_tunnel).await {
                    Ok(lease) => return Ok(lease),
                    Err(back) => busy = back,
                }
            }
            self.waited = true;
            // PERF: rare, and its state is large.
            match Box::pin(self.pool.fresh(busy, self.sender.is_tunnel, self.deadline)).await {
                Ok(lease) => return Ok(lease),
                Err((unopened, busy)) => self.missed(&unopened, busy.target())?,
            }
        }
    }

    /// Waits where all connections are taken; `stays` where no other server will do.
    async fn turn(&mut self, full: Arc<Target>, stays: bool) -> Result<Option<Busy>, Kind> {
        self.waited = true;
        let servers = self.pool.servers();
        // PERF: as with a new connection.
        if stays {
            return Box::pin(servers.free_at(full, self.sender.client, self.deadline)).await;
        }
        Box::pin(servers.free(full, &self.tried, self.sender.client, self.deadline)).await
    }

    async fn next(&mut self) -> Option<Arc<Target>> {
        if std::mem::take(&mut self.stays) {
            return self.spare.take();
        }
        let servers = self.pool.servers();
        if self.tried.len() >= MOST_SERVERS {
            return None;
        }
        let next = servers
            .next(&self.tried)
            .or_else(|| self.spare.take())
            .or_else(|| servers.any(&self.tried));
        if next.is_some() || !self.tried.is_empty() {
            return next;
        }
        // Names that have no address yet.
        let left = |end: Instant| end.saturating_duration_since(Instant::now()).min(self.settings.connect);
        let patience = self.deadline.map_or(self.settings.connect, left);
        if !Box::pin(servers.found(patience)).await {
            return None;
        }
        servers.next(&[]).or_else(|| servers.any(&[]))
    }

    fn missed(&mut self, unopened: &Unopened, target: &Arc<Target>) -> Result<(), Kind> {
        match unopened.kind {
            // No fault of this server's.
            kind @ (Kind::Exhausted | Kind::TotalTimeout) => return Err(kind),
            Kind::ConnectTimeout if self.is_over() => return Err(Kind::TotalTimeout),
            kind => self.last = kind,
        }
        if !unopened.is_hearsay {
            target.missed();
            self.pool.servers().missed(target);
        }
        self.tried.push(Arc::clone(target));
        Ok(())
    }

    async fn send(&self, mut lease: Lease, request: Request<Sent>) -> Result<(Response<Incoming>, Lease), Failed> {
        let begun = lease.since();
        self.sender.stage.inspect(|stage| stage.sent());
        let mut alarm = lease.take_alarm();
        let answer = tokio::select! {
            biased;
            answer = lease.send(request) => answer,
            kind = too_late(&mut alarm, self.sender.progress, begun, self.settings.response, self.deadline) => {
                let had_its_time = self.had_its_time(begun);
                if kind == Kind::TotalTimeout && had_its_time {
                    lease.target().failed_with(kind);
                }
                let unheard = !lease.is_answered();
                if kind == Kind::ResponseTimeout || had_its_time {
                    lease.is_late();
                }
                return Err(Failed { kind, unheard, lease });
            }
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(kind) => {
                let kind = match self.sender.progress.map(Progress::outcome) {
                    Some(Outcome::Failed(error)) => error.into(),
                    _ => kind,
                };
                let unheard = !lease.is_answered();
                return Err(Failed { kind, unheard, lease });
            }
        };
        lease.is_headed();
        lease.set_alarm(alarm);
        let is_whole = self.sender.progress.is_none_or(Progress::is_whole);
        // After an early answer the rest of the request is still under way; an HTTP/1.0 peer would make hyper speak 1.0
        // from now on, and drop chunked bodies.
        if is_whole && answer.version() == Version::HTTP_11 {
            lease.may_be_kept();
        }
        Ok((answer, lease))
    }

    /// Whether a server that the total deadline met has itself to blame: it had the whole request for half of the total.
    /// SECURITY: else clients that upload slowly could have servers passed over.
    fn had_its_time(&self, begun: Instant) -> bool {
        let since = match self.sender.progress {
            None => begun,
            Some(progress) if progress.is_whole() => progress.last_moved().max(begun),
            Some(_) => return false,
        };
        self.settings.total.is_some_and(|total| since.elapsed() >= total / 2)
    }

    /// The request for the next try after a failed one, or its error if there is no next try.
    fn again(&mut self, failed: Failed, copy: Option<Copy>) -> Result<Request<Sent>, Kind> {
        let Failed { kind, unheard, lease } = failed;
        let target = Arc::clone(lease.target());
        let failure = Failure {
            kind,
            is_unheard: unheard,
            is_reused: lease.is_reused(),
            fate: lease.fate(),
        };
        drop(lease);
        if failure.is_servers() {
            target.failed_with(kind);
        }
        self.last = kind;
        self.tried.push(Arc::clone(&target));
        let copy = copy.ok_or(kind)?;
        let plan = failure.plan(Left {
            repeatable: copy.repeatable(),
            is_over: self.is_over(),
            resent: self.resent,
            servers_tried: self.tried.len(),
            has_other: self.pool.servers().any(&self.tried).is_some(),
        });
        let paid = plan.in_budget.filter(|_| self.pool.budget().spend());
        let next = paid.or(plan.otherwise).ok_or(kind)?;
        self.only_fresh |= failure.had_died();
        self.stays = next == Next::Same;
        if next != Next::Other {
            self.spare = Some(target);
        }
        self.resent += 1;
        up(&self.pool.used().retries);
        Ok(copy.request)
    }

    fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= Instant::now())
    }
}

impl Copy {
    /// In which case it is sent again, now that the first attempt has failed: all that was read of its body must be here still.
    fn repeatable(&self) -> Repeatable {
        match self.repeatable {
            Repeatable::Always if hygiene::is_repeatable(&self.request) => Repeatable::Always,
            _ if self.request.body().is_whole() => Repeatable::Unprocessed,
            _ => Repeatable::Never,
        }
    }
}

/// Fields that concern only the client's connection are dropped.
fn with_head(mut head: http::request::Parts, body: Sent) -> Request<Sent> {
    head.version = Version::HTTP_11;
    head.extensions.clear();
    Request::from_parts(head, body)
}

/// Ends when the upstream has had the whole request, sent at `begun`, for `patience` without answering, or at the deadline;
/// returns which. While a body is being sent it has deadlines of its own: the client's for bytes that do not arrive, the
/// socket's for bytes that the upstream does not take.
async fn too_late(
    alarm: &mut Option<Alarm>,
    progress: Option<&Progress>,
    begun: Instant,
    patience: Duration,
    deadline: Option<Instant>,
) -> Kind {
    let mut due = begun + patience;
    let alarm = alarm.get_or_insert_with(|| Box::pin(sleep_until(due)));
    loop {
        if let Some(deadline) = deadline.filter(|deadline| *deadline < due) {
            poll_fn(|cx| poll_alarm(alarm.as_mut(), Some(deadline), cx)).await;
            return Kind::TotalTimeout;
        }
        poll_fn(|cx| poll_alarm(alarm.as_mut(), Some(due), cx)).await;
        let Some(progress) = progress else {
            return Kind::ResponseTimeout;
        };
        due = match progress.outcome() {
            Outcome::Coming => Instant::now() + patience,
            _ if progress.last_moved() + patience > due => progress.last_moved() + patience,
            _ => return Kind::ResponseTimeout,
        };
    }
}
