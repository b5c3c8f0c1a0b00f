//! Live upgrade: the gate starts the binary at its path, hands it the listening sockets, and drains once the new process
//! serves. With an embedded store the order is: the new process reads its configuration and takes the sockets, the old one
//! stops accepting, waits for requests under way, closes the store, and the new one opens it. Connections that come meanwhile
//! wait in the sockets' queues. If the new process fails, the old one serves again.
//!
//! `desk` takes the order for an upgrade and carries out one at a time; `next` is what the old process does, `former` what the
//! new one does; they talk over a `line`.

mod desk;
mod former;
mod line;
mod next;
mod program;
mod sockets;
mod starter;

pub use desk::{Desk, takes_over, wishes};
pub use former::{Former, HandedError, failed};
pub use line::TAKE_WITHIN;
pub use next::{Given, Next};
pub use program::Program;
pub use sockets::{Held, Inherited, Later, Opened, of_systemd};
pub use starter::Starter;
