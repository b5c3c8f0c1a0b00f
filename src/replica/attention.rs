//! Whether visitors send requests to this gate. A gate whose rooms are all empty and that receives no requests leaves a
//! shared log alone.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

#[derive(Default)]
pub(super) struct Attention {
    /// A request has arrived since the thread last looked.
    seen: AtomicBool,
    /// The thread waits for longer than a visitor should.
    sleeps: AtomicBool,
    /// Uptime at which the thread last found a request, in ms.
    last: AtomicU64,
}

impl Attention {
    /// A visitor asks. True where the thread is to be woken for it.
    // PERF: each request comes here, and nearly always finds that another did.
    pub fn draw(&self) -> bool {
        !self.seen.load(Ordering::SeqCst) && !self.seen.swap(true, Ordering::SeqCst) && self.wakes()
    }

    fn wakes(&self) -> bool {
        self.sleeps.swap(false, Ordering::SeqCst)
    }

    /// The thread looks.
    pub fn look(&self, now: Duration) {
        if self.seen.swap(false, Ordering::SeqCst) {
            let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
            self.last.store(now, Ordering::Relaxed);
        }
    }

    /// Time since the last request was found.
    pub fn missed(&self, now: Duration) -> Duration {
        now.saturating_sub(Duration::from_millis(self.last.load(Ordering::Relaxed)))
    }

    /// Called before the thread waits; false if a request has arrived meanwhile.
    pub fn sleep(&self, now: Duration) -> bool {
        self.sleeps.store(true, Ordering::SeqCst);
        let alone = !self.seen.load(Ordering::SeqCst);
        if !alone {
            self.wakes();
            self.look(now);
        }
        alone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_wakes_a_thread_that_sleeps_and_once() {
        let attention = Attention::default();
        let secs = Duration::from_secs;
        assert!(!attention.draw(), "it is awake");
        attention.look(secs(5));
        assert_eq!(attention.missed(secs(8)), secs(3));
        assert!(attention.sleep(secs(20)));
        assert!(attention.draw());
        assert!(!attention.draw(), "the thread is awake");
        assert!(!attention.sleep(secs(30)), "somebody asked");
        assert_eq!(attention.missed(secs(30)), secs(0));
        assert!(attention.sleep(secs(40)) && attention.draw());
    }
}
