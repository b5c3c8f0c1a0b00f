//! The admin listener: the proxy's connection loop, with its deadlines and bounds, on a thread of its own.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use http::{Request, Response};
use tower::ServiceExt as _;

use super::caller::Peer;
use super::router::router;
use crate::admin::examination::{Notes, leave_notes};
use crate::admin::history::Sampling;
use crate::admin::live::Live;
use crate::admin::options::{Handles, Options};
use crate::admin::shared::Shared;
use crate::proxy::{self, Body, Conn, RequestBody, RequestId, Server, ServerSettings, Stats};

/// Why the admin listener cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the admin listener {0} can be reached from other machines: set admin_token, or listen on 127.0.0.1")]
    NoToken(SocketAddr),
    #[error("the admin listener cannot start: {0}")]
    Io(#[from] io::Error),
}

/// The running listener; it stops when dropped.
#[must_use = "the admin listener stops when this is dropped"]
pub struct AdminServer {
    server: Server,
    address: SocketAddr,
    live: Live,
    _sampling: Sampling,
    _notes: Notes,
}

impl AdminServer {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The parts that another configuration changes.
    #[must_use]
    pub fn live(&self) -> Live {
        self.live.clone()
    }

    /// Finishes answers under way, a second at most, and ends. Last in a drain: until then `/readyz` says so.
    pub fn stop(self) {
        let _ = self.server.drain(CLOSE_WITHIN);
    }
}

/// Serves the admin API on `listener`.
///
/// # Errors
/// When other machines can reach the listener and no token is set, or the system gives no thread.
pub fn serve(listener: TcpListener, handles: Handles, options: Options) -> Result<AdminServer, StartError> {
    let address = listener.local_addr()?;
    if !address.ip().to_canonical().is_loopback() && !options.entrance.is_guarded() {
        return Err(StartError::NoToken(address));
    }
    let settings = settings(options.patience);
    let shared = Shared::new(handles, options);
    let live = shared.live.clone();
    let sampling = shared.history.follow(shared.replica.clone())?;
    let notes = leave_notes(live.clone(), shared.replica.gate())?;
    let router = router(shared);
    // Separate counts: operators are not visitors.
    let stats = Arc::new(Stats::default());
    let server = proxy::serve(vec![listener.into()], 1, &settings, stats, move |_core| {
        let router = router.clone();
        move |conn, request| answer(router.clone(), conn, request)
    })?;
    Ok(AdminServer {
        server,
        address,
        live,
        _sampling: sampling,
        _notes: notes,
    })
}

async fn answer(router: Router, conn: Arc<Conn>, mut request: Request<RequestBody>) -> Response<Body> {
    let peer = Peer {
        address: conn.peer(),
        request: RequestId::fresh(),
    };
    request.extensions_mut().insert(peer);
    let response = router.oneshot(request.map(axum::body::Body::new)).await;
    response.unwrap_or_else(|never| match never {}).map(Body::stream)
}

fn settings(patience: Duration) -> ServerSettings {
    ServerSettings {
        first_byte: patience,
        head: patience,
        body_idle: patience,
        write: patience,
        // The router has the limit, and says so in JSON.
        body_bytes: u64::MAX,
        connections: MAX_CONNECTIONS,
        connections_per_listener: MAX_CONNECTIONS,
        connections_per_client: CLIENT_CONNECTIONS,
        loopback_connections: Some(MAX_CONNECTIONS - CLIENT_CONNECTIONS),
        ..ServerSettings::default()
    }
}

/// Most connections at once.
const MAX_CONNECTIONS: usize = 256;

/// Most of them of one client. SECURITY: a connection needs no token, and a client with all of them would keep health checks and
/// operators out. Loopback may have all but as many: a tunnel or a proxy on this machine brings many operators.
const CLIENT_CONNECTIONS: usize = MAX_CONNECTIONS / 8;

/// How long the end waits for answers under way.
const CLOSE_WITHIN: Duration = Duration::from_secs(1);
