//! Certificates that the gates get from an authority by ACME.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::Uri;

use crate::config::document::value::{both, fields, text, wrong};
use crate::config::document::{Node, Read, Reader, Section, secret};
use crate::config::keys::Form;
use crate::config::server::Server;
use crate::config::server::store::{CaFile, ca_file};
use crate::proxy::{check_authorities, check_name};
use ropeline_ids::{Secret, Wall};

/// The hosts and their authority.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Acme {
    /// Names without a port or a star, in lower case, each once; at least one.
    pub hosts: Vec<String>,
    /// An https URL.
    pub directory: String,
    /// Mail addresses.
    pub contact: Vec<String>,
    /// `None`: the system's authorities.
    pub ca_file: Option<CaFile>,
    pub external_account: Option<ExternalAccount>,
    pub challenge: ChallengeKind,
    /// After the first failure.
    pub retry: Duration,
    /// The account and certificates from before this time are made anew.
    pub replace_before: Option<Wall>,
}

/// The account at the authority that the gates' own belongs to (RFC 8555, section 7.3.4).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExternalAccount {
    pub id: String,
    /// The key itself, decoded.
    pub key: Secret,
}

/// How the authority verifies a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChallengeKind {
    /// RFC 8555, section 8.3.
    Http01,
    /// RFC 8737.
    TlsAlpn01,
}

/// `None`: no host is named.
pub(in crate::config) fn read(section: &Section<'_>, server: &Server) -> Option<Acme> {
    let hosts: Vec<String> = section.list_as("hosts", host);
    let kinds = [
        ("http-01", ChallengeKind::Http01),
        ("tls-alpn-01", ChallengeKind::TlsAlpn01),
    ];
    let acme = Acme {
        directory: section.need_as("directory", directory),
        contact: section.list_as("contact", address),
        ca_file: section.get_as("ca_file", authorities),
        external_account: section.get_as("external_account", |node, form| external(section.reader(), node, form)),
        challenge: section.word("challenge", &kinds),
        retry: section.need("retry"),
        replace_before: section.get_as("replace_before", time),
        hosts,
    };
    if acme.hosts.is_empty() {
        let rest = [
            "directory",
            "contact",
            "ca_file",
            "external_account",
            "challenge",
            "retry",
            "replace_before",
        ];
        let set: Vec<&str> = rest.into_iter().filter(|name| !section.is_default(name)).collect();
        if let (Some(name), false) = (set.first(), section.has_mistake("hosts")) {
            section.warning(
                name,
                "no host is named, so no authority is asked",
                "hosts = [\"shop.example\"]",
            );
        }
        return None;
    }
    if acme.hosts.len() > MAX_HOSTS {
        section.mistake(
            "hosts",
            format!("{} hosts", acme.hosts.len()),
            format!("at most {MAX_HOSTS}"),
        );
    }
    if let Some(twice) = (1..acme.hosts.len()).find(|at| acme.hosts[..*at].contains(&acme.hosts[*at])) {
        section.mistake("hosts", format!("{} stands twice", acme.hosts[twice]), "each host once");
    }
    let is_unread = section.reader().has_mistake("server.listen");
    if acme.challenge == ChallengeKind::Http01 && server.listen.is_empty() && !is_unread {
        let wrong = "the authority asks over plain HTTP, and nothing listens for that";
        section.mistake(
            "challenge",
            wrong,
            "\"tls-alpn-01\", or an address in [server] listen that port 80 leads to",
        );
    }
    Some(acme)
}

fn host(node: &Node<'_>, form: &Form) -> Read<String> {
    let text = text(node, form)?;
    if text.starts_with("*.") {
        let wrong =
            format!("\"{text}\" has a star, which an authority verifies over DNS only (dns-01), and the gate cannot");
        return self::wrong(
            node,
            wrong,
            "each host by its name, or a certificate of another ACME client in [tls] certificates",
        );
    }
    let host = text.to_ascii_lowercase();
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.');
    let is_name = host.len() <= MAX_HOST && host.bytes().all(plain) && check_name(&host);
    if !is_name || host.parse::<std::net::IpAddr>().is_ok() {
        return self::wrong(
            node,
            format!("\"{text}\" is no host that a certificate can be for"),
            form,
        );
    }
    Ok(host)
}

fn directory(node: &Node<'_>, form: &Form) -> Read<String> {
    let text = text(node, form)?;
    let uri = text.parse::<Uri>().ok();
    let is_right =
        uri.is_some_and(|uri| uri.scheme_str() == Some("https") && uri.host().is_some_and(|host| !host.is_empty()));
    if is_right && !text.contains('@') {
        return Ok(text.to_owned());
    }
    wrong(node, "this is no https URL", form)
}

fn address(node: &Node<'_>, form: &Form) -> Read<String> {
    let text = text(node, form)?;
    let address = text.strip_prefix("mailto:").unwrap_or(text);
    let parts = address.split_once('@');
    let is_right = parts.is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !host.contains('@'));
    if is_right && address.bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(address.to_owned());
    }
    wrong(node, format!("{text:?} is no mail address"), form)
}

fn time(node: &Node<'_>, form: &Form) -> Read<Wall> {
    let time = text(node, form)?.parse::<jiff::Timestamp>().ok();
    match time.and_then(|time| u64::try_from(time.as_millisecond()).ok()) {
        Some(millis) => Ok(Wall(millis)),
        None => wrong(node, "this is no time with an offset", form),
    }
}

fn authorities(node: &Node<'_>, form: &Form) -> Read<CaFile> {
    let file = ca_file(node, form)?;
    match check_authorities(&file.pem) {
        Ok(()) => Ok(file),
        Err(error) => wrong(node, format!("{} cannot be used ({error})", file.path.display()), form),
    }
}

/// The secret is text as authorities hand it out: base64url, or base64. SECURITY: no message shows any part of it.
fn external(reader: &Reader<'_>, node: &Node<'_>, form: &Form) -> Read<ExternalAccount> {
    let [id, own] = fields(node, form)?;
    let (id, secret) = both(text(id.node, id.form), secret::password(reader, own.node, own.form))?;
    let decoded = URL_SAFE_NO_PAD
        .decode(secret.trim_end_matches('='))
        .or_else(|_| STANDARD.decode(&secret));
    match decoded {
        Ok(key) if !id.is_empty() => Ok(ExternalAccount {
            id: id.to_owned(),
            key: Secret::new(key),
        }),
        Ok(_) => wrong(node, "the id is empty", form),
        Err(_) => wrong(
            node,
            "the secret is not in base64url",
            "the HMAC key as the authority gives it",
        ),
    }
}

/// Each host has a certificate of its own.
const MAX_HOSTS: usize = 100;
/// Longest name in DNS.
const MAX_HOST: usize = 253;
