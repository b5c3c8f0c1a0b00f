//! The change from one part to the next, the retention of closed parts, and other files that a start may find.

use super::folder::{Name, SNAPSHOT};
use super::part::Part;
use super::{Embedded, InUse, io, unavailable};
use crate::store::{Snapshot, Unavailable};
use ropeline_ids::Wall;

impl Embedded {
    /// Closes the current part and goes on in a new one that starts from `base`.
    pub(super) fn turn(&mut self, base: &Snapshot) -> Result<(), Unavailable> {
        let file = self.folder.create_next().map_err(io).map_err(unavailable)?;
        let next = match Part::create(file, base) {
            Ok(next) => next,
            Err(fault) => {
                let _ = self.folder.drop_next();
                return Err(unavailable(fault));
            }
        };
        let name = match &self.part {
            InUse::Open(part) => Some(Name {
                epoch: part.head.epoch,
                base: part.head.base,
                since: part.head.since,
            }),
            InUse::Closed | InUse::Nothing => None,
        };
        self.part = InUse::Closed;
        self.folder.turn(name.as_ref()).map_err(io).map_err(unavailable)?;
        self.stopped = false;
        self.part = InUse::Open(next);
        self.trim(base.time);
        Ok(())
    }

    /// Removes closed parts whose last entry is older than `log_keep`.
    fn trim(&mut self, now: Wall) {
        let keep_ms = u64::try_from(self.options.keep.as_millis()).unwrap_or(u64::MAX);
        let closed = self.folder.closed().unwrap_or_default();
        let ends = closed.iter().skip(1).map(|next| next.since).chain([now]);
        let too_many = closed.len().saturating_sub(MAX_CLOSED);
        for (index, (name, ended)) in closed.iter().zip(ends).enumerate() {
            if now.since(ended) <= keep_ms && index >= too_many {
                break;
            }
            if let Err(error) = self.folder.remove_closed(name) {
                tracing::warn!(%error, file = name.file(), "an old part of the log could not be removed");
            }
        }
        self.count_closed();
    }

    pub(super) fn count_closed(&mut self) {
        let closed = self.folder.closed().unwrap_or_default();
        self.closed_bytes = closed.iter().map(|name| self.folder.closed_bytes(name)).sum();
    }

    /// The snapshot file's content; a damaged one is set aside.
    pub(super) fn read_snapshot(&self) -> Result<Option<Snapshot>, Unavailable> {
        let Some(bytes) = self.folder.read_snapshot().map_err(io).map_err(unavailable)? else {
            return Ok(None);
        };
        match Snapshot::decode(&bytes) {
            Ok(snapshot) => Ok(Some(snapshot)),
            Err(error) => {
                let aside = self
                    .folder
                    .set_aside(SNAPSHOT, (self.options.wall)())
                    .map_err(io)
                    .map_err(unavailable)?;
                tracing::error!(%error, kept_as = %aside.display(), "the snapshot file is damaged and was set aside");
                Ok(None)
            }
        }
    }

    /// With neither log nor snapshot left, the last closed part is better than nothing.
    pub(super) fn bring_back(&mut self) -> Result<(), Unavailable> {
        let closed = self.folder.closed().map_err(io).map_err(unavailable)?;
        let Some(last) = closed.last() else { return Ok(()) };
        tracing::warn!(
            file = last.file(),
            "the rooms go on from the last closed part of the log"
        );
        self.folder.bring_back(last).map_err(io).map_err(unavailable)?;
        self.part = InUse::Closed;
        self.reopen().map_err(unavailable)?;
        // The mark of a clean end belonged to another part.
        self.stopped = false;
        self.torn = true;
        Ok(())
    }
}

/// Most closed parts kept, with any `log_keep`: with 64 MiB each, a bound on the folder.
const MAX_CLOSED: usize = 1_024;
