//! The path and arguments of this process, with which an upgrade starts the next one.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command};

/// Concerns one start alone, and an older binary may not know it.
const OF_ONE_START: &str = "--first-start";

/// The path and the arguments of this process, but for what concerns one start.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    args: Vec<OsString>,
}

impl Program {
    /// As this process was started. To be called at the start: later another file may lie where its own was.
    ///
    /// The path is the one that was typed, links in it and all, so that a link to a newer version is followed.
    pub fn own() -> io::Result<Self> {
        let mut args = env::args_os();
        let typed = args.next().map(PathBuf::from);
        // A bare name was found in PATH, and would be again only by a shell.
        let path = match typed.filter(|path| path.components().count() > 1) {
            Some(path) => env::current_dir()?.join(path),
            None => env::current_exe()?,
        };
        Ok(Self {
            path,
            args: args.filter(|argument| argument != OF_ONE_START).collect(),
        })
    }

    pub fn path(&self) -> String {
        self.path.display().to_string()
    }

    /// Starts it with one end of the line as its standard input.
    pub fn start(&self, line: UnixStream) -> io::Result<Child> {
        let mut command = Command::new(&self.path);
        command.args(&self.args).stdin(std::os::fd::OwnedFd::from(line));
        command.env(super::predecessor::VARIABLE, super::predecessor::STDIN);
        // These concern this process; sockets passed to it are passed on.
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_PID"] {
            command.env_remove(name);
        }
        command.spawn()
    }
}
