//! The kept log for a reader that never writes: every part from the oldest to the one in use, and the latest snapshot.
//!
//! A part is read into memory and repaired there if its last life ended badly, so nothing on disk is touched and a copy
//! on a read-only medium will do.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::folder::{CURRENT, LOCK, SNAPSHOT, closed_in, skips_in};
use super::part::{Fault, Part};
use crate::room::{Encoded, Position, Wall};
use crate::store::Snapshot;

/// The log of a folder whose gate is stopped, or of a copy.
pub struct Kept {
    folder: PathBuf,
    files: Vec<String>,
    /// Keeps a gate from starting meanwhile.
    _lock: Option<File>,
}

/// One part, open for reading.
pub struct KeptPart {
    part: Part,
    pub file: String,
    /// The snapshot that the part starts from.
    pub base: Snapshot,
}

/// A file that cannot be read as what it should be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file} cannot be read: {reason}")]
pub struct Damage {
    pub file: String,
    pub reason: String,
}

/// Why a kept log cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{folder} is in use by a gate: stop the gate, or copy the folder and read the copy")]
    InUse { folder: PathBuf },
    #[error("{folder} cannot be read: {source}")]
    Folder { folder: PathBuf, source: io::Error },
    #[error("there is no log in {folder}")]
    Nothing { folder: PathBuf },
}

impl Kept {
    pub fn open(folder: &Path) -> Result<Self, ReadError> {
        let failed = |source| ReadError::Folder {
            folder: folder.to_owned(),
            source,
        };
        let lock = match lock(folder).map_err(failed)? {
            Lock::Taken => {
                return Err(ReadError::InUse {
                    folder: folder.to_owned(),
                });
            }
            Lock::Ours(file) => Some(file),
            Lock::None => None,
        };
        let mut files: Vec<String> = closed_in(folder)
            .map_err(failed)?
            .iter()
            .map(super::Name::file)
            .collect();
        if fs::exists(folder.join(CURRENT)).map_err(failed)? {
            files.push(CURRENT.to_owned());
        }
        if files.is_empty() {
            return Err(ReadError::Nothing {
                folder: folder.to_owned(),
            });
        }
        Ok(Self {
            folder: folder.to_owned(),
            files,
            _lock: lock,
        })
    }

    /// Whether there is a log in the folder.
    pub fn is_in(folder: &Path) -> io::Result<bool> {
        Ok(fs::exists(folder.join(CURRENT))? || !closed_in(folder)?.is_empty())
    }

    /// Entries that an operator has had passed over.
    pub fn skips(&self) -> io::Result<Vec<Position>> {
        skips_in(&self.folder)
    }

    /// The parts' files, oldest first.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Opens one of [`Kept::files`].
    pub fn part(&self, file: &str) -> Result<KeptPart, Damage> {
        let damage = |reason: String| Damage {
            file: file.to_owned(),
            reason,
        };
        let bytes = fs::read(self.folder.join(file)).map_err(|error| damage(error.to_string()))?;
        let part = Part::open_copy(&bytes).map_err(|fault| damage(said(fault)))?;
        let base = part.base().map_err(|fault| damage(said(fault)))?;
        Ok(KeptPart {
            part,
            file: file.to_owned(),
            base,
        })
    }

    /// The latest snapshot; `None` without a file of it.
    pub fn snapshot(&self) -> Result<Option<Snapshot>, Damage> {
        let damage = |reason: String| Damage {
            file: SNAPSHOT.to_owned(),
            reason,
        };
        match fs::read(self.folder.join(SNAPSHOT)) {
            Ok(bytes) => Snapshot::decode(&bytes)
                .map(Some)
                .map_err(|error| damage(error.to_string())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(damage(error.to_string())),
        }
    }
}

impl KeptPart {
    /// The last entry's position.
    #[must_use]
    pub fn tail(&self) -> Position {
        Position {
            epoch: self.part.head.epoch,
            sequence: self.part.tail,
        }
    }

    /// Time of the snapshot it starts from.
    #[must_use]
    pub fn since(&self) -> Wall {
        self.part.head.since
    }

    /// The entries after `sequence`, some at a time; none when there are no more.
    pub fn read(&self, sequence: u64) -> Result<Vec<Encoded>, Damage> {
        self.part.read(sequence).map_err(|fault| Damage {
            file: self.file.clone(),
            reason: said(fault),
        })
    }
}

enum Lock {
    Ours(File),
    Taken,
    /// A copy without the lock's file, or on a medium that cannot lock.
    None,
}

fn lock(folder: &Path) -> io::Result<Lock> {
    let file = match File::open(folder.join(LOCK)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Lock::None),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(Lock::Ours(file)),
        Err(TryLockError::WouldBlock) => Ok(Lock::Taken),
        Err(TryLockError::Error(_)) => Ok(Lock::None),
    }
}

fn said(fault: Fault) -> String {
    match fault {
        Fault::Damaged(reason) | Fault::Io(reason) => reason,
        Fault::InUse => "another process has it open".into(),
        Fault::Newer(format) => format!("it has the later format {format}"),
    }
}
