//! TLS to the upstream: who signs its certificate, for which name, and the certificate we show.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use rustls::client::WantsClientCert;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::error::UpstreamError;
use super::protocol::Protocol;
use crate::settings::{Place, UpstreamServer, UpstreamTls};

/// How TLS is spoken to all servers.
pub(super) struct Tls {
    connector: TlsConnector,
    /// Offers HTTP/2 too.
    either: TlsConnector,
    /// The name each server's certificate must be for.
    names: HashMap<String, ServerName<'static>>,
    one_name: Option<ServerName<'static>>,
}

impl Tls {
    pub(super) fn new(settings: Option<&UpstreamTls>, servers: &[UpstreamServer]) -> Result<Self, UpstreamError> {
        let builder = builder(settings.and_then(|tls| tls.authorities.as_deref()))?;
        let mut config = with_own(builder, settings)?;
        config.alpn_protocols = vec![HTTP1.to_vec()];
        let mut either = config.clone();
        either.alpn_protocols.insert(0, HTTP2.to_vec());
        let mut names = HashMap::new();
        for server in servers.iter().filter(|server| server.tls) {
            if let Place::Host(host, _) = &server.place {
                names.insert(host.clone(), server_name("url", host)?);
            }
        }
        let name = settings.and_then(|tls| tls.name.as_deref());
        Ok(Self {
            connector: TlsConnector::from(Arc::new(config)),
            either: TlsConnector::from(Arc::new(either)),
            names,
            one_name: name.map(|name| server_name("server_name", name)).transpose()?,
        })
    }

    /// Offers `most`, and HTTP/1.1 in any case; returns the server's choice.
    pub(super) async fn connect(
        &self,
        server: &UpstreamServer,
        stream: TcpStream,
        most: Protocol,
    ) -> io::Result<(TlsStream<TcpStream>, Protocol)> {
        let own = match &server.place {
            Place::Host(host, _) => self.names.get(host),
            Place::Unix(_) => None,
        };
        let Some(name) = self.one_name.as_ref().or(own) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "there is no name to check the certificate for",
            ));
        };
        let connector = match most {
            Protocol::Http1 => &self.connector,
            Protocol::Http2 => &self.either,
        };
        let stream = connector.connect(name.clone(), stream).await?;
        let chosen = match stream.get_ref().1.alpn_protocol() {
            Some(HTTP2) => Protocol::Http2,
            _ => Protocol::Http1,
        };
        Ok((stream, chosen))
    }
}

/// HTTP/1.1 over TLS for a command that acts as a visitor. These authorities are trusted, or the system's if there are none.
///
/// # Errors
/// The reason why the authorities cannot be used.
pub fn visitors_tls(authorities: Option<&[u8]>) -> Result<TlsConnector, String> {
    let builder = builder(authorities).map_err(|error| match error {
        UpstreamError::Tls { why, .. } => why,
        other @ UpstreamError::Thread(_) => other.to_string(),
    })?;
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![HTTP1.to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

fn builder(authorities: Option<&[u8]>) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, UpstreamError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let roots = Arc::new(roots(authorities)?);
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(builder
        .map_err(|error| wrong("url", error))?
        .with_root_certificates(roots))
}

/// As ALPN names them (RFC 7301, section 6).
const HTTP1: &[u8] = b"http/1.1";
const HTTP2: &[u8] = b"h2";

fn roots(pem: Option<&[u8]>) -> Result<RootCertStore, UpstreamError> {
    let mut roots = RootCertStore::empty();
    let Some(pem) = pem else {
        let system = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(system.certs);
        if roots.is_empty() {
            return Err(wrong(
                "ca_file",
                "this system has no authorities of its own: name a file of them",
            ));
        }
        return Ok(roots);
    };
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| wrong("ca_file", error))?;
        roots.add(certificate).map_err(|error| wrong("ca_file", error))?;
    }
    if roots.is_empty() {
        return Err(wrong("ca_file", "it holds no certificate"));
    }
    Ok(roots)
}

/// Fails with a description if a file of authorities cannot be used.
pub fn check_authorities(pem: &[u8]) -> Result<(), String> {
    match roots(Some(pem)) {
        Err(UpstreamError::Tls { why, .. }) => Err(why),
        Err(error) => Err(error.to_string()),
        Ok(_) => Ok(()),
    }
}

/// Whether certificates can be for this name.
#[must_use]
pub fn check_name(name: &str) -> bool {
    server_name("server_name", name).is_ok()
}

fn with_own(
    builder: ConfigBuilder<ClientConfig, WantsClientCert>,
    settings: Option<&UpstreamTls>,
) -> Result<ClientConfig, UpstreamError> {
    let Some((chain, key)) = settings.and_then(|tls| tls.own.as_ref()) else {
        return Ok(builder.with_no_client_auth());
    };
    let chain: Vec<_> = CertificateDer::pem_slice_iter(chain)
        .collect::<Result<_, _>>()
        .map_err(|error| wrong("client_cert_file", error))?;
    if chain.is_empty() {
        return Err(wrong("client_cert_file", "it holds no certificate"));
    }
    let key = PrivateKeyDer::from_pem_slice(key.expose()).map_err(|error| wrong("client_key_file", error))?;
    builder
        .with_client_auth_cert(chain, key)
        .map_err(|error| wrong("client_key_file", error))
}

fn server_name(key: &'static str, name: &str) -> Result<ServerName<'static>, UpstreamError> {
    ServerName::try_from(name.to_owned()).map_err(|_| wrong(key, format!("\"{name}\" can be no name of a certificate")))
}

fn wrong(key: &'static str, why: impl Into<Box<dyn std::error::Error>>) -> UpstreamError {
    UpstreamError::Tls {
        key,
        why: why.into().to_string(),
    }
}
