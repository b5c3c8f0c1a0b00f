//! The rooms' losses with a log, and their recovery.

mod adopting;
mod adoption;
mod editions;
pub mod fork;
