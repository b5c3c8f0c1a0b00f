//! The server for visitors: it can be retired, which stops it accepting, and started again on the same sockets.

use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::gate::Cores;
use crate::proxy::{self, Drained, Endpoint, Listener, Server, ServerSettings, Stats};
use crate::time;

/// The parts of every server of this process, and the server that accepts.
pub struct Front {
    cores: Arc<Cores>,
    stats: Arc<Stats>,
    threads: usize,
    state: Mutex<State>,
}

struct State {
    settings: ServerSettings,
    /// `None` before the start and while it is retired.
    server: Option<Server>,
    /// Servers that only finish their requests.
    retired: Vec<JoinHandle<Drained>>,
}

impl Front {
    /// `threads`: by default one for each processor.
    pub fn new(cores: Arc<Cores>, stats: Arc<Stats>, threads: Option<NonZeroUsize>, settings: ServerSettings) -> Self {
        let processors = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self {
            cores,
            stats,
            threads: threads.map_or_else(processors, NonZeroUsize::get),
            state: Mutex::new(State {
                settings,
                server: None,
                retired: Vec::new(),
            }),
        }
    }

    /// Accepts on these, under the settings in force. Where they are, in their order.
    pub fn start(&self, listeners: Vec<Listener>) -> io::Result<Vec<Endpoint>> {
        let mut state = self.lock();
        let (cores, stats) = (Arc::clone(&self.cores), Arc::clone(&self.stats));
        let server = proxy::serve(listeners, self.threads, &state.settings, stats, move |index| {
            let core = cores.join(index);
            move |conn, request| core.gate().handle(conn, request)
        })?;
        let endpoints = server.endpoints().to_vec();
        state.server = Some(server);
        Ok(endpoints)
    }

    /// Binds connections that come from now on by these settings.
    pub fn bind_by(&self, settings: ServerSettings) {
        let mut state = self.lock();
        if let Some(server) = &state.server {
            server.bounds().set(settings.clone());
        }
        state.settings = settings;
    }

    /// Resolves when every thread that serves visitors has turned once more.
    pub fn turns(&self) -> impl Future<Output = ()> + use<> {
        let turns = self.lock().server.as_ref().map(Server::turns);
        async move {
            if let Some(turns) = turns {
                turns.await;
            }
        }
    }

    /// Stops accepting; requests and tunnels under way have `patience` to end. Returns when only tunnels are left. After `waits.ends`
    /// it returns as soon as each answer has begun, though some are still being sent, and after `waits.answers` in any case.
    pub fn retire(&self, waits: Waits, patience: Duration) -> io::Result<()> {
        let Some(server) = self.lock().server.take() else {
            return Ok(());
        };
        let (done, ended) = sync_channel::<()>(1);
        let drain = move || {
            let drained = server.drain(patience);
            drop(done);
            drained
        };
        let thread = thread::Builder::new().name("retired".into()).spawn(drain)?;
        self.lock().retired.push(thread);
        let began = time::uptime();
        while ended.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            let [open, tunnels, unanswered] = [&self.stats.open, &self.stats.tunnels_open, &self.stats.unanswered]
                .map(|gauge| gauge.load(Ordering::Relaxed));
            let waited = time::uptime().saturating_sub(began);
            if open <= tunnels || (unanswered == 0 && waited >= waits.ends) || waited >= waits.answers {
                break;
            }
        }
        Ok(())
    }

    /// Stops accepting and waits until requests under way have ended, for at most `patience`.
    pub fn stop(&self, patience: Duration) -> Drained {
        let (server, retired) = {
            let mut state = self.lock();
            (state.server.take(), std::mem::take(&mut state.retired))
        };
        let mut cut = server.map_or(0, |server| server.drain(patience).cut);
        for thread in retired {
            cut += thread.join().map_or(0, |drained| drained.cut);
        }
        Drained { cut }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long requests under way are waited for.
#[derive(Clone, Copy, Debug)]
pub struct Waits {
    /// For answers to be sent to the end.
    pub ends: Duration,
    /// Wait for answers to begin, because an answer's head tells what it means for the session.
    pub answers: Duration,
}

/// How often the connections that are left are counted.
const LOOK_EVERY: Duration = Duration::from_millis(5);
