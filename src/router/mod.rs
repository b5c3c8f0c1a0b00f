//! The router: the room and the limits that a request belongs to. A security boundary.
//!
//! A shop may read a path in more ways than one: it decodes once or twice, resolves dot segments, merges slashes, drops
//! `;parameters`. [`Target`] lists every reading that a server in common use would make of a path; the [`Router`] treats each
//! of them, and where two would be treated differently the request is [`Doubtful`] and must be refused (400). The bytes
//! forwarded are always the visitor's own. Rules that protect (rooms, limits) match leniently: in any case, with or without
//! accents, and with or without a slash, dot or space at the end. Rules that leave a path outside (`except`, `return_routes`)
//! match exactly.

mod by_host;
mod cover;
mod host;
mod line;
mod outside;
mod queries;
mod readings;
mod route;
mod table;
mod target;
mod tree;

#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
#[cfg(any(test, fuzzing))]
mod shops;

pub use host::{HostError, HostPattern, normal as normal_host};
pub use line::{ANY_UUID, LineOf, Per, PerSource};
pub use outside::{Brings, Outside};
pub use route::{Route, RouteError};
pub use table::{ActiveRoutes, Doubtful, Hits, InRoom, RoomRoutes, Routed, Router, UpstreamRoutes};
pub use target::{BadTarget, Target};

/// The gate's own paths, on every host; never forwarded.
pub const OWN_PREFIX: &str = "/.ropeline";

/// Paths that no room takes, read by GET or HEAD with nothing brought along: a 503 on `/robots.txt` stops a crawler for the whole
/// host, and certificates are renewed below `/.well-known/`.
pub const NEVER_QUEUED: [&str; 5] = [
    "/robots.txt",
    "/.well-known/*",
    "/favicon.ico",
    "/apple-touch-icon.png",
    "/apple-touch-icon-precomposed.png",
];
