//! The admin listener over real sockets, on a real replica over the embedded log.

mod entrance;
mod gates;
mod health;
mod metrics;
mod rooms;
mod shell;
mod support;
mod visitors;
