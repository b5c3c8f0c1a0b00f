//! Connections of the shop and of the provider: accepted up to a bound, served by hyper, ended in order.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::answer::Body;

/// Accepts until `stop`, then lets requests in flight finish for [`DRAIN`].
pub(super) async fn accept<S, F>(listener: TcpListener, stop: CancellationToken, service: S)
where
    S: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            Some((socket, place)) = next(&listener, &places) => {
                connections.spawn(connection(socket, place, stop.clone(), service.clone()));
            }
            Some(_ended) = connections.join_next() => {}
        }
    }
    drop(listener);
    let drained = async { while connections.join_next().await.is_some() {} };
    // Connections that have not ended then are cut when the set is dropped.
    let _late = tokio::time::timeout(DRAIN, drained).await;
}

/// The next socket, once there is a place for it.
async fn next(listener: &TcpListener, places: &Arc<Semaphore>) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    loop {
        match listener.accept().await {
            Ok((socket, _peer)) => return Some((socket, place)),
            // Out of descriptors, or the peer was gone already: neither is for ever.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn connection<S, F>(socket: TcpStream, place: OwnedSemaphorePermit, stop: CancellationToken, service: S)
where
    S: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<Body>>,
{
    // An event must not wait for the one before it to be acknowledged; if it cannot be set the shop is only slower.
    let _slower = socket.set_nodelay(true);
    let answer = service_fn(|request| {
        let response = service(request);
        async { Ok::<_, Infallible>(response.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .serve_connection(TokioIo::new(socket), answer)
        .with_upgrades();
    tokio::pin!(connection);
    let ended = tokio::select! {
        _outcome = connection.as_mut() => true,
        () = stop.cancelled() => false,
    };
    if !ended {
        connection.as_mut().graceful_shutdown();
        let _outcome = connection.await;
    }
    drop(place);
}

/// Connections of one listener at once.
const MAX_CONNECTIONS: usize = 8_192;

/// How long a connection may be idle, or take for a request's head.
const IDLE: Duration = Duration::from_secs(75);

/// Time for requests in flight when the shop stops.
const DRAIN: Duration = Duration::from_secs(2);
