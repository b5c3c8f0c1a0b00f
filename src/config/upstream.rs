//! The shop behind the gate.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use http::Uri;

use super::gate::{Server, duration};
use super::listen::Listen;
use super::reader::{Node, Read, Reader};
use super::secret;
use super::value::{text, wrong};
use crate::token::Key;

/// Where the shop listens, and what bounds the way to it.
#[derive(Clone, Debug)]
pub struct Upstream {
    /// Name or address, IPv6 without brackets.
    pub host: String,
    pub port: u16,
    pub connect_timeout: Duration,
    /// Until the head of the answer is complete.
    pub response_timeout: Duration,
    pub body_timeout: Duration,
    pub write_timeout: Duration,
    pub tunnel_timeout: Duration,
    pub keep_alive: Duration,
    /// Signs every forwarded request.
    pub signature_key: Option<Key>,
}

const DAY: u64 = 86_400_000;

/// `None` where there may be none and none is named, or with a mistake noted.
pub(super) fn read(reader: &Reader<'_>, server: &Server, may_be_none: bool) -> Option<Upstream> {
    let section = reader.table("upstream");
    let is_none = may_be_none && !section.is_set("url");
    let url = if is_none { None } else { section.get("url", address) };
    if let Some((host, port)) = &url
        && server
            .listen
            .iter()
            .filter_map(Listen::address)
            .any(|own| meets(own, host, *port))
    {
        section.mistake(
            "url",
            "this is the gate's own listener: requests would go round in circles",
            "the shop's address",
        );
    }
    let (host, port) = url.unwrap_or_default();
    let upstream = Upstream {
        host,
        port,
        connect_timeout: duration(&section, "connect_timeout", DAY),
        response_timeout: duration(&section, "response_timeout", DAY),
        body_timeout: duration(&section, "body_timeout", DAY),
        write_timeout: duration(&section, "write_timeout", DAY),
        tunnel_timeout: duration(&section, "tunnel_timeout", 7 * DAY),
        keep_alive: duration(&section, "keep_alive", DAY),
        signature_key: section.get("signature_key", |node| secret::key(reader, node)),
    };
    (upstream.port != 0).then_some(upstream)
}

/// The shop has this key: with it, it could sign tickets and passes if they had the same.
pub(super) fn check_key(reader: &Reader<'_>, upstream: &Upstream, keys: &[Key]) {
    let Some(own) = &upstream.signature_key else { return };
    if keys.iter().any(|key| key.secret.expose() == own.secret.expose()) {
        reader.mistake(
            "upstream.signature_key",
            "this is the secret of one of [tokens] keys",
            "a secret of its own, since the shop has to know it",
        );
    }
}

/// True when a connection to `host` and `port` from this machine would come in at `listener`.
pub(super) fn meets(listener: SocketAddr, host: &str, port: u16) -> bool {
    let host = if host.eq_ignore_ascii_case("localhost") {
        "127.0.0.1"
    } else {
        host
    };
    let Ok(address) = host.parse::<IpAddr>() else {
        return false;
    };
    let local = address.is_loopback() || address.is_unspecified();
    let same = address == listener.ip() || (listener.ip().is_unspecified() && local) || address.is_unspecified();
    same && port == listener.port() && port != 0
}

fn address(node: &Node<'_>) -> Read<(String, u16)> {
    let right = "the shop's plain HTTP address, such as \"http://127.0.0.1:3000\"";
    let url = text(node, right)?;
    if url.starts_with("https:") {
        let right =
            format!("{right}; where the shop speaks TLS only, a local TLS client such as stunnel between the two");
        return wrong(node, "the gate speaks plain HTTP to the shop", right);
    }
    let Ok(uri) = url.parse::<Uri>() else {
        return wrong(node, format!("\"{url}\" is no URL"), right);
    };
    let (Some("http"), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return wrong(node, format!("\"{url}\" does not begin with http://"), right);
    };
    if authority.as_str().contains('@') {
        return wrong(
            node,
            "the URL has a user name in it",
            "the URL without it; headers of visitors are forwarded as they are",
        );
    }
    if uri.query().is_some() || !matches!(uri.path(), "" | "/") {
        return wrong(
            node,
            "the URL has a path",
            "host and port only: requests are forwarded with their own path",
        );
    }
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let port = authority
        .port_u16()
        .or_else(|| authority.port().is_none().then_some(80));
    match port.filter(|port| *port != 0 && !host.is_empty()) {
        Some(port) => Ok((host.to_owned(), port)),
        None => wrong(node, format!("\"{url}\" has no host or no port"), right),
    }
}
