//! Limits on how often and how much at once. A refusal never costs a place.

pub mod detached;
pub mod limits;
pub mod pass_networks;
pub mod returning;
pub mod sockets;
pub mod unadmitted;
