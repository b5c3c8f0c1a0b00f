//! Several folders of one archive, read as one history: each entry once, and inconsistencies reported.

use std::io;
use std::path::{Path, PathBuf};

use super::course::Course;
use super::folder::{Folder, Name};
use super::segment::Segment;
use super::step::{Fault, Step};
use crate::room::{Chain, Position};

/// The files of all folders, in the order of their entries.
#[derive(Debug)]
pub struct History {
    files: Vec<(Name, Folder)>,
}

impl History {
    /// Finds the files of the folders. None at all is an empty history.
    pub fn open(folders: &[PathBuf]) -> io::Result<Self> {
        let mut files = Vec::new();
        for path in folders {
            let folder = Folder::new(path);
            files.extend(folder.names()?.into_iter().map(|name| (name, folder.clone())));
        }
        // Stable: of files with one name the folder given first comes first.
        files.sort_by_key(|(name, _)| *name);
        Ok(Self { files })
    }

    /// Without the files that hold nothing after `position`.
    #[must_use]
    pub fn after(mut self, position: Position) -> Self {
        let later = |name: &Name| (name.epoch, name.last) > (position.epoch, position.sequence);
        self.files.retain(|(name, _)| later(name));
        self
    }

    /// Whether the folder holds files of an archive.
    pub fn is_in(folder: &Path) -> io::Result<bool> {
        Folder::new(folder).names().map(|names| !names.is_empty())
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Goes through the history from its beginning; returns its end, and the chain there. One file is held in memory at a
    /// time.
    pub fn walk(&self, step: &mut dyn FnMut(Step<'_>)) -> Option<(Position, Chain)> {
        let mut course = Course::default();
        for (index, (name, folder)) in self.files.iter().enumerate() {
            let file = folder.path().join(name.file()).display().to_string();
            step(Step::File {
                file: &file,
                index,
                of: self.files.len(),
            });
            let damaged = |reason: String| Fault::Damaged {
                file: file.clone(),
                reason,
            };
            match folder.read(*name) {
                Ok(Ok(segment)) => Piece {
                    file: &file,
                    segment: &segment,
                }
                .walk(&mut course, step),
                Ok(Err(reason)) => step(Step::Fault(damaged(reason.to_string()))),
                Err(reason) => step(Step::Fault(damaged(reason.to_string()))),
            }
        }
        course.reached()
    }
}

/// One file on its turn.
struct Piece<'a> {
    file: &'a str,
    segment: &'a Segment,
}

impl Piece<'_> {
    fn walk(&self, course: &mut Course, step: &mut dyn FnMut(Step<'_>)) {
        let segment = self.segment;
        let first = Position {
            epoch: segment.epoch,
            sequence: segment.first,
        };
        if !course.take_up(self.file, first, segment.before, step) {
            return self.overlap(course, step);
        }
        let before = Position {
            sequence: first.sequence - 1,
            ..first
        };
        if let Some(state) = &segment.base {
            step(Step::Base {
                file: self.file,
                position: before,
                chain: segment.before,
                state,
            });
        }
        self.entries(course, step, before.sequence);
    }

    /// A range of which some was seen already: it must tell the same.
    fn overlap(&self, course: &mut Course, step: &mut dyn FnMut(Step<'_>)) {
        let segment = self.segment;
        let Some((at, _)) = course.reached() else { return };
        let common = at.sequence.min(segment.last);
        let told = if common == segment.last {
            Some(segment.after)
        } else {
            let mut stored = segment.entries().map_while(Result::ok);
            stored
                .find(|stored| stored.entry.position.sequence == common)
                .map(|stored| stored.chain)
        };
        // A position further back than is remembered is compared where its own end is the end of another file.
        if course.chain_at(common).is_some_and(|known| Some(known) != told) {
            let position = Position { sequence: common, ..at };
            return step(Step::Fault(Fault::Differs {
                file: self.file.to_owned(),
                position,
            }));
        }
        self.entries(course, step, common);
    }

    fn entries(&self, course: &mut Course, step: &mut dyn FnMut(Step<'_>), after: u64) {
        // Reading the file has checked every entry.
        for stored in self.segment.entries().map_while(Result::ok) {
            if stored.entry.position.sequence > after {
                course.pass(stored.entry.position, stored.chain);
                step(Step::Entry {
                    file: self.file,
                    stored: &stored,
                });
            }
        }
        course.leave();
    }
}
