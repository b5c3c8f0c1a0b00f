//! The log: its bytes, its chain, and the gates that share it.

mod agreement;
mod bytes;
mod chain;
mod eras;
pub mod gates;
mod shared;
