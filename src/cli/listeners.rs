//! The listeners that `[server] listen` and `[tls] listen` ask for: handed over by the process before, bound here, or passed by
//! systemd.

use std::io;
use std::os::unix::net::UnixListener;
use std::path::Path;

use crate::config::{self, Listen, Server, Tls};
use crate::proxy::{Listener, ServerSettings};

use super::start::StartError;
use super::systemd::{Passed, PassedError};
use super::upgrade::{Held, Inherited, of_systemd};

/// Where listeners come from, and what is kept of them for the process after this one.
pub struct Sockets<'a> {
    pub settings: &'a ServerSettings,
    pub inherited: &'a mut Inherited,
    pub held: &'a mut Held,
}

/// Those of one entry, each with the name by which it is handed on.
type Named = Vec<(String, Listener)>;

impl Sockets<'_> {
    /// Opens every one of them, in their order, those in the clear apart from those for TLS; one that cannot be had fails all.
    pub fn open(&mut self, server: &Server, tls: &Tls) -> Result<[Vec<Listener>; 2], StartError> {
        let mut passed = None;
        let places: Vec<&Listen> = server.listen.iter().chain(&tls.listen).collect();
        let mut listeners: Vec<Named> = Vec::with_capacity(places.len());
        for place in &places {
            listeners.push(match place {
                Listen::Tcp(_) | Listen::Unix(_) => {
                    let listener = self.own(place, server).map_err(refused(place))?;
                    vec![(place.to_string(), listener)]
                }
                Listen::Systemd(Some(name)) => {
                    let named = self.systemd(&mut passed)?.named(name)?;
                    named.into_iter().map(|listener| (of_systemd(name), listener)).collect()
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
        for (list, place) in listeners.iter().zip(&places) {
            for (name, listener) in list {
                self.held.hold(name.clone(), listener).map_err(refused(place))?;
            }
        }
        let secured = listeners.split_off(server.listen.len());
        Ok([listeners, secured].map(|list| list.into_iter().flatten().map(|(_, listener)| listener).collect()))
    }

    /// One that the process before had, or that is bound now.
    fn own(&mut self, place: &Listen, server: &Server) -> io::Result<Listener> {
        let inherited = self.inherited.visitors(&place.to_string())?;
        match (place, inherited) {
            (Listen::Tcp(address), None) => Ok(self.settings.bind(*address)?.into()),
            (Listen::Unix(path), None) => self.settings.bind_unix(path, server.unix_mode),
            (Listen::Unix(path), Some(socket)) => self.unix(&socket, path, server.unix_mode),
            (_, Some(listener)) => {
                self.settings.listen_again(&listener)?;
                Ok(listener)
            }
            (Listen::Systemd(_), None) => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn unix(&self, socket: &Listener, path: &Path, mode: u32) -> io::Result<Listener> {
        let socket = UnixListener::from(socket.duplicate()?);
        match self.settings.take_unix(socket, path, mode)? {
            Some(listener) => Ok(listener),
            // Its file was removed, and nobody finds it any more.
            None => self.settings.bind_unix(path, mode),
        }
    }

    /// What systemd passed, to this process or to the one before; asked for once.
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
    listeners[at] = left.map(|(name, listener)| (of_systemd(&name), listener)).collect();
    if listeners[at].is_empty() {
        return Err(PassedError::Nothing);
    }
    Ok(())
}

fn refused(place: &Listen) -> impl FnOnce(io::Error) -> StartError {
    let place = place.to_string();
    move |source| StartError::Listen { place, source }
}
