//! One request against several limits: counted by all of them, or by none.
//!
//! A chain of checks would take from the first limits for a request that a later one refuses, so visitors who share an
//! address would be held back twice. governor cannot give back. A refund of our own would lower TATs, on which the shards
//! rely to grow only, and others would be refused meanwhile. So all limits are checked before any is charged, one request at
//! a time. The price: requests of this kind pass one lock, for about a microsecond each, which does not matter where each
//! becomes a new number in the log.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use governor::clock::Clock;
use governor::nanos::Nanos;

use super::{ClientKey, Decision, Limiter};

/// Limits that are charged together are exact as long as everybody charges them through the same one of these.
#[derive(Default, Debug)]
pub struct Together {
    turn: Mutex<()>,
}

/// Which limit refused, by its place, and when it would not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RefusedBy {
    pub at: usize,
    pub retry_after: Duration,
}

impl Together {
    /// Counts one request against each of the limits, or against none where one refuses it; says which is the first that does.
    pub fn check<C>(&self, limits: &[(&Limiter<C>, ClientKey)]) -> Result<(), RefusedBy>
    where
        C: Clock<Instant = Nanos> + Clone,
    {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        for (at, (limiter, client)) in limits.iter().enumerate() {
            if let Decision::Refused { retry_after } = limiter.look(*client) {
                return Err(RefusedBy { at, retry_after });
            }
        }
        for (limiter, client) in limits {
            let decision = limiter.check(*client);
            debug_assert!(matches!(decision, Decision::Allowed { .. }), "time only gives back");
        }
        Ok(())
    }
}
