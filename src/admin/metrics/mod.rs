//! Metrics of the whole process, put together when a scrape asks.

pub mod encode;
pub mod exposition;
pub mod gate;
pub mod load;
pub mod proxy;
pub mod rehearsals;
pub mod reloads;
pub mod rooms;
pub mod tls;
pub mod upstreams;
