//! The listeners of `[server] listen` and `[tls] listen`: taken over from the old process of an upgrade, bound here, or passed
//! by systemd.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use crate::config::{self, Listen, Server, Tls};
use crate::proxy::{Listener, ServerSettings};

use super::error::StartError;
use super::systemd::{Passed, PassedError};
use super::upgrade::{Inherited, Later, Opened, of_systemd};

/// Where listeners come from.
pub struct Listeners<'a> {
    pub settings: &'a ServerSettings,
    pub inherited: &'a mut Inherited,
}

/// Those of one entry.
type Named = Vec<Opened>;

impl Listeners<'_> {
    /// Opens every one of them, in their order, those in the clear apart from those for TLS; one that cannot be had fails all.
    pub fn open(&mut self, server: &Server, tls: &Tls) -> Result<[Vec<Opened>; 2], StartError> {
        let mut passed = None;
        let places: Vec<&Listen> = server.listen.iter().chain(&tls.listen).collect();
        let mut listeners: Vec<Named> = Vec::with_capacity(places.len());
        for place in &places {
            listeners.push(match place {
                Listen::Tcp(_) | Listen::Unix(_) => {
                    let (listener, later) = self.own(place, server).map_err(refused(place))?;
                    let name = place.to_string();
                    vec![Opened { name, listener, later }]
                }
                Listen::Systemd(Some(name)) => {
                    let named = self.systemd(&mut passed)?.named(name)?;
                    let opened = |listener| Opened::new(of_systemd(name), listener);
                    named.into_iter().map(opened).collect()
                }
                Listen::Systemd(None) => {
                    self.systemd(&mut passed)?;
                    Vec::new()
                }
            });
        }
        if let Some(mut passed) = passed {
            rest(&places, &mut passed, &mut listeners)?;
        }
        let secured = listeners.split_off(server.listen.len());
        Ok([listeners, secured].map(|list| list.into_iter().flatten().collect()))
    }

    /// The operator's.
    pub fn admin(&mut self, address: SocketAddr) -> Result<TcpListener, StartError> {
        let inherited = self.inherited.admin(address).transpose();
        let listener = inherited.unwrap_or_else(|| self.settings.bind(address));
        listener.map_err(|source| StartError::Listen {
            place: address.to_string(),
            source,
        })
    }

    /// One that the process before had, or that is bound now.
    fn own(&mut self, place: &Listen, server: &Server) -> io::Result<(Listener, Option<Later>)> {
        let inherited = self.inherited.visitors(&place.to_string())?;
        let bound = match (place, inherited) {
            (Listen::Tcp(address), None) => self.settings.bind(*address)?.into(),
            (Listen::Unix(path), None) => self.settings.bind_unix(path, server.unix_mode)?,
            (Listen::Unix(path), Some(socket)) => return self.unix(&socket, path, server.unix_mode),
            (_, Some(listener)) => return Ok((listener, Some(self.later(None)))),
            (Listen::Systemd(_), None) => return Err(io::ErrorKind::NotFound.into()),
        };
        Ok((bound, None))
    }

    fn unix(&self, socket: &Listener, path: &Path, mode: u32) -> io::Result<(Listener, Option<Later>)> {
        let socket = UnixListener::from(socket.as_fd().try_clone_to_owned()?);
        Ok(match self.settings.take_unix(socket, path)? {
            Some(listener) => (listener, Some(self.later(Some((path.to_owned(), mode))))),
            // Its file was removed, so no client finds it any more.
            None => (self.settings.bind_unix(path, mode)?, None),
        })
    }

    fn later(&self, mode: Option<(PathBuf, u32)>) -> Later {
        let backlog = self.settings.backlog;
        Later { backlog, mode }
    }

    /// The sockets that systemd passed, to this process or to the one before; asked for once.
    fn systemd<'p>(&mut self, passed: &'p mut Option<Passed>) -> Result<&'p mut Passed, PassedError> {
        if let Some(passed) = passed {
            return Ok(passed);
        }
        let inherited = self.inherited.of_systemd().map_err(|source| PassedError::Socket {
            name: "systemd".to_owned(),
            source,
        })?;
        let found = match inherited {
            Some(inherited) => inherited,
            None => Passed::take(config::environment)?,
        };
        Ok(passed.insert(found))
    }
}

/// Those that no entry names are those of the entry without a name.
fn rest(places: &[&Listen], passed: &mut Passed, listeners: &mut [Named]) -> Result<(), PassedError> {
    let Some(at) = places.iter().position(|place| **place == Listen::Systemd(None)) else {
        let names = passed.names();
        if !names.is_empty() {
            tracing::warn!(
                names,
                "systemd passed sockets that neither [server] nor [tls] listen names: they are closed"
            );
        }
        return Ok(());
    };
    let left = passed.rest().into_iter();
    listeners[at] = left
        .map(|(name, listener)| Opened::new(of_systemd(&name), listener))
        .collect();
    if listeners[at].is_empty() {
        return Err(PassedError::Nothing);
    }
    Ok(())
}

fn refused(place: &Listen) -> impl FnOnce(io::Error) -> StartError {
    let place = place.to_string();
    move |source| StartError::Listen { place, source }
}
