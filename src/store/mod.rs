//! The store: the ordered log of entries, embedded or in Redis. It knows no rule of a room.
//!
//! A log is an ordered record of entries within one epoch, which `epoch` names. The replica appends its gate's observations,
//! reads new entries, and applies them. A log may refuse, answer late, or repeat; it never reorders and never invents.
//! [`Embedded`] is a folder with a redb file for a single gate; [`redis`] is shared by many gates. Both pass the same suite
//! (`tests/store`).

mod embedded;
pub mod redis;
mod rootless;
pub mod sealed;
mod snapshot;
mod trouble;
mod vault;

pub use embedded::{Damage, Embedded, FolderVault, Kept, KeptPart, OpenError, Options, ReadError};
pub use rootless::Rootless;
pub use snapshot::{Snapshot, Unreadable};
pub use trouble::{Trouble, Unavailable};
pub use vault::{LEASE, Vault};

use crate::room::{Batch, Encoded, GateId, Position, StateHash, Wall};

/// The log of all rooms of one store. Calls block; the replica makes them from a thread of its own.
///
/// Every call may fail with [`Unavailable`], which leaves open whether it was carried out: the caller repeats it unchanged
/// until it has an answer.
pub trait Log: Send {
    /// True when no other gate can have this log while this one has it open: then no gate can have read further, and a new
    /// log has its root at once.
    fn alone(&self) -> bool;

    /// Appends `append`, if any, and reads the entries after `at`: one round trip.
    ///
    /// The append is durable when the call returns, and is refused unless the log is of `at`'s epoch and reaches as far
    /// as `at`. It is not compared with earlier entries: a batch sent twice stands there twice under one serial, and the
    /// room skips the second. At most [`READ_MAX_ENTRIES`] entries come back; none means there are no more.
    fn exchange(&mut self, at: Position, append: Option<&Append>) -> Result<Exchanged, Unavailable>;

    /// Keeps a snapshot to load from, unless a later one of the same epoch is kept already. `Last` means that nothing will
    /// follow, and returns when that is durable; a `Checkpoint` may be written after the call, or be lost.
    fn save(&mut self, snapshot: Snapshot, occasion: Occasion) -> Result<(), Unavailable>;

    /// The data from which to start.
    fn load(&mut self) -> Result<Loaded, Unavailable>;

    /// A snapshot saved with [`Occasion::Root`], by its hash; `None` when it is not there.
    fn root(&mut self, hash: &StateHash) -> Result<Option<Snapshot>, Unavailable>;

    /// Begins a new log, all or nothing, if the log's epoch is still `seen` (0 for none).
    fn begin(&mut self, seen: u64, beginning: &Beginning) -> Result<Begun, Unavailable>;

    /// Notes that the entry at `position` is to be passed over, by every gate and for good.
    fn skip(&mut self, position: Position) -> Result<(), Unavailable>;

    /// The noted entries of this log. Cheap, for it is asked every few seconds as long as a gate is frozen: no
    /// snapshot and no entry is read.
    fn skips(&mut self) -> Result<Skips, Unavailable>;

    /// Connections made to the store since the log was opened: the first, and one more for each that was lost.
    fn connections(&self) -> u64 {
        0
    }
}

/// A gate's batch for the log; the log adds position, time and the nonce of the entry before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Append {
    pub gate: GateId,
    pub serial: u64,
    pub nonce: [u8; 8],
    pub version: u16,
    pub batch: Batch,
}

/// The state with which a new log begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Beginning {
    /// For a gate that has the log to itself: the log is of the root's epoch, and starts from it.
    Root(Snapshot),
    /// For gates that share it: no root yet, and this gate's [`Spoke`](crate::room::Spoke) as the first entry.
    First { epoch: u64, append: Box<Append> },
}

/// The log's answer to an exchange.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Exchanged {
    Entries {
        /// The entries after the requested position, without a gap.
        entries: Vec<Encoded>,
        /// Bytes that the log holds.
        log_bytes: u64,
        /// The log had more than these when it was read.
        more: bool,
        /// The entry that follows these is of this machine version, which this binary cannot read.
        newer: Option<u16>,
    },
    /// The entries after the position are gone: load the snapshot.
    Moved,
    /// This history ends here: the log is of another epoch, shorter than the part already read, or lost (0).
    Broken { epoch: u64 },
}

/// Why a snapshot is saved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Occasion {
    Checkpoint,
    /// A state from which a new log may start: kept beside the others under its hash, for an hour at least.
    Root,
    Last,
}

/// The data that a start finds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Loaded {
    /// The log's epoch, 0 when there is no log (or none that can be read).
    pub epoch: u64,
    /// The highest epoch that ever left a trace here; a new log stands above it.
    pub last_known: u64,
    /// The last life ended with [`Occasion::Last`]: nothing can have been lost.
    pub clean: bool,
    /// The snapshots do not lead to the end of the last log: part of it is missing.
    pub torn: bool,
    /// The store's time.
    pub time: Wall,
    /// Entries to be passed over.
    pub skips: Vec<Position>,
    /// Snapshots to start from, best first: several, so that one that does not decode costs little.
    pub snapshots: Vec<Snapshot>,
}

/// The answer to a gate that is frozen at an entry: whether it may pass over it, or the log is another one already.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Skips {
    /// The log's epoch, 0 when there is no log.
    pub epoch: u64,
    /// As [`Loaded::skips`].
    pub positions: Vec<Position>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begun {
    Begun,
    /// Another gate began a log meanwhile.
    Lost {
        epoch: u64,
    },
}

/// Most entries that one exchange returns.
pub const READ_MAX_ENTRIES: usize = 1_024;

/// The epoch of a log begun at the store's `time` by a gate that knows of `last_known`.
///
/// `max(last known, seconds × 2^24) + 1 + random 24 bits`, so that two who begin at once differ and time orders the rest.
/// `None` when `last_known` leaves no room above it.
#[must_use]
pub fn next_epoch(last_known: u64, time: Wall, random: u32) -> Option<u64> {
    let by_time = (time.0 / 1_000).checked_mul(1 << 24)?;
    last_known.max(by_time).checked_add(1 + u64::from(random & 0x00FF_FFFF))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_stands_above_the_last_known_and_above_the_time() {
        let time = Wall(1_800_000_000_000);
        let by_time = 1_800_000_000_u64 << 24;
        assert_eq!(next_epoch(0, time, 0), Some(by_time + 1));
        assert_eq!(next_epoch(by_time + 9, time, 5), Some(by_time + 15));
        assert_eq!(next_epoch(0, time, u32::MAX), Some(by_time + 1 + 0x00FF_FFFF));
        assert_eq!(next_epoch(u64::MAX, time, 0), None);
    }
}
