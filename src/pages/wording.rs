//! An operator's folder of wordings: a file for each language, which changes words of a built-in one or brings one of the operator's own.
//!
//! A file has the name and the form of those in `static/locales/`. Everything that is wrong with the files of a folder is
//! reported at once.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::catalogue::{self, check};

/// Most files of a folder.
pub const MAX_FILES: usize = 64;

/// Most bytes of a file.
pub const MAX_FILE: usize = 64 * 1024;

/// The files of a folder, by the tag of the language.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wording {
    files: BTreeMap<String, String>,
}

/// A mistake in a folder of wordings; `line` counts from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    pub file: PathBuf,
    pub line: Option<usize>,
    /// As `words.offline`; empty for the file as a whole.
    pub key: String,
    pub wrong: String,
    /// The correction.
    pub right: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place(), self.wrong)?;
        write!(f, "; right: {}", self.right)
    }
}

impl Fault {
    /// The file with its line and key.
    #[must_use]
    pub fn place(&self) -> String {
        let line = self.line.map(|line| format!(": line {line}")).unwrap_or_default();
        let key = if self.key.is_empty() {
            String::new()
        } else {
            format!(": {}", self.key)
        };
        format!("{}{line}{key}", self.file.display())
    }
}

impl Wording {
    /// Reads the files `TAG.toml` of a folder; other files are ignored.
    ///
    /// # Errors
    /// Every mistake of the folder and its files.
    pub fn read(folder: &Path) -> Result<Self, Vec<Fault>> {
        let names = match names(folder) {
            Ok(names) => names,
            Err(error) => {
                let wrong = format!("the folder cannot be read ({error})");
                return Err(vec![fault(folder, wrong, "a folder that the gate may read")]);
            }
        };
        if names.len() > MAX_FILES {
            let wrong = format!("the folder has {} languages", names.len());
            return Err(vec![fault(folder, wrong, format!("at most {MAX_FILES}"))]);
        }
        let (mut files, mut faults) = (BTreeMap::new(), Vec::new());
        for name in &names {
            let path = folder.join(name);
            match read_file(&path) {
                Ok(text) => {
                    let (tag, built_in) = tag_of(name.trim_end_matches(SUFFIX));
                    faults.extend(flaws(&path, &tag, &text, !built_in));
                    files.insert(tag, text);
                }
                Err(wrong) => faults.push(fault(&path, wrong, format!("a file of at most {MAX_FILE} bytes in UTF-8"))),
            }
        }
        if faults.is_empty() { Ok(Self { files }) } else { Err(faults) }
    }

    /// Tags of its languages.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
}

const SUFFIX: &str = ".toml";

/// The names of the files, sorted. Names that begin with a dot are those of other programs.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)?.take(MAX_ENTRIES) {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(SUFFIX) && !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Most entries of a folder that are looked at.
const MAX_ENTRIES: usize = 4_096;

/// A tag in the letter case of the built-in language, if there is one.
fn tag_of(name: &str) -> (String, bool) {
    let known = catalogue::TAGS.iter().find(|tag| tag.eq_ignore_ascii_case(name));
    known.map_or_else(|| (name.to_owned(), false), |tag| ((*tag).to_owned(), true))
}

fn flaws(path: &Path, tag: &str, text: &str, whole: bool) -> impl Iterator<Item = Fault> {
    check::flaws(tag, text, whole).into_iter().map(|flaw| Fault {
        file: path.to_owned(),
        line: Some(flaw.line),
        key: flaw.key,
        wrong: flaw.wrong,
        right: flaw.right,
    })
}

/// The text of a file, which may be a link to another, as in a volume of Kubernetes.
fn read_file(path: &Path) -> Result<String, String> {
    let read = || {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_FILE as u64 + 1).read_to_end(&mut bytes)?;
        Ok::<_, io::Error>(bytes)
    };
    let bytes = read().map_err(|error| format!("the file cannot be read ({error})"))?;
    if bytes.len() > MAX_FILE {
        return Err(format!("the file is longer than {MAX_FILE} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| format!("the file is no text in UTF-8 ({error})"))
}

fn fault(file: &Path, wrong: String, right: impl Into<String>) -> Fault {
    Fault {
        file: file.to_owned(),
        line: None,
        key: String::new(),
        wrong,
        right: right.into(),
    }
}
