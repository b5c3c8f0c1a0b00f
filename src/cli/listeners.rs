//! The listeners that `[server] listen` asks for: bound here, or passed by systemd.

use std::io;

use crate::config::{self, Listen, Server};
use crate::proxy::{Listener, ServerSettings};

use super::start::StartError;
use super::systemd::{Passed, PassedError};

/// Opens every one of them, in their order; one that cannot be had fails all.
pub fn open(server: &Server, settings: &ServerSettings) -> Result<Vec<Listener>, StartError> {
    let mut passed = None;
    let mut listeners: Vec<Vec<Listener>> = Vec::with_capacity(server.listen.len());
    for place in &server.listen {
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
        rest(server, &mut passed, &mut listeners)?;
    }
    Ok(listeners.into_iter().flatten().collect())
}

/// What systemd passed, asked for once.
fn systemd(passed: &mut Option<Passed>) -> Result<&mut Passed, PassedError> {
    match passed {
        Some(passed) => Ok(passed),
        None => Ok(passed.insert(Passed::take(config::environment)?)),
    }
}

/// Those that no entry names are those of the entry without a name.
fn rest(server: &Server, passed: &mut Passed, listeners: &mut [Vec<Listener>]) -> Result<(), PassedError> {
    let Some(at) = server.listen.iter().position(|place| *place == Listen::Systemd(None)) else {
        let names = passed.names();
        if !names.is_empty() {
            tracing::warn!(
                names,
                "systemd passed sockets that [server] listen does not name: they are closed"
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
