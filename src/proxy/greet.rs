//! Between accept and the first byte of HTTP: what a connection goes through before [`serve_connection`] has it.
//!
//! Whatever it is, `first_byte` bounds it together with the wait for that byte, from the moment the core has the socket; and
//! the connection is counted from accept on. A listener that asks for nothing costs no task and no wait more than before.

use std::future::Future;
use std::sync::Arc;

use http::{Request, Response};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::accept::{Arrival, Permit};
use super::body::Body;
use super::conn::{Conn, Ends, Proto};
use super::connection::{Shared, serve_connection};
use super::listener::Terms;
use super::request_body::RequestBody;
use super::settings::ServerSettings;
use super::socket::ClientSocket;
use super::transport::{ReadHalf, UNIX_PEER, WriteHalf};

/// Serves a connection that has been accepted, in a task of its own on this thread's runtime.
pub(super) fn greet<S, F>(arrival: Arrival, closing: &CancellationToken, shared: &Arc<Shared<S>>)
where
    S: Fn(Arc<Conn>, Request<RequestBody>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let Some(opening) = Opening::new(arrival, closing.clone(), &shared.settings) else {
        return;
    };
    let shared = Arc::clone(shared);
    // PERF: in the clear there is nothing to wait for: the task is the connection's own future, and as small as that.
    let (socket, conn) = opening.into_parts(&shared.settings);
    tokio::spawn(serve_connection(socket, conn, shared));
}

/// A connection of which no byte has been read.
struct Opening {
    read: ReadHalf,
    write: WriteHalf,
    ends: Ends,
    since: Instant,
    terms: Arc<Terms>,
    permit: Permit,
    closing: CancellationToken,
}

impl Opening {
    /// `None` when the socket is gone already.
    fn new(arrival: Arrival, closing: CancellationToken, settings: &ServerSettings) -> Option<Self> {
        let Arrival {
            stream,
            peer,
            terms,
            permit,
        } = arrival;
        let local = match stream.local() {
            Some(local) => local.ok()?,
            None => (UNIX_PEER.ip(), usual_port(terms.proto)).into(),
        };
        let (read, write) = stream.split(settings.write).ok()?;
        Some(Self {
            read,
            write,
            ends: Ends { peer, local },
            since: Instant::now(),
            terms,
            permit,
            closing,
        })
    }

    /// The connection as hyper's loop takes it. From here on the other end may not change any more.
    fn into_parts(self, settings: &ServerSettings) -> (ClientSocket<Permit>, Arc<Conn>) {
        let conn = Conn::new(self.ends, self.terms.proto, self.write, self.closing, self.since);
        let conn = Arc::new(conn);
        let socket = ClientSocket::new(self.read, Arc::clone(&conn), settings.write, self.permit);
        (socket, conn)
    }
}

/// What stands for the port of a socket that has none.
fn usual_port(proto: Proto) -> u16 {
    match proto {
        Proto::Http => 80,
        Proto::Https => 443,
    }
}
