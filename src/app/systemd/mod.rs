//! systemd's protocols: sockets that it passes (`passed`), and notifications about this process (`supervisor`).
//!
//! By hand, because `listenfd` takes sockets that were meant for another process, `sd-notify` changes the environment of a
//! process that has threads, and neither knows abstract socket names. Without systemd's variables this module does nothing.

mod passed;
mod supervisor;

pub use passed::{Passed, PassedError, listening};
pub use supervisor::Supervisor;
