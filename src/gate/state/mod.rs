//! State that outlives a request: the rules, the keys, the view of the rooms, and the gate of each core.

pub mod cores;
pub mod gate;
pub mod in_flight;
pub mod join_pace;
pub mod keeper;
pub mod key_use;
pub mod known_tokens;
pub mod let_past;
pub mod pages;
pub mod rules;
pub mod sessions;
pub mod shared;
pub mod upstream;
