//! Weights that an operator has set over the configured ones, until the configuration is read again.
//!
//! They are set for a server as configured, whatever addresses its name has or will have, or for one address of a name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Origin, Origins};

/// By what the operator called the server; fewer than [`MOST_SET`].
#[derive(Debug, Default)]
pub(super) struct Weights(Mutex<BTreeMap<String, u32>>);

/// A server whose weight was set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Weighed {
    /// As in its [`Standing`](super::Standing).
    pub origin: String,
    /// Its weight until now.
    pub before: u32,
    /// Its weight from now on.
    pub after: u32,
}

/// Why a weight was not set.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotWeighed {
    /// The servers there are.
    #[error("there is no such server of the shop; there are: {0}")]
    Unknown(String),
    /// Nobody would serve visitors.
    #[error("no server of the shop would have a weight: give another one a weight first")]
    Last,
    /// Addresses that come and go have been weighed one by one, too many times.
    #[error("too many weights are set: take some back with null")]
    TooMany,
}

impl Weights {
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<String, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was set for this server, by its address before by its name.
pub(super) fn set_for(weights: &BTreeMap<String, u32>, origin: &Origin) -> Option<u32> {
    let by_address = weights.get(&origin.to_string());
    by_address.or_else(|| weights.get(&origin.place().to_string())).copied()
}

impl Origins {
    /// Gives a server another weight: 0 lets it finish what it has and gives it nothing new, `None` goes back to the configured
    /// one. `server` is one of [`standing`](Self::standing), or a configured place for all addresses of its name.
    pub fn set_weight(&self, server: &str, weight: Option<u32>) -> Result<Vec<Weighed>, NotWeighed> {
        // Held while servers are looked up, so that none comes in with another weight.
        let mut weights = self.0.weights.lock();
        let targets = self.0.targets.load();
        let is_meant = |origin: &&Arc<Origin>| origin.to_string() == server || origin.place().to_string() == server;
        let meant: Vec<_> = targets.iter().filter(is_meant).collect();
        if meant.is_empty() {
            let names: Vec<String> = targets.iter().map(ToString::to_string).collect();
            return Err(NotWeighed::Unknown(names.join(", ")));
        }
        let after = |origin: &&Arc<Origin>| weight.unwrap_or_else(|| self.configured(origin));
        let is_weighty = |origin: &Arc<Origin>| if is_meant(&origin) { after(&origin) } else { origin.weight() } > 0;
        if !targets.iter().any(is_weighty) {
            return Err(NotWeighed::Last);
        }
        // The last word counts, also over one for a single address.
        for origin in &meant {
            weights.remove(&origin.to_string());
        }
        weights.remove(server);
        if weights.len() >= MOST_SET {
            return Err(NotWeighed::TooMany);
        }
        weights.extend(weight.map(|weight| (server.to_owned(), weight)));
        let weigh = |origin: &Arc<Origin>| Weighed {
            origin: origin.to_string(),
            before: origin.weight(),
            after: after(&origin),
        };
        let weighed: Vec<_> = meant.iter().map(|origin| weigh(origin)).collect();
        meant
            .iter()
            .zip(&weighed)
            .for_each(|(origin, to)| origin.weigh(to.after));
        Ok(weighed)
    }

    pub(super) fn configured(&self, origin: &Origin) -> u32 {
        let servers = &self.0.settings.servers;
        let same = servers.iter().find(|server| server.place == *origin.place());
        same.map_or(origin.weight(), |server| server.weight)
    }
}

/// Most weights that are set at once.
const MOST_SET: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::settings::{Place, ShopServer, UpstreamSettings};

    fn origins(weights: &[u32]) -> Origins {
        let server = |(port, weight): (u16, &u32)| ShopServer {
            place: Place::Host("127.0.0.1".to_owned(), port),
            weight: *weight,
            tls: false,
        };
        Origins::start(UpstreamSettings::at((1..).zip(weights).map(server).collect())).unwrap()
    }

    fn weights(origins: &Origins) -> Vec<u32> {
        origins.standing().iter().map(|server| server.weight).collect()
    }

    #[test]
    fn weight_is_set_and_taken_back() {
        let origins = origins(&[2, 1]);
        let weighed = origins.set_weight("127.0.0.1:1", Some(0)).unwrap();
        let (origin, before, after) = ("127.0.0.1:1".to_owned(), 2, 0);
        assert_eq!(weighed, [Weighed { origin, before, after }]);
        assert_eq!((weights(&origins), origins.standing()[0].configured), (vec![0, 1], 2));
        origins.set_weight("127.0.0.1:1", None).unwrap();
        assert_eq!(weights(&origins), [2, 1]);
        assert!(origins.0.weights.lock().is_empty());
    }

    #[test]
    fn last_server_with_a_weight_keeps_it() {
        let origins = origins(&[1, 0]);
        assert_eq!(origins.set_weight("127.0.0.1:1", Some(0)), Err(NotWeighed::Last));
        origins.set_weight("127.0.0.1:2", Some(1)).unwrap();
        origins.set_weight("127.0.0.1:1", Some(0)).unwrap();
        assert_eq!(origins.set_weight("127.0.0.1:2", None), Err(NotWeighed::Last));
        assert_eq!(weights(&origins), [0, 1]);
    }

    #[test]
    fn who_is_no_server_is_told_which_there_are() {
        let known = NotWeighed::Unknown("127.0.0.1:1, 127.0.0.1:2".to_owned());
        assert_eq!(origins(&[1, 1]).set_weight("127.0.0.1", Some(0)), Err(known));
    }
}
