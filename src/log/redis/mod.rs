//! The log of gates that share a store: a Redis or Valkey server, a cluster, or a server watched by sentinels.

mod percent;
mod url;

pub use self::url::{RedisUrl, UrlError};
