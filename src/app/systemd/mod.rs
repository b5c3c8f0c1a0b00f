//! What a gate has to do with systemd: sockets it is passed, and what it says about itself.
//!
//! Without systemd's variables in the environment all of it is silent. Written here since it is little: the crates for it
//! change the environment of a process that has threads, take sockets that were meant for another process, or do not know
//! abstract socket names.

mod passed;
mod supervisor;

pub use passed::{Passed, PassedError, listening};
pub use supervisor::Supervisor;
