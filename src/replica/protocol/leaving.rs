//! A gate's last words: what is left, goodbye, and the snapshot that a clean start goes on from.

use std::time::Duration;

use super::{Phase, Protocol, Step};
use crate::room::Section;

/// On the way out.
pub(super) struct Leaving {
    /// Uptime at which it leaves without.
    until: Duration,
    /// The latest that this is put off to while it holds what nobody will say again.
    last: Duration,
    said: bool,
}

impl Protocol {
    /// Begins to leave: what is waiting is appended first. Ends with [`Step::Ended`], after
    /// [`Options::goodbye_within`](super::Options::goodbye_within) at the latest, or `patience` where it is longer and the log has not
    /// taken yet who bought, left or was ended.
    pub fn leave(&mut self, now: Duration, patience: Duration) {
        let within = self.options.goodbye_within;
        self.leaving.get_or_insert(Leaving {
            until: now + within,
            last: now + within.max(patience),
            said: false,
        });
        // The last words are tried at once.
        self.rest_until = self.rest_until.min(now);
    }

    /// The next step of a gate that leaves, where that is another than usual.
    pub(super) fn leave_taking(&mut self, now: Duration) -> Option<Step> {
        let unsaid = self.leaving.as_ref().map(|_| self.unsaid())?;
        let within = self.options.goodbye_within;
        let leaving = self.leaving.as_mut()?;
        if unsaid > 0 {
            leaving.until = leaving.until.max(now + within).min(leaving.last);
        }
        if now >= leaving.until {
            if unsaid > 0 {
                tracing::error!(
                    visitors = unsaid,
                    "the log did not take the last purchases, ends and leaves: they are lost, unless their visitors come with a pass"
                );
            }
            tracing::warn!("the log did not take the goodbye in time; the next start begins a new log");
            self.phase = Phase::Ended;
        }
        let said = leaving.said;
        let ends = match &self.phase {
            Phase::Ended | Phase::Frozen { .. } | Phase::Behind { .. } => true,
            Phase::Starting(_) => !self.alone,
            Phase::Rootless(healing) => healing.has_left(),
            Phase::Live(_) => said && !self.alone,
            Phase::CatchingUp(_) | Phase::Beginning(_) => false,
        };
        if ends {
            self.close_archive();
            self.phase = Phase::Ended;
            return Some(Step::Ended);
        }
        if said { self.save_last() } else { None }
    }

    /// Files what is in no file yet.
    pub(super) fn close_archive(&mut self) {
        if let Some(archiver) = self.archiver.take() {
            archiver.stop(self.options.goodbye_within);
        }
    }

    /// Purchases, ends and leaves that the log has not taken. No later request says them again.
    pub(super) fn unsaid(&self) -> usize {
        let of_section = |section: &Section| section.completions.len() + section.ends.len() + section.leaves.len();
        let sent = self.under_way.iter().flat_map(|sent| &sent.append.batch.sections);
        self.collector.unsaid() + sent.map(of_section).sum::<usize>()
    }

    pub(super) fn wants_goodbye(&self) -> bool {
        self.leaving.as_ref().is_some_and(|leaving| !leaving.said)
    }

    pub(super) fn said_goodbye(&mut self) {
        if let Some(leaving) = &mut self.leaving {
            leaving.said = true;
        }
    }
}
