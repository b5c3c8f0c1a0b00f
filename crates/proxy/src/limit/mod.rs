//! Rate limits per client: a burst of `requests`, refilled evenly over `window`, by governor over a store of our own.
//!
//! governor's store grows with every address that ever came. This store holds a fixed number of clients, each in one of up to
//! 64 shards behind a mutex of its own that is held for a fraction of a microsecond. A client whose burst has been whole for
//! ten minutes is forgotten. A full shard makes room by forgetting the client that has regained the most of its burst, and
//! never one that is over its limit, so that a flood of addresses gives no client a fresh burst. When all are over their
//! limit, a newcomer shares one bucket with its network (/16, or /48 in IPv6), so a flood starves only its own networks. A
//! shard can be full some per cent before the whole store is, which makes the limit stricter, not weaker. governor's own rule
//! decides whether a client is *over its limit*, and time comes from a clock passed in. The caller decides which requests are
//! one client. [`Held`] bounds how much a client has at once instead of how often it comes; [`Together`] charges several
//! limits or none.

mod client;
mod held;
mod network;
mod shard;
mod store;
mod together;

#[cfg(test)]
mod tests;

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::nanos::Nanos;
use governor::{Quota, RateLimiter};

pub use client::{ClientKey, Prefixes};
pub use held::{Held, Hold};
use store::{Ask, Store};
pub use together::{RefusedBy, Together};

/// How many clients one limit remembers by default: about 10 MB when full.
pub const CLIENTS: usize = 100_000;

/// How long after its burst is whole again a client is forgotten.
pub const IDLE: Duration = Duration::from_secs(600);

/// Longest window of a limit; a longer one counts as this.
pub const MAX_WINDOW: Duration = Duration::from_secs(366 * 24 * 3600);

/// The answer to one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    Allowed {
        /// How many more would be allowed at once.
        remaining: u32,
        /// The whole burst is back after this at the latest.
        reset: Duration,
    },
    Refused {
        /// The first moment at which a request would be allowed again, if none comes before.
        retry_after: Duration,
    },
}

/// One limit and its memory of clients. Shared by all cores.
pub struct Limiter<C: Clock<Instant = Nanos> = Uptime> {
    rule: RateLimiter<Ask, Store<C>, C, StateInformationMiddleware>,
    store: Store<C>,
    quota: Quota,
    clock: C,
}

impl Limiter {
    /// A burst of `requests`, one of them back every `window / requests`, for at most `clients` clients at a time.
    #[must_use]
    pub fn new(requests: NonZeroU32, window: Duration, clients: usize) -> Self {
        Self::with_clock(requests, window, clients, Uptime)
    }
}

impl<C: Clock<Instant = Nanos> + Clone> Limiter<C> {
    /// As [`Limiter::new`], on a clock of the caller's.
    pub fn with_clock(requests: NonZeroU32, window: Duration, clients: usize, clock: C) -> Self {
        let quota = quota(requests, window);
        let store = Store::new(clients, clock.clone());
        let rule = RateLimiter::new(quota, store.clone(), clock.clone());
        store.begins(clock.now());
        Self {
            rule,
            store,
            quota,
            clock,
        }
    }

    /// Counts one request of `client` and says whether it may pass. A refused request costs nothing of the burst.
    pub fn check(&self, client: ClientKey) -> Decision {
        self.ask(&Ask::Take(client))
    }

    /// The result that [`Limiter::check`] would give; counts nothing.
    pub fn look(&self, client: ClientKey) -> Decision {
        self.ask(&Ask::Look(client))
    }

    fn ask(&self, ask: &Ask) -> Decision {
        match self.rule.check_key(ask) {
            Ok(state) => {
                let remaining = state.remaining_burst_capacity();
                let used = self.quota.burst_size().get().saturating_sub(remaining);
                Decision::Allowed {
                    remaining,
                    reset: self.quota.replenish_interval() * used,
                }
            }
            Err(until) => Decision::Refused {
                retry_after: until.wait_time_from(self.clock.now()),
            },
        }
    }

    /// Forgets clients whose burst has been whole for [`IDLE`]. Each newcomer also forgets up to two; a timer removes
    /// addresses when no newcomers arrive.
    pub fn forget_idle(&self) {
        self.store.forget_idle();
    }

    /// How many clients are remembered now; walks the shards.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.store.clients()
    }
}

fn quota(requests: NonZeroU32, window: Duration) -> Quota {
    let refill = (window.min(MAX_WINDOW) / requests.get()).max(Duration::from_nanos(1));
    Quota::with_period(refill)
        .expect("a refill takes a nanosecond or more")
        .allow_burst(requests)
}

/// The process's monotonic clock, for governor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uptime;

impl Clock for Uptime {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        crate::time::uptime().into()
    }
}
