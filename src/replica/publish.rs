//! What the thread shows to everybody else: the view, how it stands with the log, and the figures.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use arc_swap::{ArcSwap, Guard};
use tokio::sync::watch;

use super::CUT_OFF_AFTER;
use crate::room::{Clock, View};
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
    /// Uptime in ms plus one when the batch under way was first sent; 0 when none is.
    under_way: AtomicU64,
    frozen: AtomicU64,
    pub stop: AtomicBool,
    pub abandon: AtomicBool,
    /// The highest era seen on a genuine token from elsewhere.
    pub foreign: AtomicU64,
    pub pending_joins: AtomicUsize,
    pub counts: Counts,
}

/// Totals of one life of the process.
#[derive(Default)]
pub(super) struct Counts {
    pub entries: AtomicU64,
    pub appends: AtomicU64,
    pub failures: AtomicU64,
    pub skipped: AtomicU64,
    pub notes_dropped: AtomicU64,
    pub snapshots: AtomicU64,
    pub log_bytes: AtomicU64,
    pub lag_us: AtomicU64,
    pub outages: AtomicU64,
    pub outage_ms: AtomicU64,
}

/// The replica's figures; totals count from the start of the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// How long the last batch took to be durable and read back.
    pub lag: Duration,
    /// Bytes on disk of all that the log keeps.
    pub log_bytes: u64,
    /// Entries applied, one's own and others'.
    pub entries: u64,
    /// Batches appended.
    pub appends: u64,
    /// Exchanges that the log did not answer or refused for now; each is tried again.
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
}

impl Shared {
    pub fn new(view: Arc<View>) -> Self {
        Self {
            watchers: watch::Sender::new(Arc::clone(&view)),
            published: ArcSwap::from_pointee(Published {
                view,
                at: time::uptime(),
            }),
            under_way: AtomicU64::new(0),
            frozen: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            abandon: AtomicBool::new(false),
            foreign: AtomicU64::new(0),
            pending_joins: AtomicUsize::new(0),
            counts: Counts::default(),
        }
    }

    pub fn publish(&self, view: Arc<View>) {
        self.published.store(Arc::new(Published {
            view: Arc::clone(&view),
            at: time::uptime(),
        }));
        self.watchers.send_replace(view);
    }

    pub fn load(&self) -> ViewGuard {
        ViewGuard(self.published.load())
    }

    pub fn subscribe(&self) -> watch::Receiver<Arc<View>> {
        self.watchers.subscribe()
    }

    /// A batch was sent, unless one is under way already.
    pub fn sent(&self) {
        let _ = self
            .under_way
            .compare_exchange(0, stamp(), Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The batch under way was read back.
    pub fn read_back(&self) {
        let took = since(self.under_way.swap(0, Ordering::Relaxed)).unwrap_or_default();
        self.counts
            .lag_us
            .store(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        if let Some(over) = took.checked_sub(CUT_OFF_AFTER) {
            self.counts.outages.fetch_add(1, Ordering::Relaxed);
            self.counts
                .outage_ms
                .fetch_add(u64::try_from(over.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    pub fn freeze(&self) {
        let _ = self
            .frozen
            .compare_exchange(0, stamp(), Ordering::Relaxed, Ordering::Relaxed);
    }

    pub fn frozen(&self) -> bool {
        self.frozen.load(Ordering::Relaxed) != 0
    }

    /// For how long the gate has been cut off: two seconds of silence are not counted, a frozen replica counts at once.
    pub fn cut_off(&self) -> Option<Duration> {
        let silent = since(self.under_way.load(Ordering::Relaxed)).and_then(|silent| silent.checked_sub(CUT_OFF_AFTER));
        since(self.frozen.load(Ordering::Relaxed)).max(silent)
    }

    pub fn stats(&self) -> Stats {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let present = self.cut_off();
        Stats {
            lag: Duration::from_micros(read(&self.counts.lag_us)),
            log_bytes: read(&self.counts.log_bytes),
            entries: read(&self.counts.entries),
            appends: read(&self.counts.appends),
            failures: read(&self.counts.failures),
            skipped: read(&self.counts.skipped),
            notes_dropped: read(&self.counts.notes_dropped),
            pending_joins: self.pending_joins.load(Ordering::Relaxed),
            snapshots: read(&self.counts.snapshots),
            outages: read(&self.counts.outages) + u64::from(present.is_some()),
            outage: Duration::from_millis(read(&self.counts.outage_ms)) + present.unwrap_or_default(),
        }
    }
}

impl ViewGuard {
    /// The room's clock now: the view's, and what has passed since it was published.
    #[must_use]
    pub fn now(&self) -> Clock {
        let passed = time::uptime().saturating_sub(self.0.at);
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
fn stamp() -> u64 {
    u64::try_from(time::uptime().as_millis())
        .unwrap_or(u64::MAX)
        .saturating_add(1)
}

fn since(stamp: u64) -> Option<Duration> {
    let at = Duration::from_millis(stamp.checked_sub(1)?);
    Some(time::uptime().saturating_sub(at))
}
