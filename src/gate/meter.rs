//! The load of an upstream as this gate sees it, for rooms with load control.
//!
//! The load is the sum of all requests to the room's upstream. Their duration and the share of failed ones are measured on the rooms' own sessions
//! alone, and on each session a few times per report, so that requests of strangers cannot slow a sale. A gate without such
//! rooms has no meter.

mod answering;
mod under_way;
mod watch;
mod witnesses;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use watch::{RoomMeter, Watched};

use crate::proxy::Outlook;
use crate::room::{Circuit, LoadView, Report, RoomName, View, Why};
use crate::time;

/// When the last report was, and what was logged.
#[derive(Debug)]
pub struct Meter {
    /// In milliseconds of the process's life.
    reported_ms: AtomicU64,
    /// The last logged state of each room: the reason, and whether its calls have stopped.
    logged: Mutex<BTreeMap<RoomName, (Why, bool)>>,
}

/// How often a gate reports. Rooms decide as often.
const EVERY_MS: u64 = 2_000;

impl Meter {
    #[must_use]
    pub fn new() -> Self {
        Self {
            reported_ms: AtomicU64::new(millis(time::uptime())),
            logged: Mutex::default(),
        }
    }

    /// How long it is since the last report, where another is due.
    pub fn due(&self, now: Duration) -> Option<u32> {
        let now_ms = millis(now);
        let span_ms = now_ms.saturating_sub(self.reported_ms.load(Ordering::Relaxed));
        if span_ms < EVERY_MS - SLACK_MS {
            return None;
        }
        self.reported_ms.store(now_ms, Ordering::Relaxed);
        Some(u32::try_from(span_ms).unwrap_or(u32::MAX))
    }
}

/// A tick may come a little early.
const SLACK_MS: u64 = 100;

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The figures of one upstream since the last report.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Of all its rooms, and of none.
    pub requests: u32,
    pub outlook: Outlook,
}

/// The report of a room, for this time, with the figures of its upstream.
pub fn report(room: &RoomMeter, span_ms: u32, of_upstream: Seen) -> Report {
    let circuit = match of_upstream.outlook {
        Outlook::Well => Circuit::Closed,
        Outlook::Trial => Circuit::Trial,
        Outlook::Nothing => Circuit::Open,
    };
    let seen = room.take();
    Report {
        span_ms,
        requests: of_upstream.requests,
        circuit: seen.circuit.max(circuit),
        ..seen
    }
}

/// The meter of a room with load control; the former one goes on.
pub fn of_room(room: &crate::config::Room, before: Option<&Arc<RoomMeter>>) -> Option<Arc<RoomMeter>> {
    let bound_us = room.settings.load_control?.late_us();
    Some(match before {
        Some(before) if before.is_of(bound_us) => Arc::clone(before),
        _ => Arc::new(RoomMeter::new(bound_us)),
    })
}

/// Logs when and why calls were slowed or stopped, once for each change, and when that is over.
pub fn log_changes(meter: &Meter, view: &View) {
    let mut logged = meter.logged.lock().unwrap_or_else(PoisonError::into_inner);
    for (room, view) in &view.rooms {
        let Some(load) = &view.load else { continue };
        let now = (load.why, load.step_milli == 0);
        if logged.insert(room.clone(), now) != Some(now) {
            log_one(room, load);
        }
    }
}

fn log_one(room: &RoomName, load: &LoadView) {
    let seen = load.seen.unwrap_or_default();
    let (requests_per_second, p95_ms) = (seen.requests_milli / 1_000, seen.p95_us.unwrap_or(0) / 1_000);
    let (errors_permille, in_flight, hanging) = (seen.errors_permille, seen.in_flight, seen.hanging);
    let (step_milli, why) = (load.step_milli, load.why.as_str());
    match (load.why, step_milli) {
        (Why::Figures, _) => tracing::warn!(%room, why, "nobody is called: there are no figures of the shop that hold"),
        (Why::Circuit, 0) => tracing::warn!(%room, why, "nobody is called: no server of the shop answers"),
        (Why::Circuit, _) => {
            tracing::info!(%room, why, "a visitor at a time is called, to see whether the shop is back");
        }
        (_, 0) => tracing::warn!(
            %room, why, requests_per_second, p95_ms, errors_permille, in_flight, hanging,
            "nobody is called until the shop is well again"
        ),
        (Why::Free, _) => tracing::info!(%room, why, step_milli, "nothing slows the calls"),
        _ => tracing::info!(
            %room, why, requests_per_second, p95_ms, errors_permille, in_flight, hanging, step_milli,
            "fewer are called: the shop is busy"
        ),
    }
}
