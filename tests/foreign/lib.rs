//! The room alone, with the draws that it makes, under the name that its tests know the whole by.
#![allow(
    dead_code,
    reason = "the hand on the rooms is for tests of modules that are not here"
)]

#[path = "../../src/draw/mod.rs"]
pub mod draw;
#[path = "../../src/room/mod.rs"]
pub mod room;
