//! The bound on simultaneous requests at one server over all cores, and the queue of waiting requests, of which one client
//! may fill half.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limit::{ClientKey, Held, Hold};
use crate::lock::held;
use crate::settings::ConnectionBound;
use crate::upstream::pool::Stash;

/// How many requests are at one server where they are bounded. Idle connections are shared by all cores: else one core's would
/// keep another from connecting.
pub(crate) struct Bound {
    rules: ConnectionBound,
    count: Arc<Count>,
    idle: Stash,
}

/// Requests at a server and waiting for it, shared by all configurations of that server.
struct Count {
    places: Arc<Semaphore>,
    most: Mutex<u32>,
    /// Places that are taken and no more once they are left: there are fewer than there were.
    surplus: AtomicU32,
    waiting: AtomicU32,
    /// The waiting requests by client.
    clients: Arc<Held<ClientKey>>,
}

/// The right to a connection, until it drops.
pub(crate) struct Permit {
    place: Option<OwnedSemaphorePermit>,
    count: Arc<Count>,
}

impl Bound {
    /// Keeps the count of `before`, the former bound on the same server.
    pub(crate) fn new(rules: ConnectionBound, before: Option<&Self>) -> Self {
        let count = before.map_or_else(Arc::default, |before| Arc::clone(&before.count));
        count.resize(rules.connections);
        count.clients.allow(size(rules.waiting.div_ceil(2)));
        Self {
            rules,
            count,
            idle: Stash::default(),
        }
    }

    pub(super) fn idle(&self) -> &Stash {
        &self.idle
    }

    pub(super) fn is_full(&self) -> bool {
        self.count.places.available_permits() == 0
    }

    /// Fewer than half are free.
    pub(super) fn is_crowded(&self) -> bool {
        self.count.places.available_permits() < size(self.rules.connections) / 2
    }

    pub(super) fn waiting(&self) -> u32 {
        self.count.waiting.load(Ordering::Relaxed)
    }

    /// The right to a connection, if one is free and no request waits for it.
    pub(crate) fn enter(&self) -> Option<Permit> {
        let place = Arc::clone(&self.count.places).try_acquire_owned().ok()?;
        Some(self.permit(place))
    }

    /// How long one waits for it otherwise.
    pub(crate) fn patience(&self) -> Duration {
        self.rules.wait
    }

    /// A place in the line, if there is one left, and the client has no half of the line yet.
    pub(crate) fn place(&self, client: IpAddr) -> Option<Place<'_>> {
        if self.count.waiting.fetch_add(1, Ordering::Relaxed) >= self.rules.waiting {
            self.count.waiting.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        // From here on the place is given back.
        let mut place = Place {
            bound: self,
            client: None,
        };
        place.client = Some(self.count.clients.take(client.into())?);
        Some(place)
    }

    fn permit(&self, place: OwnedSemaphorePermit) -> Permit {
        Permit {
            place: Some(place),
            count: Arc::clone(&self.count),
        }
    }
}

impl Default for Count {
    fn default() -> Self {
        Self {
            places: Arc::new(Semaphore::new(0)),
            most: Mutex::default(),
            surplus: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            clients: Held::new(0),
        }
    }
}

impl Count {
    /// Changes the number of places. Places taken beyond the new number stay taken until they are released.
    fn resize(&self, to: u32) {
        let mut most = held(&self.most);
        let more = to.saturating_sub(*most);
        let unneeded = |surplus: u32| surplus.checked_sub(surplus.min(more));
        let before = self
            .surplus
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, unneeded)
            .unwrap_or_default();
        self.places.add_permits(size(more - before.min(more)));
        let fewer = size(most.saturating_sub(to));
        let free = self.places.forget_permits(fewer);
        self.surplus
            .fetch_add(u32::try_from(fewer - free).unwrap_or(u32::MAX), Ordering::Relaxed);
        *most = to;
    }

    /// Whether a place that is left is one too many.
    fn is_too_many(&self) -> bool {
        // PERF: one load where nothing was changed.
        self.surplus.load(Ordering::Relaxed) != 0
            && self
                .surplus
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |surplus| surplus.checked_sub(1))
                .is_ok()
    }
}

fn size(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(place) = self.place.take()
            && self.count.is_too_many()
        {
            place.forget();
        }
    }
}

/// A place in a server's line, until it drops.
pub(crate) struct Place<'b> {
    bound: &'b Bound,
    client: Option<Hold<ClientKey>>,
}

impl Place<'_> {
    /// The right to a connection, first come, first served from when this is first polled.
    pub(crate) async fn turn(&self) -> Option<Permit> {
        let place = Arc::clone(&self.bound.count.places).acquire_owned().await.ok()?;
        Some(self.bound.permit(place))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.bound.count.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(connections: u32, before: Option<&Bound>) -> Bound {
        with_line(connections, 1, before)
    }

    fn with_line(connections: u32, waiting: u32, before: Option<&Bound>) -> Bound {
        let rules = ConnectionBound {
            connections,
            waiting,
            wait: Duration::ZERO,
        };
        Bound::new(rules, before)
    }

    #[test]
    fn one_client_has_half_of_the_line() {
        let [one, other] = [1, 2].map(|last| IpAddr::from([192, 0, 2, last]));
        let bound = with_line(1, 4, None);
        let places: Vec<_> = (0..4).filter_map(|_| bound.place(one)).collect();
        assert_eq!((places.len(), bound.waiting()), (2, 2), "a refusal takes no place");
        let others: Vec<_> = (0..4).filter_map(|_| bound.place(other)).collect();
        assert_eq!((others.len(), bound.waiting()), (2, 4));
        drop(places);
        let third = bound.place(one).unwrap();
        let shorter = with_line(1, 2, Some(&bound));
        drop(others);
        assert!(shorter.place(one).is_none(), "who waits counts under another bound");
        drop(third);
        assert!(shorter.place(one).is_some());
        assert!(with_line(1, 1, None).place(one).is_some(), "a line of one is anybody's");
    }

    #[test]
    fn places_that_are_taken_count_under_another_bound_too() {
        let first = bound(3, None);
        let mut taken: Vec<_> = (0..3).map(|_| first.enter()).collect();
        let second = bound(1, Some(&first));
        assert!(taken.iter().all(Option::is_some) && second.is_full());
        taken.truncate(1);
        assert!(second.is_full(), "one is still there, and one may be");
        taken.clear();
        let own = second.enter();
        assert!(own.is_some() && second.enter().is_none() && first.enter().is_none());
        let third = bound(2, Some(&second));
        assert!(third.enter().is_some());
    }

    #[test]
    fn places_come_back_where_fewer_were_for_a_moment() {
        let first = bound(4, None);
        let taken: Vec<_> = (0..4).map(|_| first.enter()).collect();
        let fewer = bound(1, Some(&first));
        let more = bound(5, Some(&fewer));
        let last = more.enter();
        assert!(last.is_some() && more.is_full());
        drop(taken);
        assert_eq!((0..9).filter_map(|_| more.enter()).collect::<Vec<_>>().len(), 4);
    }
}
