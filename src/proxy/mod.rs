//! The proxy: listeners, connections, and the way to the shop and back; HTTP/1.1 and HTTP/2 on both sides.
//!
//! [`serve()`] accepts and hands each request to a service with its [`Conn`]; [`Upstream::forward`] carries one request to
//! the shop and streams the answer back. What hyper leaves to a proxy is done here: framing checks, header hygiene,
//! deadlines, bounds, draining. Who may pass is the gate's decision; nothing here knows rooms, tickets or pages.
//!
//! ```text
//! accept thread per listener -> the core with the fewest connections (one thread, one runtime each)
//!   greet (PROXY header) -> Socket -> (TLS) -> guard -> hyper -> framing::check -> the service
//!                                                           the service -> Upstream::forward -> Origins, Pool -> Socket
//! ```

mod accept;
mod address;
mod alarm;
mod body;
mod boxed;
mod bucket;
mod conn;
mod connection;
mod detached;
mod drop_guard;
mod error;
mod exchange;
mod forward;
mod frame;
mod framing;
mod from_shop;
mod greet;
mod guard;
mod heard;
mod hop;
mod http2;
mod hygiene;
mod listener;
mod load;
mod lock;
mod looked;
mod memory;
mod noted;
mod origins;
mod pace;
mod pool;
mod proto;
pub mod proxy_protocol;
mod request_body;
mod retry;
mod revocable;
mod secured;
mod sent;
mod serve;
mod settings;
mod shop_http2;
mod shop_socket;
mod socket;
mod stage;
mod stats;
mod transport;
mod tunnel;
mod unix;
mod uploads;
mod upstream;

#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;

pub use address::{client_address, is_trusted};
pub use body::Body;
pub use boxed::boxed;
pub use conn::Conn;
pub use connection::ROPELINE_STATUS;
pub use detached::{Detachable, read_rest};
pub use error::{BodyError, BoxError, Fault, ForwardError, Kind};
pub use forward::Forward;
pub use framing::{Malformed, SpelledHost};
pub use hop::Hop;
pub(crate) use hygiene::{connection_reaches_too_far, hosts_said, is_alias, is_said_of_client, is_taken};
pub use listener::{Endpoint, Listener};
pub use memory::{BodyOf, Ration, SHARES as MEMORY_SHARES};
pub use noted::Noted;
pub use origins::{Health, Origins, OriginsError, Outlook, Standing, check_authorities, check_name, visitors_tls};
pub use proto::Proto;
pub use request_body::RequestBody;
pub use revocable::Revoke;
pub use serve::{Bounds, Drained, Server, raise_descriptor_limit, serve};
pub use settings::{
    ConnectionBound, FailureRules, HealthCheck, Place, ServerSettings, ShopHttp2, ShopServer, ShopTls, UpstreamSettings,
};
pub use stage::Stage;
pub use stats::Stats;
pub use tunnel::is_asked_for as asks_for_tunnel;
pub use unix::Custody;
pub use upstream::Upstream;
