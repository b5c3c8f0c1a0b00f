//! Runs a connection: hyper's tasks, and the upstream's settings as they become known.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::client::conn::http2::Connection;
use hyper::rt::Executor;
use hyper_util::rt::TokioIo;
use tokio_util::sync::CancellationToken;

use super::watch::Watched;
use crate::error::BoxError;
use crate::lock::held;
use crate::upstream::request_body::Sent;

/// Runs a connection's tasks; those that send for a stream, an upload or a tunnel, until the stream is dropped.
#[derive(Clone, Default)]
pub(super) struct Run(Arc<Mutex<Option<CancellationToken>>>);

tokio::task_local! {
    /// Ends the stream of the running task.
    static END: CancellationToken;
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Run {
    fn execute(&self, task: F) {
        // The task that waits for the answer to a CONNECT spawns the task that sends in the tunnel. That one must end with
        // the stream too, or, if the upstream takes no data, it would stay for ever, and the stream with it.
        let end = END.try_with(Clone::clone).ok().or_else(|| held(&self.0).take());
        match end {
            Some(end) => {
                tokio::spawn(END.scope(end.clone(), async move {
                    end.run_until_cancelled_owned(task).await;
                }));
            }
            // PERF: nothing around it, since it is large and would be moved more often.
            None => {
                tokio::spawn(task);
            }
        }
    }
}

/// A request's body on its stream. The task that drives its upload, or its tunnel, gets the token that ends it.
pub(super) struct Carried {
    body: Sent,
    run: Option<(Run, CancellationToken)>,
    is_tunnel: bool,
}

impl Carried {
    /// `end` ends the upload, or the tunnel.
    pub(super) fn new(body: Sent, run: Run, end: CancellationToken, is_tunnel: bool) -> Self {
        let run = Some((run, end));
        Self { body, run, is_tunnel }
    }
}

impl Body for Carried {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        // hyper reads a body for the first time just before it passes it to a task.
        if let Some((run, end)) = self.run.take() {
            *held(&run.0) = Some(end);
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        // hyper asks just before it sends the head; the next task that it runs for a CONNECT, whose body it never reads, is
        // the wait for its answer.
        if let Some((run, end)) = &self.run {
            *held(&run.0) = self.is_tunnel.then(|| end.clone());
        }
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

type Shared = Connection<TokioIo<Watched>, Carried, Run>;

/// hyper's end of a connection, until it takes no more requests.
pub(super) struct Driven(Mutex<Option<Shared>>);

/// Drives a connection as a task of the current runtime.
pub(super) fn drive(connection: Shared) -> Arc<Driven> {
    let driven = Arc::new(Driven(Mutex::new(Some(connection))));
    let own = Arc::clone(&driven);
    tokio::spawn(poll_fn(move |cx| own.poll(cx)));
    driven
}

impl Driven {
    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut shared = held(&self.0);
        if let Some(connection) = &mut *shared {
            // Its errors reach the request that waits for an answer.
            let _ = ready!(Pin::new(connection).poll(cx));
        }
        // It would hold the connection open.
        *shared = None;
        Poll::Ready(())
    }

    /// Requests at once that the upstream takes now.
    pub(super) fn most_streams(&self) -> usize {
        held(&self.0).as_ref().map_or(0, Connection::current_max_send_streams)
    }

    /// Whether the upstream takes a WebSocket's CONNECT (RFC 8441, section 3).
    pub(super) fn takes_tunnels(&self) -> bool {
        held(&self.0)
            .as_ref()
            .is_some_and(Connection::is_extended_connect_protocol_enabled)
    }
}
