//! The admin listener over real sockets, on a real replica over the embedded log.

mod additions;
mod breaking;
mod entrance;
mod gates;
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

use ropeline_testkit::harness;
