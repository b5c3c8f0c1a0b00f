//! The operator's side: an HTTP API for the rooms, health, and metrics, on a listener and threads of its own.
//!
//! It answers while the request path is saturated, and never through the public listener. A wrong request gets a 4xx that
//! says why and changes nothing; a change is answered once it is in the log. `docs/reference/admin-api.md` has the API with curl.

mod additions;
pub mod api;
mod body;
mod codes;
mod dates;
mod draws;
mod entrance;
mod exposition;
mod figures;
mod gate_figures;
mod gates;
mod hands;
mod health;
mod history;
mod live;
mod load;
mod load_figures;
mod openapi;
mod orders;
mod page;
mod paging;
mod patch;
mod probes;
mod problem;
mod readiness;
mod rehearsals;
mod reloads;
mod rooms;
mod routes;
mod sales;
mod serve;
mod shape;
mod tls_figures;
mod tongues;
mod upgrade;
mod upstreams;
mod verify;
mod visitors;
mod winners;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequestParts, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode, Uri, header};

use crate::logging::Masked;
use crate::metrics::Metrics;
use crate::proxy::{Origins, Stats};
use crate::replica::Replica;
use crate::room::RoomName;
use crate::tls::Tls;
use crate::token::Keyring;

pub use additions::{Refused, RoomDone, RoomOrder, Table, Wish as RoomWish};
pub use entrance::{Entrance, May, Named, Token};
pub use exposition::{CONTENT_TYPE, Exposition};
pub use live::Live;
pub use patch::{MAX_CAPACITY, MAX_RATE, mode_name};
pub use problem::Problem;
pub use readiness::{Phase, Readiness};
pub use reloads::{Order, Reloads, Task, Trigger};
pub use serve::{AdminServer, StartError, serve};
pub use upgrade::{Upgraded, Upgrades, Wish};

/// Largest body of a request, in bytes.
pub const MAX_BODY: usize = 64 * 1024;

/// How long a request may take, its body included.
const REQUEST_WITHIN: Duration = Duration::from_secs(20);

/// What the admin listener reads and moves.
#[derive(Clone, Debug)]
pub struct Handles {
    pub replica: Replica,
    pub metrics: Metrics,
    pub proxy: Arc<Stats>,
    pub origins: Origins,
    pub readiness: Readiness,
    /// `None`: nobody comes in over TLS.
    pub tls: Option<Arc<Tls>>,
    /// What sessions' names are checked with.
    pub keyring: Keyring,
    /// Who takes another configuration when asked to.
    pub reloads: Reloads,
}

/// How the admin listener behaves.
#[derive(Clone, Debug)]
pub struct Options {
    pub entrance: Entrance,
    /// The messages of the configuration, shown where no operator has set another.
    pub messages: BTreeMap<RoomName, String>,
    /// The rooms in force at this gate, and whether an operator added them; `None`: all there are, and nobody did.
    pub from: Option<BTreeMap<RoomName, bool>>,
    /// Rooms that let everybody past their line while the gate is cut off.
    pub open_in_outage: BTreeSet<RoomName>,
    /// How much longer a room's sessions go on while the gate is cut off, in milliseconds.
    pub outage_extension_ms: BTreeMap<RoomName, u64>,
    /// How long a connection may stay silent before and in a request's head, in a body, and in taking an answer.
    pub patience: Duration,
    /// How often the rooms' figures are noted for plots.
    pub sample_every: Duration,
    /// `None`: the process is not to be replaced by another in place.
    pub upgrades: Option<Upgrades>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            entrance: Entrance::default(),
            messages: BTreeMap::new(),
            from: None,
            open_in_outage: BTreeSet::new(),
            outage_extension_ms: BTreeMap::new(),
            patience: Duration::from_secs(10),
            sample_every: Duration::from_secs(10),
            upgrades: None,
        }
    }
}

/// What handlers share; cheap to clone.
#[derive(Clone)]
struct Shared(Arc<Inner>);

struct Inner {
    replica: Replica,
    metrics: Metrics,
    readiness: Readiness,
    exposition: Exposition,
    live: Live,
    reloads: Reloads,
    history: history::History,
    /// Held while a room is changed.
    changing: tokio::sync::Mutex<()>,
}

impl Deref for Shared {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Shared {
    fn new(handles: Handles, options: Options) -> Self {
        let history = history::History::new(options.sample_every);
        let live = Live::new(options, handles.keyring.clone(), handles.origins.clone());
        Self(Arc::new(Inner {
            exposition: Exposition::new(&handles, &live, crate::time::wall()),
            live,
            history,
            reloads: handles.reloads,
            replica: handles.replica,
            metrics: handles.metrics,
            readiness: handles.readiness,
            changing: tokio::sync::Mutex::default(),
        }))
    }

    fn configured_message(&self, room: &RoomName) -> Option<String> {
        self.live.load().options.messages.get(room).cloned()
    }
}

fn router(shared: Shared) -> Router {
    routes::table()
        .into_iter()
        .fold(Router::new(), |router, route| router.route(route.path, route.handler))
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn_with_state(shared.clone(), around))
        .with_state(shared)
}

/// What every request passes before its handler, and every answer after.
async fn around(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let checked = shared.live.load().options.entrance.check(&parts);
    let mut response = match checked.map(|operator| parts.extensions.insert(operator)) {
        Ok(_) if [upgrade::UPGRADE, reloads::RELOAD].contains(&parts.uri.path()) => {
            next.run(Request::from_parts(parts, body)).await
        }
        Ok(_) => within(next.run(Request::from_parts(parts, body))).await,
        Err(problem) => {
            shared.metrics.admin_refused.inc();
            tracing::warn!(
                status = problem.status.as_u16(),
                reason = problem.detail,
                "an admin request was refused"
            );
            problem.into_response()
        }
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let nothing = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(nothing);
    response
}

async fn within(answer: impl Future<Output = Response>) -> Response {
    let late = || Problem::new(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time").into_response();
    tokio::time::timeout(REQUEST_WITHIN, answer)
        .await
        .unwrap_or_else(|_| late())
}

async fn no_such_path() -> Problem {
    let mut paths: Vec<&str> = routes::table().into_iter().map(|route| route.path).collect();
    paths.dedup();
    Problem::not_found(format!("there are {}", paths.join(", ")))
}

async fn no_such_method(method: Method, uri: Uri) -> Problem {
    let detail = format!(
        "{} does not take {method}; the Allow field has what it takes",
        uri.path()
    );
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail)
}

/// Who asked, for the log: whole where it is this machine, masked otherwise.
#[derive(Clone, Copy, Debug)]
struct Peer(SocketAddr);

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.0.ip();
        if address.is_loopback() {
            write!(f, "{address}")
        } else {
            write!(f, "{}", Masked(address))
        }
    }
}

impl FromRequestParts<Shared> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _shared: &Shared) -> Result<Self, Infallible> {
        Ok(*parts
            .extensions
            .get::<Self>()
            .expect("the connection puts its peer on every request"))
    }
}
