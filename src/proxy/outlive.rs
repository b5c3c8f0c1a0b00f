//! Work that goes on when nobody waits for it any more.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

/// A future that is finished in a task of its own when it is dropped early. PERF: only those that are dropped cost a task.
pub struct Outliving<F: Future<Output: Send> + Send + 'static>(Option<Pin<Box<F>>>);

impl<F: Future<Output: Send> + Send + 'static> Outliving<F> {
    /// Is to be awaited inside the runtime that it goes on in.
    #[must_use]
    pub fn new(work: F) -> Self {
        Self(Some(Box::pin(work)))
    }
}

impl<F: Future<Output: Send> + Send + 'static> Future for Outliving<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = &mut self.0 else { return Poll::Pending };
        let done = work.as_mut().poll(cx);
        if done.is_ready() {
            self.0 = None;
        }
        done
    }
}

impl<F: Future<Output: Send> + Send + 'static> Drop for Outliving<F> {
    fn drop(&mut self) {
        if let Some(work) = self.0.take()
            && let Ok(runtime) = Handle::try_current()
        {
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
        let mut work = Box::pin(Outliving::new(async move {
            let _ = gone.await;
            let _ = done.send(7);
        }));
        assert!(is_pending(&mut work).await);
        drop(work);
        go.send(()).unwrap();
        assert_eq!(is_done.await, Ok(7));
        assert_eq!(Outliving::new(async { 8 }).await, 8);
    }

    async fn is_pending(work: &mut (impl Future + Unpin)) -> bool {
        std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut *work).poll(cx).is_pending())).await
    }
}
