//! Live upgrade: the gate starts the binary at its path, hands it the listening sockets, and drains once the new process
//! serves. With an embedded store the order is: the new process reads its configuration and takes the sockets, the old one
//! stops accepting, waits for requests under way, closes the store, and the new one opens it. Connections that come meanwhile
//! wait in the sockets' queues. If the new process fails, the old one serves again.
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

pub use command::{UpgradeArgs, run};
pub use desk::{Desk, takes_over, wishes};
pub use former::{Former, HandedError, failed};
pub use next::{Given, TAKE_WITHIN};
pub use program::Program;
pub use sockets::{Held, Inherited, Later, of_systemd};
pub use starter::Starter;
