//! The gate in force on each core, and how another takes its place while requests go on.
//!
//! A request takes the gate of its core once, at its start, and keeps it to its end. State that must outlive a change of
//! configuration is passed on: sessions with requests under way, event streams' feeds, the counts of limits that stay.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use tokio::runtime::Handle;

use crate::proxy::{Stats, Upstream, UpstreamServers};

use super::gate::Gate;
use super::in_flight::InFlight;
use super::keeper;
use super::shared::Shared;
use super::upstream::UpstreamState;

/// One core, with the gate in force.
pub struct Core {
    gate: ArcSwap<Gate>,
}

/// All cores of a process.
pub struct Cores {
    stats: Arc<Stats>,
    state: Mutex<State>,
}

struct State {
    shared: Arc<Shared>,
    /// Empty: the gate only answers proxies that ask.
    origins: Vec<UpstreamServers>,
    cores: Vec<(Handle, Arc<Core>)>,
}

impl Core {
    /// The gate for one request. PERF: every request's cost for a configuration that can change.
    #[must_use]
    pub fn gate(&self) -> Arc<Gate> {
        self.gate.load_full()
    }
}

impl Cores {
    /// No cores yet; those to come begin with this.
    #[must_use]
    pub fn new(shared: Shared, origins: Vec<UpstreamServers>, stats: Arc<Stats>) -> Self {
        let shared = Arc::new(shared);
        let cores = Vec::new();
        Self {
            stats,
            state: Mutex::new(State { shared, origins, cores }),
        }
    }

    /// One more core. Must be called inside its runtime: sessions with something under way are kept alive from there, and
    /// its connections to the shop live there.
    #[must_use]
    pub fn join(&self, index: usize) -> Arc<Core> {
        let mut state = self.lock();
        let gate = Gate {
            shared: Arc::clone(&state.shared),
            upstreams: state.origins.iter().map(|origins| self.upstream(origins)).collect(),
            in_flight: Arc::new(InFlight::default()),
        };
        let core = Arc::new(Core {
            gate: ArcSwap::from_pointee(gate),
        });
        tokio::spawn(keeper::keep_alive(Arc::downgrade(&core), index));
        if index == 0 {
            tokio::spawn(keeper::look_out(Arc::downgrade(&core)));
        }
        state.cores.push((Handle::current(), Arc::clone(&core)));
        core
    }

    /// The present shared state of all cores.
    #[must_use]
    pub fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.lock().shared)
    }

    /// Puts another gate in force. Requests that come from now on meet it; those under way go on with theirs. Connections to
    /// the shop are kept where `origins` are those in force.
    pub fn replace(&self, shared: Shared, origins: Vec<UpstreamServers>) {
        let mut state = self.lock();
        let shared = Arc::new(shared);
        shared.limits.take_force();
        shared.upstreams.iter().for_each(UpstreamState::take_force);
        for (runtime, core) in &state.cores {
            let before = core.gate();
            let _entered = runtime.enter();
            let kept = |new: &UpstreamServers| {
                let at = state.origins.iter().position(|old| new.is(old))?;
                before.upstreams.get(at).cloned()
            };
            let upstream = |new| kept(new).unwrap_or_else(|| self.upstream(new));
            core.gate.store(Arc::new(Gate {
                shared: Arc::clone(&shared),
                upstreams: origins.iter().map(upstream).collect(),
                in_flight: Arc::clone(&before.in_flight),
            }));
        }
        (state.shared, state.origins) = (shared, origins);
    }

    fn upstream(&self, origins: &UpstreamServers) -> Upstream {
        Upstream::new(origins.clone(), Arc::clone(&self.stats))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
