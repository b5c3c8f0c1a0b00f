//! The archive's folder: a file is written under a temporary name, renamed, and never changed.
//!
//! This module never locks, appends or renames over a file, so that a mounted object store works. Several gates may archive
//! into one folder: files of the same name have the same bytes, whichever gate wrote them.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;

use super::segment::{Damaged, Segment};
use ropeline_ids::GateId;

/// A folder of segments.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// The name of a file of an archive: sorts by epoch and sequence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name {
    pub epoch: u64,
    pub first: u64,
    pub last: u64,
}

/// The result of archiving a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filed {
    Now,
    /// A file of that name was there.
    Before,
}

impl Folder {
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The files of the archive in order; anything else in the folder is passed over.
    pub fn names(&self) -> io::Result<Vec<Name>> {
        let mut names = Vec::new();
        for file in fs::read_dir(&self.path)? {
            names.extend(file?.file_name().to_str().and_then(Name::parse));
        }
        names.sort();
        Ok(names)
    }

    /// Reads one file whole.
    pub fn read(&self, name: Name) -> io::Result<Result<Segment, Damaged>> {
        let mut file = open_regular(&self.path.join(name.file()))?;
        if file.metadata()?.len() > MOST_BYTES {
            return Ok(Err(Damaged::Form));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let segment = Segment::read(&bytes);
        Ok(segment.and_then(|segment| {
            if Name::of(&segment) == name {
                Ok(segment)
            } else {
                Err(Damaged::Form)
            }
        }))
    }

    /// Makes the folder if it does not exist, and removes files that a crash left half written. Another gate may be writing
    /// such a file now; one that takes longer than a minute writes it again.
    pub fn prepare(&self) -> io::Result<()> {
        fs::create_dir_all(&self.path)?;
        for file in fs::read_dir(&self.path)? {
            let path = file?.path();
            let is_part = path.extension().is_some_and(|extension| extension == PART);
            let written = || path.metadata().and_then(|metadata| metadata.modified());
            if is_part && written().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > ABANDONED)) {
                found(fs::remove_file(path))?;
            }
        }
        Ok(())
    }

    /// Files the segment; on disk when it returns. `by` keeps gates that file at once out of each other's way.
    pub fn file(&self, segment: &Segment, by: GateId) -> io::Result<Filed> {
        let name = Name::of(segment).file();
        let path = self.path.join(&name);
        if fs::exists(&path)? {
            return Ok(Filed::Before);
        }
        let part = self.path.join(format!("{name}.{:016x}.{PART}", by.0));
        let filed = write(&part, segment).and_then(|()| self.settle(&part, &path));
        if filed.is_err() {
            // Half a file on a full disk is room that the next could use.
            let _ = fs::remove_file(&part);
        }
        filed
    }

    /// Whether this very range is archived: gates cut at the same positions.
    pub fn holds(&self, wanted: Name) -> io::Result<bool> {
        fs::exists(self.path.join(wanted.file()))
    }

    /// True when files hold every entry from `first` to `last`.
    pub fn covers(&self, wanted: Name) -> io::Result<bool> {
        if self.holds(wanted)? {
            return Ok(true);
        }
        let names = self.names()?;
        let mut ends: BTreeMap<u64, u64> = BTreeMap::new();
        for name in names.iter().filter(|name| name.epoch == wanted.epoch) {
            let end = ends.entry(name.first).or_default();
            *end = (*end).max(name.last);
        }
        let mut due = wanted.first;
        for (first, last) in ends {
            if first > due || due > wanted.last {
                break;
            }
            due = due.max(last + 1);
        }
        Ok(due > wanted.last)
    }

    fn settle(&self, part: &Path, path: &Path) -> io::Result<Filed> {
        if fs::exists(path)? {
            fs::remove_file(part)?;
            return Ok(Filed::Before);
        }
        fs::rename(part, path)?;
        // Mounted object stores cannot sync a folder, and need not.
        let _ = File::open(&self.path).and_then(|folder| folder.sync_all());
        Ok(Filed::Now)
    }
}

impl Name {
    #[must_use]
    pub fn of(segment: &Segment) -> Self {
        Self {
            epoch: segment.epoch,
            first: segment.first,
            last: segment.last,
        }
    }

    #[must_use]
    pub fn file(&self) -> String {
        format!("{:016x}-{:012}-{:012}.{FILE}", self.epoch, self.first, self.last)
    }

    fn parse(file: &str) -> Option<Self> {
        let mut fields = file.strip_suffix(FILE)?.strip_suffix('.')?.split('-');
        let name = Self {
            epoch: u64::from_str_radix(fields.next()?, 16).ok()?,
            first: fields.next()?.parse().ok()?,
            last: fields.next()?.parse().ok()?,
        };
        let whole = fields.next().is_none() && (1..=name.last).contains(&name.first) && name.last < u64::MAX;
        (whole && name.file() == file).then_some(name)
    }
}

fn write(part: &Path, segment: &Segment) -> io::Result<()> {
    found(fs::remove_file(part))?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(part)?;
    let mut buffered = BufWriter::with_capacity(1 << 16, file);
    segment.write(&mut buffered)?;
    buffered.flush()?;
    buffered.get_ref().sync_all()
}

/// Opens a regular file to read, and no other: a pipe of that name would never come to an end.
fn open_regular(path: &Path) -> io::Result<File> {
    // Without waiting for who writes into a pipe.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is no regular file"));
    }
    Ok(file)
}

fn found(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Ends of the names of files, and of those half written.
const FILE: &str = "ropeline";
const PART: &str = "part";

/// No gate is writing a file any more that was last written so long ago.
const ABANDONED: Duration = Duration::from_secs(60);

/// Longest file that is read: far above the size of a gate's files, and it is held in memory.
const MOST_BYTES: u64 = 512 << 20;

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::super::segment::tests::segment;
    use super::*;

    #[test]
    fn a_name_is_read_back_and_sorts_by_epoch_and_sequence() {
        let name = |epoch, first, last| Name { epoch, first, last };
        let names = [name(9, 7, 8), name(10, 1, 2), name(10, 99, 100), name(10, 1_000, 1_001)];
        assert!(names.is_sorted_by(|a, b| a < b && a.file() < b.file()));
        assert!(names.iter().all(|name| Name::parse(&name.file()) == Some(*name)));
        let others = [
            "",
            "readme.txt",
            "7-1-2.ropeline",
            "000000000000000a-000000000003-000000000002.ropeline",
        ];
        assert!(others.iter().all(|other| Name::parse(other).is_none()));
        assert!(Name::parse(&format!("{}.0000000000000001.part", names[0].file())).is_none());
    }

    #[test]
    fn a_segment_is_filed_once_and_nothing_half_written_stays() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(&dir.path().join("a/b"));
        assert!(folder.file(&segment(1, 3), GateId(1)).is_err());
        folder.prepare().unwrap();
        assert_eq!(folder.file(&segment(1, 3), GateId(1)).unwrap(), Filed::Now);
        assert_eq!(folder.file(&segment(1, 3), GateId(2)).unwrap(), Filed::Before);
        let name = folder.names().unwrap()[0];
        assert_eq!(folder.read(name).unwrap(), Ok(segment(1, 3)));
        let left = folder.path().join("x.part");
        fs::write(&left, "half").unwrap();
        folder.prepare().unwrap();
        assert!(left.exists(), "it may be another gate's, under way");
        let half = File::options().write(true).open(&left).unwrap();
        half.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        folder.prepare().unwrap();
        assert!(!left.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_pipe_or_a_folder_by_the_name_of_a_file_is_refused_at_once() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path());
        let (pipe, inner) = (Name::of(&segment(1, 3)), Name::of(&segment(4, 5)));
        mknodat(
            CWD,
            dir.path().join(pipe.file()),
            FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        fs::create_dir(dir.path().join(inner.file())).unwrap();
        for name in [pipe, inner] {
            let refused = folder.read(name).unwrap_err();
            assert_eq!(refused.to_string(), "this is no regular file");
        }
    }

    #[test]
    fn ranges_are_covered_by_whatever_holds_all_of_their_entries() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path());
        for (first, last) in [(1, 3), (3, 5), (7, 9)] {
            folder.file(&segment(first, last), GateId(1)).unwrap();
        }
        let covers = |first, last| folder.covers(Name::of(&segment(first, last))).unwrap();
        assert!(covers(1, 5) && covers(2, 4) && covers(7, 9) && covers(8, 8));
        assert!(!covers(5, 7) && !covers(6, 6) && !covers(9, 10) && !covers(10, 11));
    }
}
