//! Answers whose clients are still reading and hold a place in a bound meanwhile.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use crate::limit::ClientKey;
use crate::proxy::Revoke;

/// Of one bound; as many as it has places, and some that have ended.
#[derive(Default)]
pub struct Readers(Mutex<Known>);

#[derive(Default)]
struct Known {
    each: Vec<(ClientKey, Revoke)>,
    /// At this number, ended answers are removed.
    forget_at: usize,
    /// No reader is slow before that. PERF: a flood does not go through all of them each time.
    none_before: Option<Instant>,
}

impl Readers {
    pub fn add(&self, client: ClientKey, answer: Revoke) {
        let Some(slow_from) = answer.slow_from() else { return };
        let mut known = self.known();
        if known.each.len() >= known.forget_at {
            known.each.retain(|(_, answer)| answer.slow_from().is_some());
            known.forget_at = known.each.len() * 2 + FEW;
        }
        known.none_before = known.none_before.map(|none_before| none_before.min(slow_from));
        known.each.push((client, answer));
    }

    /// Takes its answer, and so its place, from the client that reads most slowly, of all or `of` one; false where none reads slowly.
    pub fn cut_slowest(&self, of: Option<ClientKey>) -> bool {
        let now = Instant::now();
        let mut known = self.known();
        if known.none_before.is_some_and(|none_before| now < none_before) {
            return false;
        }
        known.none_before = known.each.iter().filter_map(|(_, answer)| answer.slow_from()).min();
        let each = known.each.iter().enumerate();
        let theirs = each.filter(|(_, (client, _))| of.is_none_or(|of| of == *client));
        let slowest = theirs
            .filter_map(|(at, (_, answer))| Some((answer.slow_from()?, at)))
            .min();
        let Some((_, at)) = slowest.filter(|(slow_from, _)| *slow_from <= now) else {
            return false;
        };
        let (_, slowest) = known.each.swap_remove(at);
        drop(known);
        slowest.revoke();
        true
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// So few are never looked through.
const FEW: usize = 16;

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::time::Duration;

    use http_body_util::BodyExt;

    use super::*;
    use crate::proxy::Body;

    fn client(last: u8) -> ClientKey {
        IpAddr::from([192, 0, 2, last]).into()
    }

    fn begin(readers: &Readers, by: u8) -> Body {
        let (body, answer) = Body::full("answer").revocable();
        readers.add(client(by), answer.unwrap());
        body
    }

    #[tokio::test(start_paused = true)]
    async fn the_slowest_is_cut_first_and_who_has_just_begun_is_not() {
        let readers = Readers::default();
        assert!(!readers.cut_slowest(None), "nobody reads");
        let slowest = begin(&readers, 1);
        assert!(!readers.cut_slowest(None));
        tokio::time::advance(Duration::from_secs(1)).await;
        let slow = begin(&readers, 2);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(!readers.cut_slowest(Some(client(2))), "nobody else's place is any use");
        assert!(readers.cut_slowest(None) && !readers.cut_slowest(None));
        assert!(slowest.collect().await.is_err());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(
            readers.cut_slowest(Some(client(2))) && !readers.cut_slowest(None),
            "the other one is slow by now"
        );
        assert!(slow.collect().await.is_err());
    }

    #[tokio::test]
    async fn what_has_ended_is_forgotten() {
        let readers = Readers::default();
        for _ in 0..1_000 {
            drop(begin(&readers, 1));
        }
        assert!(readers.known().each.len() <= FEW);
    }
}
