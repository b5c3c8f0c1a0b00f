//! A gate's last words: what is left, goodbye, and the snapshot that a clean start goes on from.

use std::time::Duration;

use super::{Phase, Protocol, Step};
use crate::archive::Archiver;
use crate::room::{Batch, Section};

/// On the way out.
pub(super) struct Leaving {
    /// Uptime at which it leaves without.
    until: Duration,
    /// The latest that this is put off to while there are [`final notes`](Protocol::final_notes).
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
        let notes = self.leaving.as_ref().map(|_| self.final_notes())?;
        let within = self.options.goodbye_within;
        let leaving = self.leaving.as_mut()?;
        if notes > 0 {
            leaving.until = leaving.until.max(now + within).min(leaving.last);
        }
        let (said, over) = (leaving.said, now >= leaving.until);
        let ends = match &self.phase {
            Phase::Ended | Phase::Frozen { .. } | Phase::Behind { .. } => true,
            Phase::Starting(_) => !self.alone && notes == 0,
            Phase::Rootless(healing) => healing.has_left(),
            Phase::Live(_) => said && !self.alone,
            Phase::CatchingUp(_) | Phase::Beginning(_) => false,
        };
        if ends || over {
            tell_loss(notes, over && !ends);
            self.close_archive();
            self.phase = Phase::Ended;
            return Some(Step::Ended);
        }
        if said { self.save_last() } else { None }
    }

    /// Files what is in no file yet.
    pub(super) fn close_archive(&mut self) {
        if let Some(archiver) = &mut self.archiver {
            archiver.stop(self.options.goodbye_within);
        }
    }

    /// Goes on after [`Protocol::leave`] has ended, from what the log holds now, with a hello.
    pub fn come_back(&mut self, now: Duration) {
        self.leaving = None;
        (self.hello, self.joined) = (true, false);
        self.rest_until = Duration::ZERO;
        if let Some(Err(error)) = self.archiver.as_mut().map(Archiver::restart) {
            tracing::error!(%error, "the archive is not written any more: restart the gate");
            self.archiver = None;
        }
        self.restart(None, now);
    }

    /// Purchases, ends and leaves that the log has not taken: no later request says them again.
    pub(in crate::replica) fn final_notes(&self) -> usize {
        let of_section = |section: &Section| match section.rehearsal {
            None => section.completions.len() + section.ends.len() + section.leaves.len(),
            Some(_) => 0,
        };
        let of_batch = |batch: &Batch| batch.sections.iter().map(of_section).sum::<usize>();
        let sent = self.under_way.iter().map(|sent| of_batch(&sent.append.batch));
        let brought = self.outbox.iter().map(|(batch, _)| of_batch(batch));
        self.collector.final_notes() + sent.chain(brought).sum::<usize>()
    }

    /// Whether a log without a root is left: the gate holds nothing that it alone knows, or has no time left for it.
    pub(super) fn leaves_rootless(&self) -> bool {
        let is_late = |leaving: &Leaving| self.exchanged + self.options.goodbye_within >= leaving.last;
        self.wants_goodbye() && (self.final_notes() == 0 || self.leaving.as_ref().is_some_and(is_late))
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

pub(in crate::replica) fn tell_loss(notes: usize, over: bool) {
    if notes > 0 {
        tracing::error!(
            notes,
            "the log did not take the last purchases, ends and leaves: these sessions idle out, and a piece that was bought is called for \
             again; hold the room and set its stock to what the shop has"
        );
    } else if over {
        tracing::warn!(
            "the log did not take the goodbye in time: the next start begins a new log, or the other gates wait for this one"
        );
    }
}
