//! Listening sockets: how one process holds them and passes them on, and how the next one takes them.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use socket2::SockRef;

use super::channel::Named;
use crate::app::systemd::{Passed, listening};
use crate::proxy::{Custody, Listener};

/// The listening sockets of this process. They stay open while it lives: drop it before a drain.
#[derive(Debug, Default)]
pub struct Held(Vec<One>);

#[derive(Debug)]
struct One {
    named: Named,
    listener: Listener,
    later: Option<Later>,
}

/// A listener of the visitors' that this process has opened or taken over.
pub struct Opened {
    /// The name under which it is passed on.
    pub name: String,
    pub listener: Listener,
    /// Its settings once this process is in charge.
    pub later: Option<Later>,
}

impl Opened {
    pub fn new(name: String, listener: Listener) -> Self {
        Self {
            name,
            listener,
            later: None,
        }
    }
}

/// The settings of a passed socket by this process's configuration: until it is in charge, the one before uses the socket
/// unchanged.
#[derive(Clone, Debug)]
pub struct Later {
    pub backlog: u32,
    /// Of a Unix socket's file.
    pub mode: Option<(PathBuf, u32)>,
}

impl Later {
    fn apply(&self, socket: &Listener) -> io::Result<()> {
        if let Some((path, mode)) = &self.mode {
            fs::set_permissions(path, fs::Permissions::from_mode(*mode))?;
        }
        // Clients that wait in its queue stay there.
        SockRef::from(socket).listen(i32::try_from(self.backlog).unwrap_or(i32::MAX))
    }
}

impl Held {
    /// A listener of the visitors'.
    pub fn hold(&mut self, opened: Opened) {
        let Opened { name, listener, later } = opened;
        let named = Named {
            admin: false,
            place: name,
        };
        self.0.push(One { named, listener, later });
    }

    /// The operator's.
    pub fn hold_admin(&mut self, address: SocketAddr, listener: &TcpListener) -> io::Result<()> {
        self.0.push(One {
            named: Named {
                admin: true,
                place: address.to_string(),
            },
            listener: listener.try_clone()?.into(),
            later: None,
        });
        Ok(())
    }

    /// The visitors' listeners once more, to be served.
    pub fn visitors(&self) -> io::Result<Vec<Listener>> {
        let visitors = self.0.iter().filter(|one| !one.named.admin);
        visitors.map(|one| one.listener.duplicate()).collect()
    }

    pub fn names(&self) -> Vec<Named> {
        self.0.iter().map(|one| one.named.clone()).collect()
    }

    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.0.iter().map(|one| one.listener.as_fd())
    }

    /// The files of these sockets are the next process's from here on.
    pub fn give_up(&self, kept: &[usize]) {
        self.custody(kept).for_each(Custody::give_up);
    }

    /// The next process is none: they are this one's again.
    pub fn take_back(&self, kept: &[usize]) {
        self.custody(kept).for_each(Custody::take);
    }

    /// All files are this process's, and all sockets as its configuration has them.
    pub fn take(&self) {
        for one in &self.0 {
            one.listener.custody().into_iter().for_each(Custody::take);
            let applied = one.later.as_ref().map_or(Ok(()), |later| later.apply(&one.listener));
            if let Err(error) = applied {
                let place = &one.named.place;
                tracing::error!(%error, place, "a socket keeps the mode and the backlog of the process before");
            }
        }
    }

    fn custody<'a>(&'a self, kept: &'a [usize]) -> impl Iterator<Item = &'a Custody> {
        let held = kept.iter().filter_map(|at| self.0.get(*at));
        held.filter_map(|one| one.listener.custody())
    }
}

/// The passed sockets that were not taken yet. The others are closed.
#[derive(Debug, Default)]
pub struct Inherited {
    left: Vec<(usize, Named, OwnedFd)>,
    kept: Vec<usize>,
}

impl Inherited {
    pub fn new(named: Vec<Named>, sockets: impl IntoIterator<Item = OwnedFd>) -> Self {
        let left = named.into_iter().zip(sockets).enumerate();
        Self {
            left: left.map(|(at, (named, socket))| (at, named, socket)).collect(),
            kept: Vec::new(),
        }
    }

    /// The visitors' socket of that name; the first of them where several ports were left to the system.
    pub fn visitors(&mut self, place: &str) -> io::Result<Option<Listener>> {
        self.take(false, place).map(listening).transpose()
    }

    /// The operator's.
    pub fn admin(&mut self, address: SocketAddr) -> io::Result<Option<TcpListener>> {
        let Some(socket) = self.take(true, &address.to_string()) else {
            return Ok(None);
        };
        let listener = listening(socket.try_clone()?)?;
        let is_tcp = listener.endpoint()?.address().is_some();
        Ok(is_tcp.then(|| TcpListener::from(socket)))
    }

    fn take(&mut self, admin: bool, place: &str) -> Option<OwnedFd> {
        let is_it = |(_, named, _): &(usize, Named, OwnedFd)| named.admin == admin && named.place == place;
        let found = self.left.iter().position(is_it)?;
        let (at, _, socket) = self.left.remove(found);
        self.kept.push(at);
        Some(socket)
    }

    /// Those that systemd opened; `None` where there are none.
    pub fn of_systemd(&mut self) -> io::Result<Option<Passed>> {
        let of_systemd = self
            .left
            .extract_if(.., |(_, named, _)| named.place.starts_with(SYSTEMD));
        let mut passed = Vec::new();
        for (at, named, socket) in of_systemd {
            self.kept.push(at);
            let name = named.place[SYSTEMD.len()..].to_owned();
            passed.push((name, listening(socket)?));
        }
        Ok(Some(Passed::from(passed)).filter(|passed| !passed.names().is_empty()))
    }

    /// Which were taken.
    pub fn kept(self) -> Vec<usize> {
        self.kept
    }
}

/// The name of a socket of systemd's.
pub fn of_systemd(name: &str) -> String {
    format!("{SYSTEMD}{name}")
}

const SYSTEMD: &str = "systemd:";
