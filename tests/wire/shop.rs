//! A shop made of a raw socket: it records every byte it gets and answers from a script.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// How long anything is waited for; only ever reached by a test that fails.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// An answer that leaves the connection open.
pub const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

type Script = dyn Fn(&mut Line) + Send + Sync;

/// A running shop.
pub struct Shop {
    pub address: SocketAddr,
    record: Arc<Record>,
}

#[derive(Default)]
struct Record {
    bytes: Mutex<Vec<u8>>,
    closed: AtomicUsize,
    opened: AtomicUsize,
    changed: Condvar,
}

/// One connection to the shop.
pub struct Line {
    pub stream: TcpStream,
    /// The how manyeth connection it is, from 0.
    pub index: usize,
    record: Arc<Record>,
    ahead: Vec<u8>,
}

impl Shop {
    /// Runs `script` on every connection; the connection closes when the script returns.
    pub fn new(script: impl Fn(&mut Line) + Send + Sync + 'static) -> Self {
        Self::at(TcpListener::bind("127.0.0.1:0").unwrap(), script)
    }

    /// The same on a listener that is there already.
    pub fn at(listener: TcpListener, script: impl Fn(&mut Line) + Send + Sync + 'static) -> Self {
        let address = listener.local_addr().unwrap();
        let record = Arc::new(Record::default());
        let (script, records): (Arc<Script>, _) = (Arc::new(script), Arc::clone(&record));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                // Longer than any client waits: a shop never ends a wait that the gate should have ended.
                stream.set_read_timeout(Some(3 * PATIENCE)).unwrap();
                stream.set_nodelay(true).unwrap();
                let index = records.opened.fetch_add(1, Ordering::SeqCst);
                let mut line = Line {
                    stream,
                    index,
                    record: Arc::clone(&records),
                    ahead: Vec::new(),
                };
                let (script, record) = (Arc::clone(&script), Arc::clone(&records));
                thread::spawn(move || {
                    script(&mut line);
                    drop(line);
                    let _held = record.bytes.lock().unwrap();
                    record.closed.fetch_add(1, Ordering::SeqCst);
                    record.changed.notify_all();
                });
            }
        });
        Self { address, record }
    }

    /// Gives every request the same answer, on connections that stay open.
    pub fn answering(answer: &'static str) -> Self {
        Self::new(move |line| {
            while line.request().is_some() {
                line.send(answer);
            }
        })
    }

    /// Everything received so far, on all connections.
    pub fn seen(&self) -> String {
        String::from_utf8_lossy(&self.record.bytes.lock().unwrap()).into_owned()
    }

    /// Connections made so far.
    pub fn connections(&self) -> usize {
        self.record.opened.load(Ordering::SeqCst)
    }

    /// Waits until the record fulfils `condition`.
    pub fn until(&self, condition: impl Fn(&str) -> bool) -> String {
        let bytes = self.record.bytes.lock().unwrap();
        let waiting = |bytes: &mut Vec<u8>| !condition(&String::from_utf8_lossy(bytes));
        let (bytes, late) = self
            .record
            .changed
            .wait_timeout_while(bytes, PATIENCE, waiting)
            .unwrap();
        let seen = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!late.timed_out(), "the shop never saw it; it saw:\n{seen}");
        seen
    }

    /// Waits until `count` connections have ended.
    pub fn until_closed(&self, count: usize) {
        let bytes = self.record.bytes.lock().unwrap();
        let open = |_: &mut Vec<u8>| self.record.closed.load(Ordering::SeqCst) < count;
        let (_bytes, late) = self.record.changed.wait_timeout_while(bytes, PATIENCE, open).unwrap();
        assert!(!late.timed_out(), "the shop's connection stayed open");
    }
}

impl Line {
    /// Reads one request's head and body (by length or chunks); none when the connection ends before its first byte.
    pub fn request(&mut self) -> Option<String> {
        let head = self.head()?;
        let mut whole = head.clone();
        let lower = head.to_ascii_lowercase();
        if let Some(length) = crate::client::header(&lower, "content-length") {
            whole += &self.take(length.parse().unwrap())?;
        } else if lower.contains("transfer-encoding: chunked") {
            while !whole[head.len()..].ends_with("\r\n\r\n") {
                whole += &self.take(1)?;
            }
        }
        Some(whole)
    }

    /// Reads to the end of a head.
    pub fn head(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.ahead.windows(4).position(|four| four == b"\r\n\r\n") {
                return Some(self.split(end + 4));
            }
            self.read()?;
        }
    }

    /// Reads exactly so many bytes.
    pub fn take(&mut self, count: usize) -> Option<String> {
        while self.ahead.len() < count {
            self.read()?;
        }
        Some(self.split(count))
    }

    /// Reads until the other end closes; whether it closed in order.
    pub fn drain(&mut self) -> bool {
        loop {
            match self.stream.read(&mut [0; 16384]) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }

    pub fn send(&mut self, bytes: &str) {
        let _ = self.stream.write_all(bytes.as_bytes());
    }

    /// Whether the other end still takes bytes.
    pub fn try_send(&mut self, bytes: &str) -> bool {
        self.stream.write_all(bytes.as_bytes()).is_ok()
    }

    fn split(&mut self, at: usize) -> String {
        let rest = self.ahead.split_off(at);
        String::from_utf8_lossy(&std::mem::replace(&mut self.ahead, rest)).into_owned()
    }

    fn read(&mut self) -> Option<()> {
        let mut buffer = [0; 16384];
        let count = self.stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        self.ahead.extend_from_slice(&buffer[..count]);
        self.record.bytes.lock().unwrap().extend_from_slice(&buffer[..count]);
        self.record.changed.notify_all();
        Some(())
    }
}
