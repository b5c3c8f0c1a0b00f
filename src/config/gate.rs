//! The gate's own part of the configuration: listeners, the way to the shop, the signing keys, the logs.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;

use super::listen::{self, Listen};
use super::reader::{Node, Read, Reader, Section};
use super::value::{address, duration_ms, list, network, number, one_of, size, text, wrong, yes_or_no};
use super::{secret, upstream};
use crate::logging::{AccessTarget, Format, check_filter};
use crate::token::{Audience, Key, MAX_AUDIENCES, MAX_KEYS, Secret};

/// The visitors' listeners.
#[derive(Clone, Debug)]
pub struct Server {
    /// In the clear; no two the same. Empty only where there are some with TLS.
    pub listen: Vec<Listen>,
    /// The access mode of Unix sockets' files.
    pub unix_mode: u32,
    /// Peers whose `X-Forwarded-For` is believed.
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

/// An operator's own token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedToken {
    pub name: String,
    pub token: Secret,
    pub changes: bool,
}

/// What is logged, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogConfig {
    pub format: Format,
    /// A level or directives by module.
    pub level: String,
    pub access: Option<AccessTarget>,
    pub full_addresses: bool,
}

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;

/// A key's duration, at least a millisecond and at most `most`.
pub(super) fn duration(section: &Section<'_>, name: &'static str, most: u64) -> Duration {
    Duration::from_millis(section.need(name, |node| duration_ms(node, 1..=most)))
}

/// A key that counts things, within these bounds.
pub(super) fn count(section: &Section<'_>, name: &'static str, least: u32, most: u32) -> usize {
    let value = section.need(name, |node| number(node, least..=most));
    usize::try_from(value).expect("a usize holds 32 bits on every system the gate runs on")
}

/// Bytes, at most 4 GiB.
fn bytes(section: &Section<'_>, name: &'static str, least: u32, most: u32) -> u32 {
    let value = section.need(name, |node| size(node, u64::from(least)..=u64::from(most)));
    u32::try_from(value).expect("the size was read within 32 bits")
}

pub(super) fn server(reader: &Reader<'_>) -> (Server, Admin) {
    let section = reader.table("server");
    let server = Server {
        listen: section.list("listen", listen::listen),
        unix_mode: section.need("unix_mode", listen::mode),
        trusted_proxies: section.list("trusted_proxies", network),
        proxy_protocol: section.list("proxy_protocol", network),
        threads: section
            .get("threads", |node| number(node, 1..=256))
            .and_then(|n| NonZeroUsize::new(usize::try_from(n).ok()?)),
        first_byte_timeout: duration(&section, "first_byte_timeout", HOUR),
        head_timeout: duration(&section, "head_timeout", HOUR),
        keep_alive: duration(&section, "keep_alive", DAY),
        body_timeout: duration(&section, "body_timeout", DAY),
        body_rate: bytes(&section, "body_rate", 0, 1 << 30),
        write_timeout: duration(&section, "write_timeout", DAY),
        max_head: usize::try_from(bytes(&section, "max_head", 1 << 10, 1 << 20)).unwrap_or(usize::MAX),
        max_body: section.need("max_body", |node| size(node, 0..=1 << 40)),
        max_connections: count(&section, "max_connections", 1, 10_000_000),
        max_connections_per_client: count(&section, "max_connections_per_client", 1, 10_000_000),
        drain_deadline: duration(&section, "drain_deadline", HOUR),
        upgrade_deadline: duration(&section, "upgrade_deadline", HOUR),
        backlog: section.need("backlog", |node| number(node, 1..=1 << 20)),
        h2c: section.need("h2c", yes_or_no),
        room_files: section.get("room_files", |node| {
            text(node, "the path of a folder").map(PathBuf::from)
        }),
    };
    let admin = Admin {
        listen: section.need("admin_listen", address),
        token: section.get("admin_token", |node| secret::token(reader, node)),
        tokens: section.list("admin_tokens", |node| secret::named_token(reader, node)),
        verify_token: section.get("verify_token", |node| secret::token(reader, node)),
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
            let wrong = format!("\"{}\" is whoever has no name", own.name);
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

/// Whose name `admin_token` has, which was given none, and on loopback whoever needs no token.
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
    if addresses.any(|own| upstream::meets(own, &admin_host, admin.listen.port())) {
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

pub(super) fn keys(reader: &Reader<'_>) -> Vec<Key> {
    let section = reader.table("tokens");
    let keys = section.list("keys", |item| secret::key(reader, item));
    if keys.len() > MAX_KEYS {
        section.mistake("keys", format!("{} keys", keys.len()), format!("at most {MAX_KEYS}"));
    }
    for (at, key) in keys.iter().enumerate() {
        if keys[..at].iter().any(|other| other.id == key.id) {
            section.mistake(
                "keys",
                format!("two keys have the id \"{}\"", key.id),
                "an id of its own for each",
            );
        }
        if keys[..at]
            .iter()
            .any(|other| other.secret.expose() == key.secret.expose())
        {
            section.mistake(
                "keys",
                format!("key \"{}\" has the secret of another", key.id),
                "a secret of its own for each",
            );
        }
    }
    keys
}

pub(super) fn audiences(reader: &Reader<'_>, keys: &[Key]) -> Vec<Audience> {
    let section = reader.table("tokens");
    let audiences = section.need("audience", one_or_more_audiences);
    if keys.is_empty() || section.has_mistake("audience") {
        return audiences;
    }
    if audiences.is_empty() {
        let wrong = "keys without an audience: another installation with the same keys, such as a staging system, signs what \
                     this one takes";
        section.warning(
            "audience",
            wrong,
            "the name of this installation, such as \"shop.example\"",
        );
    }
    audiences
}

fn one_or_more_audiences(node: &Node<'_>) -> Read<Vec<Audience>> {
    if node.get_ref().is_str() {
        return Ok(vec![audience(node)?]);
    }
    let audiences = list(node, audience)?;
    if audiences.len() > MAX_AUDIENCES {
        let right = format!("at most {MAX_AUDIENCES}");
        return wrong(node, format!("{} audiences", audiences.len()), right);
    }
    match audiences
        .iter()
        .enumerate()
        .find(|(at, one)| audiences[..*at].contains(one))
    {
        Some((_, twice)) => wrong(node, format!("\"{}\" is there twice", twice.as_str()), "each once"),
        None => Ok(audiences),
    }
}

fn audience(node: &Node<'_>) -> Read<Audience> {
    let right = "up to 64 letters, digits and \".-_:/\", such as \"shop.example\"";
    let text = text(node, right)?;
    match Audience::new(text) {
        Some(audience) => Ok(audience),
        None => wrong(node, format!("{text:?} is no audience"), right),
    }
}

pub(super) fn log(reader: &Reader<'_>) -> LogConfig {
    let section = reader.table("log");
    let formats = [("auto", Format::Auto), ("text", Format::Text), ("json", Format::Json)];
    LogConfig {
        format: section.need("format", |node| one_of(node, &formats)),
        level: section.need("level", level),
        access: section.need("access", access),
        full_addresses: section.need("full_addresses", yes_or_no),
    }
}

fn level(node: &Node<'_>) -> Read<String> {
    let right =
        "\"error\", \"warn\", \"info\", \"debug\" or \"trace\", or by module as in \"info,ropeline::proxy=debug\"";
    let text = text(node, right)?;
    match check_filter(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(_) => wrong(node, format!("\"{text}\" is no log level"), right),
    }
}

fn access(node: &Node<'_>) -> Read<Option<AccessTarget>> {
    let right = "\"off\", \"stdout\" or \"file:\" and a path";
    match text(node, right)? {
        "off" => Ok(None),
        "stdout" => Ok(Some(AccessTarget::Stdout)),
        other => match other.strip_prefix("file:").filter(|path| !path.is_empty()) {
            Some(path) => Ok(Some(AccessTarget::File(PathBuf::from(path)))),
            None => wrong(node, format!("there is no access log at \"{other}\""), right),
        },
    }
}
