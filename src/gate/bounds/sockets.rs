//! Bounds on the sockets of one visitor, or of one client without a session: each holds a connection to the shop for as long as it likes.

use std::net::IpAddr;
use std::sync::Arc;

use prometheus_client::metrics::counter::Counter;

use crate::limit::{ClientKey, Held, Hold};
use ropeline_ids::Visitor;

use crate::gate::state::in_flight::Right;

/// How many there may be.
pub struct Sockets {
    of_visitors: Arc<Held<Arc<Visitor>>>,
    of_clients: Arc<Held<ClientKey>>,
    /// Sockets per client: half of the requests that the shop takes at once.
    most_of_client: usize,
    refused: Counter,
}

/// A socket; counts until it drops.
pub enum Socket {
    OfVisitor(Hold<Arc<Visitor>>),
    OfClient(Hold<ClientKey>),
}

/// The visitor, or the client, has as many as may be.
#[derive(Debug)]
pub struct TooMany;

/// Of one visitor: a page opens one or two, and some people have a few tabs.
const MOST_OF_VISITOR: usize = 8;

impl Sockets {
    /// `shop_takes` is the upstream's bound on simultaneous requests, if there is one. Sockets open under `before` stay
    /// counted.
    pub fn new(shop_takes: Option<u32>, refused: Counter, before: Option<&Self>) -> Self {
        let half = |takes: u32| usize::try_from(takes.div_ceil(2)).unwrap_or(usize::MAX);
        let most_of_client = shop_takes.map_or(usize::MAX, half);
        Self {
            of_visitors: before.map_or_else(|| Held::new(MOST_OF_VISITOR), |old| Arc::clone(&old.of_visitors)),
            of_clients: before.map_or_else(|| Held::new(most_of_client), |old| Arc::clone(&old.of_clients)),
            most_of_client,
            refused,
        }
    }

    /// Sets the bound of the counts that were taken over from `before`.
    pub fn take_force(&self) {
        self.of_clients.allow(self.most_of_client);
    }

    /// Counts one more socket under this right.
    pub fn take(&self, right: &Right, client: IpAddr) -> Result<Socket, TooMany> {
        let taken = match right {
            Right::Session(visitor) => self.of_visitors.take(Arc::clone(visitor)).map(Socket::OfVisitor),
            Right::Open(..) | Right::LetPast(..) => self.of_clients.take(client.into()).map(Socket::OfClient),
        };
        if taken.is_none() {
            self.refused.inc();
        }
        taken.ok_or(TooMany)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropeline_ids::{LineName, RoomName};

    #[test]
    fn a_visitor_has_eight_and_a_client_without_a_session_half_of_what_the_shop_takes() {
        let sockets = Sockets::new(Some(5), Counter::default(), None);
        let client = |last: u8| IpAddr::from([192, 0, 2, last]);
        let held: Vec<_> = (0..9).map(|_| sockets.take(&Right::sample(1), client(1))).collect();
        assert_eq!(held.iter().flatten().count(), 8);
        assert!(sockets.take(&Right::sample(2), client(1)).is_ok());
        let open = Right::Open(RoomName::new("shop").unwrap(), LineName::ONLY);
        let opened: Vec<_> = (0..4).map(|_| sockets.take(&open, client(1))).collect();
        assert_eq!(opened.iter().flatten().count(), 3);
        assert!(sockets.take(&open, client(2)).is_ok());
        let more = Sockets::new(None, Counter::default(), Some(&sockets));
        more.take_force();
        assert!(more.take(&open, client(1)).is_ok());
        drop(held);
        assert!(more.take(&Right::sample(1), client(1)).is_ok());
    }
}
