//! Clients that request a large file and read almost nothing of it, in each possible way.

use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::thread;
use std::time::Duration;

use crate::good::{Both, connect};
use crate::house::House;

/// A way to read slowly.
pub struct Kind {
    pub name: &'static str,
    is_secured: bool,
    /// Streams on each connection, and their first window; none over HTTP/1.1.
    streams: Option<(usize, u32)>,
    /// Most bytes of the gate's memory for each reader.
    most: u64,
    /// And of the kernel's.
    most_kernel: u64,
}

pub const WIDE: u32 = 0x7fff_ffff;

pub const KINDS: [Kind; 5] = [
    Kind {
        name: "readers in the clear",
        is_secured: false,
        streams: None,
        most: 88 * 1024,
        most_kernel: 256 * 1024,
    },
    Kind {
        name: "readers over TLS",
        is_secured: true,
        streams: None,
        most: 96 * 1024,
        most_kernel: 256 * 1024,
    },
    Kind {
        name: "readers over HTTP/2, one on a connection",
        is_secured: true,
        streams: Some((1, WIDE)),
        most: 120 * 1024,
        most_kernel: 256 * 1024,
    },
    Kind {
        name: "readers over HTTP/2, 100 on a connection",
        is_secured: true,
        streams: Some((100, WIDE)),
        most: 48 * 1024,
        most_kernel: 256 * 1024,
    },
    Kind {
        name: "readers over HTTP/2, 100 on a connection, windows shut but for a byte",
        is_secured: true,
        streams: Some((100, 1)),
        most: 64 * 1024,
        most_kernel: 256 * 1024,
    },
];

/// Its row of the table, and its faults.
pub fn measure(house: &House, kind: &Kind) -> (String, Vec<String>) {
    // Memory that the gate needs for any number of readers is allocated before.
    let _first: Vec<_> = open(house, kind, READERS / 10);
    settle(house);
    let (memory, kernel) = (house.memory(), house.kept_by_the_kernel());
    let _readers: Vec<_> = open(house, kind, READERS);
    settle(house);
    let each = house.memory().saturating_sub(memory) / READERS as u64;
    let now = house.kept_by_the_kernel();
    let kernel_each = now
        .zip(kernel)
        .map(|(now, before)| now.saturating_sub(before) / READERS as u64);
    let row = format!(
        "| {} | {each} | {} | {}, {} |",
        kind.name,
        kernel_each.map_or("?".to_owned(), |bytes| bytes.to_string()),
        kind.most,
        kind.most_kernel
    );
    let mut faults = Vec::new();
    if each > kind.most {
        faults.push(format!("{}: {each} bytes each, {} at most", kind.name, kind.most));
    }
    if kernel_each.is_some_and(|bytes| bytes > kind.most_kernel) {
        faults.push(format!("{}: {kernel_each:?} bytes of the kernel each", kind.name));
    }
    (row, faults)
}

/// Waits until all that can be sent is sent: the gate's memory has been the same for some seconds.
fn settle(house: &House) {
    let (mut last, mut calm) = (0, 0);
    for _ in 0..MOST_LOOKS {
        thread::sleep(Duration::from_secs(1));
        let memory = house.memory();
        calm = if memory > last + last / 200 { 0 } else { calm + 1 };
        last = memory;
        if calm == CALM_LOOKS {
            return;
        }
    }
}

fn open(house: &House, kind: &Kind, count: usize) -> Vec<Box<dyn Both>> {
    let streams = kind.streams.map_or(1, |(streams, _)| streams);
    let slow = |index: usize| slow_reader(house, kind.is_secured, kind.streams, OWN[index % OWN.len()]);
    (0..count / streams)
        .map(|index| slow(index).expect("a reader that gets in"))
        .collect()
}

/// One connection on which a large file is asked for, and nothing read.
pub fn slow_reader(
    house: &House,
    is_secured: bool,
    streams: Option<(usize, u32)>,
    own: Ipv4Addr,
) -> io::Result<Box<dyn Both>> {
    let protocol: &[u8] = if streams.is_some() { b"h2" } else { b"http/1.1" };
    let tls = is_secured.then(|| house.tls(protocol));
    let address: SocketAddr = if is_secured { house.secured } else { house.clear };
    let mut stream = connect((IpAddr::V4(own), address), tls.as_ref())?;
    match streams {
        None => stream.write_all(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        Some((count, window)) => stream.write_all(&requests(count, window)),
    }?;
    Ok(stream)
}

/// The preface, settings, a wide window for the connection, and so many requests (RFC 9113).
fn requests(count: usize, window: u32) -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    frame(
        &mut bytes,
        (SETTINGS, 0),
        0,
        &[&4_u16.to_be_bytes()[..], &window.to_be_bytes()].concat(),
    );
    frame(&mut bytes, (WINDOW_UPDATE, 0), 0, &(WIDE - 65_535).to_be_bytes());
    let mut block = Vec::new();
    for (name, value) in [
        (":method", "GET"),
        (":scheme", "https"),
        (":path", "/large"),
        (":authority", "localhost"),
    ] {
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).unwrap());
            block.extend_from_slice(text.as_bytes());
        }
    }
    for index in 0..u32::try_from(count).unwrap() {
        frame(&mut bytes, (HEADERS, END_STREAM | END_HEADERS), 2 * index + 1, &block);
    }
    bytes
}

fn frame(bytes: &mut Vec<u8>, (kind, flags): (u8, u8), stream: u32, payload: &[u8]) {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    bytes.extend_from_slice(&[length[1], length[2], length[3], kind, flags]);
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
}

const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

const READERS: usize = 1_000;
/// Their addresses.
const OWN: [Ipv4Addr; 1] = [Ipv4Addr::new(127, 0, 0, 9)];
const CALM_LOOKS: usize = 5;
const MOST_LOOKS: usize = 60;
