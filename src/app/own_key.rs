//! The key that a single gate generates if none is configured, kept in its data folder.
//!
//! `[tokens] keys` may name its file beside a new key, as the id `own`: visitors keep their places while the one replaces the other.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::store::sealed::{KEY_BYTES, sealed, unsealed_key};

/// A key found or made, and whether it is new.
pub struct OwnKey {
    pub secret: Vec<u8>,
    pub path: PathBuf,
    pub new: bool,
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum OwnKeyError {
    #[error("cannot read or write the token key {path}: {source}; check the folder's owner, or set [tokens] keys")]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "{path} is damaged: it is not a token key (64 hexadecimal digits and their checksum); put the right file back, or delete it and every visitor joins anew"
    )]
    Damaged { path: PathBuf },
    #[error("the operating system gives no random bytes")]
    NoRandomness,
}

/// Reads `token.key` in `folder`, or makes it with mode 0600. The file is whole before it has its name, so a crash leaves
/// either no key or a good one.
///
/// # Errors
/// When the folder or file cannot be used, or the file is no key.
pub fn load_or_make(folder: &Path) -> Result<OwnKey, OwnKeyError> {
    let path = folder.join("token.key");
    let io = |source| OwnKeyError::Io {
        path: path.clone(),
        source,
    };
    match File::open(&path) {
        Ok(file) => {
            file.set_permissions(Permissions::from_mode(0o600)).map_err(io)?;
            let secret = read(&file).ok_or_else(|| OwnKeyError::Damaged { path: path.clone() })?;
            Ok(OwnKey {
                secret,
                path,
                new: false,
            })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut secret = vec![0; KEY_BYTES];
            getrandom::fill(&mut secret).map_err(|_| OwnKeyError::NoRandomness)?;
            write(folder, &path, &secret).map_err(io)?;
            Ok(OwnKey {
                secret,
                path,
                new: true,
            })
        }
        Err(error) => Err(io(error)),
    }
}

/// `None` for anything but 64 hexadecimal digits with the checksum that was written with them: a key with one changed digit
/// would silently make every visitor's tickets void.
fn read(file: &File) -> Option<Vec<u8>> {
    let mut text = String::new();
    file.take(1024).read_to_string(&mut text).ok()?;
    unsealed_key(&text)
}

fn write(folder: &Path, path: &Path, secret: &[u8]) -> io::Result<()> {
    let fresh = folder.join("token.key.new");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&fresh)?;
    let mut digits = String::new();
    for byte in secret {
        let _ = write!(digits, "{byte:02x}");
    }
    file.write_all(sealed(&digits).as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&fresh, path)?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let made = load_or_make(folder.path()).unwrap();
        assert!(made.new && made.secret.len() == KEY_BYTES && made.secret.iter().any(|byte| *byte != 0));
        assert_eq!(made.path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let again = load_or_make(folder.path()).unwrap();
        assert!(!again.new);
        assert_eq!(again.secret, made.secret);
    }

    #[test]
    fn a_damaged_key_is_an_error_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let of_letters = sealed(&"g".repeat(64));
        for text in ["", "abc", &of_letters, &"a".repeat(64), "\u{fc}"] {
            std::fs::write(folder.path().join("token.key"), text).unwrap();
            assert!(matches!(load_or_make(folder.path()), Err(OwnKeyError::Damaged { .. })));
            assert_eq!(std::fs::read_to_string(folder.path().join("token.key")).unwrap(), text);
        }
    }
}
