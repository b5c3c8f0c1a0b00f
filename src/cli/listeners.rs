//! The listeners that `[server] listen` and `[tls] listen` ask for: bound here, or passed by systemd.

use std::io;

use crate::config::{self, Listen, Server, Tls};
use crate::proxy::{Listener, ServerSettings};

use super::start::StartError;
use super::systemd::{Passed, PassedError};

/// Opens every one of them, in their order, those in the clear apart from those for TLS; one that cannot be had fails all.
pub fn open(server: &Server, tls: &Tls, settings: &ServerSettings) -> Result<[Vec<Listener>; 2], StartError> {
    let mut passed = None;
    let places: Vec<&Listen> = server.listen.iter().chain(&tls.listen).collect();
    let mut listeners: Vec<Vec<Listener>> = Vec::with_capacity(places.len());
    for place in &places {
        listeners.push(match place {
            Listen::Tcp(address) => vec![settings.bind(*address).map_err(refused(place))?.into()],
            Listen::Unix(path) => vec![settings.bind_unix(path, server.unix_mode).map_err(refused(place))?],
            Listen::Systemd(Some(name)) => systemd(&mut passed)?.named(name)?,
            Listen::Systemd(None) => {
                systemd(&mut passed)?;
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

/// What systemd passed, asked for once.
fn systemd(passed: &mut Option<Passed>) -> Result<&mut Passed, PassedError> {
    match passed {
        Some(passed) => Ok(passed),
        None => Ok(passed.insert(Passed::take(config::environment)?)),
    }
}

/// Those that no entry names are those of the entry without a name.
fn rest(places: &[&Listen], passed: &mut Passed, listeners: &mut [Vec<Listener>]) -> Result<(), PassedError> {
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
    listeners[at] = passed.rest();
    if listeners[at].is_empty() {
        return Err(PassedError::Nothing);
    }
    Ok(())
}

fn refused(place: &Listen) -> impl FnOnce(io::Error) -> StartError {
    let place = place.to_string();
    move |source| StartError::Listen { place, source }
}
