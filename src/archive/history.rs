//! Several folders of one log's archive, read as one history: each entry once, and whatever does not fit told.

use std::io;
use std::path::{Path, PathBuf};

use super::course::{Course, Joint, Link};
use super::folder::{Folder, Name};
use super::segment::{Segment, Stored};
use crate::room::{Chain, Position};

/// The files of all folders, in the order of what they hold.
#[derive(Debug)]
pub struct History {
    files: Vec<(Name, Folder)>,
}

/// What is met on the way through a history.
#[derive(Debug)]
pub enum Step<'a> {
    /// Another file of so many.
    File {
        file: &'a str,
        index: usize,
        of: usize,
    },
    /// A log begins; `after` is the last entry of the one before.
    Begins {
        incarnation: u64,
        after: Option<Position>,
        link: Link,
    },
    /// The state after `position`, as it was written down, and the chain there.
    Base {
        file: &'a str,
        position: Position,
        chain: Chain,
        state: &'a [u8],
    },
    Entry {
        file: &'a str,
        stored: &'a Stored,
    },
    Fault(Fault),
}

/// Something that is not as it should be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    #[error("{file} is damaged: {reason}")]
    Damaged { file: String, reason: String },
    #[error("{file} does not follow what was filed before it: entries before {position} were altered")]
    Chain { file: String, position: Position },
    #[error("entries are missing between {after} and {file}, which begins at {first}")]
    Gap {
        file: String,
        after: Position,
        first: Position,
    },
    #[error("{file} tells something else than the files before it about the entries up to {position}")]
    Differs { file: String, position: Position },
    #[error("{file} begins from a history that is not here: entries after {after} are missing, or were altered")]
    Elsewhere { file: String, after: Position },
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
        let later = |name: &Name| (name.incarnation, name.last) > (position.incarnation, position.sequence);
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

    /// Goes through the history from its beginning; says where it ends, and the chain there. One file is held in memory
    /// at a time.
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
        let (file, segment) = (self.file.to_owned(), self.segment);
        let first = Position {
            incarnation: segment.incarnation,
            sequence: segment.first,
        };
        let reached = course.reached().map(|(at, _)| at);
        let joint = course.joint(first, segment.before);
        match joint {
            Joint::Follows => {}
            Joint::Overlaps => return self.overlap(course, step),
            Joint::Forks => step(Step::Fault(Fault::Chain { file, position: first })),
            Joint::Gap { after } => step(Step::Fault(Fault::Gap { file, after, first })),
            Joint::BeginsLate => {
                let after = Position { sequence: 0, ..first };
                step(Step::Fault(Fault::Gap { file, after, first }));
            }
            Joint::Begins(link) => {
                if let (Link::Elsewhere, Some(after)) = (link, reached) {
                    step(Step::Fault(Fault::Elsewhere { file, after }));
                }
                step(Step::Begins {
                    incarnation: first.incarnation,
                    after: reached,
                    link,
                });
            }
        }
        let before = Position {
            sequence: first.sequence - 1,
            ..first
        };
        if joint != Joint::Follows {
            course.enter(before, segment.before);
        }
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
        // What lies further back than is remembered is compared where its own end is the end of another file.
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
