//! Reading a shared log without taking part in it: for an operator, and also when its history has ended.

use ::redis::{Cmd, cmd};

use super::entries::{self, id};
use super::keys::Keys;
use super::{RedisLog, parse};
use crate::store::{Exchanged, READ_MAX_ENTRIES, Unavailable};
use ropeline_ids::Position;

impl RedisLog {
    /// Reads the entries after `at`, also from a server that has restarted since: unlike an exchange it asks for no unbroken history.
    ///
    /// `Broken` is a log of another epoch (0 for none), or one that does not reach as far as `at`; `Moved` that the next
    /// entry is gone.
    pub fn read(&mut self, at: Position) -> Result<Exchanged, Unavailable> {
        let after = Position {
            sequence: at.sequence.saturating_add(1),
            ..at
        };
        let count = self.count.min(READ_MAX_ENTRIES);
        let replies = self.wire.call(|_, keys, _| {
            let mut read = cmd("XRANGE");
            read.arg(&keys.log).arg(id(after)).arg(at.epoch);
            vec![head(keys), read.arg("COUNT").arg(count).to_owned()]
        })?;
        let mut replies = replies.into_iter();
        let [epoch, tail, bytes, dropped] = figures(parse(replies.next())?);
        if epoch != at.epoch || tail < at.sequence {
            return Ok(Exchanged::Broken { epoch });
        }
        let raw = entries::raw(replies.next().unwrap_or(::redis::Value::Nil))?;
        self.pace(&raw);
        let read = entries::read(at, tail, bytes.saturating_sub(dropped), raw)?;
        Ok(read.unwrap_or(Exchanged::Moved))
    }

    /// Where the kept entries begin: the position before the first of them; `None` when there is no log.
    pub fn origin(&mut self) -> Result<Option<Position>, Unavailable> {
        let replies = self.wire.call(|_, keys, _| {
            let mut first = cmd("XRANGE");
            first.arg(&keys.log).arg("-").arg("+").arg("COUNT").arg(1);
            vec![head(keys), first]
        })?;
        let mut replies = replies.into_iter();
        let [epoch, tail, ..] = figures(parse(replies.next())?);
        let raw = entries::raw(replies.next().unwrap_or(::redis::Value::Nil))?;
        let first = raw.first().and_then(|entry| entries::position(&entry.0));
        let first = first.filter(|first| first.epoch == epoch);
        let sequence = first.map_or(tail, |first| first.sequence.saturating_sub(1));
        Ok((epoch != 0).then_some(Position { epoch, sequence }))
    }
}

fn head(keys: &Keys) -> Cmd {
    let fields = ["epoch", "sequence", "bytes", "dropped"];
    cmd("HMGET").arg(&keys.head).arg(&fields).to_owned()
}

/// Epoch, last sequence, bytes and bytes dropped; zeros where there is no log.
fn figures(head: [Option<u64>; 4]) -> [u64; 4] {
    head.map(Option::unwrap_or_default)
}
