//! Visitors who are inside and send a body that never ends: how many connections of the shop's they hold.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::thread;
use std::time::Duration;

use crate::good::connect_from;
use crate::house::House;

/// A body of which so many bytes come, and one never does.
pub struct Upload {
    pub name: &'static str,
    bytes: usize,
    /// From how many addresses the visitors come.
    addresses: usize,
    /// Most connections of the shop's that all of them may hold.
    most: usize,
}

/// The gate's defaults: `request_buffer` is 64 KiB, `max_streaming_bodies` 64, of which one address has half.
pub const UPLOADS: [Upload; 5] = [
    Upload::new("slow bodies of 100 bytes", 100, 4, 0),
    Upload::new("slow bodies of 64 KiB", BUFFER, 4, 0),
    Upload::new("slow bodies of 64 KiB and a byte", BUFFER + 1, 4, STREAMED),
    Upload::new("slow bodies of 100 KB", 100_000, 4, STREAMED),
    Upload::new("slow bodies of 100 KB from one address", 100_000, 1, STREAMED / 2),
];

impl Upload {
    const fn new(name: &'static str, bytes: usize, addresses: usize, most: usize) -> Self {
        Self {
            name,
            bytes,
            addresses,
            most,
        }
    }

    /// Its row of the table, and its faults.
    pub fn measure(&self, house: &House) -> (String, Vec<String>) {
        let mut visitors: Vec<TcpStream> = (0..VISITORS)
            .map(|at| enter(house, address(at % self.addresses)).unwrap())
            .collect();
        // The connections by which they came in are closed.
        let before = least(house);
        for stream in &mut visitors {
            stream.write_all(&vec![b'x'; self.bytes]).unwrap();
        }
        let held = most(house).saturating_sub(before);
        let there = visitors.iter().filter(|stream| is_open(stream)).count();
        let row = format!("| {} | {there} | {held} | {} |", self.name, self.most);
        let expected = if self.most == 0 { VISITORS } else { self.most };
        let wrong = [
            (held > self.most, "connections of the shop's are held"),
            (held < self.most, "fewer are streamed than may be"),
            (there < expected, "the slow ones were not there"),
        ];
        let wrong = wrong.into_iter().filter(|(is_wrong, _)| *is_wrong);
        (row, wrong.map(|(_, what)| format!("{}: {what}", self.name)).collect())
    }
}

/// One of the machine's own addresses.
fn address(at: usize) -> IpAddr {
    Ipv4Addr::new(127, 0, 2, 1 + u8::try_from(at).unwrap()).into()
}

/// Comes in from this address, and sends the head of an order with the pass.
fn enter(house: &House, own: IpAddr) -> io::Result<TcpStream> {
    let mut stream = connect_from(own, house.clear)?;
    stream.write_all(
        b"GET /checkout/ HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n\r\n",
    )?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head);
    assert!(head.starts_with("HTTP/1.1 204"), "not let in: {head}");
    let cookies = head
        .lines()
        .filter_map(|line| line.strip_prefix("set-cookie: ")?.split(';').next());
    let cookies: Vec<&str> = cookies.collect();
    let fields = format!("Host: localhost\r\nContent-Length: {}\r\n", 1 << 20);
    write!(
        stream,
        "POST /checkout/ HTTP/1.1\r\n{fields}Cookie: {}\r\n\r\n",
        cookies.join("; ")
    )?;
    Ok(stream)
}

/// No answer, and no end.
fn is_open(stream: &TcpStream) -> bool {
    let _ = stream.set_nonblocking(true);
    stream
        .peek(&mut [0])
        .is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

fn looks(house: &House) -> impl Iterator<Item = usize> {
    (0..LOOKS).map(|_| {
        thread::sleep(Duration::from_millis(500));
        house.at_the_shop()
    })
}

fn least(house: &House) -> usize {
    looks(house).min().unwrap_or_default()
}

fn most(house: &House) -> usize {
    looks(house).max().unwrap_or_default()
}

const VISITORS: usize = 200;
const BUFFER: usize = 64 * 1024;
const STREAMED: usize = 64;
/// For ten seconds: longer than an idle connection is kept, shorter than a body may be silent.
const LOOKS: usize = 20;
