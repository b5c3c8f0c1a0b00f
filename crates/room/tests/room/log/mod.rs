//! The log: its bytes, its chain, and the gates that share it.

mod agreement;
mod bytes;
mod chain;
mod epochs;
pub mod gates;
mod shared;
