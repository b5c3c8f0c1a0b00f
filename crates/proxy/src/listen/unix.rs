//! Listening on a Unix socket's file. A stale file is replaced, but not one on which a process answers. The file is removed
//! with the listener, unless another process has the socket then.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use socket2::{Domain, SockAddr, Socket, Type};

use crate::listen::listener::Listener;
use crate::settings::ServerSettings;

impl ServerSettings {
    /// Listens at `path` with this backlog. The file has this mode before a client can connect, and is removed with the
    /// listener. A stale socket of a dead process is replaced; any other file, and a socket on which a process listens, is an
    /// error of kind `AddrInUse`.
    pub fn bind_unix(&self, path: &Path, mode: u32) -> io::Result<Listener> {
        clear(path)?;
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.bind(&SockAddr::unix(path)?)?;
        let file = SocketFile::of(path)?;
        // No client can connect before `listen`, whatever the mode is until then.
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        socket.listen(i32::try_from(self.backlog).unwrap_or(i32::MAX))?;
        Ok(Listener::from(UnixListener::from(socket)).with_file(file))
    }

    /// As [`ServerSettings::bind_unix`], with a socket that another process listens on at `path` still; `None` where its file
    /// is not there any more. The file stays that process's until [`Custody::take`], its mode and its backlog too.
    pub fn take_unix(&self, socket: UnixListener, path: &Path) -> io::Result<Option<Listener>> {
        let found = fs::symlink_metadata(path);
        if !found.is_ok_and(|found| found.file_type().is_socket()) {
            return Ok(None);
        }
        let file = SocketFile::of(path)?;
        file.custody.give_up();
        Ok(Some(Listener::from(socket).with_file(file)))
    }
}

/// Whether it is this process that removes a socket's file.
#[derive(Clone, Debug)]
pub struct Custody(Arc<AtomicBool>);

impl Custody {
    /// The file is this process's from here on.
    pub fn take(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The file is another process's from here on.
    pub fn give_up(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Removes a socket's file if no process answers on it.
fn clear(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    if !found.file_type().is_socket() {
        return Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "a file that is no socket is there",
        ));
    }
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // A process that is too busy to accept is alive too.
    socket.set_nonblocking(true)?;
    match socket.connect(&SockAddr::unix(path)?) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(error),
        _ => Err(io::ErrorKind::AddrInUse.into()),
    }
}

/// The file of a socket of ours; removed when dropped, unless another has taken its place.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
    pub(crate) custody: Custody,
}

impl SocketFile {
    fn of(path: &Path) -> io::Result<Self> {
        let path = path.to_owned();
        identity(&path).map(|identity| Self {
            path,
            identity,
            custody: Custody(Arc::new(AtomicBool::new(true))),
        })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let is_ours = self.custody.0.load(Ordering::Relaxed);
        if is_ours && identity(&self.path).is_ok_and(|identity| identity == self.identity) {
            // A file that stays is replaced at the next start.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    fn bind(path: &Path) -> io::Result<Listener> {
        ServerSettings::default().bind_unix(path, 0o640)
    }

    #[test]
    fn the_file_has_its_mode_and_goes_with_the_listener() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("http.sock");
        let listener = bind(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(UnixStream::connect(&path).is_ok());
        assert_eq!(
            listener.endpoint().unwrap().to_string(),
            format!("unix:{}", path.display())
        );
        drop(listener);
        assert!(!path.exists());
    }

    #[test]
    fn a_file_that_a_dead_process_left_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("http.sock");
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists() && UnixStream::connect(&path).is_err());
        let _listener = bind(&path).unwrap();
        assert!(UnixStream::connect(&path).is_ok());
    }

    #[test]
    fn what_somebody_uses_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("http.sock");
        let used = UnixListener::bind(&path).unwrap();
        assert_eq!(bind(&path).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        // Its queue is full with the probing connection: a process that is too busy to answer is alive all the same.
        let socket = Socket::from(used);
        socket.listen(0).unwrap();
        assert_eq!(bind(&path).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        assert!(path.exists());

        let file = folder.path().join("file");
        fs::write(&file, "a shop's").unwrap();
        assert_eq!(bind(&file).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        assert_eq!(fs::read_to_string(&file).unwrap(), "a shop's");
    }

    #[test]
    fn a_file_goes_with_the_process_that_has_it_in_custody() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("http.sock");
        let settings = ServerSettings::default();
        let handed = |from: &Listener| UnixListener::from(from.as_fd().try_clone_to_owned().unwrap());
        let old = bind(&path).unwrap();
        // A successor that fails takes nothing with it.
        let failed = settings.take_unix(handed(&old), &path).unwrap().unwrap();
        drop(failed);
        assert!(UnixStream::connect(&path).is_ok());
        let new = settings.take_unix(handed(&old), &path).unwrap().unwrap();
        old.custody().unwrap().give_up();
        new.custody().unwrap().take();
        drop(old);
        assert!(UnixStream::connect(&path).is_ok());
        let socket = handed(&new);
        drop(new);
        assert!(!path.exists());
        assert!(settings.take_unix(socket, &path).unwrap().is_none(), "nobody finds it");
    }

    #[test]
    fn a_successor_s_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("http.sock");
        let old = bind(&path).unwrap();
        fs::rename(&path, folder.path().join("old.sock")).unwrap();
        let _new = bind(&path).unwrap();
        drop(old);
        assert!(UnixStream::connect(&path).is_ok());
    }
}
