//! The gate that virtual visitors go to: its address, and TLS where that is spoken there.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::path::Path;
use std::sync::Arc;

use http::uri::{Authority, Uri};
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{self, ClientConfig};

use crate::cli::remote::Failure;
use crate::config::{Config, Listen};
use crate::proxy::visitors_tls;

/// Where the visitors go, and how it is called where nothing else is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Aim {
    pub address: SocketAddr,
    pub tls: bool,
    pub authority: String,
}

/// As an aim is reached.
#[derive(Clone)]
pub struct Place {
    address: SocketAddr,
    /// Whose certificate it must show.
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum NoConnection {
    #[error("no connection: {0}")]
    Connect(io::Error),
    #[error("no TLS: {0}")]
    Tls(io::Error),
}

impl NoConnection {
    /// Whether a server is there that speaks TLS, and only its certificate or the name asked for is not right: a client who does not
    /// care comes in. Other alerts are refusals, for instance of a client without a certificate.
    pub fn is_of_certificate(&self) -> bool {
        let Self::Tls(error) = self else { return false };
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        matches!(
            inner,
            Some(
                rustls::Error::InvalidCertificate(_)
                    | rustls::Error::AlertReceived(rustls::AlertDescription::UnrecognisedName)
            )
        )
    }
}

/// A connection to it.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

impl Aim {
    /// The first address of a configuration that could be reached, one in the clear before others.
    pub fn of(config: &Config) -> Result<Self, Failure> {
        let clear = config.server.listen.iter();
        let secured = config.tls.listen.iter();
        let mut all = clear
            .map(|listen| (listen, false))
            .chain(secured.map(|listen| (listen, true)));
        let found = all.find_map(|(listen, tls)| match listen {
            Listen::Tcp(address) if address.port() != 0 => Some((reachable(*address), tls)),
            _ => None,
        });
        let none = "the configuration names no address that could be reached from here: say where with --url";
        let (address, tls) = found.ok_or_else(|| Failure::Local(none.to_owned()))?;
        Ok(Self {
            address,
            tls,
            authority: address.to_string(),
        })
    }

    /// What a URL names: `https://shop.example`, `http://127.0.0.1:8080`, or an address in the clear.
    pub fn named(url: &str) -> Result<Self, Failure> {
        let wrong = |why: &str| Failure::Local(format!("{url}: {why}; a URL looks like http://127.0.0.1:8080"));
        let (rest, tls) = match url.strip_prefix("https://") {
            Some(rest) => (rest, true),
            None => (url.strip_prefix("http://").unwrap_or(url), false),
        };
        let authority = rest.trim_end_matches('/');
        let parsed: Authority = authority.parse().map_err(|_| wrong("that is no address"))?;
        let port = parsed.port_u16().unwrap_or(if tls { HTTPS_PORT } else { HTTP_PORT });
        let host = parsed.host().trim_start_matches('[').trim_end_matches(']');
        let mut found = (host, port)
            .to_socket_addrs()
            .map_err(|error| wrong(&error.to_string()))?;
        Ok(Self {
            address: found.next().ok_or_else(|| wrong("the name has no address"))?,
            tls,
            authority: authority.to_owned(),
        })
    }

    /// Where a gate redirects requests in the clear: the same machine, at the port that it names.
    pub fn redirected(&self, location: &str) -> Option<Self> {
        let uri: Uri = location.parse().ok()?;
        let authority = uri
            .authority()
            .filter(|_| !self.tls && uri.scheme_str() == Some("https"))?;
        let port = authority.port_u16().unwrap_or(HTTPS_PORT);
        Some(Self {
            address: SocketAddr::new(self.address.ip(), port),
            tls: true,
            authority: self.authority.clone(),
        })
    }

    /// `host` is the host to ask for there.
    pub fn place(&self, host: &str, authorities: Option<&[u8]>) -> Result<Place, Failure> {
        if !self.tls {
            return Ok(Place::in_the_clear(self.address));
        }
        let wrong = |why: String| Failure::Local(format!("TLS to {self}: {why}"));
        let connector = visitors_tls(authorities).map_err(wrong)?;
        let authority: Option<Authority> = host.parse().ok();
        let name = authority.as_ref().map_or(host, Authority::host);
        let name = name.trim_start_matches('[').trim_end_matches(']').to_owned();
        let shown = ServerName::try_from(name.clone());
        let shown = shown.map_err(|_| wrong(format!("{name:?} can be no name of a certificate")))?;
        Ok(Place {
            address: self.address,
            tls: Some((connector, shown)),
        })
    }
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.address)
    }
}

impl Place {
    pub fn in_the_clear(address: SocketAddr) -> Self {
        Self { address, tls: None }
    }

    /// The same place, where HTTP/2 is spoken: by ALPN over TLS, at once in the clear (RFC 9113, section 3).
    pub fn over_http2(&self) -> Self {
        let tls = self.tls.as_ref().map(|(connector, name)| {
            let mut config = ClientConfig::clone(connector.config());
            config.alpn_protocols = vec![b"h2".to_vec()];
            (TlsConnector::from(Arc::new(config)), name.clone())
        });
        Self {
            address: self.address,
            tls,
        }
    }

    pub fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    pub async fn connect(&self) -> Result<Box<dyn Stream>, NoConnection> {
        let stream = TcpStream::connect(self.address).await.map_err(NoConnection::Connect)?;
        let _ = stream.set_nodelay(true);
        let Some((connector, name)) = &self.tls else {
            return Ok(Box::new(stream));
        };
        let secured = connector.connect(name.clone(), stream).await;
        Ok(Box::new(secured.map_err(NoConnection::Tls)?))
    }
}

/// The certificate authorities of `--ca-file`.
pub fn authorities(file: Option<&Path>) -> Result<Option<Vec<u8>>, Failure> {
    let Some(file) = file else { return Ok(None) };
    let wrong = |error| Failure::Local(format!("--ca-file {} cannot be read: {error}", file.display()));
    std::fs::read(file).map(Some).map_err(wrong)
}

/// Where a listener at this address can be reached from its own machine.
pub fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_an_address_with_and_without_tls() {
        for (url, aim) in [
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("https://127.0.0.1:8443", "https://127.0.0.1:8443"),
            ("https://[::1]", "https://[::1]:443"),
            ("127.0.0.1", "http://127.0.0.1:80"),
        ] {
            assert_eq!(
                Aim::named(url).ok().map(|aim| aim.to_string()).as_deref(),
                Some(aim),
                "{url}"
            );
        }
        assert!(Aim::named("http://a b").is_err());
    }

    #[test]
    fn a_redirect_leads_to_the_same_machine() {
        let aim = Aim::named("http://127.0.0.1:8080").unwrap_or_else(|failure| panic!("{failure}"));
        let to = |location| aim.redirected(location).map(|aim| aim.to_string());
        assert_eq!(to("https://shop.example/a").as_deref(), Some("https://127.0.0.1:443"));
        assert_eq!(
            to("https://shop.example:8443/a").as_deref(),
            Some("https://127.0.0.1:8443")
        );
        for elsewhere in ["http://shop.example/", "/a", "nothing at all", ""] {
            assert_eq!(to(elsewhere), None, "{elsewhere}");
        }
        let secured = aim.redirected("https://shop.example/").expect("one");
        assert_eq!(secured.redirected("https://shop.example/"), None, "only once");
    }
}
