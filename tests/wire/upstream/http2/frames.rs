//! A shop of hand-made frames, for output that no library sends.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

pub use crate::http2::raw::{CONTINUATION, DATA, END_HEADERS, END_STREAM, Frame, HEADERS, PING, RST_STREAM, SETTINGS};
pub use crate::http2::raw::{WINDOW_UPDATE, fields_of, framed};
use crate::shop::PATIENCE;

pub const PUSH_PROMISE: u8 = 5;
pub const GOAWAY: u8 = 7;
pub const ACK: u8 = 1;
/// Reasons (RFC 9113, section 7).
pub const NO_ERROR: u32 = 0;
pub const INTERNAL_ERROR: u32 = 2;
pub const REFUSED_STREAM: u32 = 7;
pub const CANCEL: u32 = 8;

/// `:status 200`, from the table (RFC 7541, appendix A).
pub const OK: &[u8] = &[0x88];

/// A shop that runs a script on each connection.
pub struct Framed {
    pub address: SocketAddr,
    notes: Arc<Notes>,
}

#[derive(Default)]
struct Notes {
    opened: AtomicUsize,
    closed: Mutex<usize>,
    changed: Condvar,
}

/// One connection to it.
pub struct Line {
    stream: TcpStream,
    /// The how manyeth connection it is, from 0.
    pub index: usize,
}

impl Framed {
    pub fn new(script: impl Fn(&mut Line) + Send + Sync + 'static) -> Self {
        Self::with(&[], script)
    }

    /// Says these settings first, each an id and a value.
    pub fn with(settings: &[(u16, u32)], script: impl Fn(&mut Line) + Send + Sync + 'static) -> Self {
        let settings = settings.to_vec();
        Self::unsettled(move |line| {
            line.settings(&settings);
            script(line);
        })
    }

    /// Says no settings by itself.
    pub fn unsettled(script: impl Fn(&mut Line) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let notes = Arc::new(Notes::default());
        let (script, record) = (Arc::new(script), Arc::clone(&notes));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                stream.set_read_timeout(Some(3 * PATIENCE)).unwrap();
                stream.set_nodelay(true).unwrap();
                let index = record.opened.fetch_add(1, Ordering::SeqCst);
                let mut line = Line { stream, index };
                let (script, record) = (Arc::clone(&script), Arc::clone(&record));
                thread::spawn(move || {
                    if line.stream.read_exact(&mut [0; 24]).is_ok() {
                        script(&mut line);
                    }
                    drop(line);
                    *record.closed.lock().unwrap() += 1;
                    record.changed.notify_all();
                });
            }
        });
        Self { address, notes }
    }

    pub fn connections(&self) -> usize {
        self.notes.opened.load(Ordering::SeqCst)
    }

    /// Waits until `count` connections have ended.
    pub fn until_closed(&self, count: usize) {
        let closed = self.notes.closed.lock().unwrap();
        let few = |closed: &mut usize| *closed < count;
        let (_closed, late) = self.notes.changed.wait_timeout_while(closed, PATIENCE, few).unwrap();
        assert!(!late.timed_out(), "the shop's connection stayed open");
    }
}

impl Line {
    /// False once the gate takes nothing more.
    pub fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> bool {
        self.bytes(&framed(kind, flags, stream, payload))
    }

    pub fn settings(&mut self, settings: &[(u16, u32)]) {
        let setting = |(id, value): &(u16, u32)| [&id.to_be_bytes()[..], &value.to_be_bytes()[..]].concat();
        let settings: Vec<u8> = settings.iter().flat_map(setting).collect();
        self.frame(SETTINGS, 0, 0, &settings);
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// The next frame; none when the connection is over.
    pub fn next(&mut self) -> Option<Frame> {
        Frame::read(&mut self.stream)
    }

    /// The next frame of a kind; settings and pings are answered meanwhile.
    pub fn until(&mut self, kind: u8) -> Option<Frame> {
        loop {
            let frame = self.next()?;
            if frame.kind == kind {
                return Some(frame);
            }
            if matches!(frame.kind, SETTINGS | PING) && frame.flags & ACK == 0 {
                let payload = if frame.kind == PING { frame.payload } else { Vec::new() };
                self.frame(frame.kind, ACK, 0, &payload);
            }
        }
    }

    /// The stream of the next request.
    pub fn request(&mut self) -> Option<u32> {
        self.until(HEADERS).map(|frame| frame.stream)
    }

    /// A whole answer.
    pub fn hi(&mut self, stream: u32) {
        self.frame(HEADERS, END_HEADERS, stream, OK);
        self.frame(DATA, END_STREAM, stream, b"hi");
    }

    /// Answers requests until the gate goes.
    pub fn serve(&mut self) {
        while let Some(stream) = self.request() {
            self.hi(stream);
        }
    }

    /// Answers requests that end with their heads until the gate goes.
    pub fn serve_whole(&mut self) {
        while let Some(head) = self.until(HEADERS) {
            if head.flags & END_STREAM != 0 {
                self.hi(head.stream);
            }
        }
    }

    pub fn reset(&mut self, stream: u32, reason: u32) {
        self.frame(RST_STREAM, 0, stream, &reason.to_be_bytes());
    }

    pub fn go_away(&mut self, last: u32, reason: u32) {
        self.frame(GOAWAY, 0, 0, &[last.to_be_bytes(), reason.to_be_bytes()].concat());
    }

    /// Reads until the gate closes.
    pub fn drain(&mut self) {
        while self.next().is_some() {}
    }
}
