//! The log of a single gate: a folder with a redb file, group-committed.
//!
//! `log.redb` is the part in use. Closed parts are kept beside it for `log_keep`, each starting from a snapshot, so that the
//! rooms' whole history can be run again. `snapshot` is the latest state, written apart from the log so that damage to either
//! is repaired from the other. The folder belongs to one process at a time.

mod folder;
mod keeper;
mod kept;
mod part;
mod record;
mod turn;
mod vault;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use self::folder::{CURRENT, Folder, Name};
use self::keeper::Keeper;
use self::part::{Fault, Part};
use super::{
    Append, Beginning, Begun, Exchanged, Loaded, Log, Occasion, READ_MAX_ENTRIES, Skips, Snapshot, Trouble, Unavailable,
};
use crate::room::{Entry, Position, StateHash, Wall};
use crate::time;

pub use self::kept::{Damage, Kept, KeptPart, ReadError};
pub use self::vault::FolderVault;

/// The embedded log.
pub struct Embedded {
    // Dropped in this order: the folder is let go when nothing writes to it any more.
    keeper: Keeper,
    part: InUse,
    folder: Folder,
    options: Options,
    /// The highest snapshot passed on, so that an older one never takes its place.
    saved: Position,
    /// The last life marked its end, and no entry has followed since.
    stopped: bool,
    /// Bytes of the closed parts.
    closed_bytes: u64,
    /// The part in use is not the one that was last.
    torn: bool,
}

/// How the embedded log keeps its files.
#[derive(Clone)]
pub struct Options {
    /// How long entries are kept for `ropeline replay`.
    pub keep: Duration,
    /// A part is closed when its entries reach this many bytes …
    pub part_bytes: u64,
    /// … or when it is this old.
    pub part_age: Duration,
    /// The store's time.
    pub wall: Arc<dyn Fn() -> Wall + Send + Sync>,
}

impl Default for Options {
    /// Seven days, in parts of 64 MiB or a day.
    fn default() -> Self {
        Self {
            keep: Duration::from_secs(7 * 24 * 3_600),
            part_bytes: 64 * 1024 * 1024,
            part_age: Duration::from_secs(24 * 3_600),
            wall: Arc::new(time::wall),
        }
    }
}

/// Why a log cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(
        "{folder} is in use by another process: one gate has an embedded store to itself; stop the other, or give this one a folder of its own"
    )]
    InUse { folder: PathBuf },
    #[error(
        "{folder} was written by a later version of ropeline (format {format}); start that version, or give this one another folder"
    )]
    Newer { folder: PathBuf, format: u64 },
    #[error("{folder} cannot be used: {reason}")]
    Folder { folder: PathBuf, reason: String },
}

enum InUse {
    Open(Part),
    /// It failed, and is to be opened anew.
    Closed,
    /// There is no log.
    Nothing,
}

impl Embedded {
    /// Opens the log in `folder`, making the folder if need be. A damaged file is set aside, with a line in the gate's log.
    pub fn open(folder: &Path, options: Options) -> Result<Self, OpenError> {
        let unusable = |error: std::io::Error| OpenError::Folder {
            folder: folder.to_owned(),
            reason: error.to_string(),
        };
        let taken = Folder::take(folder).map_err(unusable)?;
        let taken = taken.ok_or_else(|| OpenError::InUse {
            folder: folder.to_owned(),
        })?;
        taken.set_aside_what_is_no_file((options.wall)()).map_err(unusable)?;
        taken.finish_turn(|file| Part::open(file).is_ok()).map_err(unusable)?;
        taken.mend_skips((options.wall)()).map_err(unusable)?;
        let keeper = Keeper::start(folder.to_owned()).map_err(unusable)?;
        let mut log = Self {
            folder: taken,
            options,
            part: InUse::Closed,
            keeper,
            saved: Position::default(),
            stopped: false,
            closed_bytes: 0,
            torn: false,
        };
        match log.reopen() {
            Ok(()) => {}
            Err(Fault::Newer(format)) => {
                return Err(OpenError::Newer {
                    folder: folder.to_owned(),
                    format,
                });
            }
            Err(Fault::InUse) => {
                return Err(OpenError::InUse {
                    folder: folder.to_owned(),
                });
            }
            Err(Fault::Damaged(reason) | Fault::Io(reason)) => {
                return Err(OpenError::Folder {
                    folder: folder.to_owned(),
                    reason,
                });
            }
        }
        log.count_closed();
        Ok(log)
    }

    /// The data folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Opens the current part if it is not; sets it aside when it is damaged. A fault is one that may pass.
    fn reopen(&mut self) -> Result<(), Fault> {
        if !matches!(self.part, InUse::Closed) {
            return Ok(());
        }
        let Some(file) = self.folder.open_current().map_err(io)? else {
            self.part = InUse::Nothing;
            return Ok(());
        };
        // Before it is opened, which alters the file.
        self.stopped = self.folder.take_stopped((self.options.wall)()).map_err(io)?;
        match Part::open(file) {
            Ok(part) => self.part = InUse::Open(part),
            Err(Fault::Damaged(reason)) => self.set_aside(&reason)?,
            Err(fault) => return Err(fault),
        }
        Ok(())
    }

    fn set_aside(&mut self, reason: &str) -> Result<(), Fault> {
        self.stopped = false;
        self.part = InUse::Closed;
        let aside = self.folder.set_aside(CURRENT, (self.options.wall)()).map_err(io)?;
        tracing::error!(
            reason,
            kept_as = %aside.display(),
            "the log file is damaged and was set aside; the rooms go on from the last snapshot, tickets heal the rest"
        );
        self.part = InUse::Nothing;
        Ok(())
    }

    /// The part, after a try to open it; `None` when there is no log.
    fn part(&mut self) -> Result<Option<&mut Part>, Unavailable> {
        if matches!(self.part, InUse::Closed) {
            self.folder
                .probe()
                .map_err(io)
                .and_then(|()| self.reopen())
                .map_err(unavailable)?;
        }
        match &mut self.part {
            InUse::Open(part) => Ok(Some(part)),
            InUse::Closed | InUse::Nothing => Ok(None),
        }
    }

    /// The consequence of a fault for the part in use: damage sets it aside, anything else asks for another try.
    fn failed(&mut self, fault: Fault) -> Result<Exchanged, Unavailable> {
        self.part = InUse::Closed;
        let Fault::Damaged(reason) = fault else {
            return Err(unavailable(fault));
        };
        self.set_aside(&reason).map_err(unavailable)?;
        Ok(Exchanged::Broken { epoch: 0 })
    }
}

impl Log for Embedded {
    fn alone(&self) -> bool {
        true
    }

    fn exchange(&mut self, at: Position, append: Option<&Append>) -> Result<Exchanged, Unavailable> {
        let time = (self.options.wall)();
        let Some(part) = self.part()? else {
            return Ok(Exchanged::Broken { epoch: 0 });
        };
        if part.head.epoch != at.epoch || part.tail < at.sequence {
            return Ok(Exchanged::Broken { epoch: part.head.epoch });
        }
        if at.sequence < part.head.base {
            return Ok(Exchanged::Moved);
        }
        let appended = append.map_or(Ok(()), |append| part.append(&entry(part, append, time)));
        let read = appended.and_then(|()| part.read(at.sequence));
        self.stopped &= append.is_none();
        match read {
            Ok(entries) => {
                let log_bytes = self.closed_bytes + self.folder.current_bytes();
                Ok(Exchanged::Entries {
                    more: entries.len() >= READ_MAX_ENTRIES,
                    entries,
                    log_bytes,
                    newer: None,
                })
            }
            Err(fault) => self.failed(fault),
        }
    }

    fn save(&mut self, snapshot: Snapshot, occasion: Occasion) -> Result<(), Unavailable> {
        let options = self.options.clone();
        let Some(part) = self.part()? else {
            return Err(Unavailable::new(Trouble::Disk, "there is no log"));
        };
        if snapshot.position.epoch != part.head.epoch {
            return Ok(());
        }
        let complete = snapshot.position.sequence == part.tail;
        let old = u128::from(snapshot.time.since(part.head.since)) >= options.part_age.as_millis();
        let turn = complete && part.tail > part.head.base && (old || part.bytes >= options.part_bytes);
        let known = snapshot.position.cmp(&self.saved);
        if occasion == Occasion::Root || known.is_lt() || (known.is_eq() && occasion == Occasion::Checkpoint) {
            return Ok(());
        }
        if turn {
            self.turn(&snapshot)?;
        }
        self.saved = snapshot.position;
        if occasion == Occasion::Checkpoint {
            self.keeper.offer(snapshot);
            return Ok(());
        }
        let written = self.keeper.write(snapshot);
        written.map_err(|reason| Unavailable::new(Trouble::Disk, reason))?;
        if complete {
            self.part = InUse::Closed;
            self.folder.mark_stopped().map_err(io).map_err(unavailable)?;
        }
        Ok(())
    }

    fn load(&mut self) -> Result<Loaded, Unavailable> {
        let file = self.read_snapshot()?;
        if file.is_none() && self.part()?.is_none() {
            self.bring_back()?;
        }
        let known = self.folder.closed().map_err(io).map_err(unavailable)?;
        let known = known
            .iter()
            .map(|name| name.epoch)
            .chain(file.iter().map(|file| file.position.epoch))
            .max();
        let mut loaded = Loaded {
            last_known: known.unwrap_or(0),
            time: (self.options.wall)(),
            skips: self.folder.skips().map_err(io).map_err(unavailable)?,
            ..Loaded::default()
        };
        let Some(part) = self.part()? else {
            loaded.snapshots.extend(file);
            return Ok(loaded);
        };
        loaded.epoch = part.head.epoch;
        loaded.last_known = loaded.last_known.max(part.head.epoch);
        let fits = |file: &Snapshot| file.position.epoch == part.head.epoch && file.position.sequence >= part.head.base;
        loaded.snapshots.extend(file.filter(fits));
        match part.base() {
            Ok(base) => loaded.snapshots.push(base),
            Err(fault) => tracing::error!(?fault, "the snapshot in the log file cannot be read"),
        }
        loaded.clean = self.stopped;
        loaded.torn = self.torn || loaded.last_known > loaded.epoch;
        Ok(loaded)
    }

    /// A log of its own never needs another gate's root.
    fn root(&mut self, _: &StateHash) -> Result<Option<Snapshot>, Unavailable> {
        Ok(None)
    }

    fn begin(&mut self, seen: u64, beginning: &Beginning) -> Result<Begun, Unavailable> {
        let Beginning::Root(root) = beginning else {
            return Err(Unavailable::new(Trouble::Odd, "a log of one gate begins with its root"));
        };
        let epoch = self.part()?.map_or(0, |part| part.head.epoch);
        if epoch != seen {
            return Ok(Begun::Lost { epoch });
        }
        self.turn(root)?;
        self.torn = false;
        self.saved = root.position;
        self.keeper.offer(root.clone());
        Ok(Begun::Begun)
    }

    fn skip(&mut self, position: Position) -> Result<(), Unavailable> {
        self.folder.add_skip(position).map_err(io).map_err(unavailable)
    }

    fn skips(&mut self) -> Result<Skips, Unavailable> {
        Ok(Skips {
            epoch: self.part()?.map_or(0, |part| part.head.epoch),
            positions: self.folder.skips().map_err(io).map_err(unavailable)?,
        })
    }
}

/// The entry that `append` becomes as the next of `part`.
fn entry(part: &Part, append: &Append, time: Wall) -> Entry {
    Entry {
        position: Position {
            epoch: part.head.epoch,
            sequence: part.tail + 1,
        },
        gate: append.gate,
        serial: append.serial,
        previous: part.nonce,
        nonce: append.nonce,
        time,
        version: append.version,
        batch: append.batch.clone(),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn io(error: std::io::Error) -> Fault {
    Fault::Io(error.to_string())
}

fn unavailable(fault: Fault) -> Unavailable {
    let reason = match fault {
        Fault::Damaged(reason) | Fault::Io(reason) => reason,
        Fault::InUse => "another process has the log file open".into(),
        Fault::Newer(format) => format!("the log file has the later format {format}"),
    };
    Unavailable::new(Trouble::Disk, reason)
}
