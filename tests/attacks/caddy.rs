//! Through Caddy.

#[path = "every_row.rs"]
mod every_row;

type Here = crate::through::Through<crate::proxies::Caddy>;
