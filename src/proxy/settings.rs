//! What bounds a listener and the way to the shop: every deadline and every size in one place, with its default.

use std::time::Duration;

use ipnet::IpNet;

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
    /// Proxies in front, which bring many clients.
    pub trusted: Vec<IpNet>,
    /// Peers whose connections begin with a PROXY header, and must; from others it is never looked for.
    pub announced: Vec<IpNet>,
    /// Takes HTTP/2 in the clear from clients that begin with it; never by an upgrade.
    pub h2c: bool,
    /// Length of the kernel's queue of connections not yet accepted, for [`super::serve()`] and [`ServerSettings::bind`].
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
            trusted: Vec::new(),
            announced: Vec::new(),
            h2c: false,
            backlog: 4096,
        }
    }
}

/// The shop's address and the bounds of the way to it.
#[derive(Clone, Debug)]
pub struct UpstreamSettings {
    /// Host name or address, without brackets; resolved at every connect.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// From the first SYN, name look-up included, to a connection.
    pub connect: Duration,
    /// From the end of the request to the end of the answer's head.
    pub response: Duration,
    /// How long an answer's body may pause; long, for the sake of event streams.
    pub body_idle: Duration,
    /// How long the shop may take nothing while bytes for it are waiting.
    pub write: Duration,
    /// How long a tunnel (a WebSocket) may be silent in both directions.
    pub tunnel_idle: Duration,
    /// How long a connection may stand idle before it is closed rather than used again.
    pub idle: Duration,
    /// Most idle connections kept per core.
    pub idle_connections: usize,
    /// Most bytes of an answer's head; beyond it the answer counts as broken.
    pub head_bytes: usize,
    /// How long a body announced with `Expect: 100-continue` is held back for the shop's word.
    pub continue_wait: Duration,
}

impl UpstreamSettings {
    /// The defaults for a shop at `host` and `port`.
    #[must_use]
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self {
            host: host.into(),
            port,
            connect: Duration::from_secs(2),
            response: Duration::from_secs(60),
            body_idle: Duration::from_secs(300),
            write: Duration::from_secs(30),
            tunnel_idle: Duration::from_secs(600),
            idle: Duration::from_secs(4),
            idle_connections: 256,
            head_bytes: 64 * 1024,
            continue_wait: Duration::from_secs(1),
        }
    }
}
