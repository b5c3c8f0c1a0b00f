//! Active slots: a session that is not in use gives its slot away, and keeps the right to come back.

use super::{MAX_MS, Settings};
use crate::codec::codec;
use crate::lane::record::SLACK_MS;
use crate::version::ACTIVE_SLOTS;

/// How a room with active slots parks sessions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ActiveSlots {
    /// A session without a counted request for so long is parked.
    pub idle_after_ms: u64,
    /// Most called, active and parked together; `None`: three times the capacity in force.
    pub max_sessions: Option<u32>,
}

codec! {
    struct ActiveSlots { idle_after_ms, max_sessions };
}

/// Rights for each slot, unless `max_sessions` says otherwise.
const RIGHTS_PER_SLOT: u32 = 3;

/// Shortest `idle_after_ms`: it is cut into four steps.
const LEAST_IDLE_MS: u64 = 4;

impl ActiveSlots {
    pub(super) fn bounded(self) -> Self {
        Self {
            idle_after_ms: self.idle_after_ms.clamp(LEAST_IDLE_MS, MAX_MS),
            ..self
        }
    }
}

impl Settings {
    /// The time from the last noted activity of a session to its parking; `None` without active slots.
    #[must_use]
    pub fn parks_after_ms(&self) -> Option<u64> {
        let active = self.active?;
        Some(active.idle_after_ms + self.renewal_ms() + SLACK_MS)
    }

    /// Most called, active and parked together; `None` without active slots.
    #[must_use]
    pub fn most_rights(&self) -> Option<u32> {
        let active = self.active?;
        let usual = self.capacity.saturating_mul(RIGHTS_PER_SLOT);
        Some(active.max_sessions.unwrap_or(usual))
    }

    /// The settings as a log of this machine version can hold them.
    #[must_use]
    pub fn under(mut self, version: u16) -> Self {
        self.active = self.active.filter(|_| version >= ACTIVE_SLOTS);
        self
    }
}
