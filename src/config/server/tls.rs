//! TLS towards visitors: its listeners, and certificates that are read and checked at once.

use std::num::NonZeroU16;

use crate::config::document::value::{both, fields, wrong};
use crate::config::document::{Node, Read, Reader, Section};
use crate::config::keys::Form;
use crate::config::server::listen::{self, Listen};
use crate::config::server::{Admin, Server, acme};
use crate::time;
use crate::tls::{Files, Pair, Version};

/// Listeners with TLS, and their certificates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tls {
    /// None of them is another listener's. Empty: no listener has TLS.
    pub listen: Vec<Listen>,
    /// Not empty where `listen` is not, unless an authority is asked. The first is for clients that name no host, or one without a certificate.
    pub certificates: Vec<Files>,
    pub min_version: Version,
    pub http2: bool,
    /// Requests in the clear are sent here.
    pub redirect: bool,
    /// `None`: the port of the first listener.
    pub redirect_port: Option<NonZeroU16>,
    /// `None`: no authority is asked.
    pub acme: Option<acme::Acme>,
}

pub(in crate::config) fn read(reader: &Reader<'_>, server: &Server, admin: &Admin) -> Tls {
    let section = reader.table("tls");
    let listen = section.list_as("listen", listen::listen);
    let pairs = section.list_as("certificates", pair);
    let versions = [("1.2", Version::Tls12), ("1.3", Version::Tls13)];
    let tls = Tls {
        listen,
        certificates: pairs.iter().map(|(files, _)| files.clone()).collect(),
        min_version: section.word("min_version", &versions),
        http2: section.need("http2"),
        redirect: section.need("redirect"),
        redirect_port: section.get("redirect_port").and_then(NonZeroU16::new),
        acme: acme::read(&section.table("tls.acme"), server),
    };
    for (files, pair) in &pairs {
        for odd in files.oddities(pair, time::wall()) {
            section.warning("certificates", odd.wrong, odd.right);
        }
    }
    check_listeners(&section, &tls, server, admin);
    check_certificates(&section, &tls);
    check_hosts(&section, &tls, &pairs);
    check_redirect(&section, &tls);
    tls
}

fn check_listeners(section: &Section<'_>, tls: &Tls, server: &Server, admin: &Admin) {
    let reader = section.reader();
    let is_unread = reader.has_mistake("server.listen") || section.has_mistake("listen");
    if server.listen.is_empty() && tls.listen.is_empty() && !is_unread {
        let right = "at least one address, such as [\"0.0.0.0:8080\"]";
        reader.mistake("server.listen", "nobody could come in", right);
    }
    let admin_host = admin.listen.ip().to_string();
    for (at, own) in tls.listen.iter().enumerate().filter(|(_, own)| !own.is_any_port()) {
        if tls.listen[..at].contains(own) {
            section.mistake("listen", format!("{own} stands twice"), "each address once");
        }
        if server.listen.contains(own) {
            let wrong = format!("visitors come in at {own} in the clear");
            section.mistake("listen", wrong, "an address of its own, such as \"0.0.0.0:8443\"");
        }
        let address = own.address();
        if address.is_some_and(|own| listen::meets(own, &admin_host, admin.listen.port())) {
            let wrong = format!("the operator's side is at {}", admin.listen);
            section.mistake("listen", wrong, "an address of its own, such as \"0.0.0.0:8443\"");
        }
    }
}

fn check_certificates(section: &Section<'_>, tls: &Tls) {
    let is_unread = section.has_mistake("certificates") || section.reader().has_mistake("tls.acme.hosts");
    if !tls.listen.is_empty() && tls.certificates.is_empty() && tls.acme.is_none() && !is_unread {
        let right = "[{ cert_file = \"/path/fullchain.pem\", key_file = \"/path/privkey.pem\" }]";
        section.mistake("certificates", "there is nothing to show visitors", right);
    }
    if tls.listen.is_empty() && !tls.certificates.is_empty() && !section.has_mistake("listen") {
        section.warning("certificates", "no listener shows them", "listen = [\"0.0.0.0:8443\"]");
    }
    for (at, files) in tls.certificates.iter().enumerate() {
        let same = |other: &Files| other.certificate == files.certificate;
        if tls.certificates[..at].iter().any(same) {
            let wrong = format!("{} stands twice", files.certificate.display());
            section.mistake("certificates", wrong, "each certificate once");
        }
    }
}

/// Hosts that the gate gets certificates for, and that nobody would see them of.
fn check_hosts(section: &Section<'_>, tls: &Tls, pairs: &[(Files, Pair)]) {
    let Some(acme) = &tls.acme else { return };
    if tls.listen.is_empty() && !section.has_mistake("listen") {
        section.warning(
            "acme.hosts",
            "no listener shows the certificates",
            "[tls] listen = [\"0.0.0.0:8443\"]",
        );
    }
    for host in &acme.hosts {
        if let Some((files, _)) = pairs.iter().find(|(_, pair)| pair.names().contains(host)) {
            let wrong = format!(
                "{host} is in {} too, and visitors get that one",
                files.certificate.display()
            );
            section.warning("acme.hosts", wrong, "each host in one of the two");
        }
    }
}

fn check_redirect(section: &Section<'_>, tls: &Tls) {
    if tls.redirect && tls.listen.is_empty() && !section.has_mistake("listen") {
        section.mistake(
            "redirect",
            "there is no listener with TLS to send them to",
            "listen = [\"0.0.0.0:8443\"]",
        );
    }
    if tls.redirect_port.is_some() && !tls.redirect && !section.has_mistake("redirect") {
        section.warning("redirect_port", "nobody is sent anywhere", "redirect = true");
    }
}

fn pair(node: &Node<'_>, form: &Form) -> Read<(Files, Pair)> {
    let [certificate, key] = fields(node, form)?;
    let (certificate, key) = both(certificate.read(), key.read())?;
    let files = Files { certificate, key };
    match files.load() {
        Ok(pair) => Ok((files, pair)),
        Err(error) => wrong(node, error.to_string(), error.right()),
    }
}
