//! An upgrade without a gap: the gate starts the binary that lies at its path by now, hands it the listening sockets and the
//! embedded log, and drains once the new process serves. Should that not come about, the gate goes on as before.
//!
//! `command` is `ropeline upgrade`, `desk` takes the wish for one and sees to it that there is one at a time, `next` is the
//! process before and `former` the one after; they talk over a `line`.

mod command;
mod desk;
mod former;
mod line;
mod next;
mod program;
mod sockets;
mod starter;
mod succession;

pub use command::{UpgradeArgs, run};
pub use desk::{Desk, takes_over, wishes};
pub use former::{Former, HandedError};
pub use next::Given;
pub use program::Program;
pub use sockets::{Held, Inherited, Later, of_systemd};
pub use starter::Starter;
pub use succession::Succession;
