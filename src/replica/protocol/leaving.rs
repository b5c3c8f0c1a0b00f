//! How a gate leaves its log: it appends the waiting items, then a goodbye, then the snapshot from which a clean start goes
//! on.

use std::time::Duration;

/// How far a stop has come, if the gate leaves.
pub(super) struct Leaving {
    /// How long the goodbye is tried; [`Options::goodbye_within`](crate::replica::Options::goodbye_within).
    within: Duration,
    departure: Option<Departure>,
}

struct Departure {
    /// Uptime at which the gate leaves without a goodbye.
    until: Duration,
    /// The latest that `until` is put off to while there are final notes.
    last: Duration,
    said: bool,
}

impl Leaving {
    pub fn new(within: Duration) -> Self {
        Self {
            within,
            departure: None,
        }
    }

    /// The gate leaves, `patience` later at the latest where that is longer than a goodbye may take and there are final notes.
    pub fn begin(&mut self, now: Duration, patience: Duration) {
        self.departure.get_or_insert(Departure {
            until: now + self.within,
            last: now + self.within.max(patience),
            said: false,
        });
    }

    /// The gate stays after all.
    pub fn end(&mut self) {
        self.departure = None;
    }

    pub fn is_leaving(&self) -> bool {
        self.departure.is_some()
    }

    /// Final notes put the end off: no later request repeats them.
    pub fn wait_for_notes(&mut self, now: Duration) {
        if let Some(departure) = &mut self.departure {
            departure.until = departure.until.max(now + self.within).min(departure.last);
        }
    }

    pub fn is_over(&self, now: Duration) -> bool {
        self.departure.as_ref().is_some_and(|departure| now >= departure.until)
    }

    pub fn wants_goodbye(&self) -> bool {
        self.departure.as_ref().is_some_and(|departure| !departure.said)
    }

    /// The goodbye was read back.
    pub fn said_goodbye(&mut self) {
        if let Some(departure) = &mut self.departure {
            departure.said = true;
        }
    }

    pub fn has_said_goodbye(&self) -> bool {
        self.departure.as_ref().is_some_and(|departure| departure.said)
    }

    /// Whether a log without a root, last asked at uptime `asked`, is left: the gate holds nothing that it alone knows, or has
    /// no time left for it.
    pub fn leaves_rootless(&self, final_notes: usize, asked: Duration) -> bool {
        let is_late = |departure: &Departure| asked + self.within >= departure.last;
        self.wants_goodbye() && (final_notes == 0 || self.departure.as_ref().is_some_and(is_late))
    }
}

/// Logs the items that the log did not take before the end.
pub(in crate::replica) fn report_loss(final_notes: usize, over: bool) {
    if final_notes > 0 {
        tracing::error!(
            notes = final_notes,
            "the log did not take the last purchases, ends and leaves: these sessions idle out, and a piece that was bought is called for \
             again; hold the room and set its stock to what the shop has"
        );
    } else if over {
        tracing::warn!(
            "the log did not take the goodbye in time: the next start begins a new log, or the other gates wait for this one"
        );
    }
}
