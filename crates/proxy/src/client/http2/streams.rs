//! The streams of one connection: the number of those that the client reset, and those whose client takes no data.
//!
//! A client may reset a request at any time, and browsers do when a visitor leaves a page; an attack is recognised by the
//! number of resets. A client that takes no data keeps a piece of its answer in memory: such a stream is ended, and the
//! others go on.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use hyper::rt::Executor;
use tokio::time::Instant;

use crate::body::Body;
use crate::client::conn::Conn;
use crate::error::BoxError;
use crate::lock::held;
use crate::wire::bucket::Bucket;
use crate::wire::pace::{Pace, piece_of};

/// State that a connection's streams share.
pub(super) struct Streams {
    patience: Duration,
    /// The stream that has just begun: hyper passes its future to [`Run`] before another begins.
    begun: Mutex<Option<Arc<Pace>>>,
    under_way: AtomicU32,
    /// Requests that may still be called off. `None`: they are many people's.
    called_off: Option<Mutex<Bucket>>,
    flooded: AtomicBool,
}

impl Streams {
    /// `patience` is how long a client may take nothing of an answer; `is_shared` when the client brings many people.
    pub(super) fn new(patience: Duration, is_shared: bool) -> Self {
        Self {
            patience,
            begun: Mutex::default(),
            under_way: AtomicU32::new(0),
            called_off: (!is_shared).then(|| Mutex::new(Bucket::full(CALLED_OFF_AT_ONCE, CALLED_OFF_PER_SECOND))),
            flooded: AtomicBool::new(false),
        }
    }

    pub(super) fn begin(self: &Arc<Self>) -> Stream {
        let pace = Arc::new(Pace::new());
        self.next(&pace);
        self.under_way.fetch_add(1, Ordering::Relaxed);
        Stream {
            pace,
            streams: Arc::clone(self),
            is_over: false,
        }
    }

    /// The future that hyper runs next has this pace.
    fn next(&self, pace: &Arc<Pace>) {
        *held(&self.begun) = Some(Arc::clone(pace));
    }

    /// How long a stream's client may take no data: longer if many streams take turns on one connection, since each of them
    /// waits for all others.
    fn patience(&self) -> Duration {
        self.patience * (1 + self.under_way.load(Ordering::Relaxed) / STREAMS_A_TURN)
    }

    /// The client has called off more requests than people who leave pages do.
    pub(super) fn are_called_off_too_often(&self) -> bool {
        self.flooded.load(Ordering::Relaxed)
    }

    fn called_off(&self) {
        let is_spent = |bucket: &Mutex<Bucket>| !held(bucket).take(Instant::now());
        if self.called_off.as_ref().is_some_and(is_spent) {
            self.flooded.store(true, Ordering::Relaxed);
        }
    }
}

/// Runs the connection's streams, and drops one whose client takes no data for too long: h2 then resets it.
#[derive(Clone)]
pub(super) struct Run(pub(super) Arc<Streams>);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Run {
    fn execute(&self, stream: F) {
        let (pace, streams) = (held(&self.0.begun).take(), Arc::clone(&self.0));
        tokio::spawn(async move {
            let Some(pace) = pace else { return stream.await };
            tokio::select! {
                biased;
                () = stream => {}
                () = pace.stalled(|| streams.patience()) => {}
            }
        });
    }
}

/// One stream, from its request to the end of its answer. Dropped before, it was called off.
pub(super) struct Stream {
    pace: Arc<Pace>,
    streams: Arc<Streams>,
    is_over: bool,
}

impl Stream {
    /// Since when data has been offered to its client.
    pub(super) fn pace(&self) -> Arc<Pace> {
        Arc::clone(&self.pace)
    }

    /// It becomes a tunnel: the future that hyper runs next for it has the same pace, which the tunnel keeps.
    pub(super) fn go_on(&self) {
        self.streams.next(&self.pace);
    }

    /// The gate ends it, and not the client.
    pub(super) fn refuse(&mut self) {
        self.is_over = true;
    }

    /// The answer's body, watched.
    pub(super) fn carry(mut self, body: Body, conn: Arc<Conn>) -> Reply {
        self.is_over = body.is_end_stream();
        Reply {
            body,
            conn,
            rest: Bytes::new(),
            stream: self,
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.streams.under_way.fetch_sub(1, Ordering::Relaxed);
        if !self.is_over {
            self.streams.called_off();
        }
    }
}

/// An answer on its way, in pieces no longer than a frame, because h2 keeps a piece until the client takes it.
pub(super) struct Reply {
    body: Body,
    conn: Arc<Conn>,
    rest: Bytes,
    stream: Stream,
}

impl Reply {
    fn give(&mut self) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let piece = self.rest.split_to(piece_of(self.rest.len()));
        self.stream.is_over = self.is_end_stream();
        self.stream.pace.offer();
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}

impl http_body::Body for Reply {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        if this.conn.poll_room(cx).is_pending() {
            // The others' bytes, or its own before: it waits for the client either way.
            this.stream.pace.offer();
            return Poll::Pending;
        }
        this.stream.pace.taken();
        if !this.rest.is_empty() {
            return this.give();
        }
        match Pin::new(&mut this.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => {
                    this.rest = data;
                    this.give()
                }
                Err(trailers) => {
                    this.stream.is_over = true;
                    Poll::Ready(Some(Ok(trailers)))
                }
            },
            // The end, or the upstream's fault: not the client's in any case.
            Poll::Ready(end) => {
                this.stream.is_over = true;
                Poll::Ready(end)
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

/// With this many answers under way on a connection, each has twice the time; with twice as many, three times.
const STREAMS_A_TURN: u32 = 8;
/// Requests that a client may call off: all that a page loads at once when one leaves it, and again every few seconds.
const CALLED_OFF_AT_ONCE: f64 = 200.0;
const CALLED_OFF_PER_SECOND: f64 = 20.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_page_s_requests_may_be_called_off_and_later_more() {
        let streams = |is_shared| Arc::new(Streams::new(Duration::from_secs(30), is_shared));
        let call_off = |streams: &Arc<Streams>, count| {
            (0..count).for_each(|_| drop(streams.begin()));
            streams.are_called_off_too_often()
        };
        let own = streams(false);
        assert!(!call_off(&own, 200));
        assert!(call_off(&own, 100));
        assert!(!call_off(&streams(true), 1_000), "many people's");
        let answered = streams(false);
        let (conn, ..) = crate::client::conn::tests::unix();
        (0..1_000).for_each(|_| drop(answered.begin().carry(Body::empty(), Arc::clone(&conn))));
        assert!(!answered.are_called_off_too_often());
    }

    #[tokio::test]
    async fn who_waits_for_many_others_has_longer() {
        let streams = Arc::new(Streams::new(Duration::from_secs(30), false));
        let patience = |count| {
            let _under_way: Vec<_> = (0..count).map(|_| streams.begin()).collect();
            streams.patience().as_secs()
        };
        assert_eq!([0, 1, 7, 8, 30, 100].map(patience), [30, 30, 30, 60, 120, 390]);
    }
}
