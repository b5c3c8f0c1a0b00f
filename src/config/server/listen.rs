//! Listeners for visitors: an address, a Unix socket, or a socket that systemd opened.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::{Component, Path, PathBuf};

use crate::config::document::value::{text, wrong};
use crate::config::document::{Node, Read};
use crate::config::keys::Form;

/// An entry of `[server] listen`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Listen {
    /// Over TCP.
    Tcp(SocketAddr),
    /// The file of a Unix socket.
    Unix(PathBuf),
    /// Sockets that systemd passes: those of this name, or those that no other entry names.
    Systemd(Option<String>),
}

impl Listen {
    /// Its address over TCP, where that is known.
    pub(in crate::config) fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address) => Some(*address),
            Self::Unix(_) | Self::Systemd(_) => None,
        }
    }

    /// Whether it may stand twice: the system chooses a port for each.
    pub(in crate::config) fn is_any_port(&self) -> bool {
        self.address().is_some_and(|address| address.port() == 0)
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "{UNIX}{}", path.display()),
            Self::Systemd(None) => f.write_str(SYSTEMD),
            Self::Systemd(Some(name)) => write!(f, "{SYSTEMD}:{name}"),
        }
    }
}

pub(in crate::config) fn listen(node: &Node<'_>, form: &Form) -> Read<Listen> {
    let text = text(node, form)?;
    if let Some(path) = text.strip_prefix(UNIX) {
        return unix(node, path);
    }
    if let Some(name) = text.strip_prefix(SYSTEMD) {
        return systemd(node, name);
    }
    match text.parse() {
        Ok(address) => Ok(Listen::Tcp(address)),
        Err(_) => wrong(node, format!("\"{text}\" is no address with port"), form),
    }
}

fn unix(node: &Node<'_>, path: &str) -> Read<Listen> {
    let right =
        format!("\"{UNIX}\" and the whole path of the socket's file, of at most {MAX_PATH} bytes and without \"..\"");
    let climbs = Path::new(path).components().any(|part| part == Component::ParentDir);
    if !path.starts_with('/') || path.ends_with('/') || path.len() > MAX_PATH || path.contains('\0') || climbs {
        return wrong(node, format!("\"{path}\" can be no socket's file"), right);
    }
    Ok(Listen::Unix(PathBuf::from(path)))
}

/// Names as systemd.socket(5) has them in `FileDescriptorName=`.
fn systemd(node: &Node<'_>, rest: &str) -> Read<Listen> {
    let is_name =
        |name: &str| (1..=255).contains(&name.len()) && name.bytes().all(|b| (b' '..=b'~').contains(&b) && b != b':');
    match rest.strip_prefix(':') {
        None if rest.is_empty() => Ok(Listen::Systemd(None)),
        Some(name) if is_name(name) => Ok(Listen::Systemd(Some(name.to_owned()))),
        _ => {
            let right = "\"systemd\", or \"systemd:NAME\" with the socket unit's FileDescriptorName";
            wrong(node, format!("\"{SYSTEMD}{rest}\" names no socket"), right)
        }
    }
}

/// The access mode of a file, as chmod(1) writes it.
pub(in crate::config) fn mode(node: &Node<'_>, form: &Form) -> Read<u32> {
    let text = text(node, form)?;
    let is_octal = (3..=4).contains(&text.len()) && text.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    match u32::from_str_radix(text, 8)
        .ok()
        .filter(|mode| is_octal && *mode <= 0o777)
    {
        Some(mode) => Ok(mode),
        None => wrong(node, format!("\"{text}\" is no mode"), form),
    }
}

const UNIX: &str = "unix:";
const SYSTEMD: &str = "systemd";
/// The kernel's limit: 108 bytes with the final NUL (unix(7)).
const MAX_PATH: usize = 107;

/// True when a connection to `host` and `port` from this machine would come in at `listener`.
pub(in crate::config) fn meets(listener: SocketAddr, host: &str, port: u16) -> bool {
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
