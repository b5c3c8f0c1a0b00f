//! The records in the store: read and opened, sealed and written.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::known::{Known, Stored};
use super::record::{Certificate, Challenge};
use super::seal::{OpenError, Sealer};
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

    /// Everything, for these hosts.
    pub fn read(&mut self, hosts: &[String]) -> Result<Stored, Unavailable> {
        let names = [REVISION, ACCOUNT, ATTEMPTS].map(str::to_owned);
        let names: Vec<String> = names
            .into_iter()
            .chain(hosts.iter().map(|host| of_host(host)))
            .collect();
        let mut read = self.vault.read(&names)?.into_iter();
        let mut stored = Stored {
            revision: read.next().flatten(),
            ..Stored::default()
        };
        let mut of_old_key = false;
        let account = read.next().flatten().filter(|bytes| !bytes.is_empty());
        stored.account = account.and_then(|bytes| self.open_or_tell(ACCOUNT, &bytes, &mut of_old_key).ok());
        let attempts = read.next().flatten();
        stored.attempts = attempts.and_then(|bytes| self.open_or_tell(ATTEMPTS, &bytes, &mut of_old_key).ok());
        for (host, bytes) in hosts.iter().zip(read) {
            let Some(bytes) = bytes else { continue };
            match self.open_or_tell::<Certificate>(&of_host(host), &bytes, &mut of_old_key) {
                Ok(certificate) => _ = stored.certificates.insert(host.clone(), certificate),
                Err(Some(written)) => _ = stored.locked.insert(host.clone(), written.plus(LOCKED_MS)),
                Err(None) => {}
            }
        }
        stored.is_of_old_key = of_old_key;
        Ok(stored)
    }

    /// Writes account and pauses as they are known, and the certificates of these hosts; no challenge is left. False without the
    /// lease.
    pub fn write(&mut self, known: &mut Known, hosts: &[String], now: Wall) -> Result<bool, Unavailable> {
        let held = hosts
            .iter()
            .filter_map(|host| Some((host, known.certificates.get(host)?)));
        let held = held.map(|(host, certificate)| self.sealed(&of_host(host), certificate, now));
        let mut records = held.collect::<Result<Vec<_>, _>>()?;
        records.push(match &known.account {
            Some(account) => self.sealed(ACCOUNT, account, now)?,
            None => (ACCOUNT.to_owned(), Vec::new()),
        });
        records.push(self.sealed(ATTEMPTS, &known.attempts, now)?);
        records.push((CHALLENGES.to_owned(), Vec::new()));
        // Random: an emptied store must not come to a revision that another gate has seen.
        let revision = fastrand::u64(..).to_be_bytes().to_vec();
        records.push((REVISION.to_owned(), revision.clone()));
        let is_written = self.vault.write(&records)?;
        if is_written {
            known.revision = Some(revision);
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

    /// When it was written, for a record that none of the keys opens.
    fn open_or_tell<T: DeserializeOwned>(
        &self,
        name: &str,
        sealed: &[u8],
        of_old_key: &mut bool,
    ) -> Result<T, Option<Wall>> {
        match self.sealer.open(name, sealed) {
            Ok(opened) => {
                *of_old_key |= !opened.is_first;
                serde_json::from_slice(&opened.bytes).map_err(|_| None)
            }
            Err(error) => {
                let written = match &error {
                    OpenError::UnknownKey { written, .. } => Some(*written),
                    OpenError::Altered => None,
                };
                tracing::warn!(
                    record = name,
                    %error,
                    "a record of certificates in the store cannot be opened; right: every gate has the same [tokens] keys, and \
                     an old key stays for a week behind the new one"
                );
                Err(written)
            }
        }
    }
}

fn of_host(host: &str) -> String {
    format!("certificate:{host}")
}

const REVISION: &str = "revision";
const CHALLENGES: &str = "challenges";
const ACCOUNT: &str = "account";
const ATTEMPTS: &str = "attempts";

/// How long a certificate that none of the keys opens is taken for another gate's that is in order.
const LOCKED_MS: u64 = 3_600_000;
