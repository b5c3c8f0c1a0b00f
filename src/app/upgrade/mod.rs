//! Live upgrade: the gate starts the binary at its path, passes it the listening sockets, and drains once the new process
//! serves. With an embedded store the order is: the new process reads its configuration and takes the sockets, the old one
//! stops accepting, waits for requests under way, closes the store, and the new one opens it. Connections that come meanwhile
//! wait in the sockets' queues. If the new process fails, the old one serves again.
//!
//! `upgrader` takes requests for an upgrade and carries out one at a time. `successor` is the new process as the old one sees
//! it, `predecessor` the old process as the new one sees it; they talk over a `channel`.

mod channel;
mod parent;
mod predecessor;
mod program;
mod sockets;
mod successor;
mod upgrader;

pub use channel::TAKE_WITHIN;
pub use parent::Parent;
pub use predecessor::{Predecessor, TakeOverError, failed};
pub use program::Program;
pub use sockets::{Held, Inherited, Later, Opened, of_systemd};
pub use successor::{Given, Successor};
pub use upgrader::{Upgrader, takes_over, wishes};
