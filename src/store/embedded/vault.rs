//! Records beside the log of a single gate: a folder of files, each written whole or not at all.
//!
//! The lease is a lock on a file, which the system takes back when the process ends: during a live upgrade two processes use
//! the folder.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::store::{Trouble, Unavailable, Vault};

/// The records in a folder of the data folder.
pub struct FolderVault {
    folder: PathBuf,
    lease: Option<File>,
}

impl FolderVault {
    /// In this data folder; it is made when something is written.
    #[must_use]
    pub fn new(data: &Path) -> Self {
        Self {
            folder: data.join(FOLDER),
            lease: None,
        }
    }

    fn failed(&self, error: &io::Error) -> Unavailable {
        Unavailable::new(Trouble::Disk, format!("{}: {error}", self.folder.display()))
    }

    fn take_lock(&self) -> io::Result<Option<File>> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let file = private().truncate(false).open(self.folder.join(LOCK))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return match fs::remove_file(self.file(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => File::open(&self.folder)?.sync_all(),
            };
        }
        let next = self.folder.join(NEXT);
        let mut file = private().truncate(true).open(&next)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&next, self.file(name))?;
        File::open(&self.folder)?.sync_all()
    }

    /// The file of a record. A host's name may be longer than a file's.
    fn file(&self, name: &str) -> PathBuf {
        if name.len() <= MAX_NAME {
            return self.folder.join(name);
        }
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(name));
        self.folder.join(format!("sha256:{digest}"))
    }
}

impl Vault for FolderVault {
    fn read(&mut self, names: &[String]) -> Result<Vec<Option<Vec<u8>>>, Unavailable> {
        let one = |name: &String| match File::open(self.file(name)) {
            Ok(file) => {
                let mut bytes = Vec::new();
                file.take(MAX_RECORD).read_to_end(&mut bytes)?;
                Ok(Some(bytes))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        let read: io::Result<Vec<_>> = names.iter().map(one).collect();
        read.map_err(|error| self.failed(&error))
    }

    fn lease(&mut self) -> Result<bool, Unavailable> {
        if self.lease.is_none() {
            self.lease = self.take_lock().map_err(|error| self.failed(&error))?;
        }
        Ok(self.lease.is_some())
    }

    fn write(&mut self, records: &[(String, Vec<u8>)]) -> Result<bool, Unavailable> {
        if self.lease.is_none() {
            return Ok(false);
        }
        let mut all = records.iter();
        let written = all.try_for_each(|(name, bytes)| self.put(name, bytes));
        written.map(|()| true).map_err(|error| self.failed(&error))
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn release(&mut self) -> Result<(), Unavailable> {
        self.lease = None;
        Ok(())
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600);
    options
}

const FOLDER: &str = "certificates";
const LOCK: &str = "lock";
const NEXT: &str = "next";
/// Longest name of a file, in bytes: file systems that encrypt names take less than the usual 255.
const MAX_NAME: usize = 140;
/// Longest record that is read.
const MAX_RECORD: u64 = 4 << 20;
