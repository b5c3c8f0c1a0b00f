//! The data that the thread publishes to all handles: the view, the gate's condition towards its log, and the figures.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::{ArcSwap, Guard};
use tokio::sync::watch;

use super::CUT_OFF_AFTER;
use super::attention::Attention;
use super::calls::Calls;
use super::failing::Failing;
use crate::room::{Additions, Clock, Effects, GateId, Position, View};
use crate::store::Unavailable;
use crate::time;

/// A view and when it was published.
pub(super) struct Published {
    view: Arc<View>,
    at: Duration,
}

/// A look at the view in force, without taking a reference count; hold it for one request at most.
pub struct ViewGuard(Guard<Arc<Published>>);

/// Shared between the thread and all handles.
pub(super) struct Shared {
    published: ArcSwap<Published>,
    watchers: watch::Sender<Arc<View>>,
    additions: watch::Sender<Arc<Additions>>,
    /// Uptime in ms plus one when the batch under way was first sent; 0 when none is.
    under_way: AtomicU64,
    frozen: AtomicU64,
    /// The thread has ended by an internal error.
    fallen: watch::Sender<bool>,
    condition: ArcSwap<Condition>,
    /// The gates that a log without a root waits for.
    missing: ArcSwap<Vec<GateId>>,
    failed: OnceLock<Unavailable>,
    /// Visitors have been numbered, or could have been, in this life of the process.
    opened: AtomicBool,
    pub stop: AtomicBool,
    /// How long a stop waits for a log that is to take notes which no later request says again.
    pub patience_ms: AtomicU64,
    pub abandon: AtomicBool,
    /// The highest epoch seen on a genuine token from elsewhere.
    pub foreign: AtomicU64,
    pub pending_joins: AtomicUsize,
    pub counts: Counts,
    pub calls: Calls,
    pub failing: Failing,
    pub attention: Attention,
}

/// How a gate stands to its log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// The log is being read.
    Starting,
    Live,
    /// There is no log, and this gate knows of none before: the first one is about to begin.
    Opening,
    /// A new log has no root yet: the gates agree on the state with which it starts. `left` is log time until the `missing`
    /// gates are no longer awaited.
    Healing {
        left: Duration,
        missing: usize,
    },
    /// The entry at `at` cannot be applied: the rooms stand still before it.
    Frozen {
        at: Position,
    },
    /// The log has gone on with a machine version that this binary lacks, or is configured not to run.
    Behind {
        version: u16,
    },
}

/// Totals of one life of the process.
#[derive(Default)]
pub(super) struct Counts {
    pub entries: AtomicU64,
    pub appends: AtomicU64,
    pub skipped: AtomicU64,
    pub notes_dropped: AtomicU64,
    pub snapshots: AtomicU64,
    pub log_bytes: AtomicU64,
    pub lag_us: AtomicU64,
    pub outages: AtomicU64,
    pub outage_ms: AtomicU64,
    pub outvoted: AtomicU64,
}

impl Counts {
    pub fn dropped(&self) {
        self.notes_dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// A note was dropped, unless there was room for it.
    pub fn dropped_unless(&self, has_room: bool) {
        if !has_room {
            self.dropped();
        }
    }

    pub fn log_holds(&self, bytes: u64) {
        self.log_bytes.store(bytes, Ordering::Relaxed);
    }

    pub fn read(&self) {
        self.entries.fetch_add(1, Ordering::Relaxed);
    }

    pub fn applied(&self, effects: &Effects) {
        self.skipped.fetch_add(u64::from(effects.skipped), Ordering::Relaxed);
    }

    pub fn appended(&self, took: Duration) {
        self.appends.fetch_add(1, Ordering::Relaxed);
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.lag_us.store(took, Ordering::Relaxed);
    }

    pub fn saved(&self) {
        self.snapshots.fetch_add(1, Ordering::Relaxed);
    }

    pub fn outvoted(&self) {
        self.outvoted.fetch_add(1, Ordering::Relaxed);
    }
}

/// The replica's figures; totals count from the start of the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// How long the last batch took to be durable and read back.
    pub lag: Duration,
    /// Bytes that the log keeps: on disk, or of entries in a store that gates share.
    pub log_bytes: u64,
    /// Entries applied, one's own and others'.
    pub entries: u64,
    /// Batches appended.
    pub appends: u64,
    /// Calls of any kind that the log did not answer or refused for now; each is tried again.
    pub failures: u64,
    /// Items of entries that the rooms passed over.
    pub skipped: u64,
    /// Notes lost because too many were waiting.
    pub notes_dropped: u64,
    pub pending_joins: usize,
    pub snapshots: u64,
    /// How often the gate was cut off, and for how long in all, the present time included.
    pub outages: u64,
    pub outage: Duration,
    /// How often this gate's rooms differed from most gates', and were loaded anew.
    pub outvoted: u64,
}

impl Shared {
    pub fn new(view: Arc<View>) -> Self {
        Self {
            watchers: watch::Sender::new(Arc::clone(&view)),
            additions: watch::Sender::new(Arc::clone(&view.additions)),
            published: ArcSwap::from_pointee(Published {
                view,
                at: time::uptime(),
            }),
            under_way: AtomicU64::new(0),
            frozen: AtomicU64::new(0),
            fallen: watch::Sender::new(false),
            condition: ArcSwap::from_pointee(Condition::Starting),
            missing: ArcSwap::default(),
            failed: OnceLock::new(),
            opened: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            patience_ms: AtomicU64::new(0),
            abandon: AtomicBool::new(false),
            foreign: AtomicU64::new(0),
            pending_joins: AtomicUsize::new(0),
            counts: Counts::default(),
            calls: Calls::default(),
            failing: Failing::default(),
            attention: Attention::default(),
        }
    }

    pub fn publish(&self, view: Arc<View>, now: Duration) {
        self.published.store(Arc::new(Published {
            view: Arc::clone(&view),
            at: now,
        }));
        // PERF: a view comes with every batch, other additions once in a while, and each wakes a thread.
        self.additions.send_if_modified(|known| {
            let others = !Arc::ptr_eq(known, &view.additions);
            if others {
                *known = Arc::clone(&view.additions);
            }
            others
        });
        self.watchers.send_replace(view);
    }

    pub fn load(&self) -> ViewGuard {
        ViewGuard(self.published.load())
    }

    pub fn subscribe(&self) -> watch::Receiver<Arc<View>> {
        self.watchers.subscribe()
    }

    pub fn additions(&self) -> watch::Receiver<Arc<Additions>> {
        self.additions.subscribe()
    }

    /// A batch was sent, or the log gave no answer; unless that was so already.
    pub fn sent(&self, now: Duration) {
        let _ = self
            .under_way
            .compare_exchange(0, stamp(now), Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The log answers, and no batch is unread.
    pub fn read_back(&self, now: Duration) {
        let Some(took) = since(self.under_way.swap(0, Ordering::Relaxed), now) else {
            return;
        };
        if let Some(over) = took.checked_sub(CUT_OFF_AFTER) {
            self.counts.outages.fetch_add(1, Ordering::Relaxed);
            self.counts
                .outage_ms
                .fetch_add(u64::try_from(over.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    pub fn freeze(&self, now: Duration) {
        let _ = self
            .frozen
            .compare_exchange(0, stamp(now), Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The thread is no more: the rooms stand still for the rest of the process's life.
    pub fn fall(&self, now: Duration) {
        self.freeze(now);
        self.fallen.send_replace(true);
    }

    pub fn fallen(&self) -> watch::Receiver<bool> {
        self.fallen.subscribe()
    }

    pub fn condition(&self) -> Condition {
        **self.condition.load()
    }

    /// No numbers are assigned at present: the log does not answer, or has no root yet.
    pub fn stands_still(&self) -> bool {
        self.failing.fails() || self.condition() != Condition::Live
    }

    /// The gate lives on a log that has its rooms.
    pub fn open(&self) {
        self.opened.store(true, Ordering::Release);
    }

    pub fn opened(&self) -> bool {
        self.opened.load(Ordering::Acquire)
    }

    pub fn missing(&self) -> Vec<GateId> {
        self.missing.load().to_vec()
    }

    pub fn set_missing(&self, missing: Vec<GateId>) {
        if **self.missing.load() != missing {
            self.missing.store(Arc::new(missing));
        }
    }

    pub fn set_condition(&self, condition: Condition) {
        if condition == Condition::Live {
            self.frozen.store(0, Ordering::Relaxed);
        }
        if self.condition() != condition {
            self.condition.store(Arc::new(condition));
        }
    }

    /// The log of this gate alone cannot be read at its start.
    pub fn fail(&self, reason: Unavailable) {
        let _ = self.failed.set(reason);
    }

    pub fn failed(&self) -> Option<&Unavailable> {
        self.failed.get()
    }

    pub fn frozen(&self) -> bool {
        self.frozen.load(Ordering::Relaxed) != 0
    }

    /// For how long the gate has been cut off: two seconds of silence are not counted, a frozen replica counts at once.
    /// PERF: each request asks several times, mostly while nothing is under way; the clock is read where something is.
    pub fn cut_off(&self, now: impl FnOnce() -> Duration) -> Option<Duration> {
        let (under_way, frozen) = (
            self.under_way.load(Ordering::Relaxed),
            self.frozen.load(Ordering::Relaxed),
        );
        if under_way == 0 && frozen == 0 {
            return None;
        }
        let now = now();
        let silent = since(under_way, now).and_then(|silent| silent.checked_sub(CUT_OFF_AFTER));
        since(frozen, now).max(silent)
    }

    pub fn stats(&self) -> Stats {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let present = self.cut_off(time::uptime);
        Stats {
            lag: Duration::from_micros(read(&self.counts.lag_us)),
            log_bytes: read(&self.counts.log_bytes),
            entries: read(&self.counts.entries),
            appends: read(&self.counts.appends),
            failures: self.calls.failed().map(|(_, count)| count).sum(),
            skipped: read(&self.counts.skipped),
            notes_dropped: read(&self.counts.notes_dropped),
            pending_joins: self.pending_joins.load(Ordering::Relaxed),
            snapshots: read(&self.counts.snapshots),
            outages: read(&self.counts.outages) + u64::from(present.is_some()),
            outage: Duration::from_millis(read(&self.counts.outage_ms)) + present.unwrap_or_default(),
            outvoted: read(&self.counts.outvoted),
        }
    }
}

impl ViewGuard {
    /// The room's clock now.
    #[must_use]
    pub fn now(&self) -> Clock {
        self.at(time::uptime())
    }

    /// The room's clock at this uptime: the view's, plus the time since it was published.
    #[must_use]
    pub fn at(&self, uptime: Duration) -> Clock {
        let passed = uptime.saturating_sub(self.0.at);
        self.0
            .view
            .clock
            .plus(u64::try_from(passed.as_millis()).unwrap_or(u64::MAX))
    }

    /// The view, to keep.
    #[must_use]
    pub fn share(&self) -> Arc<View> {
        Arc::clone(&self.0.view)
    }
}

impl Deref for ViewGuard {
    type Target = View;

    fn deref(&self) -> &View {
        &self.0.view
    }
}

/// Uptime in ms plus one, so that 0 can mean "not".
fn stamp(now: Duration) -> u64 {
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX).saturating_add(1)
}

fn since(stamp: u64, now: Duration) -> Option<Duration> {
    let at = Duration::from_millis(stamp.checked_sub(1)?);
    Some(now.saturating_sub(at))
}
