//! Requests that are carried to their end although their client has hung up.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::body::Body;
use crate::boxed::boxed;
use crate::client::hop::Hop;
use crate::stage::Stage;

/// A request that goes on in a task of its own if it is dropped while a server has it and `may` returns a guard; the guard is
/// held until the request ends. It counts as a connection, so that a drain waits for it. If it is dropped at any other time,
/// it is cancelled. PERF: only a dropped request costs a task.
pub struct Detachable<F, M>
where
    F: Future<Output: Send> + Send + 'static,
    M: FnOnce() -> Option<Box<dyn Send>>,
{
    request: Option<Pin<Box<F>>>,
    may: Option<M>,
    stage: Stage,
    hop: Arc<Hop>,
}

impl<F, M> Detachable<F, M>
where
    F: Future<Output: Send> + Send + 'static,
    M: FnOnce() -> Option<Box<dyn Send>>,
{
    /// Is to be awaited inside the runtime that it goes on in. The request is to be [forwarded](crate::Forward::stage) with the stage
    /// that `request` is given.
    #[must_use]
    pub fn new(hop: &Arc<Hop>, may: M, request: impl FnOnce(Stage) -> F) -> Self {
        let stage = Stage::default();
        Self {
            request: Some(boxed(|| request(stage.clone()))),
            may: Some(may),
            stage,
            hop: Arc::clone(hop),
        }
    }

    fn go_on(&mut self) -> Option<()> {
        let (request, may) = (self.request.take()?, self.may.take()?);
        let runtime = Handle::try_current().ok().filter(|_| self.stage.is_at_server())?;
        let held = (may()?, self.hop.connection());
        self.stage.detach();
        runtime.spawn(async move {
            request.await;
            drop(held);
        });
        Some(())
    }
}

impl<F, M> Future for Detachable<F, M>
where
    F: Future<Output: Send> + Send + 'static,
    M: FnOnce() -> Option<Box<dyn Send>> + Unpin,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let request = self.request.as_mut().expect("polled again when it was done");
        let done = request.as_mut().poll(cx);
        if done.is_ready() {
            self.request = None;
        }
        done
    }
}

impl<F, M> Drop for Detachable<F, M>
where
    F: Future<Output: Send> + Send + 'static,
    M: FnOnce() -> Option<Box<dyn Send>>,
{
    fn drop(&mut self) {
        // The request is dropped if it may not go on.
        let _ = self.go_on();
    }
}

/// Reads the rest of an answer without a reader, because upstreams do their work while they send. Stops when the rest is long
/// or slow.
pub async fn read_rest(body: &mut Body) {
    let read = async {
        let mut bytes = 0;
        while let Some(Ok(frame)) = body.frame().await {
            bytes += frame.data_ref().map_or(0, bytes::Bytes::len);
            if bytes > MOST_REST {
                return;
            }
        }
    };
    // A longer rest is dropped with its connection.
    let _ = timeout(REST_TIME, read).await;
}

/// Most bytes of an answer that are read without a reader.
const MOST_REST: usize = 256 * 1024;
/// How long they are read for.
const REST_TIME: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;
    use crate::client::proto::Proto;

    fn hop() -> Arc<Hop> {
        let any = ([127, 0, 0, 1], 80).into();
        Arc::new(Hop::of(any, any, Proto::Http))
    }

    /// Whether a dropped request goes on, at the server or before it is there.
    async fn goes_on(is_at_server: bool, may: bool) -> bool {
        let (go, gone) = oneshot::channel::<()>();
        let (done, is_done) = oneshot::channel();
        let may = move || may.then(|| Box::new(()) as Box<dyn Send>);
        let mut request = Box::pin(Detachable::new(&hop(), may, |stage| async move {
            stage.sent();
            if !is_at_server {
                stage.failed();
            }
            assert!(!stage.is_detached());
            let _ = gone.await;
            let _ = done.send(stage.is_detached());
        }));
        let is_pending = std::future::poll_fn(|cx| Poll::Ready(request.as_mut().poll(cx).is_pending())).await;
        assert!(is_pending);
        drop(request);
        let _ = go.send(());
        is_done.await == Ok(true)
    }

    #[tokio::test]
    async fn what_a_server_has_goes_on_if_it_may_and_nothing_else_does() {
        assert!(goes_on(true, true).await);
        assert!(!goes_on(true, false).await, "over the bound");
        assert!(!goes_on(false, true).await, "not sent yet");
    }
}
