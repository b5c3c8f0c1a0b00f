//! The room alone, with the draws that it makes, under the name that its tests know the whole by.

#[path = "../../src/draw/mod.rs"]
pub mod draw;
#[path = "../../src/room/mod.rs"]
pub mod room;
