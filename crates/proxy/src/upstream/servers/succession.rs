//! Other settings for the upstream's servers while the gate runs: servers that stay keep their state, the others are let go.

use std::sync::Arc;

use super::{UpstreamError, UpstreamServers};
use crate::lock::held;
use crate::settings::UpstreamSettings;
use crate::upstream::uploads::Uploads;

impl UpstreamServers {
    /// Others, that may [succeed](Self::succeed) those in force. Until then they have no servers, and nothing is looked up or
    /// checked for them: a configuration that is refused after all has changed nothing.
    pub fn prepare(settings: UpstreamSettings) -> Result<Self, UpstreamError> {
        Self::make(settings)
    }

    /// Replaces `before`. Servers that both have keep their state, with weights as configured. Removed servers keep no
    /// connections and are not checked any more; requests under way there go on.
    pub fn succeed(&self, before: &Self) {
        {
            let _held = held(&before.0.charge);
            before.0.stop.cancel();
        }
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
