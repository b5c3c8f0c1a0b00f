//! Options of a replica, apart from the rooms.

use std::path::PathBuf;
use std::time::Duration;

use super::CUT_OFF_AFTER;
use crate::room::VERSION;
use crate::token::Keyring;

/// Options of a replica; the default is right outside tests.
#[derive(Clone, Debug)]
pub struct Options {
    /// Room clock between snapshots.
    pub snapshot_every: Duration,
    /// Bytes of entries between snapshots.
    pub snapshot_bytes: u64,
    /// The highest machine version that this gate agrees to.
    pub knows: u16,
    /// Where the log is archived, if it is.
    pub archive: Option<PathBuf>,
    /// The keys from which secrets of draws are made; without them this gate neither promises nor makes any.
    pub keyring: Option<Keyring>,
    /// No log was lost before, whose visitors may still come: where the log begins from nothing at this start, it is taken for
    /// the first. SECURITY: if that is wrong, visitors are called who find the slots taken.
    pub first_start: bool,
    /// The gate's key was made just now, which says the same without the operator's word.
    pub new_key: bool,
    /// How long a start waits until the log is read; the thread goes on trying.
    pub read_within: Duration,
    /// How far this gate decides about the configured rooms at the start.
    pub charge: Charge,
    /// How long a stop tries to say goodbye to a log that does not answer.
    pub goodbye_within: Duration,
}

/// How far a gate decides about the configured rooms, where it takes over from another one; it only ever goes up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Charge {
    /// The gate before decides: until it has left, this one adds the rooms that the log lacks, and no more.
    Before,
    /// This gate decides, while the one before drains: rooms that are configured no more stay for that one's visitors.
    Handed,
    /// This gate decides, with those that share the rooms.
    Own,
}

impl Default for Options {
    /// Snapshots every 10 s of room clock or 4 MB; two seconds for a start, five for the goodbye.
    fn default() -> Self {
        Self {
            snapshot_every: Duration::from_secs(10),
            snapshot_bytes: 4_000_000,
            knows: VERSION,
            archive: None,
            keyring: None,
            first_start: false,
            new_key: false,
            read_within: CUT_OFF_AFTER,
            charge: Charge::Own,
            goodbye_within: Duration::from_secs(5),
        }
    }
}
