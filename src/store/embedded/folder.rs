//! The data folder: who may use it, which files are in it, and how one takes another's place.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::store::sealed::{sealed, unsealed};
use ropeline_ids::{Position, Wall};

/// A data folder that this process alone uses while the value lives; the lock ends with the process, however it ends.
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

/// A part that is closed, by the name it bears.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Name {
    pub epoch: u64,
    pub base: u64,
    pub since: Wall,
}

impl super::Embedded {
    /// Whether a gate has ever run with a folder.
    #[must_use]
    pub fn was_opened(folder: &Path) -> bool {
        folder.join(LOCK).exists()
    }
}

impl Folder {
    /// Makes the folder if need be (mode 0700) and takes it; `None` when another process has it.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let lock = private().truncate(false).open(path.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self {
                path: path.to_owned(),
                _lock: lock,
            })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The part in use, if there is one.
    pub fn open_current(&self) -> io::Result<Option<File>> {
        found(OpenOptions::new().read(true).write(true).open(self.path.join(CURRENT)))
    }

    /// Leaves word that nothing followed in the current part, which must be closed.
    pub fn mark_stopped(&self) -> io::Result<()> {
        let mut file = private().truncate(true).open(self.path.join(STOPPED))?;
        file.write_all(sealed(&self.identity()?).as_bytes())?;
        file.sync_all()?;
        self.sync()
    }

    /// Whether such a mark was left, and removes it: it is valid for one start, and only for the very file that it names.
    pub fn take_stopped(&self, now: Wall) -> io::Result<bool> {
        let Some(bytes) = self.read(STOPPED)? else {
            return Ok(false);
        };
        let text = String::from_utf8_lossy(&bytes);
        let Some(word) = unsealed(&text) else {
            let aside = self.set_aside(STOPPED, now)?;
            tracing::error!(
                kept_as = %aside.display(),
                "the file that tells of a clean stop is damaged and was set aside; the rooms go on in a new log"
            );
            return Ok(false);
        };
        fs::remove_file(self.path.join(STOPPED))?;
        self.sync()?;
        let same = word == self.identity()?;
        if !same {
            tracing::warn!("the word of a clean stop is of another log file: the rooms go on in a new log");
        }
        Ok(same)
    }

    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        found(fs::read(self.path.join(name)))
    }

    /// Sets aside an entry that has the name of a file but is not a regular one. Opening a named pipe would wait for ever,
    /// and a folder cannot be opened.
    pub fn set_aside_what_is_no_file(&self, now: Wall) -> io::Result<()> {
        for name in [CURRENT, NEXT, SNAPSHOT, SNAPSHOT_NEXT, SKIPS, STOPPED, PROBE] {
            let Some(kind) = found(fs::metadata(self.path.join(name)))? else {
                continue;
            };
            if !kind.is_file() {
                let aside = self.set_aside(name, now)?;
                tracing::error!(
                    file = name,
                    kept_as = %aside.display(),
                    "what stands in the data folder under the name of a file is none, and was set aside; the gate goes on without it"
                );
            }
        }
        Ok(())
    }

    /// Distinguishes the current part from any copy of it. An older copy put back must not continue from its end: later
    /// numbers would be issued again.
    fn identity(&self) -> io::Result<String> {
        let file = fs::metadata(self.path.join(CURRENT))?;
        Ok(format!("{} {} {}", file.ino(), file.ctime(), file.ctime_nsec()))
    }

    /// Leaves word that the entry at `position` is to be passed over, once.
    pub fn add_skip(&self, position: Position) -> io::Result<()> {
        if self.skips()?.contains(&position) {
            return Ok(());
        }
        let mut file = private().append(true).open(self.path.join(SKIPS))?;
        let line = format!("{}-{}", position.epoch, position.sequence);
        file.write_all(sealed(&line).as_bytes())?;
        file.sync_all()?;
        self.sync()
    }

    /// Sets the file of such words aside where it is damaged, and keeps the lines that are whole. An entry passed over for a
    /// number that changed on disk would make other rooms of the same log.
    pub fn mend_skips(&self, now: Wall) -> io::Result<()> {
        let Some(bytes) = self.read(SKIPS)? else {
            return Ok(());
        };
        let text = String::from_utf8_lossy(&bytes);
        if !text.is_empty() && text.lines().all(|line| skip_of(line).is_some()) {
            return Ok(());
        }
        let whole: Vec<_> = text.lines().filter_map(skip_of).collect();
        let aside = self.set_aside(SKIPS, now)?;
        tracing::error!(
            kept_as = %aside.display(),
            whole = whole.len(),
            "the file of entries to pass over is damaged and was set aside; its whole lines still count, and where the gate \
             stands before an entry again, ropeline gates --skip passes it over"
        );
        whole.into_iter().try_for_each(|position| self.add_skip(position))
    }

    /// Entries to be passed over; a line that names none is none.
    pub fn skips(&self) -> io::Result<Vec<Position>> {
        skips_in(&self.path)
    }

    /// Bytes on disk of the part in use.
    pub fn current_bytes(&self) -> u64 {
        disk_bytes(&self.path.join(CURRENT))
    }

    /// Bytes on disk of a closed part.
    pub fn closed_bytes(&self, name: &Name) -> u64 {
        disk_bytes(&self.path.join(name.file()))
    }

    /// An empty file for the next part; it becomes the current one by [`Folder::turn`].
    pub fn create_next(&self) -> io::Result<File> {
        self.drop_next()?;
        private().create_new(true).open(self.path.join(NEXT))
    }

    pub fn drop_next(&self) -> io::Result<()> {
        found(fs::remove_file(self.path.join(NEXT))).map(|_| ())
    }

    /// Files the current part under `name`, and puts the next in its place.
    pub fn turn(&self, name: Option<&Name>) -> io::Result<()> {
        if let Some(name) = name {
            fs::rename(self.path.join(CURRENT), self.path.join(name.file()))?;
        }
        fs::rename(self.path.join(NEXT), self.path.join(CURRENT))?;
        self.sync()
    }

    /// Completes a turn that a crash interrupted: a next part that is `whole` takes the place left empty for it; any other is
    /// dropped, because no entry was appended to it.
    pub fn finish_turn(&self, whole: impl FnOnce(File) -> bool) -> io::Result<()> {
        let Some(next) = found(OpenOptions::new().read(true).write(true).open(self.path.join(NEXT)))? else {
            return Ok(());
        };
        let due = !fs::exists(self.path.join(CURRENT))? && whole(next);
        if due { self.turn(None) } else { self.drop_next() }
    }

    /// Makes a closed part the current one again, where there is none.
    pub fn bring_back(&self, name: &Name) -> io::Result<()> {
        fs::rename(self.path.join(name.file()), self.path.join(CURRENT))?;
        self.sync()
    }

    /// Moves a damaged file out of the way under a name with the time in it, and says where it is now. Of those, the
    /// latest [`MAX_ASIDE`] are kept.
    pub fn set_aside(&self, file: &str, now: Wall) -> io::Result<PathBuf> {
        let aside = self.path.join(format!("{file}{ASIDE}{}", now.0));
        fs::rename(self.path.join(file), &aside)?;
        self.sync()?;
        let mut all = self.files(|name| name.contains(ASIDE).then(|| name.to_owned()))?;
        all.sort_by_key(|name| name.rsplit('-').next().and_then(|time| time.parse::<u64>().ok()));
        for old in all.iter().rev().skip(MAX_ASIDE) {
            // A folder is not ours to delete.
            match fs::remove_file(self.path.join(old)) {
                Err(error) if error.kind() != io::ErrorKind::IsADirectory => return Err(error),
                _ => {}
            }
        }
        Ok(aside)
    }

    /// The closed parts, oldest first.
    pub fn closed(&self) -> io::Result<Vec<Name>> {
        closed_in(&self.path)
    }

    pub fn remove_closed(&self, name: &Name) -> io::Result<()> {
        fs::remove_file(self.path.join(name.file()))
    }

    pub fn read_snapshot(&self) -> io::Result<Option<Vec<u8>>> {
        self.read(SNAPSHOT)
    }

    /// Tries whether the disk takes a few pages, so that a full one is found out without opening the log on it.
    pub fn probe(&self) -> io::Result<()> {
        let path = self.path.join(PROBE);
        let mut file = private().truncate(true).open(&path)?;
        let written = file.write_all(&vec![0x5A; PROBE_BYTES]).and_then(|()| file.sync_data());
        fs::remove_file(&path)?;
        written
    }

    fn files<T>(&self, pick: impl Fn(&str) -> Option<T>) -> io::Result<Vec<T>> {
        files_in(&self.path, pick)
    }

    fn sync(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }
}

/// Puts `bytes` in the place of the folder's snapshot file; a crash leaves the old or the new one.
pub(super) fn write_snapshot(folder: &Path, bytes: &[u8]) -> io::Result<()> {
    let next = folder.join(SNAPSHOT_NEXT);
    let written = private().truncate(true).open(&next).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    if let Err(error) = written {
        // Half a snapshot on a full disk is room that the log could use.
        found(fs::remove_file(&next))?;
        return Err(error);
    }
    fs::rename(&next, folder.join(SNAPSHOT))?;
    File::open(folder)?.sync_all()
}

/// Blocks, not length: redb's files are sparse.
fn disk_bytes(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.blocks() * 512)
}

/// The closed parts in `folder`, oldest first; for readers that do not take the folder.
pub(super) fn closed_in(folder: &Path) -> io::Result<Vec<Name>> {
    let mut closed = files_in(folder, Name::parse)?;
    closed.sort();
    Ok(closed)
}

/// Entries to be passed over, for readers that do not take the folder.
pub(super) fn skips_in(folder: &Path) -> io::Result<Vec<Position>> {
    let bytes = found(fs::read(folder.join(SKIPS)))?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().filter_map(skip_of).collect())
}

fn skip_of(line: &str) -> Option<Position> {
    let (epoch, sequence) = unsealed(line)?.split_once('-')?;
    Some(Position {
        epoch: epoch.parse().ok()?,
        sequence: sequence.parse().ok()?,
    })
}

fn files_in<T>(folder: &Path, pick: impl Fn(&str) -> Option<T>) -> io::Result<Vec<T>> {
    let mut picked = Vec::new();
    for file in fs::read_dir(folder)? {
        picked.extend(file?.file_name().to_str().and_then(&pick));
    }
    Ok(picked)
}

impl Name {
    pub fn file(&self) -> String {
        format!("log-{:016x}-{:010}-{:013}.redb", self.epoch, self.base, self.since.0)
    }

    fn parse(file: &str) -> Option<Self> {
        let mut fields = file.strip_prefix("log-")?.strip_suffix(".redb")?.split('-');
        let epoch = u64::from_str_radix(fields.next()?, 16).ok()?;
        let base = fields.next()?.parse().ok()?;
        let since = Wall(fields.next()?.parse().ok()?);
        fields.next().is_none().then_some(Self { epoch, base, since })
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600);
    options
}

fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Most damaged files kept for inspection.
const MAX_ASIDE: usize = 8;

const PROBE_BYTES: usize = 128 * 1024;

pub(super) const CURRENT: &str = "log.redb";
pub(super) const SNAPSHOT: &str = "snapshot";
pub(super) const LOCK: &str = "lock";
const NEXT: &str = "log.redb.next";
const SNAPSHOT_NEXT: &str = "snapshot.next";
const SKIPS: &str = "skips";
const STOPPED: &str = "stopped";
const PROBE: &str = "probe";
const ASIDE: &str = ".damaged-";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_parts_name_is_read_back_and_sorts_by_age() {
        let old = Name {
            epoch: 0x1234,
            base: 99,
            since: Wall(1_800_000_000_000),
        };
        let new = Name {
            epoch: 0x1234,
            base: 100,
            since: Wall(1_700_000_000_000),
        };
        assert_eq!(Name::parse(&old.file()), Some(old.clone()));
        assert!(old < new && old.file() < new.file());
        for other in [
            "log.redb",
            "log-.redb",
            "log-1-2-3-4.redb",
            "log-zz-2-3.redb",
            "snapshot",
            "log.redb.damaged-5",
        ] {
            assert_eq!(Name::parse(other), None, "{other}");
        }
    }

    #[test]
    fn only_the_latest_damaged_files_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::take(dir.path()).unwrap().unwrap();
        for time in 0..20 {
            fs::write(dir.path().join(CURRENT), b"x").unwrap();
            folder.set_aside(CURRENT, Wall(time)).unwrap();
        }
        let mut left = folder
            .files(|name| name.split_once(ASIDE).map(|(_, time)| time.parse::<u64>().unwrap()))
            .unwrap();
        left.sort_unstable();
        assert_eq!(left, (12..20).collect::<Vec<_>>());
    }
}
