//! The use of a connection for one request.

use std::sync::Arc;

use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use tokio::time::Instant;

use super::Pool;
use super::line::Line;
use super::way::Way;
use crate::error::Kind;
use crate::hygiene;
use crate::upstream::http2::Fate;
use crate::upstream::request_body::Sent;
use crate::upstream::servers::{Busy, Target};
use crate::wire::alarm::Alarm;

/// On drop it ends the request under way, unless the connection was given back.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Lease {
    // Before `busy`: a connection is kept, or told to close, before another request may take its place.
    way: Option<Way>,
    pool: Arc<Pool>,
    busy: Busy,
    since: Instant,
    reused: bool,
    reusable: bool,
    /// SECURITY: a client is authenticated on the connection itself.
    is_bound: bool,
    /// A whole answer speaks for its server.
    good: bool,
}

impl Lease {
    pub(super) fn new(pool: &Arc<Pool>, way: Way, busy: Busy, since: Instant) -> Self {
        Self {
            reused: matches!(&way, Way::Shared(stream) if stream.is_reused()),
            way: Some(way),
            pool: Arc::clone(pool),
            busy,
            since,
            reusable: false,
            is_bound: false,
            good: false,
        }
    }

    /// Of a connection that stood idle.
    pub(super) fn again(pool: &Arc<Pool>, line: Line, busy: Busy, since: Instant) -> Self {
        Self {
            reused: true,
            ..Self::new(pool, Way::Own(line), busy, since)
        }
    }

    /// Sends a request and waits for the head of its answer.
    pub(crate) async fn send(&mut self, request: Request<Sent>) -> Result<Response<Incoming>, Kind> {
        match &mut self.way {
            Some(Way::Own(line)) => {
                self.is_bound |= hygiene::binds_connection(request.headers(), &AUTHORIZATION);
                let answer = line.sender.send_request(request).await.map_err(|_| Kind::Broken)?;
                self.is_bound |= answer.status() == StatusCode::UNAUTHORIZED
                    && hygiene::binds_connection(answer.headers(), &WWW_AUTHENTICATE);
                Ok(answer)
            }
            // PERF: its state is large.
            Some(Way::Shared(stream)) => Box::pin(stream.send(request, self.pool.settings.write)).await,
            None => unreachable!("a lease holds its connection until it is given back"),
        }
    }

    /// The timer that is the connection's own, if it has one; to be [put back](Self::set_alarm) while the lease lasts.
    pub(crate) fn take_alarm(&mut self) -> Option<Alarm> {
        match &mut self.way {
            Some(Way::Own(line)) => line.alarm.take(),
            _ => None,
        }
    }

    pub(crate) fn set_alarm(&mut self, alarm: Option<Alarm>) {
        if let Some(Way::Own(line)) = &mut self.way {
            line.alarm = alarm;
        }
    }

    pub(crate) fn target(&self) -> &Arc<Target> {
        self.busy.target()
    }

    /// When it began.
    pub(crate) fn since(&self) -> Instant {
        self.since
    }

    /// Whether the connection has served a request before.
    pub(crate) fn is_reused(&self) -> bool {
        self.reused
    }

    /// Whether the upstream has sent any byte during this lease; over HTTP/2, where bytes are many requests', an answer's head.
    pub(crate) fn is_answered(&self) -> bool {
        match &self.way {
            Some(Way::Own(line)) => line.heard.any(),
            Some(Way::Shared(stream)) => stream.fate() == Fate::Answered,
            None => false,
        }
    }

    /// The outcome of a request over HTTP/2.
    pub(crate) fn fate(&self) -> Option<Fate> {
        match &self.way {
            Some(Way::Shared(stream)) => Some(stream.fate()),
            _ => None,
        }
    }

    /// Notes that the answer's head has arrived.
    pub(crate) fn is_headed(&self) {
        if let Some(Way::Own(line)) = &self.way {
            line.heard.head();
        }
    }

    /// Says that no answer came in time.
    pub(crate) fn is_late(&self) {
        if let Some(Way::Shared(stream)) = &self.way {
            stream.distrust();
        }
    }

    /// Says that the connection may serve another request once the answer has been read whole.
    pub(crate) fn may_be_kept(&mut self) {
        self.reusable = !self.is_bound;
    }

    /// Counts a head with this status for or against its server: a good one only once the answer is whole, unless it has no end.
    pub(crate) fn judge(&mut self, status: StatusCode, is_endless: bool) {
        self.good = self.target().is_good(status);
        if self.good && is_endless {
            self.target().succeeded();
        }
    }

    /// The answer has been read whole.
    pub(crate) fn give_back(mut self) {
        if self.good {
            self.target().succeeded();
        }
        if let (Some(Way::Own(line)), true) = (self.way.take(), self.reusable) {
            self.pool.push(self.busy.target(), line);
        }
    }

    /// Turns the connection into a tunnel: its task gives up the socket and ends by itself. The server counts as busy, and a
    /// shared connection too, as long as the returned value lives.
    pub(crate) fn detach(self) -> (Option<Way>, Busy) {
        let Self { mut way, busy, .. } = self;
        if let Some(Way::Own(mut line)) = way.take_if(|way| matches!(way, Way::Own(_))) {
            line.task.0 = None;
        }
        (way, busy)
    }
}
