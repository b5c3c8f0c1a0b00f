//! What a room is tried against on virtual time: a shop that can take so much and no more.

pub mod shop;
