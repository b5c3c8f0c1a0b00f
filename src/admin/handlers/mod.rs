//! The handlers of the routes.

pub mod additions;
pub mod change;
pub mod codes;
pub mod doctor;
pub mod draws;
pub mod gates;
pub mod health;
pub mod load;
pub mod named_room;
pub mod orders;
pub mod probes;
pub mod rehearsals;
pub mod reload;
pub mod rooms;
pub mod upgrade;
pub mod upstreams;
pub mod verify;
pub mod visitors;
pub mod winners;
