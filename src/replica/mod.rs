//! The gate's own copy of every room, and the way of a batch: collected, appended, read back, applied, published.
//!
//! A thread of its own owns the log and the state. Requests read the published view without waiting and leave word of
//! what they saw in a bounded inbox; only a join, and what must be on record before it is answered, waits until its batch
//! is read back. No rule of a room is here: `room` decides, `log` orders.

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

/// A batch unread for so long means that the gate is cut off from its log.
pub const CUT_OFF_AFTER: Duration = Duration::from_secs(2);
