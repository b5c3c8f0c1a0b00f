//! The gate's listeners, the bounds on their clients, and the operator's side.

pub(in crate::config) mod acme;
pub(in crate::config) mod crawlers;
pub(in crate::config) mod forward_auth;
pub(in crate::config) mod limit;
pub(in crate::config) mod listen;
pub(in crate::config) mod logging;
pub(in crate::config) mod store;
pub(in crate::config) mod tls;
pub(in crate::config) mod tokens;

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;

use super::document::secret::{self, NamedToken};
use super::document::{Reader, Section};
use listen::Listen;
use ropeline_ids::Secret;

/// The visitors' listeners.
#[derive(Clone, Debug)]
pub struct Server {
    /// In the clear; no two the same. Empty only where there are some with TLS.
    pub listen: Vec<Listen>,
    /// The access mode of Unix sockets' files.
    pub unix_mode: u32,
    /// Peers whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// Peers whose connections begin with a PROXY header.
    pub proxy_protocol: Vec<IpNet>,
    /// `None`: one per core.
    pub threads: Option<NonZeroUsize>,
    pub first_byte_timeout: Duration,
    pub head_timeout: Duration,
    pub keep_alive: Duration,
    pub body_timeout: Duration,
    /// Bytes a second; 0 for none.
    pub body_rate: u32,
    pub write_timeout: Duration,
    /// Bytes.
    pub max_head: usize,
    /// Bytes.
    pub max_body: u64,
    pub max_connections: usize,
    /// Of an address or an IPv6 /64 that is no trusted proxy.
    pub max_connections_per_client: usize,
    pub drain_deadline: Duration,
    /// Of the process that an upgrade starts.
    pub upgrade_deadline: Duration,
    pub backlog: u32,
    /// HTTP/2 in the clear, from clients that begin with it.
    pub h2c: bool,
    /// Where rooms that are added at run time find the files they name; `None`: they name none.
    pub room_files: Option<PathBuf>,
}

/// The operator's listener.
#[derive(Clone, Debug)]
pub struct Admin {
    pub listen: SocketAddr,
    /// Always there when `listen` is not on loopback.
    pub token: Option<Secret>,
    /// Each with its operator's name, and whether it may change anything.
    pub tokens: Vec<NamedToken>,
    /// Good for `GET /api/v1/verify` only.
    pub verify_token: Option<Secret>,
}

pub(in crate::config) fn server(reader: &Reader<'_>) -> (Server, Admin) {
    let section = reader.table("server");
    let server = Server {
        listen: section.list_as("listen", listen::listen),
        unix_mode: section.need_as("unix_mode", listen::mode),
        trusted_proxies: section.list("trusted_proxies"),
        proxy_protocol: section.list("proxy_protocol"),
        threads: section.get("threads").and_then(NonZeroUsize::new),
        first_byte_timeout: section.need("first_byte_timeout"),
        head_timeout: section.need("head_timeout"),
        keep_alive: section.need("keep_alive"),
        body_timeout: section.need("body_timeout"),
        body_rate: section.need("body_rate"),
        write_timeout: section.need("write_timeout"),
        max_head: section.need("max_head"),
        max_body: section.need("max_body"),
        max_connections: section.need("max_connections"),
        max_connections_per_client: section.need("max_connections_per_client"),
        drain_deadline: section.need("drain_deadline"),
        upgrade_deadline: section.need("upgrade_deadline"),
        backlog: section.need("backlog"),
        h2c: section.need("h2c"),
        room_files: section.get("room_files"),
    };
    let admin = Admin {
        listen: section.need("admin_listen"),
        token: section.get_as("admin_token", |node, form| secret::token(reader, node, form)),
        tokens: section.list_as("admin_tokens", |node, form| secret::named_token(reader, node, form)),
        verify_token: section.get_as("verify_token", |node, form| secret::token(reader, node, form)),
    };
    check_tokens(&section, &admin);
    check_listeners(&section, &server, &admin);
    (server, admin)
}

fn check_tokens(section: &Section<'_>, admin: &Admin) {
    let tokens = &admin.tokens;
    if tokens.len() > MAX_TOKENS {
        let right = format!("at most {MAX_TOKENS}");
        section.mistake("admin_tokens", format!("{} tokens", tokens.len()), right);
    }
    if admin.token.is_some() && admin.token == admin.verify_token {
        let wrong = "this is the admin_token, and would let the shop change everything";
        section.mistake("verify_token", wrong, "a token of its own");
    }
    for (at, own) in tokens.iter().enumerate() {
        let before = &tokens[..at];
        if before.iter().any(|other| other.name == own.name) {
            let wrong = format!("two tokens have the name \"{}\"", own.name);
            section.mistake("admin_tokens", wrong, "each name once");
        }
        if own.name.eq_ignore_ascii_case(OPERATOR) {
            let wrong = format!("\"{}\" is the name of the operator without a name", own.name);
            section.mistake("admin_tokens", wrong, "another name");
        }
        let others = before.iter().map(|other| &other.token);
        if others
            .chain(&admin.token)
            .chain(&admin.verify_token)
            .any(|other| *other == own.token)
        {
            let wrong = format!("the token of \"{}\" is another's too", own.name);
            section.mistake("admin_tokens", wrong, "a token of its own for each");
        }
    }
}

/// The operator's name with `admin_token`, and on loopback without a token.
pub const OPERATOR: &str = "operator";

fn check_listeners(section: &Section<'_>, server: &Server, admin: &Admin) {
    let mut all: Vec<&Listen> = server.listen.iter().filter(|place| !place.is_any_port()).collect();
    all.sort_unstable();
    let twice = all.iter().zip(all.iter().skip(1)).find(|(one, next)| one == next);
    if let Some((place, _)) = twice {
        section.mistake("listen", format!("{place} stands twice"), "each address once");
    }
    let admin_host = admin.listen.ip().to_string();
    let mut addresses = server.listen.iter().filter_map(Listen::address);
    if addresses.any(|own| listen::meets(own, &admin_host, admin.listen.port())) {
        let right = "an address of its own, such as \"127.0.0.1:9925\"";
        section.mistake(
            "admin_listen",
            format!("visitors come in at {} too", admin.listen),
            right,
        );
    }
    if !admin.listen.ip().is_loopback() && admin.token.is_none() && admin.tokens.is_empty() && !has_mistake(section) {
        let wrong = format!("{} is not loopback and there is no admin_token", admin.listen);
        section.mistake(
            "admin_listen",
            wrong,
            "\"127.0.0.1:9925\", or an admin_token of 16 bytes or more",
        );
    }
    for net in server.trusted_proxies.iter().filter(|net| net.prefix_len() == 0) {
        let wrong = format!("{net} lets every visitor choose the address that limits are counted by");
        section.warning("trusted_proxies", wrong, "only the networks of your own proxies");
    }
    for net in server.proxy_protocol.iter().filter(|net| net.prefix_len() == 0) {
        let wrong =
            format!("{net} lets everybody who can connect choose an address, and closes the others' connections");
        section.warning("proxy_protocol", wrong, "only the networks of your own proxies");
    }
}

fn has_mistake(section: &Section<'_>) -> bool {
    section.has_mistake("admin_token") || section.has_mistake("admin_tokens")
}

/// Most operators with a token of their own.
const MAX_TOKENS: usize = 100;
