//! A gate's memory of the records, and how it takes what the store has.
//!
//! The store may be emptied, or go back to an earlier state in a failover. So a gate keeps what it knows: what the store lacks,
//! or has in an older form, is written back and not ordered anew.

use std::collections::BTreeMap;

use super::plan::{self, REFRESH_MS, Standing};
use super::record::{Attempts, Certificate, State};
use crate::config::Acme;
use ropeline_ids::Wall;

/// Everything that a gate knows.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Of the store, as last read; `None`: the store had nothing.
    pub revision: Option<Vec<u8>>,
    pub state: State,
    pub certificates: BTreeMap<String, Certificate>,
    /// The store has records that none of the keys opens, and another gate may need them until then.
    pub locked: Option<Wall>,
    /// When the store's state was last written.
    pub written: Option<Wall>,
    /// The store lacks some of this, or has it in an older form or under an older key.
    pub is_ahead: bool,
}

/// The records that the store has.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    pub revision: Option<Vec<u8>>,
    pub state: Option<State>,
    pub certificates: BTreeMap<String, Certificate>,
    pub locked: Option<Wall>,
    pub written: Option<Wall>,
    /// A record was sealed with another key than the first.
    pub is_of_old_key: bool,
}

impl Known {
    /// Takes what the store has, except a state and certificates that are older than the known ones.
    pub fn take(&mut self, stored: Stored) {
        let version = stored.state.as_ref().map_or(0, |state| state.version);
        let is_older = version < self.state.version;
        self.is_ahead = stored.is_of_old_key || is_older;
        if let (Some(state), false) = (stored.state, is_older) {
            self.state = state;
        }
        (self.revision, self.locked, self.written) = (stored.revision, stored.locked, stored.written);
        for (host, own) in &self.certificates {
            let in_store = stored.certificates.get(host);
            self.is_ahead |= in_store.is_none_or(|stored| own.is_newer(stored));
        }
        for (host, new) in stored.certificates {
            if !self.certificates.get(&host).is_some_and(|own| own.is_newer(&new)) {
                self.certificates.insert(host, new);
            }
        }
    }

    /// Whether the store's records are to be written: they lack something, or have a certificate that has expired and that nobody looks
    /// after; or those of a shared store are so old that gates with other keys may take it over.
    pub fn is_to_write(&self, is_shared: bool, now: Wall) -> bool {
        let is_old = |written: Wall| is_shared && written.plus(REFRESH_MS) <= now;
        let is_over = |(host, expires): (&String, &u64)| !self.certificates.contains_key(host) && Wall(*expires) <= now;
        self.is_ahead || self.written.is_some_and(is_old) || self.state.expiries.iter().any(is_over)
    }

    /// Drops the pauses, if they are of other settings than these.
    pub fn drop_pauses_of_others(&mut self, settings: &str) {
        if self.state.version > 0 && self.state.settings != settings {
            self.state.attempts = Attempts::default();
            settings.clone_into(&mut self.state.settings);
            self.state.version = self.state.version.saturating_add(1);
            self.is_ahead = true;
        }
    }

    /// The hosts as the plan sees them, where this authority is asked. A certificate of another one is to be replaced, but not at
    /// once: gates that have read the change of the configuration and gates that have not must not take turns.
    pub fn standings<'k>(&'k self, acme: &Acme, now: Wall) -> Vec<Standing<'k>> {
        let standing = |host: &String| {
            let held = self.certificates.get(host);
            let held = held.filter(|held| !plan::is_replaced(acme.replace_before, held.issued, now));
            let (own, other): (Option<&Certificate>, _) = match held {
                Some(held) if held.directory == acme.directory => (Some(held), None),
                other => (None, other),
            };
            Standing {
                dates: own.map(Certificate::dates),
                pause: self.state.attempts.hosts.get(host),
                not_before: other.map(|other| other.issued.plus(OTHER_MS)),
            }
        };
        acme.hosts.iter().map(standing).collect()
    }
}

/// How long a certificate of another authority is kept at least, in milliseconds.
const OTHER_MS: u64 = 600_000;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::acme::plan::{Pause, dates};
    use crate::acme::record::Account;
    use crate::config::ChallengeKind;

    fn certificate(begins: u64) -> Certificate {
        let dates = dates(Wall(begins), Wall(begins + 90), 0);
        let pem = (format!("chain of {begins}"), "key".to_owned());
        Certificate::new(pem, "a", dates, Wall(begins))
    }

    fn state(version: u64) -> State {
        State {
            version,
            ..State::default()
        }
    }

    fn acme(hosts: &[&str], directory: &str) -> Acme {
        Acme {
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            directory: directory.to_owned(),
            contact: Vec::new(),
            ca_file: None,
            external_account: None,
            challenge: ChallengeKind::Http01,
            retry: Duration::from_secs(60),
            replace_before: None,
        }
    }

    fn with(certificates: &[(&str, u64)]) -> Stored {
        let all = certificates
            .iter()
            .map(|(host, begins)| ((*host).to_owned(), certificate(*begins)));
        Stored {
            revision: Some(b"1".to_vec()),
            state: Some(state(1)),
            certificates: all.collect(),
            ..Stored::default()
        }
    }

    #[test]
    fn what_the_store_has_is_taken() {
        let mut known = Known::default();
        known.take(with(&[("a", 1)]));
        assert!(!known.is_ahead);
        known.take(with(&[("a", 2), ("b", 1)]));
        assert_eq!(
            (known.certificates["a"].clone(), known.certificates.len()),
            (certificate(2), 2)
        );
        assert!(!known.is_ahead);
    }

    #[test]
    fn a_store_that_was_emptied_or_went_back_lacks_what_is_known() {
        let mut known = Known::default();
        let mut stored = with(&[("a", 2)]);
        stored.state = Some(state(5));
        known.take(stored.clone());
        let before = known.clone();
        known.take(Stored::default());
        assert!(known.is_ahead && known.revision.is_none());
        assert_eq!(
            (&known.state, &known.certificates),
            (&before.state, &before.certificates)
        );
        // One thing alone is noticed too.
        for part in 0..3 {
            let mut less = stored.clone();
            match part {
                0 => less.state = None,
                1 => less.state = Some(state(4)),
                _ => less.certificates = with(&[("a", 1)]).certificates,
            }
            known.take(less);
            assert!(known.is_ahead, "{part}");
            assert_eq!((&known.certificates["a"], &known.state), (&certificate(2), &state(5)));
        }
        known.take(stored.clone());
        assert!(!known.is_ahead);
        stored.is_of_old_key = true;
        known.take(stored);
        assert!(known.is_ahead);
    }

    #[test]
    fn an_account_that_was_thrown_away_stays_so_for_gates_that_remember_it() {
        let account = Account {
            directory: "a".to_owned(),
            contact: Vec::new(),
            made: Wall(1),
            credentials: serde_json::Value::Null,
        };
        let [mut stored, mut known] = [with(&[]), with(&[])];
        for one in [&mut stored, &mut known] {
            one.state = Some(State {
                account: Some(account.clone()),
                ..state(1)
            });
        }
        let mut gate = Known::default();
        gate.take(known);
        stored.state = Some(state(2));
        gate.take(stored);
        assert_eq!((&gate.state.account, gate.is_ahead), (&None, false));
    }

    #[test]
    fn pauses_of_other_settings_are_dropped_and_that_is_to_be_written() {
        let pause = Pause {
            failures: 1,
            until: Wall(9),
            said: String::new(),
        };
        let mut stored = with(&[]);
        stored.state = Some(State {
            settings: "one".to_owned(),
            attempts: Attempts {
                authority: Some(pause),
                ..Attempts::default()
            },
            ..state(3)
        });
        let mut known = Known::default();
        known.take(stored.clone());
        known.drop_pauses_of_others("one");
        assert!(known.state.attempts.authority.is_some() && !known.is_ahead);
        known.drop_pauses_of_others("other");
        assert!(known.state.attempts.authority.is_none() && known.is_ahead);
        // The store has them still when it is read before it is written.
        known.take(stored);
        assert!(known.state.attempts.authority.is_none() && known.is_ahead);
        let mut newcomer = Known::default();
        newcomer.drop_pauses_of_others("other");
        assert!(!newcomer.is_ahead, "there is nothing to drop");
    }

    #[test]
    fn records_are_written_again_where_gates_share_them_or_a_certificate_is_to_be_deleted() {
        let mut known = Known::default();
        let mut stored = with(&[("a", 1)]);
        stored.written = Some(Wall(10));
        known.take(stored);
        let old = Wall(10 + REFRESH_MS);
        for (is_shared, now, is_to_write) in [
            (true, Wall(old.0 - 1), false),
            (true, old, true),
            (false, old, false),
            (false, Wall(u64::MAX), false),
        ] {
            assert_eq!(known.is_to_write(is_shared, now), is_to_write, "{is_shared} {now:?}");
        }
        known.state.expiries = [("a".to_owned(), 91), ("b".to_owned(), 50)].into();
        for (now, is_to_write) in [(49, false), (50, true)] {
            assert_eq!(known.is_to_write(false, Wall(now)), is_to_write, "{now}");
        }
        known.state.expiries.remove("b");
        assert!(!known.is_to_write(false, Wall(u64::MAX)), "it is looked after");
        known.is_ahead = true;
        assert!(known.is_to_write(false, Wall(0)));
    }

    #[test]
    fn a_certificate_of_another_authority_is_replaced_after_a_while() {
        let mut known = Known::default();
        known.take(with(&[("a", 7)]));
        let own = known.standings(&acme(&["a"], "a"), Wall(9))[0];
        assert_eq!((own.dates, own.not_before), (Some(certificate(7).dates()), None));
        let other = known.standings(&acme(&["a"], "b"), Wall(9))[0];
        assert_eq!((other.dates, other.not_before), (None, Some(Wall(7 + OTHER_MS))));
        // One that is no longer to be trusted is replaced at once.
        for (before, is_replaced) in [(7, false), (8, true), (9, true), (10, false)] {
            let mut acme = acme(&["a"], "a");
            acme.replace_before = Some(Wall(before));
            let found = known.standings(&acme, Wall(9))[0];
            assert_eq!(
                (found.dates.is_none(), found.not_before),
                (is_replaced, None),
                "{before}"
            );
        }
    }
}
