//! Records of certificates in a hash beside the log. The lease is a key that expires by the store's clock.
//!
//! They have a connection of their own, since the replica's belongs to its thread.

use ::redis::cmd;

use super::wire::{Looks, Wire};
use super::{OpenError, Options, RedisUrl, parse, refused, wire};
use crate::store::{LEASE, Unavailable, Vault};

/// The records in a shared store.
pub struct RedisVault {
    wire: Wire,
    /// This gate, for as long as the process lives.
    own: String,
}

impl RedisVault {
    /// Connects when it is first used; the log's connection inspects the store.
    pub fn new(url: &RedisUrl, options: Options) -> Result<Self, OpenError> {
        let own =
            getrandom::u64().map_err(|error| refused(url, format!("the system gives no randomness ({error})")))?;
        Ok(Self {
            wire: wire(url, options, Looks::Never)?,
            own: format!("{own:016x}"),
        })
    }
}

impl Vault for RedisVault {
    fn read(&mut self, names: &[String]) -> Result<Vec<Option<Vec<u8>>>, Unavailable> {
        let replies = self
            .wire
            .call(|_, keys, _| vec![cmd("HMGET").arg(&keys.vault).arg(names).to_owned()])?;
        parse(replies.into_iter().next())
    }

    fn lease(&mut self) -> Result<bool, Unavailable> {
        let (own, length) = (&self.own, u64::try_from(LEASE.as_millis()).unwrap_or(u64::MAX));
        let replies = self.wire.call(|scripts, keys, by| {
            let mut script = scripts.lease.on(by, &[&keys.lease]);
            vec![script.arg(own).arg(length).to_owned()]
        })?;
        parse(replies.into_iter().next())
    }

    fn write(&mut self, records: &[(String, Vec<u8>)]) -> Result<bool, Unavailable> {
        let own = &self.own;
        let replies = self.wire.call(|scripts, keys, by| {
            let mut script = scripts.put.on(by, &[&keys.lease, &keys.vault]);
            script.arg(own);
            for (name, bytes) in records {
                script.arg(name).arg(&bytes[..]);
            }
            vec![script]
        })?;
        parse(replies.into_iter().next())
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn release(&mut self) -> Result<(), Unavailable> {
        let own = &self.own;
        self.wire.call(|scripts, keys, by| {
            let mut script = scripts.release.on(by, &[&keys.lease]);
            vec![script.arg(own).to_owned()]
        })?;
        Ok(())
    }
}
