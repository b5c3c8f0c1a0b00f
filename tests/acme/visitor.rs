//! Visitors over TLS, who trust the authority alone, and over plain HTTP.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::harness::PATIENCE;

/// A client that resumes no session: every connection sees the certificate.
pub fn client(roots: RootCertStore) -> Arc<ClientConfig> {
    let mut config = ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    Arc::new(config)
}

/// The certificate that is shown for the host, with which a request was answered.
pub fn comes_in(gate: SocketAddr, host: &str, client: &Arc<ClientConfig>) -> Result<Vec<u8>, String> {
    let name = ServerName::try_from(host.to_owned()).unwrap();
    let connection = ClientConnection::new(Arc::clone(client), name).map_err(|error| error.to_string())?;
    let mut stream = StreamOwned::new(connection, connect(gate)?);
    let answer = ask(&mut stream, host, "/robots.txt")?;
    if !answer.starts_with("HTTP/1.1 200 ") {
        return Err(answer);
    }
    let chain = stream.conn.peer_certificates().ok_or("no certificate")?;
    Ok(chain[0].to_vec())
}

/// The answer over plain HTTP.
pub fn asks(gate: SocketAddr, host: &str, target: &str) -> String {
    let mut stream = connect(gate).unwrap();
    ask(&mut stream, host, target).unwrap()
}

fn connect(gate: SocketAddr) -> Result<TcpStream, String> {
    let stream = TcpStream::connect(gate).map_err(|error| error.to_string())?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    Ok(stream)
}

fn ask(stream: &mut (impl std::io::Read + std::io::Write), host: &str, target: &str) -> Result<String, String> {
    let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .map_err(|error| error.to_string())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Visitors who come one after the other to one gate, until it is dropped.
pub struct Load {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<u64>>,
    seen: Receiver<Result<Vec<u8>, String>>,
    /// All certificates that were shown.
    pub certificates: BTreeSet<Vec<u8>>,
}

impl Load {
    pub fn start(gate: SocketAddr, host: &'static str, client: Arc<ClientConfig>) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (sender, seen) = channel();
        let own = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let mut count = 0;
            while !own.load(Ordering::Relaxed) {
                if sender.send(comes_in(gate, host, &client)).is_err() {
                    break;
                }
                count += 1;
                std::thread::park_timeout(Duration::from_millis(20));
            }
            count
        });
        Self {
            is_over,
            thread: Some(thread),
            seen,
            certificates: BTreeSet::new(),
        }
    }

    /// Takes what has been seen so far; panics where a visitor did not come in.
    pub fn look(&mut self) -> usize {
        self.certificates
            .extend(self.seen.try_iter().map(|one| one.expect("every visitor comes in")));
        self.certificates.len()
    }

    /// How many have come in.
    pub fn end(mut self) -> u64 {
        self.is_over.store(true, Ordering::Relaxed);
        let count = self.thread.take().unwrap().join().unwrap();
        self.look();
        count
    }
}
