//! Work that goes on when nobody waits for it any more.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::runtime::Handle;

/// A future that is finished in a task of its own when it is dropped early. PERF: only those that are dropped cost a task.
pub struct Outliving<F: Future<Output: Send> + Send + 'static> {
    work: Option<Pin<Box<F>>>,
    left: Left,
}

/// Whether the work goes on alone.
#[derive(Clone, Default)]
pub struct Left(Arc<AtomicBool>);

impl Left {
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl<F: Future<Output: Send> + Send + 'static> Outliving<F> {
    /// Is to be awaited inside the runtime that it goes on in.
    #[must_use]
    pub fn new(work: impl FnOnce(Left) -> F) -> Self {
        let left = Left::default();
        Self {
            work: Some(Box::pin(work(left.clone()))),
            left,
        }
    }
}

impl<F: Future<Output: Send> + Send + 'static> Future for Outliving<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = &mut self.work else {
            return Poll::Pending;
        };
        let done = work.as_mut().poll(cx);
        if done.is_ready() {
            self.work = None;
        }
        done
    }
}

impl<F: Future<Output: Send> + Send + 'static> Drop for Outliving<F> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take()
            && let Ok(runtime) = Handle::try_current()
        {
            self.left.0.store(true, Ordering::Relaxed);
            runtime.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn what_is_dropped_is_done_all_the_same() {
        let (go, gone) = oneshot::channel::<()>();
        let (done, is_done) = oneshot::channel();
        let mut work = Box::pin(Outliving::new(|left| async move {
            let before = left.is_alone();
            let _ = gone.await;
            let _ = done.send((before, left.is_alone()));
        }));
        assert!(is_pending(&mut work).await);
        drop(work);
        go.send(()).unwrap();
        assert_eq!(is_done.await, Ok((false, true)));
        assert!(!Outliving::new(|left| async move { left.is_alone() }).await);
    }

    async fn is_pending(work: &mut (impl Future + Unpin)) -> bool {
        std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut *work).poll(cx).is_pending())).await
    }
}
