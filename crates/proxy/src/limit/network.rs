//! The buckets that newcomers share, one per network, where every known client is over its limit.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use governor::nanos::Nanos;

use super::client::Network;

/// A TAT for every /16, and as many for the /48s. Networks of IPv6 that fall on one another share a bucket, which is
/// strict and not to be aimed at: the hash is keyed.
pub(super) struct Networks {
    v4: Box<[AtomicU64]>,
    v6: Box<[AtomicU64]>,
    hasher: RandomState,
}

impl Networks {
    /// Takes 1 MiB.
    pub(super) fn new() -> Self {
        let buckets = || (0..BUCKETS).map(|_| AtomicU64::new(NEVER)).collect();
        Self {
            v4: buckets(),
            v6: buckets(),
            hasher: RandomState::new(),
        }
    }

    /// Governor's `measure_and_replace` for the bucket of `network`.
    pub(super) fn measure_and_replace<T, F, E>(&self, network: Network, f: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let bucket = self.bucket(network);
        let mut before = bucket.load(Ordering::Relaxed);
        loop {
            let (outcome, after) = f((before != NEVER).then(|| Nanos::new(before)))?;
            // Relaxed: the value is all there is, nothing is published with it.
            match bucket.compare_exchange_weak(before, after.as_u64(), Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Ok(outcome),
                Err(now) => before = now,
            }
        }
    }

    /// The result of `f` for the bucket, which stays unchanged.
    pub(super) fn look<T>(&self, network: Network, f: impl Fn(Option<Nanos>) -> T) -> T {
        let tat = self.bucket(network).load(Ordering::Relaxed);
        f((tat != NEVER).then(|| Nanos::new(tat)))
    }

    fn bucket(&self, network: Network) -> &AtomicU64 {
        match network {
            Network::V4(at) => &self.v4[usize::from(at)],
            Network::V6(prefix) => {
                let [low, high, ..] = self.hasher.hash_one(prefix).to_le_bytes();
                &self.v6[usize::from(u16::from_le_bytes([low, high]))]
            }
        }
    }
}

const BUCKETS: usize = 1 << 16;

/// No TAT is zero: the first is a refill after the start.
const NEVER: u64 = 0;
