//! Watches the configuration file and the files that it names, as certificates are watched: by content, every two seconds. A
//! change counts when two looks in a row found the same content of all of them. So swapped links (as a Kubernetes
//! `ConfigMap`'s `..data`), renames and slow writes need no special handling. A removed file is a change too.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::config::NamedFile;
use crate::pages::wording;

/// The known state of the files.
pub(super) struct Watch {
    /// The configuration itself is the first.
    files: Vec<Looked>,
}

struct Looked {
    file: NamedFile,
    /// When it was last taken, or refused.
    tried: Fingerprint,
    /// At the last look.
    seen: Fingerprint,
}

/// Distinguishes contents; covers the reason if a file cannot be read.
type Fingerprint = [u8; 32];

impl Watch {
    /// Of a configuration that is about to be read.
    pub(super) fn new(path: PathBuf) -> Self {
        let file = NamedFile {
            path,
            of_listeners: false,
        };
        Self {
            files: vec![Looked::at(file)],
        }
    }

    /// Checks the files: true if one of them has content that was not tried yet, and all are unchanged since the last look.
    /// Files that listeners reload by themselves count only if the configuration was refused, perhaps because of them.
    pub(super) fn has_news(&mut self, is_refused: bool) -> bool {
        let (mut are_settled, mut have_news) = (true, false);
        for looked in self.files.iter_mut().filter(|one| is_refused || !one.file.of_listeners) {
            let Some(now) = fingerprint(&looked.file.path) else {
                continue;
            };
            are_settled &= std::mem::replace(&mut looked.seen, now) == now;
            have_news |= now != looked.tried;
        }
        are_settled && have_news
    }

    /// They are about to be read. Later writes are news.
    pub(super) fn are_tried(&mut self) {
        for looked in &mut self.files {
            looked.tried = fingerprint(&looked.file.path).unwrap_or_default();
            looked.seen = looked.tried;
        }
    }

    /// The configuration as it was just read names these. True where one was not looked at before: it may have been another
    /// when it was read.
    pub(super) fn name(&mut self, files: &[NamedFile]) -> bool {
        let named = |looked: &Looked| files.contains(&looked.file);
        let kept = self.files.len().min(1);
        let others = self.files.split_off(kept);
        let (mut known, _): (Vec<Looked>, Vec<Looked>) = others.into_iter().partition(named);
        let is_new = |file: &&NamedFile| !known.iter().any(|looked| looked.file == **file);
        let new: Vec<Looked> = files.iter().filter(is_new).cloned().map(Looked::at).collect();
        let has_new = !new.is_empty();
        self.files.append(&mut known);
        self.files.extend(new);
        has_new
    }
}

impl Looked {
    fn at(file: NamedFile) -> Self {
        let fingerprint = fingerprint(&file.path).unwrap_or_default();
        Self {
            file,
            tried: fingerprint,
            seen: fingerprint,
        }
    }
}

/// That of a folder covers the files that are read of it. `None` of a pipe or a device: a look at one takes its content, or waits
/// for it.
fn fingerprint(path: &Path) -> Option<Fingerprint> {
    if path.is_dir() {
        let mut digest = Sha256::new();
        for file in wording::files(path).unwrap_or_default() {
            digest.update(file.as_os_str().as_encoded_bytes());
            digest.update(fingerprint_of_file(&file)?);
        }
        return Some(digest.finalize().into());
    }
    fingerprint_of_file(path)
}

fn fingerprint_of_file(path: &Path) -> Option<Fingerprint> {
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return None;
    }
    let mut digest = Sha256::new();
    let mut content = Vec::new();
    match File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut content)) {
        Ok(_) => digest.update(&content),
        Err(error) => {
            digest.update(b"no content: ");
            digest.update(error.to_string());
        }
    }
    Some(digest.finalize().into())
}

/// Longer than a configuration may be.
const MOST_BYTES: u64 = (1 << 20) + 2;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn news(watch: &mut Watch) -> bool {
        let first = watch.has_news(false);
        assert!(!first, "it may be half written");
        watch.has_news(false)
    }

    #[test]
    fn a_change_counts_when_it_has_settled_and_until_it_is_tried() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, "one").unwrap();
        let mut watch = Watch::new(path.clone());
        assert!(!news(&mut watch));
        std::fs::write(&path, "tw").unwrap();
        assert!(!watch.has_news(false));
        std::fs::write(&path, "two").unwrap();
        assert!(news(&mut watch) && watch.has_news(false));
        watch.are_tried();
        assert!(!news(&mut watch));
        std::fs::rename(&path, folder.path().join("away")).unwrap();
        assert!(news(&mut watch), "gone");
        watch.are_tried();
        assert!(!news(&mut watch));
        std::fs::write(folder.path().join("new"), "two").unwrap();
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        assert!(news(&mut watch), "back, as an editor does it");
    }

    #[test]
    fn a_link_that_is_swapped_further_up_is_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (data, text) in [("..1", "one"), ("..2", "two")] {
            std::fs::create_dir(at(data)).unwrap();
            std::fs::write(at(data).join("config.toml"), text).unwrap();
        }
        symlink("..1", at("..data")).unwrap();
        symlink("..data/config.toml", at("config.toml")).unwrap();
        let mut watch = Watch::new(at("config.toml"));
        symlink("..2", at("..data_tmp")).unwrap();
        std::fs::rename(at("..data_tmp"), at("..data")).unwrap();
        assert!(news(&mut watch));
    }

    #[test]
    fn files_that_are_named_count_and_those_of_listeners_only_after_a_refusal() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let files = [("page.html", false), ("front.pem", true)].map(|(name, of_listeners)| NamedFile {
            path: at(name),
            of_listeners,
        });
        std::fs::write(at("config.toml"), "one").unwrap();
        let mut watch = Watch::new(at("config.toml"));
        assert!(watch.name(&files) && !watch.name(&files));
        std::fs::write(at("page.html"), "one").unwrap();
        assert!(news(&mut watch));
        watch.are_tried();
        std::fs::write(at("front.pem"), "one").unwrap();
        assert!(!news(&mut watch));
        assert!(!watch.has_news(true) && watch.has_news(true));
        watch.are_tried();
        std::fs::write(at("config.toml"), "two").unwrap();
        assert!(!watch.has_news(false));
        std::fs::write(at("page.html"), "two").unwrap();
        assert!(!watch.has_news(false), "one of them is settled, and the other is not");
        assert!(watch.has_news(false));
        watch.are_tried();
        assert!(!watch.name(&files[..1]));
        std::fs::write(at("front.pem"), "two").unwrap();
        assert!(!watch.has_news(true) && !watch.has_news(true), "it is named no more");
    }
}
