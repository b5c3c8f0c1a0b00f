//! The records in the store: read and opened, sealed and written.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::known::{Known, Stored};
use super::plan::{self, LOCKED_MS};
use super::record::{Certificate, Challenge};
use super::seal::{Opened, Sealer};
use crate::store::{Trouble, Unavailable, Vault};
use ropeline_ids::Wall;

/// The small records that every gate reads once a second.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Glance {
    pub revision: Option<Vec<u8>>,
    /// Sealed.
    pub challenges: Vec<u8>,
}

/// The vault with what opens it.
pub struct Records {
    vault: Box<dyn Vault>,
    sealer: Sealer,
}

impl Records {
    pub fn new(vault: Box<dyn Vault>) -> Self {
        Self {
            vault,
            sealer: Sealer::new(&[]),
        }
    }

    pub fn set_sealer(&mut self, sealer: Sealer) {
        self.sealer = sealer;
    }

    /// Whether gates beside this one use them.
    pub fn is_shared(&self) -> bool {
        self.vault.is_shared()
    }

    pub fn vault(&mut self) -> &mut dyn Vault {
        &mut *self.vault
    }

    pub fn glance(&mut self) -> Result<Glance, Unavailable> {
        let mut read = self.vault.read(&[REVISION, CHALLENGES].map(str::to_owned))?.into_iter();
        Ok(Glance {
            revision: read.next().flatten(),
            challenges: read.next().flatten().unwrap_or_default(),
        })
    }

    /// The challenges that the glance has, without those that are too old.
    pub fn challenges(&self, glance: &Glance, now: Wall) -> Vec<Challenge> {
        if glance.challenges.is_empty() {
            return Vec::new();
        }
        let mut all: Vec<Challenge> = self.open(CHALLENGES, &glance.challenges).unwrap_or_default();
        all.retain(|challenge| now < challenge.until);
        all
    }

    /// Everything, for these hosts. Records of other keys from before `replace_before` lock nothing.
    pub fn read(&mut self, hosts: &[String], replace_before: Option<Wall>, now: Wall) -> Result<Stored, Unavailable> {
        let names = [REVISION, STATE].map(str::to_owned).into_iter();
        let names: Vec<String> = names.chain(hosts.iter().map(|host| of_host(host))).collect();
        let mut read = self.vault.read(&names)?.into_iter();
        let mut stored = Stored {
            revision: read.next().flatten(),
            ..Stored::default()
        };
        let is_shared = self.is_shared();
        let locks = |written| locked_until(written, replace_before, now).filter(|_| is_shared);
        if let Some(sealed) = read.next().flatten() {
            match self.opened(STATE, &sealed) {
                Ok((state, opened)) => {
                    stored.state = state;
                    stored.written = Some(opened.written);
                    stored.is_of_old_key = !opened.is_first;
                }
                Err(written) => stored.locked = written.and_then(locks),
            }
        }
        for (host, sealed) in hosts.iter().zip(read) {
            let Some(sealed) = sealed else { continue };
            match self.opened::<Certificate>(&of_host(host), &sealed) {
                Ok((certificate, opened)) => {
                    stored.is_of_old_key |= !opened.is_first;
                    stored.certificates.extend(certificate.map(|one| (host.clone(), one)));
                }
                Err(written) => stored.locked = stored.locked.max(written.and_then(locks)),
            }
        }
        Ok(stored)
    }

    /// Writes the state as it is known, and the certificates of these hosts; no challenge is left, and no certificate that has expired
    /// and is no longer looked after. False without the lease.
    pub fn write(&mut self, known: &mut Known, hosts: &[String], now: Wall) -> Result<bool, Unavailable> {
        let mut records = Vec::new();
        for host in hosts {
            let Some(certificate) = known.certificates.get(host) else {
                continue;
            };
            known.state.expiries.insert(host.clone(), certificate.dates().expires.0);
            records.push(self.sealed(&of_host(host), certificate, now)?);
        }
        let (state, held) = (&mut known.state, &known.certificates);
        state.expiries.retain(|host, expires| {
            let is_kept = held.contains_key(host) || now < Wall(*expires);
            if !is_kept {
                records.push((of_host(host), Vec::new()));
            }
            is_kept
        });
        // A host that is tried again has a later pause by then.
        state
            .attempts
            .hosts
            .retain(|_, pause| now < pause.until.plus(FORGOTTEN_MS));
        records.push(self.sealed(STATE, state, now)?);
        records.push((CHALLENGES.to_owned(), Vec::new()));
        // Random: an emptied store must not come to a revision that another gate has seen.
        let revision = fastrand::u64(..).to_be_bytes().to_vec();
        records.push((REVISION.to_owned(), revision.clone()));
        let is_written = self.vault.write(&records)?;
        if is_written {
            known.revision = Some(revision);
            known.written = Some(now);
        }
        Ok(is_written)
    }

    /// Writes the challenges of an order under way.
    pub fn write_challenges(&mut self, challenges: &[Challenge], now: Wall) -> Result<bool, Unavailable> {
        let record = self.sealed(CHALLENGES, &challenges, now)?;
        self.vault.write(&[record])
    }

    fn sealed<T: Serialize>(&self, name: &str, record: &T, now: Wall) -> Result<(String, Vec<u8>), Unavailable> {
        let odd = |error: &dyn ToString| {
            Unavailable::new(Trouble::Odd, format!("{name} cannot be sealed: {}", error.to_string()))
        };
        let bytes = serde_json::to_vec(record).map_err(|error| odd(&error))?;
        let sealed = self.sealer.seal(name, &bytes, now).map_err(|error| odd(&error))?;
        Ok((name.to_owned(), sealed))
    }

    fn open<T: DeserializeOwned>(&self, name: &str, sealed: &[u8]) -> Option<T> {
        let opened = self.sealer.open(name, sealed).ok()?;
        serde_json::from_slice(&opened.bytes).ok()
    }

    /// The record, `None` where it is of another build; or when it was written, for one that none of the keys opens.
    fn opened<T: DeserializeOwned>(&self, name: &str, sealed: &[u8]) -> Result<(Option<T>, Opened), Option<Wall>> {
        match self.sealer.open(name, sealed) {
            Ok(opened) => Ok((serde_json::from_slice(&opened.bytes).ok(), opened)),
            Err(error) => {
                tracing::warn!(
                    record = name,
                    %error,
                    "a record of certificates in the store cannot be opened; right: every gate has the same [tokens] keys, and \
                     an old key stays for a week behind the new one"
                );
                Err(error.written())
            }
        }
    }
}

/// Until when a record of other keys is another gate's, by when it was written.
fn locked_until(written: Wall, replace_before: Option<Wall>, now: Wall) -> Option<Wall> {
    let until = written.plus(LOCKED_MS);
    // SECURITY: the time can be forged. No gate's clock is so far ahead.
    let is_true = written <= now.plus(LOCKED_MS);
    (is_true && now < until && !plan::is_replaced(replace_before, written, now)).then_some(until)
}

fn of_host(host: &str) -> String {
    format!("certificate:{host}")
}

const REVISION: &str = "revision";
const CHALLENGES: &str = "challenges";
const STATE: &str = "state";

/// How long after its end a pause is forgotten: its host is no longer looked after.
const FORGOTTEN_MS: u64 = 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acme::plan::{REFRESH_MS, dates};
    use crate::acme::record::State;
    use crate::store::FolderVault;
    use crate::token::{Key, KeyId};
    use ropeline_ids::Secret;

    const HOUR: u64 = 3_600_000;

    fn records(data: &std::path::Path) -> Records {
        let mut records = Records::new(Box::new(FolderVault::new(data)));
        records.set_sealer(Sealer::new(&[Key {
            id: KeyId::new("one").unwrap(),
            secret: Secret::new(vec![1; 32]),
        }]));
        records
    }

    /// With certificates for hosts, each good from 1 on for so long.
    fn known(hosts: &[(&str, u64)]) -> Known {
        let held = hosts.iter().map(|(host, life)| {
            let dates = dates(Wall(1), Wall(1 + life), 0);
            let pem = ("chain".to_owned(), "key".to_owned());
            ((*host).to_owned(), Certificate::new(pem, "a", dates, Wall(1)))
        });
        Known {
            state: State {
                version: 1,
                ..State::default()
            },
            certificates: held.collect(),
            ..Known::default()
        }
    }

    #[test]
    fn records_of_other_keys_lock_for_an_hour_unless_they_are_to_be_made_anew() {
        let written = Wall(10 * HOUR);
        let (until, later) = (written.plus(HOUR), written.plus(1));
        for (before, now, found) in [
            (None, written, Some(until)),
            (None, Wall(until.0 - 1), Some(until)),
            (None, until, None),
            (Some(written), later, Some(until)),
            (Some(later), later, None),
            // The operator's time has not come.
            (Some(later), written, Some(until)),
            // A time that no gate's clock can have.
            (None, Wall(written.0 - HOUR - 1), None),
        ] {
            assert_eq!(locked_until(written, before, now), found, "{before:?} {now:?}");
        }
        const { assert!(REFRESH_MS < LOCKED_MS / 2) };
    }

    #[test]
    fn a_certificate_that_nobody_looks_after_is_deleted_when_it_has_expired() {
        let (data, hosts) = (tempfile::tempdir().unwrap(), ["a", "b"].map(str::to_owned));
        let mut records = records(data.path());
        assert!(records.vault().lease().unwrap());
        let mut known = known(&[("a", HOUR), ("b", HOUR)]);
        assert!(records.write(&mut known, &hosts, Wall(2)).unwrap());
        known.certificates.remove("b");
        for (now, left) in [(HOUR, 2), (HOUR + 1, 1)] {
            assert!(records.write(&mut known, &[], Wall(now)).unwrap());
            let stored = records.read(&hosts, None, Wall(now)).unwrap();
            assert_eq!(stored.certificates.len(), left, "{now}");
            assert_eq!(known.state.expiries.len(), left);
        }
    }
}
