//! The proxy: listeners, connections, and the way to an upstream and back; HTTP/1.1 and HTTP/2 on both sides.
//!
//! [`serve()`] accepts connections and passes each request to a service, with its [`Conn`]. [`Upstream::forward`] carries one
//! request to the upstream and streams the answer back. This crate does the work that hyper leaves to a proxy: framing
//! checks, header hygiene, deadlines, bounds, draining. The service decides which requests pass: this crate knows no rooms,
//! tickets or pages.
//!
//! ```text
//! accept thread per listener -> the core with the fewest connections (one thread, one runtime each)
//!   greet (PROXY header) -> Socket -> (TLS) -> guard -> hyper -> framing::check -> the service
//!                                                    the service -> Upstream::forward -> Servers, Pool -> Socket
//! ```
//!
//! `listen` accepts, `client` serves one client's connection, `upstream` chooses a server and carries requests to it.
//! [`tls`] holds certificates, [`limit`] rate limits, [`names`] the spellings under which programs find a name.
//!
//! A server that answers every request by itself:
//!
//! ```
//! use std::net::TcpListener;
//! use std::sync::Arc;
//!
//! use http::Response;
//! use ropeline_proxy::{Body, Listener, ServerSettings, Stats, serve};
//!
//! let listener = Listener::from(TcpListener::bind("127.0.0.1:0")?);
//! let settings = ServerSettings::default();
//! let server = serve(vec![listener], 1, &settings, Arc::new(Stats::default()), |_core| {
//!     |_conn, _request| async { Response::new(Body::from("hello")) }
//! })?;
//! println!("listening on {}", server.addresses()[0]);
//! # Ok::<(), std::io::Error>(())
//! ```

mod body;
mod boxed;
mod client;
mod detached;
mod drop_guard;
mod error;
mod forward;
mod hygiene;
pub mod limit;
mod listen;
mod lock;
mod memory;
pub mod names;
mod revocable;
mod settings;
mod stage;
mod stats;
pub mod time;
pub mod tls;
mod upstream;
mod wire;

#[cfg(any(test, fuzzing, feature = "testing"))]
#[doc(hidden)]
pub mod fuzzing;

pub use body::Body;
pub use boxed::boxed;
pub use client::conn::Conn;
pub use client::framing::{Malformed, SpelledHost};
pub use client::hop::Hop;
pub use client::noted::Noted;
pub use client::proto::Proto;
pub use client::refusals::ROPELINE_STATUS;
pub use client::request_body::RequestBody;
pub use client::request_id::{RequestId, X_REQUEST_ID};
pub use detached::{Detachable, read_rest};
pub use error::{BodyError, BoxError, Fault, ForwardError, Kind};
pub use forward::Forward;
pub use hygiene::{connection_reaches_too_far, hosts_said, is_alias, is_said_of_client, is_taken};
pub use listen::address::{client_address, is_trusted, last_forwarded_for};
pub use listen::listener::{Endpoint, Listener};
pub use listen::proxy_protocol;
pub use listen::serve::{Bounds, Drained, Server, raise_descriptor_limit, serve};
pub use listen::unix::Custody;
pub use memory::{BodyOf, Ration, SHARES as MEMORY_SHARES};
pub use revocable::Revoke;
pub use settings::{
    ConnectionBound, FailureRules, HealthCheck, Place, ServerSettings, UpstreamHttp2, UpstreamServer, UpstreamSettings,
    UpstreamTls,
};
pub use stage::Stage;
pub use stats::{Stats, UpstreamStats};
pub use upstream::Upstream;
pub use upstream::servers::{
    Examined, Found, Health, NotFound, Outlook, Standing, UpstreamError, UpstreamServers, check_authorities,
    check_name, examine, visitors_tls,
};
pub use upstream::tunnel::is_asked_for as asks_for_tunnel;
