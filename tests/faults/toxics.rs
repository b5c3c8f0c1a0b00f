//! The proxy itself, before a real Redis: each toxic has its effect, or the trials would test nothing.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::harness::PATIENCE;
use crate::harness::redis::{Options, Server};
use crate::harness::toxic::{Proxy, Toxic};

fn open(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn server() -> (Server, Proxy) {
    let server = Server::start(&Options::default());
    let proxy = Proxy::before(SocketAddr::from(([127, 0, 0, 1], server.port())));
    (server, proxy)
}

fn reply(stream: &mut TcpStream, length: usize) -> String {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Whether the connection ends without another byte.
fn ends(stream: &mut TcpStream) -> bool {
    let mut byte = [0];
    match stream.read(&mut byte) {
        Ok(read) => read == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

#[test]
fn requests_pass_and_a_delay_counts_each_way() {
    let (_server, proxy) = server();
    let mut stream = open(proxy.address);
    stream.write_all(b"PING\r\n").unwrap();
    assert_eq!(reply(&mut stream, 7), "+PONG\r\n");
    proxy.set(Toxic::Delay(Duration::from_millis(150)));
    let began = ropeline::time::uptime();
    stream.write_all(b"PING\r\nPING\r\n").unwrap();
    assert_eq!(reply(&mut stream, 14), "+PONG\r\n+PONG\r\n");
    assert!(ropeline::time::uptime() >= began + Duration::from_millis(300));
}

#[test]
fn a_swallowed_reply_is_lost_and_its_request_is_not() {
    let (server, proxy) = server();
    let mut stream = open(proxy.address);
    proxy.set(Toxic::Swallow);
    stream.write_all(b"INCR count\r\n").unwrap();
    crate::harness::redis::until("the request", || server.ask::<Option<u32>>("GET count") == Some(1));
    proxy.set(Toxic::Pass);
    assert!(ends(&mut stream), "a reply too few must not shift the next");
    let mut stream = open(proxy.address);
    stream.write_all(b"GET count\r\n").unwrap();
    assert_eq!(reply(&mut stream, 7), "$1\r\n1\r\n");
}

#[test]
fn a_cut_reply_ends_in_its_middle() {
    let (_server, proxy) = server();
    let mut stream = open(proxy.address);
    proxy.set(Toxic::CutReply(3));
    stream.write_all(b"PING\r\n").unwrap();
    assert_eq!(reply(&mut stream, 3), "+PO");
    assert!(ends(&mut stream));
}

#[test]
fn a_blackhole_holds_everything_and_loses_nothing() {
    let (server, proxy) = server();
    let mut stream = open(proxy.address);
    stream.write_all(b"PING\r\n").unwrap();
    assert_eq!(reply(&mut stream, 7), "+PONG\r\n");
    proxy.set(Toxic::Blackhole);
    stream.write_all(b"INCR count\r\n").unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let held = stream.read(&mut [0]).unwrap_err();
    assert!(matches!(held.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
    assert_eq!(server.ask::<Option<u32>>("GET count"), None);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    proxy.set(Toxic::Pass);
    assert_eq!(reply(&mut stream, 4), ":1\r\n");
}

#[test]
fn a_refusal_closes_open_connections_and_new_ones() {
    let (_server, proxy) = server();
    let mut stream = open(proxy.address);
    stream.write_all(b"PING\r\n").unwrap();
    assert_eq!(reply(&mut stream, 7), "+PONG\r\n");
    proxy.set(Toxic::Refuse);
    assert!(ends(&mut stream));
    assert!(ends(&mut open(proxy.address)));
    proxy.set(Toxic::Pass);
    let mut stream = open(proxy.address);
    stream.write_all(b"PING\r\n").unwrap();
    assert_eq!(reply(&mut stream, 7), "+PONG\r\n");
}
