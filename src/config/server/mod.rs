//! The gate's own part of the configuration: listeners, the way to the shop, the signing keys, the logs.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;

use crate::config::keys::Form;
use crate::config::server::listen::{self, Listen};
use crate::config::document::reader::{Node, Read, Reader, Section};
use crate::config::document::value::{list, text, wrong};
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

pub(in crate::config) fn keys(reader: &Reader<'_>) -> Vec<Key> {
    let section = reader.table("tokens");
    let keys = section.list_as("keys", |item, form| secret::key(reader, item, form));
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

pub(in crate::config) fn audiences(reader: &Reader<'_>, keys: &[Key]) -> Vec<Audience> {
    let section = reader.table("tokens");
    let audiences = section.need_as("audience", one_or_more_audiences);
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

fn one_or_more_audiences(node: &Node<'_>, form: &Form) -> Read<Vec<Audience>> {
    if let (true, Form::Either(_, one)) = (node.get_ref().is_str(), form) {
        return Ok(vec![audience(node, one)?]);
    }
    let Form::Either(many, _) = form else {
        return wrong(node, "this is no audience", form);
    };
    let audiences = list(node, many, audience)?;
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

fn audience(node: &Node<'_>, form: &Form) -> Read<Audience> {
    let text = text(node, form)?;
    match Audience::new(text) {
        Some(audience) => Ok(audience),
        None => wrong(node, format!("{text:?} is no audience"), form),
    }
}

pub(in crate::config) fn log(reader: &Reader<'_>) -> LogConfig {
    let section = reader.table("logging");
    let formats = [("auto", Format::Auto), ("text", Format::Text), ("json", Format::Json)];
    LogConfig {
        format: section.word("format", &formats),
        level: section.need_as("level", level),
        access: section.need_as("access", access),
        full_addresses: section.need("full_addresses"),
    }
}

fn level(node: &Node<'_>, form: &Form) -> Read<String> {
    let text = text(node, form)?;
    match check_filter(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(_) => wrong(node, format!("\"{text}\" is no log level"), form),
    }
}

fn access(node: &Node<'_>, form: &Form) -> Read<Option<AccessTarget>> {
    match text(node, form)? {
        "off" => Ok(None),
        "stdout" => Ok(Some(AccessTarget::Stdout)),
        other => match other.strip_prefix("file:").filter(|path| !path.is_empty()) {
            Some(path) => Ok(Some(AccessTarget::File(PathBuf::from(path)))),
            None => wrong(node, format!("there is no access log at \"{other}\""), form),
        },
    }
}
