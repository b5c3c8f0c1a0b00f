//! Wakes many tasks that wait on one thread for the same batch.
//!
//! Waking a task of another thread costs a system call, however many others were just woken there. So only the first task is woken
//! from outside, and it wakes the others of its thread.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use tokio::sync::oneshot;
use tokio::sync::oneshot::error::RecvError;

thread_local!(static HERE: Arc<Woken> = Arc::default());

/// Those of one thread who were woken and have not looked yet.
#[derive(Default)]
struct Woken(Mutex<Others>);

#[derive(Default)]
struct Others {
    /// A task is on its way to wake the others.
    first: bool,
    others: Vec<Waker>,
}

/// An outcome to which all who wait on this thread are woken as one.
pub(super) struct AsOne<T> {
    outcome: oneshot::Receiver<T>,
    woken: Arc<Woken>,
}

/// Wakes a task, or leaves it to the one that was woken first.
struct One {
    task: Waker,
    woken: Arc<Woken>,
}

impl<T> AsOne<T> {
    pub fn of(outcome: oneshot::Receiver<T>) -> Self {
        let woken = HERE.with(Arc::clone);
        Self { outcome, woken }
    }
}

impl<T> Future for AsOne<T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.woken.wake_others();
        let one = One {
            task: context.waker().clone(),
            woken: Arc::clone(&self.woken),
        };
        Pin::new(&mut self.outcome).poll(&mut Context::from_waker(&Waker::from(Arc::new(one))))
    }
}

/// A caller that gives up may have been the first.
impl<T> Drop for AsOne<T> {
    fn drop(&mut self) {
        self.woken.wake_others();
    }
}

impl Wake for One {
    fn wake(self: Arc<Self>) {
        let mut woken = self.woken.lock();
        if woken.first {
            return woken.others.push(self.task.clone());
        }
        woken.first = true;
        drop(woken);
        self.task.wake_by_ref();
    }
}

impl Woken {
    fn wake_others(&self) {
        let Others { others, .. } = std::mem::take(&mut *self.lock());
        others.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, Others> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Count(AtomicU32);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    type Waiting = (oneshot::Sender<u32>, AsOne<u32>, Arc<Count>);

    fn three() -> [Waiting; 3] {
        std::array::from_fn(|_| {
            let (answer, outcome) = oneshot::channel();
            let mut waiting = (answer, AsOne::of(outcome), Arc::default());
            assert!(look(&mut waiting).is_pending());
            waiting
        })
    }

    fn look((_, waiting, count): &mut Waiting) -> Poll<Result<u32, RecvError>> {
        let waker = Waker::from(Arc::clone(count));
        Pin::new(waiting).poll(&mut Context::from_waker(&waker))
    }

    fn woken(all: &[Waiting]) -> Vec<u32> {
        all.iter()
            .map(|(_, _, count)| count.0.load(Ordering::Relaxed))
            .collect()
    }

    /// Answers all of them, as a thread of their own does.
    fn answer(all: &mut [Waiting]) {
        for (at, waiting) in (1..).zip(all) {
            let (gone, _) = oneshot::channel();
            std::mem::replace(&mut waiting.0, gone).send(at).unwrap();
        }
    }

    #[test]
    fn the_first_alone_is_woken_and_wakes_the_others() {
        let mut all = three();
        answer(&mut all);
        assert_eq!(woken(&all), [1, 0, 0]);
        assert_eq!(look(&mut all[0]), Poll::Ready(Ok(1)));
        assert_eq!(woken(&all), [1, 1, 1]);
        assert_eq!(look(&mut all[2]), Poll::Ready(Ok(3)));
        assert_eq!(look(&mut all[1]), Poll::Ready(Ok(2)));
        let mut later = three();
        answer(&mut later);
        assert_eq!(woken(&later), [1, 0, 0], "and so it goes on");
    }

    #[test]
    fn where_the_first_gives_up_the_others_are_woken_all_the_same() {
        let mut all = Vec::from(three());
        answer(&mut all);
        drop(all.remove(0));
        assert_eq!(woken(&all), [1, 1]);
    }

    #[test]
    fn somebody_new_wakes_whom_the_first_has_not_woken_yet() {
        let mut all = three();
        answer(&mut all);
        let _new = three();
        assert_eq!(woken(&all), [1, 1, 1]);
    }
}
