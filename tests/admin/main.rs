//! The admin listener over real sockets, on a real replica over the embedded log.

mod additions;
mod breaking;
mod entrance;
mod gates;
#[path = "../harness/mod.rs"]
#[allow(dead_code, reason = "each test binary uses a part of it")]
mod harness;
mod health;
mod load;
mod metrics;
mod openapi;
mod orders;
mod rooms;
mod sales;
mod shell;
mod states;
mod store;
mod support;
mod upstreams;
mod verify;
mod visitors;
