//! TLS around a client's socket, before anything of HTTP is read.
//!
//! Every layer behind the handshake sees the decrypted bytes: the framing guard, hyper, tunnels. Only the deadline of a
//! stalled write and [`Conn::acknowledged`] look at the socket itself. At most one buffer is not yet written to it, and a
//! client that has taken everything before that is alive.

use std::future::Future;
use std::sync::Arc;

use http::{Request, Response};
use tokio::time::Instant;

use crate::tls::{Secured, Tls, is_challenge, is_http2};

use crate::body::Body;
use crate::client::conn::Conn;
use crate::client::connection::{Shared, Speaks, serve_connection};
use crate::client::request_body::RequestBody;
use crate::client::socket::ClientSocket;
use crate::listen::greet::in_time;
use crate::stats::{Stats, up};

/// Performs the handshake, then serves. After a failed handshake the connection is closed, with no more than the alert that
/// rustls sends.
pub(crate) async fn serve_secured<S, F>(tls: Arc<Tls>, socket: ClientSocket, conn: Arc<Conn>, shared: Arc<Shared<S>>)
where
    S: Fn(Arc<Conn>, Request<RequestBody>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let due = conn.due(&shared.settings).unwrap_or_else(Instant::now);
    // PERF: data needed only for the handshake is not kept for the connection's life.
    let shaken = Box::pin(shake(&tls, socket, &conn, (&shared.stats, due))).await;
    if let Some(stream) = shaken.filter(|stream| !is_challenge(stream)) {
        let speaks = if is_http2(&stream) {
            Speaks::Http2
        } else {
            Speaks::Http1
        };
        serve_connection(stream, conn, shared, speaks).await;
    }
}

async fn shake(
    tls: &Tls,
    socket: ClientSocket,
    conn: &Conn,
    (stats, due): (&Stats, Instant),
) -> Option<Secured<ClientSocket>> {
    if !socket.is_ahead() {
        let spoken = in_time(due, conn.closing(), conn.stream().readable()).await;
        // As without TLS: once the drain begins, a silent client is not waited for any longer.
        let is_told = spoken.is_err() && conn.closing().is_cancelled();
        // Came and went without a byte, as those do that only look whether the port is open.
        if is_told || conn.peek().is_ok_and(|count| count == 0) {
            return None;
        }
    }
    let Ok(shaken) = in_time(due, conn.closing(), tls.accept(socket)).await else {
        up(&stats.timed_out);
        tls.gave_up();
        return None;
    };
    shaken.ok()
}
