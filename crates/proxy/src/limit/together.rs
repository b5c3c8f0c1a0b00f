//! One request against several limits: counted by all of them, or by none.
//!
//! A chain of checks takes from the first limits what a later one then refuses, so that people who share an address are held
//! back twice. governor has no way to give back, and one of our own would lower TATs, which the shards rely on to grow
//! only; others would be refused meanwhile, too. So all limits are looked at before any is taken from, one request at
//! a time. The price: requests of this kind pass one lock, for about a microsecond each; where each is a new number in the log
//! that is no price.

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
