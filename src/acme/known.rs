//! A gate's memory of the records, and how it takes what the store has.
//!
//! The store may be emptied, or go back to an earlier state in a failover. So a gate keeps what it knows: what the store lacks,
//! or has in an older form, is written back and not ordered anew.

use std::collections::BTreeMap;

use super::plan::Standing;
use super::record::{Account, Attempts, Certificate};
use crate::config::Acme;
use ropeline_ids::Wall;

/// Everything that a gate knows.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Of the store, as last read; `None`: the store had nothing.
    pub revision: Option<Vec<u8>>,
    pub account: Option<Account>,
    pub attempts: Attempts,
    pub certificates: BTreeMap<String, Certificate>,
    /// Certificates in the store that none of the keys opens, and when each may be replaced.
    pub locked: BTreeMap<String, Wall>,
    /// The store lacks some of this, or has it in an older form or under an older key.
    pub is_ahead: bool,
}

/// The records that the store has.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    pub revision: Option<Vec<u8>>,
    pub account: Option<Account>,
    pub attempts: Option<Attempts>,
    pub certificates: BTreeMap<String, Certificate>,
    pub locked: BTreeMap<String, Wall>,
    /// A record was sealed with another key than the first.
    pub is_of_old_key: bool,
}

impl Known {
    /// Takes what the store has, except certificates that are older than the known ones.
    pub fn take(&mut self, stored: Stored) {
        let lacks_account = stored.account.is_none() && self.account.is_some();
        let lacks_attempts = stored.attempts.is_none() && self.attempts != Attempts::default();
        self.is_ahead = stored.is_of_old_key || lacks_account || lacks_attempts;
        self.revision = stored.revision;
        self.account = stored.account.or(self.account.take());
        if let Some(attempts) = stored.attempts {
            self.attempts = attempts;
        }
        self.locked = stored.locked;
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

    /// The hosts as the plan sees them, where this authority is asked. A certificate of another one is to be replaced, but not at
    /// once: gates that have read the change of the configuration and gates that have not must not take turns.
    pub fn standings<'k>(&'k self, acme: &Acme) -> Vec<Standing<'k>> {
        let standing = |host: &String| {
            let held = self.certificates.get(host);
            let (own, other): (Option<&Certificate>, _) = match held {
                Some(held) if held.directory == acme.directory => (Some(held), None),
                other => (None, other),
            };
            let locked = || self.locked.get(host).copied();
            Standing {
                dates: own.map(Certificate::dates),
                pause: self.attempts.hosts.get(host),
                not_before: match (own, other) {
                    (Some(_), _) => None,
                    (None, Some(other)) => Some(other.issued.plus(OTHER_MS)),
                    (None, None) => locked(),
                },
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
    use crate::config::ChallengeKind;

    fn certificate(begins: u64) -> Certificate {
        let dates = dates(Wall(begins), Wall(begins + 90), 0);
        let pem = (format!("chain of {begins}"), "key".to_owned());
        Certificate::new(pem, "a", dates, Wall(begins))
    }

    fn account(directory: &str) -> Account {
        Account {
            directory: directory.to_owned(),
            contact: Vec::new(),
            credentials: serde_json::Value::Null,
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
        }
    }

    fn with(certificates: &[(&str, u64)]) -> Stored {
        let all = certificates
            .iter()
            .map(|(host, begins)| ((*host).to_owned(), certificate(*begins)));
        Stored {
            revision: Some(b"1".to_vec()),
            account: Some(account("a")),
            attempts: Some(Attempts::default()),
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
        let pause = Pause {
            failures: 1,
            until: Wall(9),
            said: String::new(),
        };
        let mut stored = with(&[("a", 2)]);
        stored.attempts = Some(Attempts {
            authority: Some(pause),
            ..Attempts::default()
        });
        known.take(stored.clone());
        let before = known.clone();
        known.take(Stored::default());
        assert!(known.is_ahead && known.revision.is_none());
        assert_eq!((&known.account, &known.attempts), (&before.account, &before.attempts));
        assert_eq!(known.certificates, before.certificates);
        // One thing alone is noticed too.
        for part in 0..3 {
            let mut less = stored.clone();
            match part {
                0 => less.account = None,
                1 => less.attempts = None,
                _ => less.certificates = with(&[("a", 1)]).certificates,
            }
            known.take(less);
            assert!(known.is_ahead, "{part}");
            assert_eq!(known.certificates["a"], certificate(2));
        }
        known.take(stored.clone());
        assert!(!known.is_ahead);
        stored.is_of_old_key = true;
        known.take(stored);
        assert!(known.is_ahead);
    }

    #[test]
    fn a_certificate_that_no_key_opens_holds_orders_back_only_where_there_is_no_other() {
        let mut known = Known::default();
        let mut stored = with(&[]);
        stored.locked.insert("a".to_owned(), Wall(50));
        known.take(stored.clone());
        let acme = acme(&["a", "b"], "a");
        let standings = known.standings(&acme);
        assert_eq!(
            [standings[0].not_before, standings[1].not_before],
            [Some(Wall(50)), None]
        );
        known.certificates.insert("a".to_owned(), certificate(1));
        known.take(stored);
        assert_eq!(known.standings(&acme)[0].not_before, None);
    }

    #[test]
    fn a_certificate_of_another_authority_is_replaced_after_a_while() {
        let mut known = Known::default();
        known.take(with(&[("a", 7)]));
        let own = known.standings(&acme(&["a"], "a"))[0];
        assert_eq!((own.dates, own.not_before), (Some(certificate(7).dates()), None));
        let other = known.standings(&acme(&["a"], "b"))[0];
        assert_eq!((other.dates, other.not_before), (None, Some(Wall(7 + OTHER_MS))));
    }
}
