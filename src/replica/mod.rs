//! This gate's copy of all rooms. Every gate reads the same log in the same order, so that all copies are the same.
//!
//! One thread owns the log and the state (`worker`). Requests read the published view without waiting (`publish`) and put
//! their observations into a bounded queue (`inbox`). The thread collects these into a batch (`collector`), appends the
//! batch, reads it back, applies it, publishes the new view, and answers the waiting requests (`waiters`). Only joins and
//! actions that must be durable before their response wait for that. The `protocol` decides which call of the log comes next
//! and when. The rules of a room are in `room`.

mod attention;
mod calls;
mod collector;
mod failing;
mod handle;
mod inbox;
mod options;
pub mod protocol;
mod publish;
mod recover;
mod replay;
mod rooms;
mod waiters;
mod worker;

pub use calls::Calls;
pub use failing::Failure;
pub use handle::{Replica, ReplicaThread, StartError};
pub use inbox::{Arrival, Granted, JoinOutcome, NoEnd, Note, Past, Redemption, Unrecorded};
pub use options::{Charge, Options};
pub use protocol::reveal;
pub use publish::{Condition, Stats, ViewGuard};
pub use replay::{Fault, Gap, Progress, ReplayError, Report, replay};

use std::time::Duration;

/// Most joins that wait at once; over it a newcomer gets the page with a pending ticket.
pub const MAX_PENDING_JOINS: usize = 131_072;

/// A gate is cut off from its log when for so long the log has not answered, or a batch has not been read back.
pub const CUT_OFF_AFTER: Duration = Duration::from_secs(2);
