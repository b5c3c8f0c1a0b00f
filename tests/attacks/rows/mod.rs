//! The table, a file for each threat.

pub mod accounts;
pub mod exceptions;
pub mod names;
pub mod never_waiting;
pub mod parameters;
pub mod paths;
pub mod preflights;
