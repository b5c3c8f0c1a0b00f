//! A gate's memory for an idle connection, in the clear and over TLS.
//!
//!     cargo run --release --example idle_connections -- 4000
//!
//! A separate process serves; this one opens connections, sends one request on each, leaves them open, and measures how much
//! the other has grown.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on should say where")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use http::Response;
use rcgen::generate_simple_self_signed;
use ropeline::proxy::{Body, Listener, ServerSettings, Stats, raise_descriptor_limit, serve};
use ropeline::tls::{Certificates, Files, Tls, Version};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, RootCertStore, SupportedProtocolVersion};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: idle\r\nAccept: text/html\r\n\r\n";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().unwrap_or_else(|| "4000".to_owned());
    let _ = raise_descriptor_limit();
    match first.parse() {
        Ok(count) => measure(count),
        Err(_) => be_served(&first, &arguments.next().unwrap()),
    }
}

/// The gate's side, until its standard input ends.
fn be_served(kind: &str, folder: &str) {
    let settings = ServerSettings {
        connections_per_client: 100_000,
        keep_alive: Duration::from_secs(3600),
        ..ServerSettings::default()
    };
    let socket = settings.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = if kind == "plain" {
        Listener::from(socket)
    } else {
        let certificates = Arc::new(Certificates::load(&[files(folder)]).unwrap());
        Listener::from(socket).secured(Arc::new(Tls::new(certificates, Version::Tls12, true).unwrap()))
    };
    let server = serve(vec![listener], 1, &settings, Arc::new(Stats::default()), |_core| {
        |_conn, _request| async { Response::new(Body::from("hi")) }
    });
    let server = server.unwrap();
    println!("{}", server.addresses()[0]);
    let _ = std::io::stdin().read(&mut [0]);
}

fn files(folder: &str) -> Files {
    Files {
        certificate: format!("{folder}/pem").into(),
        key: format!("{folder}/key").into(),
    }
}

fn measure(count: usize) {
    let folder = tempfile::tempdir().unwrap();
    let made = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let files = files(&folder.path().display().to_string());
    fs::write(&files.certificate, made.cert.pem()).unwrap();
    fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    let plain = measured("plain", count, folder.path(), None);
    println!("in the clear  {plain} bytes a connection");
    for (name, version) in [("TLS 1.3", &TLS13), ("TLS 1.2", &TLS12)] {
        let secured = measured("tls", count, folder.path(), Some(&client(&files, version)));
        println!(
            "{name}       {secured} bytes a connection, {} more",
            secured.saturating_sub(plain)
        );
    }
}

fn client(files: &Files, version: &'static SupportedProtocolVersion) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(&files.certificate).unwrap())
        .unwrap();
    let builder = ClientConfig::builder_with_protocol_versions(&[version]);
    Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
}

/// Bytes that the server grew by for each of the second half of the connections, when its own buffers are in place.
fn measured(kind: &str, count: usize, folder: &std::path::Path, tls: Option<&Arc<ClientConfig>>) -> u64 {
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args([kind, &folder.display().to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address: SocketAddr = line.trim().parse().unwrap();
    let mut open: Vec<_> = (0..count).map(|_| connect(address, tls)).collect();
    let before = resident(&server);
    open.extend((0..count).map(|_| connect(address, tls)));
    let grown = resident(&server).saturating_sub(before);
    drop(server.stdin.take());
    server.wait().unwrap();
    grown / count as u64
}

/// A connection on which a request was answered.
fn connect(address: SocketAddr, tls: Option<&Arc<ClientConfig>>) -> (TcpStream, Option<Box<ClientConnection>>) {
    let mut stream = TcpStream::connect(address).unwrap();
    let Some(config) = tls else {
        stream.write_all(REQUEST).unwrap();
        answered(&mut stream);
        return (stream, None);
    };
    let host = ServerName::try_from("localhost").unwrap();
    let mut session = Box::new(ClientConnection::new(Arc::clone(config), host).unwrap());
    let mut both = rustls::Stream::new(&mut *session, &mut stream);
    both.write_all(REQUEST).unwrap();
    answered(&mut both);
    (stream, Some(session))
}

fn answered(stream: &mut impl std::io::Read) {
    let (mut text, mut buffer) = (Vec::new(), [0; 1024]);
    while !text.ends_with(b"hi") {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "closed");
        text.extend_from_slice(&buffer[..count]);
    }
}

fn resident(server: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}
