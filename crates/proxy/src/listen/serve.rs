//! Listeners and cores: an accept thread per listener gives sockets to the core with the fewest connections. A core is a
//! thread with a runtime of its own, so a request never changes threads.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use http::{Request, Response};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::body::Body;
use crate::client::conn::Conn;
use crate::client::connection::Shared;
use crate::client::refusals::Refusals;
use crate::client::request_body::RequestBody;
use crate::listen::accept::{Arrival, accept};
use crate::listen::greet::greet;
use crate::listen::listener::{Endpoint, Listener};
use crate::listen::load::Load;
use crate::settings::ServerSettings;
use crate::stats::Stats;

/// A running server. Dropping it stops it without a drain.
pub struct Server {
    endpoints: Vec<Endpoint>,
    addresses: Vec<SocketAddr>,
    stats: Arc<Stats>,
    load: Arc<Load>,
    closing: CancellationToken,
    draining: Arc<AtomicBool>,
    deadline: Arc<OnceLock<Instant>>,
    accepting: Vec<JoinHandle<()>>,
    cores: Vec<JoinHandle<usize>>,
    runtimes: Vec<Handle>,
}

/// The limits of a server's connections, which can be changed while it runs; clones share them.
#[derive(Clone)]
pub struct Bounds(Arc<Load>);

impl Bounds {
    /// Puts other limits in force for new connections; an open one keeps its own to its end. Listeners stay as they were
    /// bound.
    pub fn set(&self, settings: ServerSettings) {
        self.0.bind_by(settings);
    }
}

/// The fate of the connections that were open when a drain began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Connections that were still at work at the deadline, and were cut.
    pub cut: usize,
}

/// Serves `listeners` with `cores` threads until [`Server::drain`].
///
/// `make` is called once on each core's thread, inside its runtime, and makes that core's service. State that cores should
/// not share, such as the [`crate::Upstream`], is made there. Fails when a thread, a runtime or a listener cannot be set up;
/// nothing is served then.
pub fn serve<M, S, F>(
    listeners: Vec<Listener>,
    cores: usize,
    settings: &ServerSettings,
    stats: Arc<Stats>,
    make: M,
) -> io::Result<Server>
where
    M: Fn(usize) -> S + Send + Sync + 'static,
    S: Fn(Arc<Conn>, Request<RequestBody>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let endpoints: Vec<Endpoint> = listeners.iter().map(Listener::endpoint).collect::<io::Result<_>>()?;
    let load = Arc::new(Load::new(listeners.len(), cores.max(1), settings, Arc::clone(&stats)));
    let mut server = Server {
        addresses: endpoints.iter().filter_map(Endpoint::address).collect(),
        endpoints,
        stats,
        load: Arc::clone(&load),
        closing: CancellationToken::new(),
        draining: Arc::default(),
        deadline: Arc::default(),
        accepting: Vec::new(),
        cores: Vec::new(),
        runtimes: Vec::new(),
    };
    let make = Arc::new(make);
    let mut queues = Vec::new();
    for core in 0..cores.max(1) {
        let (queue, arrivals) = mpsc::channel(ARRIVALS);
        let place = Core {
            index: core,
            load: Arc::clone(&load),
            closing: server.closing.clone(),
            draining: Arc::clone(&server.draining),
        };
        let (runtime, make, deadline) = (runtime()?, Arc::clone(&make), Arc::clone(&server.deadline));
        server.runtimes.push(runtime.handle().clone());
        let name = format!("core-{core}");
        let run = move || {
            let cut = runtime.block_on(async { place.run(make(core), arrivals, &deadline).await });
            // A name look-up under way would be waited for by a plain drop.
            runtime.shutdown_timeout(Duration::ZERO);
            cut
        };
        server.cores.push(thread::Builder::new().name(name).spawn(run)?);
        queues.push(queue);
    }
    for (index, listener) in listeners.into_iter().enumerate() {
        let (runtime, load, queues, closing) = (runtime()?, Arc::clone(&load), queues.clone(), server.closing.clone());
        let run = move || runtime.block_on(accept(listener, index, &load, &queues, &closing));
        server
            .accepting
            .push(thread::Builder::new().name(format!("accept-{index}")).spawn(run)?);
    }
    Ok(server)
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

impl Server {
    /// Where the listeners are, in their order.
    #[must_use]
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// The addresses of those over TCP.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Resolves when every core has turned once more: has looked at its sockets and carried out a task.
    pub fn turns(&self) -> impl Future<Output = ()> + use<> {
        let tasks: Vec<_> = self.runtimes.iter().map(|core| core.spawn(async {})).collect();
        async move {
            for task in tasks {
                // A core that has ended is nothing to wait for.
                let _ = task.await;
            }
        }
    }

    /// The counters.
    #[must_use]
    pub fn stats(&self) -> &Arc<Stats> {
        &self.stats
    }

    /// The limits of its connections.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        Bounds(Arc::clone(&self.load))
    }

    /// Cancelled when a drain begins.
    #[must_use]
    pub fn closing(&self) -> CancellationToken {
        self.closing.clone()
    }

    /// Stops accepting, closes idle connections, lets answers under way finish for at most `patience`, then cuts the rest.
    /// Blocks until the last thread has ended. Tunnels count as answers under way.
    #[must_use]
    pub fn drain(mut self, patience: Duration) -> Drained {
        let _ = self.deadline.set(Instant::now() + patience);
        Drained { cut: self.stop() }
    }

    fn stop(&mut self) -> usize {
        self.draining.store(true, Ordering::Relaxed);
        self.closing.cancel();
        for accepting in self.accepting.drain(..) {
            let _ = accepting.join();
        }
        self.cores.drain(..).map(|core| core.join().unwrap_or(0)).sum()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.deadline.set(Instant::now());
        self.stop();
    }
}

/// One core.
struct Core {
    index: usize,
    load: Arc<Load>,
    closing: CancellationToken,
    draining: Arc<AtomicBool>,
}

impl Core {
    /// Serves arriving connections until the drain is over; returns how many were cut.
    async fn run<S, F>(self, service: S, mut arrivals: mpsc::Receiver<Arrival>, deadline: &OnceLock<Instant>) -> usize
    where
        S: Fn(Arc<Conn>, Request<RequestBody>) -> F + Send + Sync + 'static,
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        let service = Arc::new(service);
        let service = move |conn, request| service(conn, request);
        let mut shared = self.shared(service.clone());
        // A token of this core's own: connections of different cores never meet at its lock.
        let closing = self.closing.child_token();
        loop {
            let arrival = tokio::select! {
                biased;
                () = self.closing.cancelled() => break,
                arrival = arrivals.recv() => arrival,
            };
            let Some(arrival) = arrival else { break };
            if !Arc::ptr_eq(&shared.settings, &self.load.settings()) {
                shared = self.shared(service.clone());
            }
            greet(arrival, &closing, &shared);
        }
        let deadline = deadline.get().copied().unwrap_or_else(Instant::now);
        let empty = async {
            // It ends with the last thread that accepts: a connection that one of them has accepted is still to come.
            while let Some(arrival) = arrivals.recv().await {
                greet(arrival, &closing, &shared);
            }
            self.load.until_empty(self.index).await;
        };
        let _ = timeout_at(deadline, empty).await;
        self.load.on(self.index)
    }

    /// State that connections under the settings in force share.
    fn shared<S>(&self, service: S) -> Arc<Shared<S>> {
        Arc::new(Shared {
            service,
            settings: self.load.settings(),
            stats: Arc::clone(self.load.stats()),
            draining: Arc::clone(&self.draining),
            refusals: Refusals::default(),
        })
    }
}

/// Raises this process's limit of open descriptors as far as it may by itself; returns the limit then in force. Each
/// connection takes one, and a second one while it is forwarded.
#[must_use]
pub fn raise_descriptor_limit() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // A refusal leaves the limit as it was.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        },
    );
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Sockets that may wait for one core; more are refused.
const ARRIVALS: usize = 1024;
