//! Other settings for the upstream's servers while the gate runs: servers that stay keep their state, the others are let go.

use std::sync::Arc;

use super::{UpstreamError, UpstreamServers};
use crate::lock::held;
use crate::settings::UpstreamSettings;
use crate::upstream::uploads::Uploads;

impl UpstreamServers {
    /// Others, that may succeed those in force. Until then they have no servers, and nothing is looked up or
    /// checked for them: a configuration that is refused after all has changed nothing.
    pub fn prepare(settings: UpstreamSettings) -> Result<Self, UpstreamError> {
        Self::make(settings)
    }

    /// Puts the upstreams of a new configuration in force. Each takes over from the old one with its name. Old ones whose name is
    /// gone take no new requests.
    pub fn replace(old: &[Self], new: &[Self]) {
        for one in new {
            match old.iter().find(|before| before.name() == one.name()) {
                Some(before) if before.is(one) => {}
                Some(before) => one.succeed(before),
                None => one.begin(&[], &[]),
            }
        }
        let is_gone = |before: &&Self| !new.iter().any(|one| one.name() == before.name());
        old.iter().filter(is_gone).for_each(Self::retire);
    }

    /// Nothing is looked up or checked any more, and no idle connection is kept; requests under way go on.
    fn retire(&self) {
        self.stop();
        self.0.targets.load().iter().for_each(|target| target.leave());
        self.0.idle().iter().for_each(|idle| idle.retire());
    }

    fn stop(&self) {
        let _held = held(&self.0.charge);
        self.0.stop.cancel();
    }

    /// Replaces `before`. Servers that both have keep their state, with weights as configured. Removed servers keep no
    /// connections and are not checked any more; requests under way there go on.
    fn succeed(&self, before: &Self) {
        before.stop();
        let uploads = Uploads::new(&self.0.settings, Some(&before.uploads()));
        self.0.uploads.store(Arc::new(uploads));
        let known = before.0.targets.load();
        let keeps = self.0.settings.keeps_servers_of(&before.0.settings);
        self.begin(&known, if keeps { &known[..] } else { &[] });
        for server in &self.0.settings.servers {
            self.weigh(&server.place, server.weight);
        }
        let targets = self.0.targets.load();
        for target in known.iter() {
            if !targets.iter().any(|kept| Arc::ptr_eq(kept, target)) {
                target.leave();
            } else if self.0.settings.check.is_none() {
                // No check is left that could mark it healthy again.
                target.checked(true);
            }
        }
        before.0.idle().iter().for_each(|idle| idle.retire());
    }

    /// Whether these are the identical object, not only equal.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether they were made from these settings.
    #[must_use]
    pub fn are_of(&self, settings: &UpstreamSettings) -> bool {
        *self.0.settings == *settings
    }
}

impl UpstreamSettings {
    /// Whether a server's state, and connections made to it, mean the same under these as under `other`.
    fn keeps_servers_of(&self, other: &Self) -> bool {
        let own = self.clone();
        let alike = Self {
            servers: own.servers,
            resolve_every: own.resolve_every,
            host: own.host,
            connect: own.connect,
            response: own.response,
            total: own.total,
            body_idle: own.body_idle,
            tunnel_idle: own.tunnel_idle,
            idle: own.idle,
            retries: own.retries,
            retry_budget: own.retry_budget,
            check: own.check,
            request_buffer: own.request_buffer,
            buffer_memory: own.buffer_memory,
            streaming: own.streaming,
            ..other.clone()
        };
        alike == *self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Place, UpstreamServer, UpstreamTls};
    use ropeline_ids::Secret;

    fn settings(ports: &[u16]) -> UpstreamSettings {
        let server = |port: &u16| UpstreamServer {
            place: Place::Host("127.0.0.1".to_owned(), *port),
            weight: 1,
            tls: false,
        };
        UpstreamSettings::at(ports.iter().map(server).collect())
    }

    #[test]
    fn a_server_that_stays_keeps_its_state_and_takes_its_new_weight() {
        let before = UpstreamServers::start(settings(&[1, 2])).unwrap();
        let targets = before.0.targets.load_full();
        for _ in 0..3 {
            targets[1].failed("it is down", 1_000);
        }
        let mut new = settings(&[2, 3]);
        new.servers[0].weight = 7;
        new.retries = 5;
        let after = UpstreamServers::prepare(new).unwrap();
        assert_eq!(
            (before.standing()[1].weight, after.standing().len()),
            (1, 0),
            "nothing has changed yet"
        );
        after.succeed(&before);
        let standing = after.standing();
        assert_eq!(
            (standing[0].weight, standing[0].failures, standing[0].healthy),
            (7, 3, false)
        );
        assert_eq!((standing[1].weight, standing[1].failures), (1, 0));
        assert!(targets[0].is_gone() && !targets[1].is_gone());
    }

    #[test]
    fn a_server_that_only_a_check_has_put_out_is_back_where_checks_end() {
        let before = UpstreamServers::start(settings(&[1])).unwrap();
        before.0.targets.load()[0].checked(false);
        let after = UpstreamServers::prepare(settings(&[1])).unwrap();
        after.succeed(&before);
        assert!(after.standing()[0].healthy);
    }

    #[test]
    fn who_is_in_force_no_more_has_no_say() {
        let before = UpstreamServers::start(settings(&[1])).unwrap();
        let mut said = 0;
        before.0.in_charge(|| said += 1);
        UpstreamServers::prepare(settings(&[1])).unwrap().succeed(&before);
        before.0.in_charge(|| said += 1);
        assert_eq!(said, 1);
    }

    #[test]
    fn each_succeeds_the_one_of_its_name_and_those_without_a_successor_are_retired() {
        let named = |name: &str, port| UpstreamSettings {
            name: Some(name.into()),
            ..settings(&[port])
        };
        let old = [("a", 1), ("gone", 2), ("stays", 3)];
        let old = old.map(|(name, port)| UpstreamServers::start(named(name, port)).unwrap());
        let targets = |servers: &UpstreamServers| servers.0.targets.load_full();
        let [first, leaving, staying] = [0, 1, 2].map(|at: usize| targets(&old[at]));
        first[0].failed("it is down", 1_000);
        let prepared = |name, port| UpstreamServers::prepare(named(name, port)).unwrap();
        let new = [prepared("new", 2), old[2].clone(), prepared("a", 1)];
        UpstreamServers::replace(&old, &new);
        let port_and_failures = |at: usize| (new[at].standing()[0].server.clone(), new[at].standing()[0].failures);
        assert_eq!(
            port_and_failures(0),
            ("127.0.0.1:2".to_owned(), 0),
            "another name is another upstream"
        );
        assert_eq!(port_and_failures(2), ("127.0.0.1:1".to_owned(), 1));
        assert!(Arc::ptr_eq(&new[2].stats(), &old[0].stats()) && !Arc::ptr_eq(&new[0].stats(), &old[1].stats()));
        assert!(leaving[0].is_gone() && old[1].0.stop.is_cancelled());
        assert!(!first[0].is_gone() && !staying[0].is_gone() && !old[2].0.stop.is_cancelled());
    }

    #[test]
    fn connections_under_another_trust_are_not_kept() {
        let tls = |key: &str| UpstreamTls {
            authorities: None,
            name: None,
            own: Some((b"chain".to_vec(), Secret::new(key))),
        };
        let with = |tls: Option<UpstreamTls>| UpstreamSettings { tls, ..settings(&[1]) };
        assert!(with(Some(tls("a"))).keeps_servers_of(&with(Some(tls("a")))));
        assert!(!with(Some(tls("a"))).keeps_servers_of(&with(Some(tls("b")))));
        assert!(!with(Some(tls("a"))).keeps_servers_of(&with(None)));
    }
}
