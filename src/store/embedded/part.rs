//! One part of the log as a redb file: the snapshot it starts from, and the entries that follow, without a gap.
//!
//! A part belongs to one epoch and is closed for good when the next begins. So old entries are dropped by removing a file, a
//! damaged file costs one part, and the check that redb makes after a crash stays short. Every record carries a checksum of
//! its own, because redb verifies pages only after an unclean close.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

use redb::{Builder, Database, Durability, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};

use super::record::{Head, open_entry, seal};
use crate::room::{Encoded, Entry, OLDEST, Position, State};
use crate::store::{READ_MAX_ENTRIES, Snapshot};

/// An open part. Dropping it closes the file.
pub(super) struct Part {
    db: Closing,
    pub head: Head,
    /// Sequence and nonce of the last entry.
    pub tail: u64,
    pub nonce: [u8; 8],
    /// Bytes of entries, about.
    pub bytes: u64,
}

/// Why a part cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The bytes are wrong, and will be the next time too.
    Damaged(String),
    /// Another process has it open.
    InUse,
    /// Written by a later version.
    Newer(u64),
    /// Disk full, too many files, no permission: it may work again.
    Io(String),
}

impl Part {
    /// Makes a part in an empty `file`, durable when it returns.
    pub fn create(file: File, base: &Snapshot) -> Result<Self, Fault> {
        guarded(|| {
            let db = builder().create_file(file).map_err(fault)?;
            let base_bytes = base.encode();
            let head = Head {
                version: State::version_of(&base.state).unwrap_or(OLDEST),
                epoch: base.position.epoch,
                base: base.position.sequence,
                since: base.time,
                nonce: base.nonce,
                base_bytes: base_bytes.len() as u64,
            };
            write(&db, |tx| {
                tx.open_table(HEAD)
                    .map_err(fault)?
                    .insert((), head.encode().as_slice())
                    .map_err(fault)?;
                tx.open_table(BASE)
                    .map_err(fault)?
                    .insert((), base_bytes.as_slice())
                    .map_err(fault)?;
                tx.open_table(ENTRIES).map_err(fault)?;
                Ok(())
            })?;
            Ok(Self {
                db: Closing(Some(db)),
                head,
                tail: head.base,
                nonce: head.nonce,
                bytes: 0,
            })
        })
    }

    /// Opens a part; repairs half-written data after a crash.
    pub fn open(file: File) -> Result<Self, Fault> {
        let bytes = file.metadata().map_or(0, |file| file.len());
        guarded(|| Self::read_head(builder().create_file(file).map_err(fault)?, bytes))
    }

    /// Opens a copy of a part held in memory, so that nothing on disk is touched.
    pub fn open_copy(bytes: &[u8]) -> Result<Self, Fault> {
        use redb::StorageBackend;
        let memory = redb::backends::InMemoryBackend::new();
        let filled = memory.set_len(bytes.len() as u64).and_then(|()| memory.write(0, bytes));
        filled.map_err(|error| Fault::Io(error.to_string()))?;
        guarded(|| {
            Self::read_head(
                builder().create_with_backend(memory).map_err(fault)?,
                bytes.len() as u64,
            )
        })
    }

    fn read_head(db: Database, file_bytes: u64) -> Result<Self, Fault> {
        let tx = db.begin_read().map_err(fault)?;
        let head = tx.open_table(HEAD).map_err(fault)?.get(()).map_err(fault)?;
        let head = Head::decode(head.ok_or_else(|| Fault::Damaged("it has no head".into()))?.value())?;
        let entries = tx.open_table(ENTRIES).map_err(fault)?;
        let tail = head.base + entries.len().map_err(fault)?;
        let last = entries
            .last()
            .map_err(fault)?
            .map(|(sequence, record)| (sequence.value(), open_entry(record.value())));
        let nonce = match last {
            None => head.nonce,
            Some((sequence, entry)) if sequence == tail => entry?.nonce,
            Some(_) => return Err(Fault::Damaged("entries are missing".into())),
        };
        let bytes = file_bytes.saturating_sub(head.base_bytes);
        Ok(Self {
            db: Closing(Some(db)),
            head,
            tail,
            nonce,
            bytes,
        })
    }

    /// The snapshot that the part starts from.
    pub fn base(&self) -> Result<Snapshot, Fault> {
        guarded(|| {
            let tx = self.db.begin_read().map_err(fault)?;
            let bytes = tx.open_table(BASE).map_err(fault)?.get(()).map_err(fault)?;
            let bytes = bytes.ok_or_else(|| Fault::Damaged("the part has no snapshot".into()))?;
            let base = Snapshot::decode(bytes.value()).map_err(|error| Fault::Damaged(error.to_string()))?;
            let stands = Position {
                epoch: self.head.epoch,
                sequence: self.head.base,
            };
            if base.position != stands {
                return Err(Fault::Damaged("the part's snapshot is of another position".into()));
            }
            Ok(base)
        })
    }

    /// Appends an entry; on disk when it returns. After a failure the part must be opened anew.
    pub fn append(&mut self, entry: &Entry) -> Result<(), Fault> {
        let record = seal(entry.encode());
        let head = Head {
            version: self.head.version.max(entry.version),
            ..self.head
        };
        guarded(|| {
            write(&self.db, |tx| {
                if head != self.head {
                    let mut heads = tx.open_table(HEAD).map_err(fault)?;
                    heads.insert((), head.encode().as_slice()).map_err(fault)?;
                }
                let mut entries = tx.open_table(ENTRIES).map_err(fault)?;
                entries
                    .insert(entry.position.sequence, record.as_slice())
                    .map_err(fault)?;
                Ok(())
            })
        })?;
        self.head = head;
        self.tail = entry.position.sequence;
        self.nonce = entry.nonce;
        self.bytes += record.len() as u64;
        Ok(())
    }

    /// Entries after `sequence`: as many as can be read, at most [`READ_MAX_ENTRIES`]; a fault only if there is not one.
    pub fn read(&self, sequence: u64) -> Result<Vec<Encoded>, Fault> {
        if sequence >= self.tail {
            return Ok(Vec::new());
        }
        guarded(|| {
            let tx = self.db.begin_read().map_err(fault)?;
            let table = tx.open_table(ENTRIES).map_err(fault)?;
            let mut read = Vec::new();
            for record in table.range(sequence + 1..).map_err(fault)?.take(READ_MAX_ENTRIES) {
                let due = Position {
                    epoch: self.head.epoch,
                    sequence: sequence + 1 + read.len() as u64,
                };
                let entry = record.map_err(fault).and_then(|(_, record)| open_entry(record.value()));
                match entry {
                    Ok(entry) if entry.position == due => read.push(entry),
                    _ if !read.is_empty() => break,
                    Ok(_) => return Err(Fault::Damaged(format!("entry {} is missing", due.sequence))),
                    Err(fault) => return Err(fault),
                }
            }
            Ok(read)
        })
    }
}

/// A database whose closing may meet damage too; that loses only data that was damaged before.
struct Closing(Option<Database>);

impl std::ops::Deref for Closing {
    type Target = Database;

    fn deref(&self) -> &Database {
        self.0.as_ref().expect("the database is there until it is dropped")
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        let closed = guarded(|| {
            drop(self.0.take());
            Ok(())
        });
        if closed.is_err() {
            tracing::warn!("a part of the log could not be closed properly; it is checked when it is read again");
        }
    }
}

/// One transaction, on disk when it returns.
fn write(db: &Database, f: impl FnOnce(&redb::WriteTransaction) -> Result<(), Fault>) -> Result<(), Fault> {
    let mut tx = db.begin_write().map_err(fault)?;
    tx.set_durability(Durability::Immediate).map_err(fault)?;
    f(&tx)?;
    tx.commit().map_err(fault)
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

/// redb may panic on pages that are wrong in a way no checksum was asked about; here that is one more kind of damage.
fn guarded<T>(f: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| Err(Fault::Damaged("reading it failed half way".into())))
}

fn fault(error: impl Into<redb::Error>) -> Fault {
    use redb::Error;
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    let error = error.into();
    match &error {
        Error::DatabaseAlreadyOpen => Fault::InUse,
        Error::Io(io) if matches!(io.kind(), InvalidData | InvalidInput | UnexpectedEof) => {
            Fault::Damaged(error.to_string())
        }
        Error::Io(io) if io.raw_os_error() == Some(EIO) => Fault::Damaged(error.to_string()),
        Error::Io(_) | Error::PreviousIo | Error::DatabaseClosed => Fault::Io(error.to_string()),
        _ => Fault::Damaged(error.to_string()),
    }
}

/// A bad sector: the same bytes will not be read better the next time.
const EIO: i32 = 5;

/// redb's page cache; its default is a gigabyte.
const CACHE_BYTES: usize = 8 * 1024 * 1024;

const ENTRIES: TableDefinition<u64, &[u8]> = TableDefinition::new("entries");
const BASE: TableDefinition<(), &[u8]> = TableDefinition::new("base");
const HEAD: TableDefinition<(), &[u8]> = TableDefinition::new("head");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::{ACTIVE_SLOTS, GateId, Wall};

    fn entry(sequence: u64, version: u16) -> Entry {
        Entry {
            position: Position { epoch: 7, sequence },
            gate: GateId(1),
            serial: sequence,
            previous: [0; 8],
            nonce: sequence.to_le_bytes(),
            time: Wall(sequence),
            version,
            batch: crate::room::Batch::default(),
        }
    }

    /// A binary that lacks the version must not take the entries for damage.
    #[test]
    fn a_part_says_which_machine_version_it_needs() {
        let file = || tempfile::tempfile().unwrap();
        let base = |state: &State| Snapshot {
            position: Position { epoch: 7, sequence: 0 },
            nonce: [0; 8],
            time: Wall(0),
            state: state.encode(),
        };
        let later = Part::create(file(), &base(&State::empty(7))).unwrap();
        assert_eq!(later.head.version, ACTIVE_SLOTS);
        let kept = file();
        let mut part = Part::create(kept.try_clone().unwrap(), &base(&State::empty(7).with_version(1))).unwrap();
        part.append(&entry(1, 1)).unwrap();
        assert_eq!(part.head.version, 1);
        part.append(&entry(2, 2)).unwrap();
        part.append(&entry(3, 1)).unwrap();
        drop(part);
        let again = Part::open(kept).unwrap();
        assert_eq!((again.head.version, again.tail), (2, 3));
    }
}
