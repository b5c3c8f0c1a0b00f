//! The lookout of a lane for the streams far back in it, so that thousands of them rest until there is news.
//!
//! A stream that wakes up to check costs some 6 µs, most of it for the runtime's timers and locks; the check that nothing has
//! changed for its visitor takes a fraction of one. So a stream with 500 visitors before its own leaves that to one task of
//! the gate.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;

use ropeline_ids::Number;

/// Time between looks: the longest that a stream far back waits for news, such as a call; each look is at all of them.
pub const LOOKS_WITHIN: Duration = Duration::from_millis(500);

/// The lookout checks for a stream with at least this many before it; one with fewer checks itself, a millisecond later for
/// each.
pub const FAR_BACK: u64 = 500;

/// Streams that are looked for before others of the runtime have their turn.
const AT_ONCE: usize = 1_000;

/// The streams of one lane.
#[derive(Default, Debug)]
pub struct Lookout {
    streams: Mutex<Vec<Weak<Resting>>>,
}

/// One stream, which rests or looks for itself.
#[derive(Debug)]
pub struct Resting {
    number: Number,
    /// The frame that it knows, so that any other is news to it, or one of these.
    heeds: AtomicU64,
    woken: Notify,
}

/// It looks for itself.
const NOTHING: u64 = u64::MAX;
/// It has something to tell already, once that is due.
const THE_TURN: u64 = u64::MAX - 1;

impl Lookout {
    /// One more stream, until the returned guard is dropped. It looks for itself at first.
    pub fn join(&self, number: Number) -> Arc<Resting> {
        let resting = Arc::new(Resting {
            number,
            heeds: AtomicU64::new(NOTHING),
            woken: Notify::new(),
        });
        self.lock().push(Arc::downgrade(&resting));
        resting
    }

    /// No stream has ever been far back.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Wakes streams to which `frame` is news and streams that do not stay far back; some of them, from `at` on. Where to go on,
    /// unless those were the last.
    pub fn look(&self, at: usize, frame: u64, stays: impl Fn(Number) -> bool) -> Option<usize> {
        let (next, woken) = self.find(at, frame, stays);
        for resting in woken {
            resting.woken.notify_one();
        }
        next
    }

    fn find(&self, mut at: usize, frame: u64, stays: impl Fn(Number) -> bool) -> (Option<usize>, Vec<Arc<Resting>>) {
        let mut streams = self.lock();
        let mut woken = Vec::new();
        for _ in 0..AT_ONCE {
            let Some(resting) = streams.get(at) else {
                let len = streams.len();
                if len < streams.capacity() / 4 {
                    streams.shrink_to(2 * len);
                }
                return (None, woken);
            };
            let Some(resting) = resting.upgrade() else {
                streams.swap_remove(at);
                continue;
            };
            let heeds = resting.heeds.load(Ordering::Relaxed);
            let news = heeds != THE_TURN && heeds != frame;
            if heeds != NOTHING && (news || !stays(resting.number)) {
                woken.push(resting);
            }
            at += 1;
        }
        (Some(at), woken)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<Resting>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Resting {
    pub fn heed_nothing(&self) {
        self.heeds.store(NOTHING, Ordering::Relaxed);
    }

    /// It is woken once its visitor is not far back any more.
    pub fn heed_the_turn(&self) {
        self.heeds.store(THE_TURN, Ordering::Relaxed);
    }

    /// It is woken then too, and by any frame but this one, below 2^64 - 2.
    pub fn heed_all_but(&self, frame: u64) {
        self.heeds.store(frame, Ordering::Relaxed);
    }

    /// The lookout looks for it.
    pub fn rests(&self) -> bool {
        self.heeds.load(Ordering::Relaxed) != NOTHING
    }

    /// There is something to see, or was before this call.
    pub async fn woken(&self) {
        self.woken.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropeline_ids::Epoch;

    fn number(n: u32) -> Number {
        Number {
            epoch: Epoch::default(),
            n,
        }
    }

    fn woken(resting: &Resting) -> bool {
        futures_util::FutureExt::now_or_never(resting.woken()).is_some()
    }

    #[test]
    fn who_looks_for_itself_is_left_alone_and_others_wake_for_news_and_their_turn() {
        let lookout = Lookout::default();
        let [own, due, idle] = [1, 2, 3].map(|n| lookout.join(number(n)));
        due.heed_the_turn();
        idle.heed_all_but(7);
        let woken = || [&own, &due, &idle].map(|resting| woken(resting));
        assert_eq!(lookout.look(0, 7, |_| true), None);
        assert_eq!(woken(), [false, false, false]);
        lookout.look(0, 8, |_| true);
        assert_eq!(woken(), [false, false, true]);
        lookout.look(0, 7, |_| false);
        assert_eq!(woken(), [false, true, true]);
    }

    #[test]
    fn many_are_looked_for_in_parts_and_who_is_gone_is_forgotten() {
        let lookout = Lookout::default();
        let mut streams: Vec<_> = (0..2_500).map(|n| lookout.join(number(n))).collect();
        for resting in &streams {
            resting.heed_the_turn();
        }
        // Every second one goes.
        streams.retain(|resting| resting.number.n % 2 == 0);
        let (mut at, mut parts) = (Some(0), 0);
        while let Some(from) = at {
            at = lookout.look(from, 0, |_| false);
            parts += 1;
        }
        assert_eq!(parts, 3);
        assert!(streams.iter().all(|resting| woken(resting)));
        assert_eq!(lookout.lock().len(), 1_250);
    }
}
