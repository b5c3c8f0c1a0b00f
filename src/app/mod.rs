//! The application: builds a gate from its configuration, and runs it until its process ends.
//!
//! `start` has the three stages `bind`, `open` and `serve`; `lifecycle` runs them and waits; `reload` puts another
//! configuration in force, and `upgrade` another process in this one's place. Commands are in `cli`.

pub mod error;
mod front;
pub mod lifecycle;
mod listeners;
mod own_key;
pub mod parts;
pub mod reload;
pub mod running;
mod secured;
mod service;
pub mod signals;
pub mod start;
pub mod subject;
pub mod systemd;
pub mod upgrade;
