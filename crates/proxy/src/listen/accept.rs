//! Accepting: the choice of the core for a socket, the bounds on connections, and the handling of those beyond.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::listen::address::is_trusted;
use crate::listen::listener::{Listener, Terms};
use crate::listen::load::{Load, Permit, Spot};
use crate::listen::transport::Stream;
use crate::stats::up;

/// Accepts until the drain begins. SECURITY: an error of one connection, or a lack of descriptors, never ends the loop.
pub(crate) async fn accept(
    listener: Listener,
    index: usize,
    load: &Arc<Load>,
    queues: &[mpsc::Sender<Arrival>],
    closing: &CancellationToken,
) {
    let door = match listener.open() {
        Ok(door) => door,
        Err(error) => return tracing::error!(%error, "cannot accept"),
    };
    let mut is_short = false;
    loop {
        let accepted = tokio::select! {
            biased;
            () = closing.cancelled() => return,
            accepted = door.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                is_short = false;
                place(load, stream, peer, (index, &door.terms), queues);
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                if !std::mem::replace(&mut is_short, true) {
                    tracing::warn!(%error, "cannot accept; trying again until it works");
                }
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted
    )
}

/// A socket on its way to its core.
pub(crate) struct Arrival {
    pub(crate) stream: Stream,
    pub(crate) peer: SocketAddr,
    pub(crate) terms: Arc<Terms>,
    /// It must begin with a PROXY header.
    pub(crate) announced: bool,
    pub(crate) permit: Permit,
}

/// Gives a socket to the core with the fewest connections, or closes it when a bound is reached.
fn place(
    load: &Arc<Load>,
    stream: Stream,
    peer: SocketAddr,
    (listener, terms): (usize, &Arc<Terms>),
    queues: &[mpsc::Sender<Arrival>],
) {
    let refused = || up(&load.stats().refused);
    let Some(core) = load.core_for(listener) else {
        return refused();
    };
    let announced = is_trusted(peer.ip().to_canonical(), &load.settings().announced);
    let mut permit = Permit::new(Spot {
        load: Arc::clone(load),
        listener,
        core,
    });
    // A peer on a Unix socket is a proxy on this machine, which brings many clients.
    if !announced && !stream.is_unix() && permit.count(peer.ip()).is_err() {
        return refused();
    }
    let arrival = Arrival {
        stream,
        peer,
        terms: Arc::clone(terms),
        announced,
        permit,
    };
    if queues[core].try_send(arrival).is_err() {
        return refused();
    }
    up(&load.stats().accepted);
}

/// How long accepting rests when descriptors or memory have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
