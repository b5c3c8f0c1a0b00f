//! An operator's folder of wordings: a file for each language, which changes words of a built-in one or brings one of the operator's own.
//!
//! A file has the name and the form of those in `static/locales/`. Everything that is wrong with the files of a folder is
//! reported at once.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::catalogue::{self, Catalogue, check};

/// Most files of a folder.
pub const MAX_FILES: usize = 64;

/// Most bytes of a file.
pub const MAX_FILE: usize = 64 * 1024;

/// The files of a folder, by the tag of the language.
#[derive(Clone, Debug)]
pub struct Wording {
    files: BTreeMap<String, String>,
    catalogues: Vec<Arc<Catalogue>>,
}

/// Of the same files the same languages are made.
impl PartialEq for Wording {
    fn eq(&self, other: &Self) -> bool {
        self.files == other.files
    }
}

impl Eq for Wording {}

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
                Err(wrong) => faults.push(fault(
                    &path,
                    wrong,
                    format!("a file of at most {MAX_FILE} bytes in UTF-8"),
                )),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut catalogues = Vec::new();
        for (tag, text) in &files {
            let path = folder.join(format!("{tag}{SUFFIX}"));
            match catalogue::changed(tag, text) {
                Ok(catalogue) => catalogues.push(Arc::new(catalogue)),
                Err(error) => faults.push(fault(
                    &path,
                    error.message().to_owned(),
                    "the form of static/locales/en.toml",
                )),
            }
        }
        if faults.is_empty() {
            Ok(Self { files, catalogues })
        } else {
            Err(faults)
        }
    }

    /// Tags whose numbers all take the form `other`, since CLDR has no plural rules for them.
    pub fn without_plurals(&self) -> impl Iterator<Item = &str> {
        self.tags().filter(|tag| !catalogue::has_plural_rules(tag))
    }

    pub(super) fn catalogues(&self) -> &[Arc<Catalogue>] {
        &self.catalogues
    }

    /// Tags of its languages.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
}

const SUFFIX: &str = ".toml";

/// The files of a folder that are read, for who watches them.
///
/// # Errors
/// When the folder cannot be read.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let names = names(folder)?;
    Ok(names
        .into_iter()
        .take(MAX_FILES)
        .map(|name| folder.join(name))
        .collect())
}

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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::pages::brand::Brand;
    use crate::pages::{Languages, PageFacts, PageKind, Pages};

    const ENGLISH: &str = include_str!("../../static/locales/en.toml");

    /// A text of the English file, in quotes.
    fn quoted(key: &str) -> &'static str {
        let of_key = |line: &'static str| line.strip_prefix(key)?.strip_prefix(" = ");
        ENGLISH.lines().find_map(of_key).unwrap()
    }

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn faults(files: &[(&str, &str)]) -> Vec<String> {
        let folder = folder(files);
        let faults = Wording::read(folder.path()).unwrap_err();
        let path = format!("{}/", folder.path().display());
        faults
            .iter()
            .map(|fault| fault.to_string().replace(&path, ""))
            .collect()
    }

    /// The page of an outage in the best language for a browser.
    fn page(wording: &Wording, accept_language: &str) -> String {
        let pages = Pages::in_languages(None, &Brand::default(), Languages::with(wording)).unwrap();
        let language = pages.languages().negotiate(accept_language);
        let facts = PageFacts::new("r", ropeline_ids::Wall(0), "/");
        let page = pages.render(PageKind::Unavailable, &facts, language);
        let tag = page.headers["content-language"].to_str().unwrap().to_owned();
        format!("{tag}: {}", String::from_utf8(page.body.into()).unwrap())
    }

    #[test]
    fn a_part_of_a_file_changes_words_of_a_built_in_language_and_a_whole_one_is_a_language() {
        let again = quoted("again");
        let own = ENGLISH
            .replace("\nagain = ", "\nagain = \"Nuqneh\" # ")
            .replace("\none = ", "\n# one = ");
        let some = "[pages.unavailable]\nheading = \"We are closed, sorry\"\n[plurals.hours]\nother = \"{n} 시간\"";
        let folder = folder(&[
            ("EN.toml", &some.replace("other", "one = \"an hour\"\nother")),
            ("tlh.toml", &own),
            ("notes.txt", "-"),
        ]);
        let wording = Wording::read(folder.path()).unwrap();
        assert_eq!(wording.tags().collect::<Vec<_>>(), ["en", "tlh"]);
        assert_eq!(wording.without_plurals().collect::<Vec<_>>(), ["tlh"]);
        let english = page(&wording, "en-GB");
        assert!(
            english.starts_with("en: ") && english.contains("<h1>We are closed, sorry</h1>"),
            "{english}"
        );
        assert!(english.contains(&again.replace('"', "")), "{english}");
        let of_their_own = page(&wording, "tlh, en;q=0.5");
        assert!(
            of_their_own.starts_with("tlh: ") && of_their_own.contains(">Nuqneh<"),
            "{of_their_own}"
        );
        assert!(page(&wording, "ko").starts_with("ko: "));
    }

    #[test]
    fn markup_in_a_text_is_shown_as_text() {
        let folder = folder(&[(
            "en.toml",
            "[pages.unavailable]\nheading = \"<script>alert(1)</script>\"",
        )]);
        let page = page(&Wording::read(folder.path()).unwrap(), "en");
        assert!(
            page.contains("<h1>&lt;script&gt;alert(1)&lt;&#x2f;script&gt;</h1>"),
            "{page}"
        );
        assert!(!page.contains("<script>alert"), "{page}");
    }

    #[test]
    fn every_mistake_of_every_file_has_its_file_line_key_and_remedy() {
        let ahead = "[plurals.ahead]\none = \"{n}\"\nfew = \"{n}\"\nother = \"{n}\"\n";
        let english = format!(
            "[words]\nopen = \"x\"\nopens = \"{{when}}\"\nagain = \"{}\"\n{ahead}",
            "x".repeat(41)
        );
        let own = ENGLISH.replacen("offline =", "# offline =", 1);
        let offline = quoted("offline");
        let end = 1 + ENGLISH.lines().count();
        let missing =
            format!("de-CH.toml: line {end}: words.offline: the key is missing; right: a text, in English {offline}");
        assert_eq!(
            faults(&[("en.toml", &english), ("de-CH.toml", &own), ("fr.toml", "[words\n")])[..6],
            [
                &*missing,
                "en.toml: line 2: words.open: there is no such key; right: a key of en.toml",
                "en.toml: line 3: words.opens: the braces of the text are {when}; right: {time}",
                "en.toml: line 4: words.again: the text has 41 characters; right: at most 40",
                "en.toml: line 7: plurals.ahead.few: the language has no plural form few; right: one, other",
                "fr.toml: line 1: unclosed table, expected `]`; right: TOML as in static/locales/en.toml",
            ]
        );
    }

    #[test]
    fn a_folder_is_bounded_and_its_files_may_be_links() {
        let folder = folder(&[("long.toml", &"#".repeat(MAX_FILE + 1)), (".hidden.toml", "x")]);
        let told = Wording::read(folder.path()).unwrap_err();
        assert!(
            told.len() == 1
                && told[0]
                    .to_string()
                    .contains("long.toml: the file is longer than 65536 bytes"),
            "{told:?}"
        );
        fs::write(folder.path().join("long.toml"), b"\xff").unwrap();
        assert!(
            Wording::read(folder.path()).unwrap_err()[0]
                .wrong
                .contains("no text in UTF-8")
        );
        fs::remove_file(folder.path().join("long.toml")).unwrap();
        fs::write(folder.path().join("..data"), "[words]\nagain = \"Once more\"").unwrap();
        symlink("..data", folder.path().join("en.toml")).unwrap();
        assert_eq!(Wording::read(folder.path()).unwrap().tags().count(), 1);
        for n in 0..MAX_FILES {
            fs::write(folder.path().join(format!("x{n}.toml")), "").unwrap();
        }
        assert_eq!(
            Wording::read(folder.path()).unwrap_err()[0].wrong,
            "the folder has 65 languages"
        );
        let nowhere = Wording::read(&folder.path().join("nowhere")).unwrap_err();
        assert!(nowhere[0].wrong.contains("cannot be read"), "{nowhere:?}");
        let no_tag = faults(&[("my words.toml", "")]);
        assert!(
            no_tag.iter().any(|told| told.contains("my words is no language tag")),
            "{no_tag:?}"
        );
    }
}
