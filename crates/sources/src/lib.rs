//! Measurements of a repository's sources: lines of code, imports and their loops, folders, methods, words.
//!
//! [`tree`] reads the modules of a crate from its root file, without tests. [`lines`] counts their code, [`imports`] follows
//! each path to the file that defines it, [`loops`] finds files that import each other in circles, and [`spread`] the types
//! whose methods are in many files. [`survey`] combines these for a whole repository. [`words`] counts words in documents and
//! comments.

pub mod imports;
pub mod lines;
pub mod loops;
pub mod spread;
pub mod survey;
pub mod tree;
pub mod words;

use std::io;
use std::path::{Path, PathBuf};

pub use tree::Tree;

/// A source that could not be read.
#[derive(Debug)]
pub enum Error {
    Io(PathBuf, io::Error),
    Syntax(PathBuf, syn::Error),
    /// A `mod` without a file.
    Lost {
        module: String,
        named_in: PathBuf,
    },
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Syntax(path, error) => {
                let at = error.span().start();
                write!(f, "{}:{}: {error}", path.display(), at.line)
            }
            Self::Lost { module, named_in } => write!(f, "{}: no file for `mod {module}`", named_in.display()),
        }
    }
}

impl std::error::Error for Error {}

/// The text of a file.
///
/// # Errors
/// Where it cannot be read.
pub fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|error| Error::Io(path.to_owned(), error))
}

/// All files below `folder` whose names end with `.ending`, sorted by path; none if the folder does not exist. Folders named
/// `target` or with a leading dot are left out.
///
/// # Errors
/// Where a folder cannot be read.
pub fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    if folder.is_dir() {
        gather(folder, ending, &mut found)?;
    }
    found.sort();
    Ok(found)
}

fn gather(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) -> Result<(), Error> {
    let failed = |error| Error::Io(folder.to_owned(), error);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if name != "target" && name != "node_modules" && !name.starts_with('.') {
                gather(&path, ending, found)?;
            }
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
    Ok(())
}
