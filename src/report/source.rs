//! The source of a history: folders of an archive, or the data folder of one gate.

use std::io;
use std::path::{Path, PathBuf};

use crate::archive::{Course, Fault, History, Step, Stored};
use crate::room::{Chain, Position, State};
use crate::store::{Kept, KeptPart, ReadError};

/// A history that can be walked through.
pub enum Source {
    Archive(History),
    Data { kept: Kept, folder: PathBuf },
}

/// Why there is nothing to read.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{folder} cannot be read: {source}")]
    Folder { folder: PathBuf, source: io::Error },
    #[error("there is neither an archive nor a log in {folder}")]
    Nothing { folder: PathBuf },
    #[error("{folder} is a gate's data folder: give it alone, or give only folders of one archive")]
    Mixed { folder: PathBuf },
    #[error(transparent)]
    Log(#[from] ReadError),
}

impl Source {
    /// Opens folders of one log's archive, or one data folder whose gate is stopped, or a copy of it.
    pub fn open(folders: &[PathBuf]) -> Result<Self, OpenError> {
        for folder in folders {
            let failed = |source| OpenError::Folder {
                folder: folder.clone(),
                source,
            };
            let (archive, data) = (History::is_in(folder).map_err(failed)?, Kept::is_in(folder));
            match (archive, data.map_err(failed)?) {
                (true, _) => {}
                (false, true) if folders.len() == 1 => {
                    return Ok(Self::Data {
                        kept: Kept::open(folder)?,
                        folder: folder.clone(),
                    });
                }
                (false, true) => return Err(OpenError::Mixed { folder: folder.clone() }),
                (false, false) => return Err(OpenError::Nothing { folder: folder.clone() }),
            }
        }
        let failed = |source| OpenError::Folder {
            folder: folders.first().cloned().unwrap_or_default(),
            source,
        };
        History::open(folders).map(Self::Archive).map_err(failed)
    }

    /// Goes through the history from its beginning; says where it ends, and the chain there.
    pub fn walk(&self, step: &mut dyn FnMut(Step<'_>)) -> Option<(Position, Chain)> {
        match self {
            Self::Archive(history) => history.walk(step),
            Self::Data { kept, folder } => Parts {
                kept,
                folder,
                course: Course::default(),
            }
            .walk(step),
        }
    }
}

/// The parts of an embedded log on their turn.
struct Parts<'a> {
    kept: &'a Kept,
    folder: &'a Path,
    course: Course,
}

impl Parts<'_> {
    fn walk(mut self, step: &mut dyn FnMut(Step<'_>)) -> Option<(Position, Chain)> {
        let files = self.kept.files();
        let skips = self.kept.skips().unwrap_or_default();
        for (index, name) in files.iter().enumerate() {
            let file = self.folder.join(name).display().to_string();
            let of = files.len();
            step(Step::File { file: &file, index, of });
            let part = self.kept.part(name).map_err(|damage| damage.reason);
            let read = part.and_then(|part| self.part(&file, &part, &skips, step));
            if let Err(reason) = read {
                step(Step::Fault(Fault::Damaged { file, reason }));
            }
        }
        self.course.reached()
    }

    fn part(
        &mut self,
        file: &str,
        part: &KeptPart,
        skips: &[Position],
        step: &mut dyn FnMut(Step<'_>),
    ) -> Result<(), String> {
        let at = part.base.position;
        let state = State::decode(&part.base.state).map_err(|error| error.to_string())?;
        let chain = state.chain();
        // It starts from a state written down: the history before must lead there.
        let first = Position {
            sequence: at.sequence + 1,
            ..at
        };
        if !self.course.take_up(file, first, chain, step) {
            // It begins before the last one ended: the disk lost data that it had promised to keep.
            let file = file.to_owned();
            step(Step::Fault(Fault::Differs { file, position: at }));
            self.course.enter(at, chain);
        }
        let state = &*part.base.state;
        step(Step::Base {
            file,
            position: at,
            chain,
            state,
        });
        let mut sequence = at.sequence;
        loop {
            let entries = part.read(sequence).map_err(|damage| damage.reason)?;
            if entries.is_empty() {
                self.course.leave();
                return Ok(());
            }
            for entry in entries {
                let position = entry.position;
                sequence = position.sequence;
                let chain = self.course.reached().map_or_else(Chain::default, |(_, chain)| chain);
                let passed_over = skips.contains(&position);
                let stored = Stored {
                    chain: chain.then(entry.bytes(), passed_over),
                    passed_over,
                    entry,
                };
                self.course.pass(position, stored.chain);
                step(Step::Entry { file, stored: &stored });
            }
        }
    }
}
