//! The world of a simulation: gates, the store and links as models, visitors, the upstream, the faults, and the ledger that
//! judges.

pub mod crowd;
pub mod faults;
pub mod gate;
pub mod inside;
pub mod judge;
pub mod ledger;
pub mod link;
pub mod observer;
pub mod people;
pub mod plan;
pub mod returns;
pub mod rooms;
pub mod shop;
pub mod store;
pub mod trace;
pub mod visits;
pub mod world;
