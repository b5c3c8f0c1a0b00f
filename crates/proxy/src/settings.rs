//! The limits of a listener and of the upstream: every deadline and every size in one place, with its default.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use http::uri::PathAndQuery;
use ipnet::IpNet;

use ropeline_ids::Secret;

/// Bounds of a set of listeners. All deadlines are enforced by the connection itself, not by hyper's one header timer,
/// so the wait for a first byte, for the rest of a head and for the next request are three different things.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// From accept to the first byte of the first request.
    pub first_byte: Duration,
    /// From a head's first byte to its end, however the bytes are spread.
    pub head: Duration,
    /// Between an answer and the first byte of the next request.
    pub keep_alive: Duration,
    /// How long the client may be silent while its body is awaited.
    pub body_idle: Duration,
    /// Bytes a second a body must average once the client has been waited for longer than `body_idle`; 0 for none.
    pub body_rate: u32,
    /// How long a client may take nothing while bytes for it are waiting.
    pub write: Duration,
    /// Most bytes of a request head, and of a body's trailers; beyond it, or with more than 100 fields, 431.
    pub head_bytes: usize,
    /// Most bytes of a request body unless the service sets another limit; beyond it 413.
    pub body_bytes: u64,
    /// Most unread body bytes that are read and thrown away to keep a connection after the service answered by itself.
    pub drain_bytes: u64,
    /// How long such a drain may take.
    pub drain: Duration,
    /// Most connections in all; a further one is closed at once.
    pub connections: usize,
    /// Most connections per listener.
    pub connections_per_listener: usize,
    /// Most connections per client address (an IPv6 /64), but for peers in `trusted`.
    pub connections_per_client: usize,
    /// Most connections of a client on loopback, where that is another number.
    pub loopback_connections: Option<usize>,
    /// Proxies in front, which bring many clients.
    pub trusted: Vec<IpNet>,
    /// Peers whose connections must begin with a PROXY header; other peers' connections are never searched for one.
    pub announced: Vec<IpNet>,
    /// Takes HTTP/2 in the clear from clients that begin with it; never by an upgrade.
    pub h2c: bool,
    /// Length of the kernel's queue of connections not yet accepted, for [`serve`](crate::serve) and [`ServerSettings::bind`].
    pub backlog: u32,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_secs(10),
            head: Duration::from_secs(10),
            keep_alive: Duration::from_secs(75),
            body_idle: Duration::from_secs(30),
            body_rate: 240,
            write: Duration::from_secs(30),
            head_bytes: 32 * 1024,
            body_bytes: 100 * 1024 * 1024,
            drain_bytes: 64 * 1024,
            drain: Duration::from_secs(1),
            connections: 100_000,
            connections_per_listener: 100_000,
            connections_per_client: 2_000,
            loopback_connections: None,
            trusted: Vec::new(),
            announced: Vec::new(),
            h2c: false,
            backlog: 4096,
        }
    }
}

/// The upstream's servers and the bounds of the way to them.
#[derive(Clone, Debug, PartialEq)]
pub struct UpstreamSettings {
    /// Its name in log lines and standings, where there are several.
    pub name: Option<Arc<str>>,
    /// At least one.
    pub servers: Vec<UpstreamServer>,
    /// How often names are resolved again.
    pub resolve_every: Duration,
    /// The value sent as `Host`; `None` for the visitor's own.
    pub host: Option<HeaderValue>,
    /// From the first SYN, TLS included, to a connection.
    pub connect: Duration,
    /// From the end of the request to the end of the answer's head, for each try.
    pub response: Duration,
    /// From the request's head to the answer's, all tries and waits included.
    pub total: Option<Duration>,
    /// How long an answer's body may pause; long, for the sake of event streams.
    pub body_idle: Duration,
    /// How long the upstream may take nothing while bytes for it are waiting.
    pub write: Duration,
    /// How long a tunnel (a WebSocket) may be silent in both directions.
    pub tunnel_idle: Duration,
    /// How long a connection may stand idle before it is closed rather than used again.
    pub idle: Duration,
    /// Most idle connections kept per core.
    pub idle_connections: usize,
    /// Most bytes of an answer's head; beyond it the answer counts as broken.
    pub head_bytes: usize,
    /// How long a body announced with `Expect: 100-continue` is held back for the upstream's word.
    pub continue_wait: Duration,
    /// Most bytes of a request's body that are read before a connection is taken; 0 for none.
    pub request_buffer: usize,
    /// The memory for all buffered body bytes, in bytes.
    pub buffer_memory: u64,
    /// The bound on bodies that are longer, and streamed; over all servers.
    pub streaming: ConnectionBound,
    /// The bound on connections to each server, if there is one.
    pub bound: Option<ConnectionBound>,
    /// Most times a request is sent again after it may have reached a server.
    pub retries: u32,
    /// Most of those in a hundred requests, over time.
    pub retry_budget: u32,
    /// The definition of a failure, and its consequences.
    pub failures: FailureRules,
    /// How servers are asked whether they are well; `None` for not at all.
    pub check: Option<HealthCheck>,
    /// For servers that are reached by TLS.
    pub tls: Option<UpstreamTls>,
    /// Where HTTP/2 is spoken.
    pub http2: UpstreamHttp2,
    /// How long a connection that speaks HTTP/2 may be silent with requests under way before it is asked for a sign of life,
    /// and how long that may take.
    pub ping: Duration,
}

/// Where HTTP/2 is spoken to the upstream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UpstreamHttp2 {
    /// Nowhere.
    #[default]
    Off,
    /// Within TLS, to servers that choose it.
    Alpn,
    /// As [`Alpn`](Self::Alpn), and to all servers in the clear, which must know it.
    PriorKnowledge,
}

/// A server of the upstream as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamServer {
    /// Where it listens.
    pub place: Place,
    /// Its share of the requests, relative to the others'; 0 takes none.
    pub weight: u32,
    /// Whether it is spoken to through TLS.
    pub tls: bool,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A host name or address, without brackets, and a port. Every address of a name is a server of its own.
    Host(String, u16),
    /// The path of a socket.
    Unix(PathBuf),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Host(host, port) => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A bound on requests at one server, or on bodies that are streamed, over all cores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConnectionBound {
    /// Most at once.
    pub connections: u32,
    /// Most requests that wait.
    pub waiting: u32,
    /// How long each waits.
    pub wait: Duration,
}

/// When a server is put out of rotation because of failed requests of visitors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FailureRules {
    /// This many failures in a row put a server out; 0 for never.
    pub most: u32,
    /// Whether an answer of 500 and up is one.
    pub server_errors: bool,
    /// How long it is out the first time, twice that the next, minus a random part of up to half.
    pub out: Duration,
    /// The longest time out.
    pub out_at_most: Duration,
}

/// How servers are asked whether they are well.
#[derive(Clone, Debug, PartialEq)]
pub struct HealthCheck {
    /// The path that is requested.
    pub path: PathAndQuery,
    /// The `Host` it is fetched with.
    pub host: Option<HeaderValue>,
    /// From one check of a server to the next.
    pub interval: Duration,
    /// How long one may take, the connection included.
    pub timeout: Duration,
    /// The statuses of a server that is well.
    pub statuses: RangeInclusive<u16>,
    /// This many failed checks in a row put a server out.
    pub out_after: u32,
    /// This many passed checks bring it back.
    pub back_after: u32,
}

/// TLS to the upstream.
#[derive(Clone, Debug, PartialEq)]
pub struct UpstreamTls {
    /// Authorities in PEM; `None` for the system's.
    pub authorities: Option<Vec<u8>>,
    /// The name that certificates must be for; `None` for the server's own.
    pub name: Option<String>,
    /// Our own certificate chain and its key, in PEM.
    pub own: Option<(Vec<u8>, Secret)>,
}

impl UpstreamSettings {
    /// The defaults for an upstream at `host` and `port`.
    #[must_use]
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self::at(vec![UpstreamServer {
            place: Place::Host(host.into(), port),
            weight: 1,
            tls: false,
        }])
    }

    /// The defaults for an upstream of these servers.
    #[must_use]
    pub fn at(servers: Vec<UpstreamServer>) -> Self {
        Self {
            name: None,
            servers,
            resolve_every: Duration::from_secs(30),
            host: None,
            connect: Duration::from_secs(2),
            response: Duration::from_secs(60),
            total: None,
            body_idle: Duration::from_secs(300),
            write: Duration::from_secs(30),
            tunnel_idle: Duration::from_secs(600),
            idle: Duration::from_secs(4),
            idle_connections: 256,
            head_bytes: 64 * 1024,
            continue_wait: Duration::from_secs(1),
            request_buffer: 64 * 1024,
            buffer_memory: 256 * 1024 * 1024,
            streaming: ConnectionBound {
                connections: 64,
                waiting: 1_000,
                wait: Duration::from_secs(5),
            },
            bound: None,
            retries: 1,
            retry_budget: 20,
            failures: FailureRules {
                most: 3,
                server_errors: false,
                out: Duration::from_secs(10),
                out_at_most: Duration::from_secs(300),
            },
            check: None,
            tls: None,
            http2: UpstreamHttp2::Off,
            ping: Duration::from_secs(5),
        }
    }
}
