//! The addresses of the upstream's names, looked up again and again.
//!
//! Every address of a name is a server. One that the name no longer has is left alone, and its kept connections are closed;
//! a name that cannot be resolved keeps the addresses it had.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::net::lookup_host;
use tokio::time::{sleep, timeout};

use super::Inner;
use super::target::{Address, Target};
use crate::settings::{Place, UpstreamServer, UpstreamSettings};

/// The configured servers, each with its known addresses.
pub(super) struct Names {
    settings: Arc<UpstreamSettings>,
    entries: Vec<Entry>,
}

struct Entry {
    /// The upstream's name.
    upstream: Option<Arc<str>>,
    server: UpstreamServer,
    addresses: Vec<Address>,
    /// A failed resolution is logged once.
    failed: bool,
}

impl Names {
    pub(super) fn of(settings: &UpstreamSettings) -> Self {
        let entry = |server: &UpstreamServer| Entry {
            upstream: settings.name.clone(),
            addresses: fixed(&server.place).into_iter().collect(),
            server: server.clone(),
            failed: false,
        };
        Self {
            entries: settings.servers.iter().map(entry).collect(),
            settings: Arc::new(settings.clone()),
        }
    }

    /// Whether there is anything to look up.
    pub(super) fn any(&self) -> bool {
        self.entries.iter().any(|entry| fixed(&entry.server.place).is_none())
    }

    /// Takes the addresses that names had, until they are looked up.
    pub(super) fn learn(&mut self, before: &[Arc<Target>]) {
        for entry in self
            .entries
            .iter_mut()
            .filter(|entry| fixed(&entry.server.place).is_none())
        {
            let of_name = before.iter().filter(|old| *old.place() == entry.server.place);
            entry.addresses = of_name.map(|old| old.address().clone()).collect();
        }
    }

    /// The servers; those of `kept` that are the same are reused. Another server takes over the count of requests from the
    /// one of `known` whose place it takes.
    pub(super) fn targets(&self, kept: &[Arc<Target>], known: &[Arc<Target>]) -> Vec<Arc<Target>> {
        let mut targets = Vec::new();
        for Entry { server, addresses, .. } in &self.entries {
            for address in addresses {
                let same = |old: &&Arc<Target>| old.is_at(server, address) && !old.is_gone();
                let there = |old: &&Arc<Target>| (old.place(), old.address()) == (&server.place, address);
                let before = known.iter().find(there).map(|old| &**old);
                let target = kept.iter().find(same).map_or_else(
                    || Arc::new(Target::new(server, address.clone(), &self.settings, before)),
                    Arc::clone,
                );
                targets.push(target);
            }
        }
        targets
    }

    /// The configured servers whose name has no address.
    pub(super) fn nameless(&self) -> impl Iterator<Item = String> {
        let without = self.entries.iter().filter(|entry| entry.addresses.is_empty());
        without.map(|entry| entry.server.place.to_string())
    }

    pub(super) async fn look_up(&mut self) {
        let pending = self
            .entries
            .iter_mut()
            .filter(|entry| fixed(&entry.server.place).is_none());
        join_all(pending.map(Entry::look_up)).await;
    }
}

impl Entry {
    async fn look_up(&mut self) {
        let Place::Host(host, port) = &self.server.place else {
            return;
        };
        let found = match timeout(PATIENCE, lookup_host((host.as_str(), *port))).await {
            Ok(found) => found.map_err(|error| error.to_string()),
            Err(_) => Err("no answer in time".to_owned()),
        };
        self.take(found.map(Iterator::collect));
    }

    fn take(&mut self, found: Result<Vec<SocketAddr>, String>) {
        let why = match found {
            Ok(mut found) if !found.is_empty() => {
                found.sort_unstable();
                found.dedup();
                found.truncate(MOST_ADDRESSES);
                self.addresses = found.into_iter().map(Address::Tcp).collect();
                self.failed = false;
                return;
            }
            Ok(_) => "it has no address".to_owned(),
            Err(why) => why,
        };
        if !std::mem::replace(&mut self.failed, true) {
            let name = &self.server.place;
            tracing::warn!(upstream = self.upstream.as_deref(), %name, why, kept = self.addresses.len(), "a name of the upstream cannot be resolved");
        }
    }
}

/// The address of a place that needs no look-up.
fn fixed(place: &Place) -> Option<Address> {
    match place {
        Place::Unix(path) => Some(Address::Unix(path.clone())),
        Place::Host(host, port) => {
            let ip: IpAddr = host.parse().ok()?;
            Some(Address::Tcp((ip, *port).into()))
        }
    }
}

/// Looks names up again every so often, and when one is missed.
pub(super) async fn look_up_again(inner: Weak<Inner>, mut names: Names) {
    while names.any() {
        names.look_up().await;
        let Some(inner) = inner.upgrade() else { return };
        inner.in_charge(|| publish(&inner, &names));
        inner.looked_up.send_modify(|rounds| *rounds += 1);
        let every = inner.settings.resolve_every;
        let wanted = Arc::clone(&inner.wanted);
        // Held, it would keep the gate's servers alive for ever.
        drop(inner);
        tokio::select! {
            () = sleep(every) => {}
            // Requests may ask for this as often as they come.
            () = wanted.notified() => sleep(PAUSE.min(every)).await,
        }
    }
}

fn publish(inner: &Inner, names: &Names) {
    let before = inner.targets.load_full();
    let after = names.targets(&before, &[]);
    let is_gone = |old: &&Arc<Target>| !after.iter().any(|new| Arc::ptr_eq(old, new));
    let gone: Vec<_> = before.iter().filter(is_gone).map(Arc::clone).collect();
    inner.targets.store(Arc::new(after));
    for target in &gone {
        target.leave();
        tracing::info!(upstream = inner.settings.name.as_deref(), server = %target, "a name of the upstream has another address");
    }
    if !gone.is_empty() {
        inner.idle().iter().for_each(|idle| idle.sweep());
    }
}

/// How long a look-up may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The least from one look-up to the next.
const PAUSE: Duration = Duration::from_millis(500);
/// Most addresses of one name.
const MOST_ADDRESSES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn found(addresses: &[&str]) -> Vec<SocketAddr> {
        addresses.iter().map(|address| address.parse().unwrap()).collect()
    }

    fn shown(targets: &[Arc<Target>]) -> Vec<String> {
        targets.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn address_needs_no_look_up() {
        let names = Names::of(&UpstreamSettings::new("::1", 80));
        assert!(!names.any());
        assert_eq!(shown(&names.targets(&[], &[])), ["[::1]:80"]);
    }

    #[test]
    fn every_address_of_a_name_is_a_server_and_stays_the_same_one() {
        let mut names = Names::of(&UpstreamSettings::new("shop", 80));
        assert!(names.any() && names.targets(&[], &[]).is_empty());
        names.entries[0].take(Ok(found(&["10.0.0.2:80", "10.0.0.1:80", "10.0.0.1:80"])));
        let first = names.targets(&[], &[]);
        assert_eq!(shown(&first), ["shop:80 (10.0.0.1)", "shop:80 (10.0.0.2)"]);
        names.entries[0].take(Ok(found(&["10.0.0.2:80", "10.0.0.3:80"])));
        let second = names.targets(&first, &[]);
        assert_eq!(shown(&second), ["shop:80 (10.0.0.2)", "shop:80 (10.0.0.3)"]);
        assert!(Arc::ptr_eq(&first[1], &second[0]));
    }

    #[test]
    fn name_that_cannot_be_resolved_keeps_its_addresses() {
        let mut names = Names::of(&UpstreamSettings::new("shop", 80));
        names.entries[0].take(Ok(found(&["10.0.0.1:80"])));
        names.entries[0].take(Err("no such name".to_owned()));
        names.entries[0].take(Ok(found(&[])));
        assert_eq!(shown(&names.targets(&[], &[])), ["shop:80 (10.0.0.1)"]);
    }

    #[test]
    fn name_has_so_many_addresses_at_most() {
        let mut names = Names::of(&UpstreamSettings::new("shop", 80));
        let many = (0..=255).map(|at| SocketAddr::from(([10, 0, 0, at], 80)));
        names.entries[0].take(Ok(many.collect()));
        assert_eq!(names.targets(&[], &[]).len(), MOST_ADDRESSES);
    }
}
