//! What the rooms lost with a log, and what brings it back.

mod adopting;
mod adoption;
mod editions;
pub mod fork;
