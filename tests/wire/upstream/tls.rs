//! A shop behind TLS or on a Unix socket: the authorities that the gate trusts, and its error when it does not.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use ropeline::proxy::{Place, UpstreamError, UpstreamServer, UpstreamServers, UpstreamSettings, UpstreamTls};
use ropeline::token::Secret;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tempfile::TempDir;

use crate::gate::Gate;
use crate::shop::OK;

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

fn openssl(folder: &Path, arguments: &str) {
    let made = Command::new("openssl")
        .current_dir(folder)
        .args(arguments.split_whitespace())
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// An authority, and a certificate of it for these names.
struct Paper(TempDir);

impl Paper {
    fn new(names: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
        let path = folder.path();
        openssl(
            path,
            &format!("req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj /CN=authority-of-{names}"),
        );
        openssl(path, &format!("req {key} -keyout own.key -out own.csr -subj /CN=own"));
        std::fs::write(path.join("names"), format!("subjectAltName={names}")).unwrap();
        openssl(
            path,
            "x509 -req -in own.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out own.pem -days 2 -extfile names",
        );
        Self(folder)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.path().join(name)).unwrap()
    }

    fn chain(&self) -> Vec<CertificateDer<'static>> {
        vec![CertificateDer::from_pem_slice(&self.read("own.pem")).unwrap()]
    }

    fn key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_slice(&self.read("own.key")).unwrap()
    }
}

/// A shop with this certificate, which wants one of `clients` if it is given; and what the gate offered to speak.
fn shop(paper: &Paper, clients: Option<&Paper>) -> (SocketAddr, Arc<Mutex<Vec<u8>>>) {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(clients) => {
            let mut roots = RootCertStore::empty();
            roots
                .add(CertificateDer::from_pem_slice(&clients.read("ca.pem")).unwrap())
                .unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let mut config = builder.with_single_cert(paper.chain(), paper.key()).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let spoken = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&spoken);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, stream.unwrap());
            let notes = Arc::clone(&notes);
            thread::spawn(move || {
                let mut is_open = answer(&mut stream);
                *notes.lock().unwrap() = stream.conn.alpn_protocol().unwrap_or_default().to_vec();
                while is_open {
                    is_open = answer(&mut stream);
                }
            });
        }
    });
    (address, spoken)
}

fn answer(stream: &mut (impl Read + Write)) -> bool {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return false,
        }
    }
    if head.starts_with(b"GET /endless ") {
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\n\r\nhi")
            .and_then(|()| stream.flush());
        return false;
    }
    stream.write_all(OK.as_bytes()).and_then(|()| stream.flush()).is_ok()
}

fn settings(address: SocketAddr, tls: UpstreamTls) -> UpstreamSettings {
    let mut settings = UpstreamSettings::at(vec![UpstreamServer {
        place: Place::Host(address.ip().to_string(), address.port()),
        weight: 1,
        tls: true,
    }]);
    settings.connect = std::time::Duration::from_secs(20);
    settings.tls = Some(tls);
    settings
}

fn trusting(paper: &Paper) -> UpstreamTls {
    UpstreamTls {
        authorities: Some(paper.read("ca.pem")),
        name: None,
        own: None,
    }
}

fn outcome(address: SocketAddr, tls: UpstreamTls) -> (u16, String) {
    let gate = Gate::with(address, |setup| setup.upstream = settings(address, tls));
    let status = gate.client().ask(GET).status;
    let reason = gate.origins.standing()[0].reason.clone();
    (status, reason.map(|reason| reason.to_string()).unwrap_or_default())
}

#[test]
fn shop_with_a_certificate_of_the_authority_is_reached_and_its_connection_kept() {
    let paper = Paper::new("IP:127.0.0.1");
    let (address, spoken) = shop(&paper, None);
    let gate = Gate::with(address, |setup| setup.upstream = settings(address, trusting(&paper)));
    for _ in 0..3 {
        assert_eq!(gate.client().ask(GET).body, "hi");
    }
    assert_eq!(
        gate.origins.stats().connects.load(std::sync::atomic::Ordering::Relaxed),
        1
    );
    assert_eq!(spoken.lock().unwrap().as_slice(), b"http/1.1");
}

#[test]
fn shop_with_another_certificate_is_not_trusted_and_the_reason_is_told() {
    let (paper, stranger) = (Paper::new("IP:127.0.0.1"), Paper::new("DNS:elsewhere"));
    let (address, _) = shop(&paper, None);
    let (status, reason) = outcome(address, trusting(&stranger));
    assert_eq!(status, 502);
    assert!(reason.contains("UnknownIssuer"), "{reason}");
}

#[test]
fn answer_that_ends_without_the_end_of_tls_is_cut() {
    let paper = Paper::new("IP:127.0.0.1");
    let (address, _) = shop(&paper, None);
    let gate = Gate::with(address, |setup| setup.upstream = settings(address, trusting(&paper)));
    let mut client = gate.client();
    client.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(client.head().starts_with("HTTP/1.1 200"));
    assert!(!client.rest().ends_with("0\r\n\r\n"));
}

#[test]
fn certificate_must_be_for_the_name() {
    let paper = Paper::new("DNS:shop.internal");
    let (address, _) = shop(&paper, None);
    let (status, reason) = outcome(address, trusting(&paper));
    assert_eq!(status, 502);
    assert!(reason.contains("not valid for name"), "{reason}");
    let named = UpstreamTls {
        name: Some("shop.internal".to_owned()),
        ..trusting(&paper)
    };
    assert_eq!(outcome(address, named).0, 200);
}

#[test]
fn shop_that_wants_a_certificate_is_shown_ours() {
    let (paper, clients) = (Paper::new("IP:127.0.0.1"), Paper::new("DNS:gate"));
    let (address, _) = shop(&paper, Some(&clients));
    assert_eq!(outcome(address, trusting(&paper)).0, 502);
    let own = (clients.read("own.pem"), Secret::new(clients.read("own.key")));
    let with_own = UpstreamTls {
        own: Some(own),
        ..trusting(&paper)
    };
    assert_eq!(outcome(address, with_own).0, 200);
}

#[test]
fn shop_that_speaks_no_tls_is_told_so() {
    let shop = crate::shop::Shop::new(|line| line.send("HTTP/1.1 400 Plain\r\n\r\n"));
    let (status, reason) = outcome(shop.address, trusting(&Paper::new("IP:127.0.0.1")));
    assert_eq!(status, 502);
    assert!(reason.starts_with("TLS: "), "{reason}");
}

#[test]
fn certificates_that_cannot_be_used_are_told_at_the_start() {
    let paper = Paper::new("IP:127.0.0.1");
    let address = SocketAddr::from(([127, 0, 0, 1], 1));
    let key_of = |tls: UpstreamTls| match UpstreamServers::start(settings(address, tls)) {
        Err(UpstreamError::Tls { key, .. }) => key,
        _ => "none",
    };
    let authorities = UpstreamTls {
        authorities: Some(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_vec()),
        ..trusting(&paper)
    };
    let foreign = UpstreamTls {
        own: Some((paper.read("ca.pem"), Secret::new(paper.read("own.key")))),
        ..trusting(&paper)
    };
    assert_eq!((key_of(authorities), key_of(foreign)), ("ca_file", "client_key_file"));
}

#[test]
fn shop_on_a_unix_socket_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.sock");
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || while answer(&mut stream) {});
        }
    });
    let gate = Gate::with(SocketAddr::from(([127, 0, 0, 1], 1)), |setup| {
        setup.upstream.servers[0].place = Place::Unix(path);
    });
    assert_eq!(
        (gate.client().ask(GET).body, gate.client().ask(GET).body),
        ("hi".into(), "hi".into())
    );
    assert_eq!(
        gate.origins.stats().connects.load(std::sync::atomic::Ordering::Relaxed),
        1
    );
}
