//! The phases of a gate's life on its log, each with the fields that only it has.
//!
//! A phase never builds another one: it ends with a [`transition::Transition`], which carries the data with which the next
//! phase starts.
//!
//! | phase | what ends it | next phase |
//! | --- | --- | --- |
//! | `Starting` | a snapshot was loaded | `CatchingUp` |
//! | | gates share the log, and it has no root yet | `Rootless` |
//! | | there is no log | `Beginning`; of a shared store that is empty for the first time, `Starting` again |
//! | | no snapshot can be read | `Behind` |
//! | `CatchingUp` | the end of the log | `Live` |
//! | | the log was not closed cleanly, or is broken | `Beginning` |
//! | | another log has begun | `Rootless` |
//! | | the log begins behind the snapshot | `Starting` |
//! | | an entry cannot be applied | `Frozen` |
//! | `Beginning` | the log has begun | `Live` for a gate alone, else `Rootless` |
//! | | another gate was first | `Rootless`, or `Starting` where there is no log after all |
//! | `Rootless` | a root's snapshot was fetched | `CatchingUp` |
//! | | another log has begun | `Rootless` |
//! | | the log is broken | `Beginning` |
//! | | the log has gone on, or tells another history | `Starting` |
//! | `Live` | the log is broken, or a token is of an epoch above it | `Beginning` |
//! | | another log has begun | `Rootless` |
//! | | the gate was away for too long, was outvoted, or applying an entry panicked | `Starting` |
//! | `Frozen` | the entry is to be passed over, or another log has begun | `Starting` |
//! | any that reads entries | one asks for a machine version that this binary lacks | `Behind` |
//! | any | the gate leaves | `Ended` |
//! | `Ended` | the gate comes back | `Starting` |

pub(super) mod beginning;
pub(super) mod catching_up;
pub(super) mod frozen;
pub(super) mod live;
pub(super) mod rootless;
pub(super) mod starting;
pub(super) mod transition;
