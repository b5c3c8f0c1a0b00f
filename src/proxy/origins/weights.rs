//! Weights that an operator has set over the configured ones, until other servers are configured.
//!
//! They are set for a server as configured, whatever addresses its name has or will have, or for one address of a name. Where
//! a name loses all addresses but drained ones, these serve until another comes: else nobody would.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Origin, Origins};
use crate::proxy::settings::ShopServer;

/// What is set, for whoever holds it.
#[derive(Debug, Default)]
pub(super) struct Weights(Mutex<Set>);

#[derive(Debug, Default)]
pub(super) struct Set {
    /// By what the operator called the server; [`MOST_SET`] at most.
    by_name: BTreeMap<String, u32>,
    /// It left no server with a weight, and configured ones are in force.
    is_overruled: bool,
}

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
    pub(super) fn lock(&self) -> MutexGuard<'_, Set> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Set {
    /// Gives servers that were looked up the weights that were set for them.
    pub(super) fn apply(&mut self, targets: &[Arc<Origin>], servers: &[ShopServer]) {
        let set: Vec<u32> = targets
            .iter()
            .map(|origin| self.set_for(origin).unwrap_or_else(|| origin.weight()))
            .collect();
        let is_overruled = !targets.is_empty() && set.iter().all(|weight| *weight == 0);
        for (origin, weight) in targets.iter().zip(set) {
            origin.weigh(if is_overruled {
                configured(servers, origin)
            } else {
                weight
            });
        }
        if is_overruled && !self.is_overruled {
            tracing::warn!(
                "only drained servers of the shop are left: they have their configured weights until others come"
            );
        }
        self.is_overruled = is_overruled;
    }

    /// What was set for this server, by its address before by its name.
    fn set_for(&self, origin: &Origin) -> Option<u32> {
        let by_address = self.by_name.get(&origin.to_string());
        by_address
            .or_else(|| self.by_name.get(&origin.place().to_string()))
            .copied()
    }

    /// Notes what was set for these servers under this name: the last word counts, also over one for a single address. False
    /// where there would be too many, and nothing is noted.
    fn note(&mut self, name: &str, meant: &[&Arc<Origin>], weight: Option<u32>) -> bool {
        let goes = |set: &String| set == name || meant.iter().any(|origin| origin.to_string() == *set);
        let others = self.by_name.keys().filter(|set| !goes(set)).count();
        if weight.is_some() && others >= MOST_SET {
            return false;
        }
        self.by_name.retain(|set, _| !goes(set));
        self.by_name.extend(weight.map(|weight| (name.to_owned(), weight)));
        true
    }
}

fn configured(servers: &[ShopServer], origin: &Origin) -> u32 {
    let same = servers.iter().find(|server| server.place == *origin.place());
    same.map_or(origin.weight(), |server| server.weight)
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
        if !weights.note(server, &meant, weight) {
            return Err(NotWeighed::TooMany);
        }
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
        configured(&self.0.settings.servers, origin)
    }
}

/// Most weights that are set at once.
const MOST_SET: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::settings::{Place, UpstreamSettings};

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
        assert!(origins.0.weights.lock().by_name.is_empty());
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
    #[test]
    fn one_too_many_is_told_and_changes_nothing() {
        let many = origins(&[1; MOST_SET + 2]);
        for port in 1..=MOST_SET {
            many.set_weight(&format!("127.0.0.1:{port}"), Some(2)).unwrap();
        }
        let before = weights(&many);
        let beyond = format!("127.0.0.1:{}", MOST_SET + 1);
        assert_eq!(many.set_weight(&beyond, Some(2)), Err(NotWeighed::TooMany));
        assert_eq!(weights(&many), before);
        many.set_weight(&beyond, None).unwrap();
        many.set_weight("127.0.0.1:1", Some(3)).unwrap();
        assert_eq!(many.0.weights.lock().by_name.len(), MOST_SET);
    }
}
