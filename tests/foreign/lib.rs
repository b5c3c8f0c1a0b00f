//! The room alone, under the name that its tests know the whole by.

#[path = "../../src/room/mod.rs"]
pub mod room;
