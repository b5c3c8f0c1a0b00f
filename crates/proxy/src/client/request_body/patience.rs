//! How long a client is waited for that sends a body.

use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use crate::error::BodyError;

/// Patience with a client that is being waited for. Only waiting counts: while the upstream is the slow one, none is lost.
pub(super) struct Patience {
    pub(super) idle: Duration,
    rate: u32,
    waited: Duration,
    since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    pub(super) fn new(idle: Duration, rate: u32) -> Self {
        Self {
            idle,
            rate,
            waited: Duration::ZERO,
            since: None,
            timer: None,
        }
    }

    /// No data came: whether that has lasted too long.
    pub(super) fn is_lost(&mut self, cx: &mut Context<'_>) -> bool {
        if self.since.is_none() {
            let now = Instant::now();
            self.since = Some(now);
            match &mut self.timer {
                Some(timer) => timer.as_mut().reset(now + self.idle),
                None => self.timer = Some(Box::pin(sleep_until(now + self.idle))),
            }
        }
        self.timer
            .as_mut()
            .is_some_and(|timer| timer.as_mut().poll(cx).is_ready())
    }

    /// Something came: enough, for all the waiting so far?
    pub(super) fn rewarded(&mut self, read: u64) -> Result<(), BodyError> {
        let Some(since) = self.since.take() else { return Ok(()) };
        self.waited += since.elapsed();
        let owed = u64::from(self.rate).saturating_mul(self.waited.as_secs());
        if self.waited > self.idle && read < owed {
            Err(BodyError::TooSlow)
        } else {
            Ok(())
        }
    }
}
