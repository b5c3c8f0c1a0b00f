//! TLS to the upstream: trusted authorities, and the gate's own certificate. Files are read and checked here, so that `ropeline check` finds what
//! the start would.

use std::path::PathBuf;

use crate::config::document::secret;
use crate::config::document::value::{host_name, text};
use crate::config::document::{Node, Read, Section};
use crate::config::keys::Form;
use crate::config::server::store::{CaFile, ca_file};
use crate::proxy::{UpstreamServer, check_authorities, check_name};
use crate::tls::Files;
use ropeline_ids::Secret;

/// TLS to the servers that use it.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The system's authorities when there is none.
    pub ca_file: Option<CaFile>,
    pub server_name: Option<String>,
    /// Our own certificate and its key.
    pub client: Option<(CaFile, Secret)>,
}

pub(in crate::config) fn read(section: &Section<'_>, servers: &[UpstreamServer]) -> Tls {
    if !servers.is_empty() && !servers.iter().any(|server| server.tls) {
        let names = ["ca_file", "server_name", "client_cert_file", "client_key_file"];
        section.only_with(&names, "an https:// url");
    }
    Tls {
        ca_file: authorities(section),
        server_name: section.get_as("server_name", |node, form| host_name(node, form).map(str::to_owned)),
        client: client(section),
    }
    .named(section)
}

impl Tls {
    fn named(self, section: &Section<'_>) -> Self {
        if let Some(name) = self.server_name.as_deref().filter(|name| !check_name(name)) {
            let wrong = format!("\"{name}\" can be no name of a certificate");
            section.mistake("server_name", wrong, "a host without a port, such as \"shop.internal\"");
        }
        self
    }
}

fn authorities(section: &Section<'_>) -> Option<CaFile> {
    let file = section.get_as("ca_file", ca_file)?;
    if let Err(error) = check_authorities(&file.pem) {
        let wrong = format!("{} cannot be used ({error})", file.path.display());
        let right = "a PEM file with the authorities' certificates, from -----BEGIN to -----END";
        section.mistake("ca_file", wrong, right);
    }
    Some(file)
}

fn client(section: &Section<'_>) -> Option<(CaFile, Secret)> {
    let certificate = section.get_as("client_cert_file", ca_file);
    let key = section.get_as("client_key_file", key_file);
    let (has_certificate, has_key) = (section.is_set("client_cert_file"), section.is_set("client_key_file"));
    if has_certificate != has_key {
        let set = if has_key { "client_key_file" } else { "client_cert_file" };
        section.mistake(
            set,
            "a certificate and its key belong together",
            "both client_cert_file and client_key_file",
        );
    }
    let (certificate, (key, secret)) = certificate.zip(key)?;
    let files = Files {
        certificate: certificate.path.clone(),
        key,
    };
    if let Err(error) = files.load() {
        section.mistake("client_cert_file", error.to_string(), error.right());
    }
    Some((certificate, secret))
}

fn key_file(node: &Node<'_>, form: &Form) -> Read<(PathBuf, Secret)> {
    let secret = secret::pem_file(node, form)?;
    Ok((PathBuf::from(text(node, form)?), secret))
}
