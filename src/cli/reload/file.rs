//! The configuration file, looked at for a change as certificates are: by what it holds, every two seconds, and a change
//! counts when two looks in a row saw the same. Links that are swapped (as a Kubernetes `ConfigMap`'s `..data`), renames and
//! files that are written bit by bit all look alike that way. A file that is gone is a change too.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// What is known of one file.
pub(super) struct Watch {
    path: PathBuf,
    /// When it was last taken, or refused.
    tried: Fingerprint,
    /// At the last look.
    seen: Fingerprint,
}

/// Tells contents apart; of what cannot be read, the reason.
type Fingerprint = [u8; 32];

impl Watch {
    /// Of a file that has just been read.
    pub(super) fn new(path: PathBuf) -> Self {
        let fingerprint = fingerprint(&path);
        Self {
            path,
            tried: fingerprint,
            seen: fingerprint,
        }
    }

    /// Looks; whether it holds something that was not tried yet, and has held it since the last look.
    pub(super) fn has_news(&mut self) -> bool {
        let now = fingerprint(&self.path);
        let settled = std::mem::replace(&mut self.seen, now) == now;
        settled && now != self.tried
    }

    /// It is about to be read. What is written after this is news.
    pub(super) fn is_tried(&mut self) {
        self.tried = fingerprint(&self.path);
        self.seen = self.tried;
    }
}

fn fingerprint(path: &Path) -> Fingerprint {
    let mut digest = Sha256::new();
    let mut content = Vec::new();
    match File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut content)) {
        Ok(_) => digest.update(&content),
        Err(error) => {
            digest.update(b"no content: ");
            digest.update(error.to_string());
        }
    }
    digest.finalize().into()
}

/// Longer than a configuration may be.
const MOST_BYTES: u64 = (1 << 20) + 2;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn news(watch: &mut Watch) -> bool {
        let first = watch.has_news();
        assert!(!first, "it may be half written");
        watch.has_news()
    }

    #[test]
    fn a_change_counts_when_it_has_settled_and_until_it_is_tried() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, "one").unwrap();
        let mut watch = Watch::new(path.clone());
        assert!(!news(&mut watch));
        std::fs::write(&path, "tw").unwrap();
        assert!(!watch.has_news());
        std::fs::write(&path, "two").unwrap();
        assert!(news(&mut watch) && watch.has_news());
        watch.is_tried();
        assert!(!news(&mut watch));
        std::fs::rename(&path, folder.path().join("away")).unwrap();
        assert!(news(&mut watch), "gone");
        watch.is_tried();
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
}
