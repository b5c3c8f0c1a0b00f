//! Metrics of the gate for Prometheus: handles that are made once and cost a few nanoseconds each.
//!
//! Labels are bounded: upstreams, rooms and limits by the configuration, others by an enum; never a line, a path or a visitor. Figures that
//! another part keeps (rooms, connections) are not counted again here: the admin listener reads them for a scrape. `docs/reference/metrics.md` explains every metric; a test keeps it complete.

mod crawlers;
mod fate;
mod gauge;
mod latency;
mod outcome;
mod peers;
mod prices;
mod process;
mod register;
mod returns;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use ropeline_ids::RoomName;

pub use crawlers::CrawlerMetrics;
pub use fate::{CodeFate, LookupFate};
pub use gauge::{Level, Raised};
pub use latency::Latency;
pub use outcome::{Outcome, UpstreamFault};
pub use peers::{Oddity, Peers, Sight};
pub use prices::Prices;
pub use process::Process;
pub use returns::{Returned, Returns};

/// Labels and their values.
type Labels<const N: usize> = [(&'static str, String); N];

/// Every handle of the process; cheap to clone, and all clones count together.
#[derive(Clone, Debug)]
pub struct Metrics {
    requests: Family<Labels<2>, Counter>,
    limited: Family<Labels<2>, Counter>,
    /// Of joins, where newcomers are asked for a proof of work.
    pub proof_prices: Prices,
    codes: Arc<[Counter; CodeFate::ALL.len()]>,
    /// Of rooms with active slots.
    returns: Family<Labels<2>, Counter>,
    return_waits: Family<Labels<1>, Latency, fn() -> Latency>,
    upstream_faults: Family<Labels<2>, Counter>,
    upstream_durations: Family<Labels<1>, Latency, fn() -> Latency>,
    /// The upstreams that have counters, and the names of limits that do.
    shown: Arc<Mutex<Shown>>,
    pub crawlers: CrawlerMetrics,
    /// From a request's head to its answer's head or to asking the upstream: the gate's own share.
    pub gate: Latency,
    /// Event streams that are open.
    pub streams: Level,
    /// Tickets that failed their signature or named another room, line or key.
    pub tickets_refused: Counter,
    /// Passes, likewise.
    pub passes_refused: Counter,
    /// Log lines that did not fit the queue.
    pub log_lines_dropped: Counter,
    /// Changes an operator made through the admin listener.
    pub admin_changes: Counter,
    /// Admin requests turned away for a wrong token, host or origin.
    pub admin_refused: Counter,
    /// Upgrades after which this process went on.
    pub upgrades_failed: Counter,
    /// What requests show of `trusted_proxies`; no metric.
    pub peers: Arc<Peers>,
}

impl Metrics {
    /// All at zero.
    #[must_use]
    pub fn new() -> Self {
        Self {
            requests: Family::default(),
            limited: Family::default(),
            proof_prices: Prices::default(),
            codes: Arc::default(),
            returns: Family::default(),
            return_waits: Family::new_with_constructor(|| Latency::new(&RETURN_BOUNDS)),
            upstream_faults: Family::default(),
            upstream_durations: Family::new_with_constructor(|| Latency::new(&UPSTREAM_BOUNDS)),
            shown: Arc::default(),
            crawlers: CrawlerMetrics::default(),
            gate: Latency::new(&GATE_BOUNDS),
            streams: Level::default(),
            tickets_refused: Counter::default(),
            passes_refused: Counter::default(),
            log_lines_dropped: Counter::default(),
            admin_changes: Counter::default(),
            admin_refused: Counter::default(),
            upgrades_failed: Counter::default(),
            peers: Arc::default(),
        }
    }

    /// The counters for one room's requests, or for those of no room. Takes a lock: keep the result.
    #[must_use]
    pub fn requests(&self, room: Option<&RoomName>) -> Requests {
        let room = room.map(ToString::to_string).unwrap_or_default();
        let counter = |outcome: Outcome| {
            let labels = [("room", room.clone()), ("outcome", outcome.as_str().to_owned())];
            self.requests.get_or_create_owned(&labels)
        };
        Requests(Arc::new(Outcome::ALL.map(counter)))
    }

    /// The counters of one room's requests that waited for a slot. Takes a lock: keep the result.
    #[must_use]
    pub fn returns(&self, room: &RoomName) -> Returns {
        let counter = |outcome: &str| {
            let labels = [("room", room.to_string()), ("outcome", outcome.to_owned())];
            self.returns.get_or_create_owned(&labels)
        };
        Returns {
            granted: counter("granted"),
            later: counter("later"),
            gone: counter("gone"),
            waited: self.return_waits.get_or_create_owned(&[("room", room.to_string())]),
        }
    }

    /// The counter for one limit's refusals, by its name in the configuration. Takes a lock: keep the result.
    #[must_use]
    pub fn limited(&self, limit: &str) -> Counter {
        self.shown().limits.insert(limit.to_owned());
        self.limited.get_or_create_owned(&limited_labels(limit, ""))
    }

    /// The counter for the refusals of a bound that each upstream has. Takes a lock: keep the result.
    #[must_use]
    pub fn limited_at(&self, limit: &str, upstream: &str) -> Counter {
        let mut shown = self.shown();
        shown.bounds.insert((upstream.to_owned(), limit.to_owned()));
        self.limited.get_or_create_owned(&limited_labels(limit, upstream))
    }

    /// The counters for one upstream, by its name, which is empty for a single one without a name. Takes a lock: keep the
    /// result.
    #[must_use]
    pub fn of_upstream(&self, name: &str) -> UpstreamMetrics {
        let mut shown = self.shown();
        shown.upstreams.insert(name.to_owned());
        let counter = |fault| self.upstream_faults.get_or_create_owned(&fault_labels(fault, name));
        UpstreamMetrics {
            faults: UpstreamFault::ALL.map(counter),
            took: self.upstream_durations.get_or_create_owned(&[of(name)]),
        }
    }

    /// Shows no counters of other upstreams than these from now on. Requests under way at another one count unseen.
    pub fn keep_upstreams(&self, names: &[&str]) {
        let mut shown = self.shown();
        let Shown {
            upstreams,
            bounds,
            limits,
        } = &mut *shown;
        upstreams.retain(|name| {
            let is_kept = names.contains(&name.as_str());
            if !is_kept {
                self.upstream_durations.remove(&[of(name)]);
                for fault in UpstreamFault::ALL {
                    self.upstream_faults.remove(&fault_labels(fault, name));
                }
            }
            is_kept
        });
        bounds.retain(|(name, limit)| {
            let is_kept = names.contains(&name.as_str());
            // A limit of the same name counts there too.
            if !(is_kept || name.is_empty() && limits.contains(limit)) {
                self.limited.remove(&limited_labels(limit, name));
            }
            is_kept
        });
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a code that was shown.
    pub fn code(&self, fate: CodeFate) {
        self.codes[fate as usize].inc();
    }
}

/// What of the label `upstream` has counters.
#[derive(Debug, Default)]
struct Shown {
    upstreams: BTreeSet<String>,
    /// Each upstream's name, with that of a bound there.
    bounds: BTreeSet<(String, String)>,
    /// Limits of no upstream.
    limits: BTreeSet<String>,
}

fn of(upstream: &str) -> (&'static str, String) {
    ("upstream", upstream.to_owned())
}

fn fault_labels(fault: UpstreamFault, upstream: &str) -> Labels<2> {
    [("fault", fault.as_str().to_owned()), of(upstream)]
}

fn limited_labels(limit: &str, upstream: &str) -> Labels<2> {
    [("limit", limit.to_owned()), of(upstream)]
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

/// One room's requests by outcome; cheap to clone.
#[derive(Clone, Debug)]
pub struct Requests(Arc<[Counter; Outcome::ALL.len()]>);

impl Requests {
    /// Counts one request. PERF: one atomic addition, no lock, no lookup.
    pub fn count(&self, outcome: Outcome) {
        self.0[outcome as usize].inc();
    }
}

/// The counters of one upstream. Each is shown from the first scrape on, so that an alert sees the first fault.
#[derive(Clone, Debug)]
pub struct UpstreamMetrics {
    faults: [Counter; UpstreamFault::ALL.len()],
    /// From asking the upstream to the head of its answer.
    pub took: Latency,
}

impl UpstreamMetrics {
    /// Counts one request that the upstream failed.
    pub fn fault(&self, fault: UpstreamFault) {
        self.faults[fault as usize].inc();
    }
}

/// Upper bounds in seconds. The gate's own work takes microseconds; times above 5 ms waited for a join's batch.
const GATE_BOUNDS: [f64; 14] = [
    0.000_01, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5,
];

/// A return waits for a batch of the log at least, and for `return_wait` at most.
const RETURN_BOUNDS: [f64; 12] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 7.5, 10.0, 30.0, 60.0];

/// OpenTelemetry's advice for HTTP, with the sub-millisecond bounds that a shop on the same machine needs.
const UPSTREAM_BOUNDS: [f64; 16] = [
    0.000_5, 0.001, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
];
