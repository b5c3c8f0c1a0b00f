//! The bounded store behind governor: shards of clients, and the networks behind them.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use governor::clock::Clock;
use governor::nanos::Nanos;
use governor::state::StateStore;

use super::IDLE;
use super::client::{ClientKey, Who};
use super::network::Networks;
use super::shard::Shard;

/// Cloning shares it: governor owns one handle and gives no way to look into it.
pub(super) struct Store<C> {
    inner: Arc<Inner>,
    clock: C,
}

struct Inner {
    shards: Box<[Mutex<Shard>]>,
    hasher: RandomState,
    /// Made when first needed, which is never in good times.
    networks: OnceLock<Networks>,
    /// When governor's rule began, or a moment after: the zero of its TATs.
    began: OnceLock<Nanos>,
}

/// The two questions about a client: whether it may pass, and that it passes. Both are one kind of key, so that one rule of
/// governor's, with one start of time, answers both.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Ask {
    Look(ClientKey),
    Take(ClientKey),
}

impl<C: Clone> Clone for Store<C> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            clock: self.clock.clone(),
        }
    }
}

impl<C: Clock<Instant = Nanos>> StateStore for Store<C> {
    type Key = Ask;

    fn measure_and_replace<T, F, E>(&self, ask: &Ask, f: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let key = match ask {
            Ask::Look(key) => return self.inner.look(key, f).map(|(outcome, _)| outcome),
            Ask::Take(key) => key,
        };
        let mut shard = self.inner.shard(key.who);
        if let Some(tat) = shard.get_mut(key.who) {
            let (outcome, after) = f(Some(*tat))?;
            *tat = after;
            return Ok(outcome);
        }
        let now = self.clock.now();
        for _ in 0..SWEEP {
            shard.forget_lowest(|tat| self.inner.is_idle(tat, now));
        }
        if shard.is_full() && !shard.forget_lowest(|tat| f(Some(tat)).is_ok()) {
            drop(shard);
            return self
                .inner
                .networks
                .get_or_init(Networks::new)
                .measure_and_replace(key.network, f);
        }
        let (outcome, tat) = f(None)?;
        shard.insert(key.who, tat);
        Ok(outcome)
    }
}

impl<C: Clock<Instant = Nanos>> Store<C> {
    /// For at most `clients` clients, and at least one.
    pub(super) fn new(clients: usize, clock: C) -> Self {
        let clients = clients.max(1);
        let shards = 1 << (clients / MIN_SHARD).clamp(1, MAX_SHARDS).ilog2();
        let hasher = RandomState::new();
        let shard = |_| Mutex::new(Shard::new(clients / shards, hasher.clone()));
        let shards = (0..shards).map(shard).collect();
        Self {
            inner: Arc::new(Inner {
                shards,
                hasher,
                networks: OnceLock::new(),
                began: OnceLock::new(),
            }),
            clock,
        }
    }

    /// Must be called after the rule is made: called before, a client would count as idle too early.
    pub(super) fn begins(&self, now: Nanos) {
        self.inner.began.get_or_init(|| now);
    }

    /// Forgets all idle clients.
    pub(super) fn forget_idle(&self) {
        let now = self.clock.now();
        for shard in &self.inner.shards {
            let mut shard = lock(shard);
            while shard.forget_lowest(|tat| self.inner.is_idle(tat, now)) {}
        }
    }

    pub(super) fn clients(&self) -> usize {
        self.inner.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    #[cfg(test)]
    pub(super) fn knows(&self, key: ClientKey) -> bool {
        self.inner.shard(key.who).get_mut(key.who).is_some()
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.inner.shards.iter().map(|shard| lock(shard).bytes()).sum()
    }
}

impl Inner {
    /// The result of `f` for the client; nothing is counted, remembered or forgotten.
    fn look<T, E>(&self, key: &ClientKey, f: impl Fn(Option<Nanos>) -> Result<T, E>) -> Result<T, E> {
        let mut shard = self.shard(key.who);
        if let Some(tat) = shard.get_mut(key.who) {
            return f(Some(*tat));
        }
        let is_full = shard.is_full() && shard.lowest(|tat| f(Some(tat)).is_err()) == Some(true);
        drop(shard);
        match self.networks.get() {
            Some(networks) if is_full => networks.look(key.network, f),
            _ => f(None),
        }
    }

    /// The burst of a client with this TAT has been whole for [`IDLE`], so forgetting gives it nothing.
    fn is_idle(&self, tat: Nanos, now: Nanos) -> bool {
        let since = |began: &Nanos| now.saturating_sub(*began);
        self.began
            .get()
            .map(since)
            .is_some_and(|now| tat + Nanos::from(IDLE) <= now)
    }

    fn shard(&self, who: Who) -> MutexGuard<'_, Shard> {
        // The map uses the hash's lowest and highest bits; a shard's clients should differ in those.
        let middle = usize::from(self.hasher.hash_one(who).to_le_bytes()[4]);
        lock(&self.shards[middle % self.shards.len()])
    }
}

/// A panic while the lock was held cannot leave a shard in a state that matters more than going on.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many idle clients a newcomer sweeps: two, so that sweeping outruns coming.
const SWEEP: usize = 2;

const MAX_SHARDS: usize = 64;

/// Fewest clients of a shard where there are several: enough that chance fills them about evenly.
const MIN_SHARD: usize = 1024;
