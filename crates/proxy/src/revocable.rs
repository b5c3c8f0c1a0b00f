//! An answer's body that is revoked from a client that reads it slowly, when another client needs the resources that it
//! holds.

use std::pin::Pin;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use tokio::time::Instant;

use crate::body::Body;
use crate::error::BoxError;
use crate::error::{ForwardError, Kind};
use crate::lock::held;

/// A body, until it is taken away; the client then sees its answer cut.
#[derive(Clone)]
pub(crate) struct Revocable(Arc<Mutex<Lent>>);

struct Lent {
    /// `None` once it is taken away.
    body: Option<Box<Body>>,
    begun: Instant,
    slow_from: Instant,
}

/// Takes a body away.
pub struct Revoke(Weak<Mutex<Lent>>);

impl Revocable {
    pub(crate) fn new(body: Body) -> (Self, Revoke) {
        let begun = Instant::now();
        let lent = Lent {
            body: Some(Box::new(body)),
            begun,
            slow_from: begun + BEGINNING,
        };
        let lent = Arc::new(Mutex::new(lent));
        let revoke = Revoke(Arc::downgrade(&lent));
        (Self(lent), revoke)
    }

    pub(crate) fn poll_frame(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut lent = held(&self.0);
        let Some(body) = &mut lent.body else {
            return Poll::Ready(Some(Err(Box::new(ForwardError::from(Kind::Withdrawn)))));
        };
        let polled = Pin::new(body.as_mut()).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            lent.read(frame.data_ref().map_or(0, Bytes::len), Instant::now());
        }
        polled
    }

    pub(crate) fn is_end_stream(&self) -> bool {
        held(&self.0).body.as_deref().is_some_and(Body::is_end_stream)
    }

    pub(crate) fn size_hint(&self) -> SizeHint {
        held(&self.0).body.as_deref().map(Body::size_hint).unwrap_or_default()
    }
}

impl Lent {
    /// A client that reads at the minimum rate is never slow. Faster reading earns some seconds of rest, more of them the
    /// longer it goes on.
    fn read(&mut self, bytes: usize, now: Instant) {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let earned = Duration::from_secs(1) * bytes / LEAST_BYTES_PER_SEC;
        // SECURITY: kernels take a large part of any answer at once, also for a client that reads none of it.
        let rest = (now - self.begun).clamp(BEGINNING, REST);
        self.slow_from = (self.slow_from.max(now) + earned).min(now + rest);
    }
}

impl Revoke {
    /// From when on the client reads slowly, as things stand; `None` where the body has ended.
    #[must_use]
    pub fn slow_from(&self) -> Option<Instant> {
        let lent = self.0.upgrade()?;
        let lent = held(&lent);
        lent.body.as_ref().map(|_| lent.slow_from)
    }

    /// Takes the body away, with all that it holds.
    pub fn revoke(&self) {
        let body = self.0.upgrade().and_then(|lent| held(&lent).body.take());
        drop(body);
    }
}

/// A client that reads less is slow: half the rate of the slowest tariffs, 64 kbit/s.
const LEAST_BYTES_PER_SEC: u32 = 4 * 1024;
/// Time after which a client that has read nothing is slow.
const BEGINNING: Duration = Duration::from_secs(2);
/// The longest rest. Kernels take much at once, and then nothing until a large part of it has been sent.
const REST: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    async fn is_cut(body: Revocable) -> bool {
        Body::from(body).collect().await.is_err()
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_at_the_least_rate_is_never_slow_and_rests_for_some_seconds_at_most() {
        let (body, revoke) = Revocable::new(Body::full("answer"));
        let mut now = Instant::now();
        assert_eq!(revoke.slow_from(), Some(now + BEGINNING));
        held(&body.0).read(100 * 1024 * 1024, now);
        assert_eq!(revoke.slow_from(), Some(now + BEGINNING), "what is taken at once");
        for _ in 0..100 {
            now += Duration::from_secs(1);
            held(&body.0).read(4 * 1024, now);
            assert!(revoke.slow_from().unwrap() > now);
        }
        held(&body.0).read(100 * 1024 * 1024, now);
        assert_eq!(revoke.slow_from(), Some(now + REST));
        now += REST * 2;
        held(&body.0).read(4 * 1024, now);
        assert_eq!(revoke.slow_from(), Some(now + Duration::from_secs(1)));
    }

    #[tokio::test]
    async fn what_is_taken_away_lets_go_and_is_cut() {
        let guard = Arc::new(());
        let (body, revoke) = Revocable::new(Body::full("answer").hold(Arc::clone(&guard)));
        revoke.revoke();
        assert_eq!(Arc::strong_count(&guard), 1);
        assert!(revoke.slow_from().is_none());
        assert!(is_cut(body).await);
        let (body, revoke) = Revocable::new(Body::full("answer"));
        assert!(!is_cut(body).await);
        revoke.revoke();
    }
}
