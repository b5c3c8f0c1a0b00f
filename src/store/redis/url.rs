//! The address of a shared store, as an operator writes it: one server, the nodes of a cluster, or sentinels that know the server.
//! By hand, because redis' own `ConnectionInfo` is one server, and its errors repeat the password.
//!
//! A mistake is reported with what would be right. SECURITY: neither a message nor `Display` nor `Debug` shows a password, or any
//! part of the text that may be one.

use std::fmt;
use std::str::FromStr;

use super::percent;

/// A parsed `[store] url`.
#[derive(Clone, PartialEq, Eq)]
pub struct RedisUrl {
    pub(super) place: Place,
    pub(super) tls: bool,
    pub(super) login: Login,
    /// Always 0 in a cluster, which has no other.
    pub(super) db: u32,
}

/// The servers to ask for the store.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Place {
    One(Node),
    /// Some of a cluster's nodes; the others are learnt from them.
    Cluster(Vec<Node>),
    /// Sentinels, and the name that they know the master by.
    Sentinel {
        sentinels: Vec<Node>,
        master: String,
        /// For the sentinels themselves; the URL's own user and password are for the master.
        login: Login,
    },
}

/// A user and password as the server wants them, each optional.
#[derive(Clone, PartialEq, Eq, Default)]
pub(super) struct Login {
    pub user: Option<String>,
    pub password: Option<String>,
}

/// Name or address, IPv6 without brackets, and port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Node {
    pub host: String,
    pub port: u16,
}

/// Text that is no store's URL.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}; right would be {right}")]
pub struct UrlError {
    /// The mistake in it.
    pub what: String,
    /// The correction.
    pub right: String,
}

impl RedisUrl {
    /// The URL with this password, when the URL itself shall not have it.
    #[must_use]
    pub fn with_password(mut self, password: impl Into<String>) -> Self {
        self.login.password = Some(password.into());
        self
    }

    /// Whether the URL came with a password.
    #[must_use]
    pub fn has_password(&self) -> bool {
        self.login.password.is_some()
    }

    /// Whether the URL names a user without the password that this user needs.
    #[must_use]
    pub fn lacks_password(&self) -> bool {
        self.login.user.is_some() && self.login.password.is_none()
    }

    /// Whether connections are encrypted.
    #[must_use]
    pub fn tls(&self) -> bool {
        self.tls
    }
}

impl FromStr for RedisUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let (kind, tls, rest) = scheme(text)?;
        let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        // Before any part is quoted: behind an unescaped sign of a password the rest of it would look like a path.
        if tail.contains('@') || tail.contains('#') {
            return wrong(
                "a \"/\", \"?\", \"#\" or \"@\" stands in the URL where none can",
                "%2F, %3F, %23 and %40 for these signs in a user name or password",
            );
        }
        let (login, hosts) = match authority.rsplit_once('@') {
            Some((login, hosts)) => (self::login(login)?, hosts),
            None => (Login::default(), authority),
        };
        let (path, query) = tail.split_once('?').unwrap_or((tail, ""));
        let path = path.strip_prefix('/').unwrap_or(path);
        let sentinel_login = query_login(query, kind)?;
        let nodes = nodes(hosts, kind)?;
        let (place, db) = match kind {
            Kind::One => (one(nodes)?, db(path)?),
            Kind::Cluster if !matches!(path, "" | "0") => {
                return wrong("a cluster has no database but 0", "the URL without it");
            }
            Kind::Cluster => (Place::Cluster(nodes), 0),
            Kind::Sentinel => sentinel(nodes, path, sentinel_login)?,
        };
        Ok(Self { place, tls, login, db })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    One,
    Cluster,
    Sentinel,
}

fn scheme(text: &str) -> Result<(Kind, bool, &str), UrlError> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return wrong("the URL has no scheme", FORMS);
    };
    let (base, kind) = scheme.split_once('+').unwrap_or((scheme, ""));
    let kind = match kind {
        "" => Kind::One,
        "cluster" => Kind::Cluster,
        "sentinel" => Kind::Sentinel,
        _ => return wrong("the scheme ends with neither +cluster nor +sentinel", FORMS),
    };
    match base {
        "redis" | "valkey" => Ok((kind, false, rest)),
        "rediss" | "valkeys" => Ok((kind, true, rest)),
        _ => wrong("the scheme is none of a shared store", FORMS),
    }
}

fn login(text: &str) -> Result<Login, UrlError> {
    let (user, password) = match text.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (text, None),
    };
    let decode = |part: &str| {
        percent::decode(part).ok_or_else(|| UrlError {
            what: "the user name or password has a \"%\" that stands for nothing".into(),
            right: "%25 for a percent sign".into(),
        })
    };
    let user = decode(user)?;
    Ok(Login {
        user: Some(user).filter(|user| !user.is_empty()),
        password: password.map(decode).transpose()?.filter(|text| !text.is_empty()),
    })
}

/// The login for the sentinels themselves.
fn query_login(query: &str, kind: Kind) -> Result<Login, UrlError> {
    let mut login = Login::default();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = percent::decode(value).filter(|value| !value.is_empty());
        match key {
            "sentinel_user" if kind == Kind::Sentinel => login.user = value,
            "sentinel_password" if kind == Kind::Sentinel => login.password = value,
            _ => {
                return wrong(
                    "the URL has a parameter that is not known",
                    "none, but for sentinel_user and sentinel_password with sentinels",
                );
            }
        }
    }
    Ok(login)
}

fn nodes(hosts: &str, kind: Kind) -> Result<Vec<Node>, UrlError> {
    let port = if kind == Kind::Sentinel { 26_379 } else { 6_379 };
    let nodes: Vec<_> = hosts
        .split(',')
        .map(|text| node(text, port))
        .collect::<Result<_, _>>()?;
    if nodes.len() > MOST_NODES {
        return wrong(
            format!("{} hosts are too many", nodes.len()),
            format!("at most {MOST_NODES}"),
        );
    }
    Ok(nodes)
}

fn node(text: &str, default: u16) -> Result<Node, UrlError> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let Some((host, port)) = rest.split_once(']') else {
                return wrong("an IPv6 address has no closing bracket", "[::1]:6379");
            };
            (host, port.strip_prefix(':'))
        }
        None => match text.split_once(':') {
            Some((_, port)) if port.contains(':') => {
                return wrong(
                    "a host has more than one colon",
                    "an IPv6 address in brackets, [::1]:6379",
                );
            }
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':');
    if host.is_empty() || !host.bytes().all(plain) {
        return wrong("the URL has no host, or one that is no name", FORMS);
    }
    let port = port.map_or(Some(default), |port| port.parse().ok());
    let Some(port) = port.filter(|port| *port != 0) else {
        return wrong(format!("the port behind {host} is none"), "1 to 65535");
    };
    Ok(Node {
        host: host.to_owned(),
        port,
    })
}

fn one(mut nodes: Vec<Node>) -> Result<Place, UrlError> {
    match nodes.pop() {
        Some(node) if nodes.is_empty() => Ok(Place::One(node)),
        _ => wrong(
            "several hosts, and nothing says what they are",
            "redis+cluster://… for nodes of a cluster, redis+sentinel://…/master-name for sentinels",
        ),
    }
}

fn sentinel(sentinels: Vec<Node>, path: &str, login: Login) -> Result<(Place, u32), UrlError> {
    let (master, number) = path.split_once('/').unwrap_or((path, ""));
    let Some(master) = percent::decode(master).filter(|master| !master.is_empty()) else {
        return wrong(
            "the URL does not name the master that the sentinels watch",
            "redis+sentinel://host:26379/master-name",
        );
    };
    let place = Place::Sentinel {
        sentinels,
        master,
        login,
    };
    Ok((place, db(number)?))
}

fn db(text: &str) -> Result<u32, UrlError> {
    if text.is_empty() {
        return Ok(0);
    }
    match text.parse() {
        Ok(db) if db <= MOST_DB => Ok(db),
        _ => wrong("the database is no number", "0 to 65535, such as redis://host/1"),
    }
}

fn wrong<T>(what: impl Into<String>, right: impl Into<String>) -> Result<T, UrlError> {
    Err(UrlError {
        what: what.into(),
        right: right.into(),
    })
}

impl fmt::Display for RedisUrl {
    /// As written, with `***` for a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, nodes) = match &self.place {
            Place::One(node) => ("", std::slice::from_ref(node)),
            Place::Cluster(nodes) => ("+cluster", &nodes[..]),
            Place::Sentinel { sentinels, .. } => ("+sentinel", &sentinels[..]),
        };
        let tls = if self.tls { "s" } else { "" };
        write!(f, "redis{tls}{kind}://")?;
        if self.login != Login::default() {
            let password = if self.has_password() { ":***" } else { "" };
            write!(f, "{}{password}@", self.login.user.as_deref().unwrap_or_default())?;
        }
        for (index, node) in nodes.iter().enumerate() {
            write!(f, "{}{node}", if index == 0 { "" } else { "," })?;
        }
        if let Place::Sentinel { master, .. } = &self.place {
            write!(f, "/{master}")?;
        }
        if self.db == 0 {
            Ok(())
        } else {
            write!(f, "/{}", self.db)
        }
    }
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisUrl({self})")
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            return write!(f, "[{}]:{}", self.host, self.port);
        }
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Most hosts of one URL.
const MOST_NODES: usize = 64;

/// Highest database that is taken for one.
const MOST_DB: u32 = 65_535;

const FORMS: &str = "redis://host:6379, rediss://… with TLS, redis+cluster://host:6379,host:6379 or \
                     redis+sentinel://host:26379,host:26379/master-name, each with user:password@ before the host if need be";

#[cfg(test)]
mod tests;
