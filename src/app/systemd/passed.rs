//! Sockets that systemd opened for this process (`sd_listen_fds(3)`).

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixListener;

use socket2::{Domain, SockRef, Type};

use crate::proxy::Listener;

/// The sockets passed and not taken yet, each with its name.
#[derive(Debug, Default)]
pub struct Passed(Vec<(String, Listener)>);

/// Why a socket cannot be had from systemd.
#[derive(Debug, thiserror::Error)]
pub enum PassedError {
    #[error("systemd passed no socket to this process: start it by its socket unit, or set [server] listen")]
    Nothing,
    #[error("systemd passed no socket with the name \"{name}\", only: {others}")]
    Nameless { name: String, others: String },
    #[error("LISTEN_FDS is \"{0}\", and not a number from 1 to {MAX_PASSED}")]
    Count(String),
    #[error("the socket \"{name}\" that systemd passed cannot be used: {source}")]
    Socket { name: String, source: io::Error },
}

impl From<Vec<(String, Listener)>> for Passed {
    /// The sockets that systemd passed to the process before this one.
    fn from(passed: Vec<(String, Listener)>) -> Self {
        Self(passed)
    }
}

impl Passed {
    /// The sockets that the environment assigns to this process. Must be called once: the descriptors are owned from then on.
    pub fn take(env: impl Fn(&str) -> Option<String>) -> Result<Self, PassedError> {
        let pid = env("LISTEN_PID").and_then(|pid| pid.parse::<u32>().ok());
        if pid != Some(std::process::id()) {
            return Err(PassedError::Nothing);
        }
        let count = env("LISTEN_FDS").ok_or(PassedError::Nothing)?;
        let fds = match count.parse::<RawFd>() {
            Ok(fds) if (1..=MAX_PASSED).contains(&fds) => fds,
            _ => return Err(PassedError::Count(count)),
        };
        let names = env("LISTEN_FDNAMES").unwrap_or_default();
        let mut names = names_in(&names);
        let named = (FIRST..FIRST + fds).map(|fd| {
            let name = names.next().unwrap_or(UNKNOWN).to_owned();
            match adopt(fd) {
                Ok(listener) => Ok((name, listener)),
                Err(source) => Err(PassedError::Socket { name, source }),
            }
        });
        named.collect::<Result<_, _>>().map(Self)
    }

    /// Those of a name.
    pub fn named(&mut self, name: &str) -> Result<Vec<Listener>, PassedError> {
        let others = self.names();
        let found = self.0.extract_if(.., |(own, _)| own == name);
        let listeners: Vec<Listener> = found.map(|(_, listener)| listener).collect();
        if listeners.is_empty() {
            let name = name.to_owned();
            return Err(PassedError::Nameless { name, others });
        }
        Ok(listeners)
    }

    /// Those that are left, with their names.
    pub fn rest(&mut self) -> Vec<(String, Listener)> {
        self.0.drain(..).collect()
    }

    /// The names of those that are left.
    #[must_use]
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|(name, _)| &**name).collect();
        names.join(", ")
    }
}

/// In the order of the descriptors: an empty one is one too, or those behind it would be another's.
fn names_in(all: &str) -> impl Iterator<Item = &str> {
    all.split(':').map(|name| if name.is_empty() { UNKNOWN } else { name })
}

/// A passed descriptor as a listener, closed to programs that this one starts.
#[expect(unsafe_code, reason = "a descriptor that was passed is known by its number alone")]
fn adopt(fd: RawFd) -> io::Result<Listener> {
    // SAFETY: LISTEN_PID and LISTEN_FDS say that this number was open when the process began, and nothing of ours closes a
    // descriptor that it did not open. Should they be wrong, the calls below fail and change nothing.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    let domain = check(&borrowed)?;
    // SAFETY: it is open, as has just been seen, a listening socket that nothing of ours has made before it asked for those
    // that were passed, and so the caller's to give away; `take` is called once.
    let owned = unsafe { OwnedFd::from_raw_fd(fd) };
    Ok(listener(owned, domain))
}

/// A socket that another process opened as a listener, closed to programs that this one starts.
pub fn listening(socket: OwnedFd) -> io::Result<Listener> {
    let domain = check(&socket)?;
    Ok(listener(socket, domain))
}

fn listener(socket: OwnedFd, domain: Domain) -> Listener {
    if domain == Domain::UNIX {
        UnixListener::from(socket).into()
    } else {
        TcpListener::from(socket).into()
    }
}

/// The domain of a socket that this gate can listen on; sets close-on-exec.
fn check(socket: &impl AsFd) -> io::Result<Domain> {
    let socket = SockRef::from(socket);
    if socket.r#type()? != Type::STREAM || !socket.is_listener()? {
        return Err(io::Error::other("it is not a stream socket that listens"));
    }
    let domain = socket.domain()?;
    if ![Domain::IPV4, Domain::IPV6, Domain::UNIX].contains(&domain) {
        return Err(io::Error::other("it is neither a TCP nor a Unix socket"));
    }
    socket.set_cloexec(true)?;
    Ok(domain)
}

/// systemd's name for a descriptor without a name.
const UNKNOWN: &str = "unknown";
/// Where passed descriptors begin (`SD_LISTEN_FDS_START`).
const FIRST: RawFd = 3;
/// More than any installation needs.
const MAX_PASSED: RawFd = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn with(vars: &[(&str, &str)]) -> Result<Passed, PassedError> {
        Passed::take(|name| {
            let found = vars.iter().find(|(own, _)| *own == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn what_was_passed_to_another_process_is_not_taken() {
        let (own, other) = (std::process::id().to_string(), "1");
        for vars in [
            &[][..],
            &[("LISTEN_FDS", "1")],
            &[("LISTEN_FDS", "1"), ("LISTEN_PID", other)],
            &[("LISTEN_FDS", "1"), ("LISTEN_PID", "")],
            &[("LISTEN_PID", &own)],
        ] {
            assert!(matches!(with(vars), Err(PassedError::Nothing)), "{vars:?}");
        }
    }

    #[test]
    fn an_empty_name_stands_for_its_own_socket() {
        let names = |all| names_in(all).collect::<Vec<_>>();
        assert_eq!(names("a::tls"), ["a", "unknown", "tls"]);
        assert_eq!(names(""), ["unknown"]);
    }

    #[test]
    fn counts_that_are_none_are_refused() {
        let own = std::process::id().to_string();
        for count in ["0", "-1", "65", "many", ""] {
            let vars = [("LISTEN_FDS", count), ("LISTEN_PID", &own)];
            assert!(matches!(with(&vars), Err(PassedError::Count(_))), "{count}");
        }
    }
}
