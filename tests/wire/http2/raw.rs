//! A client of hand-made frames, for input that no library sends.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::gate::Gate;
use crate::shop::PATIENCE;

/// Kinds of frames (RFC 9113, section 6).
pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

/// The setting of a stream's first window (RFC 9113, section 6.5.2).
pub const WINDOW: u16 = 4;

pub struct Raw {
    stream: TcpStream,
}

pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    /// None when the connection is over.
    pub fn read(stream: &mut TcpStream) -> Option<Self> {
        let mut head = [0; 9];
        stream.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut payload).ok()?;
        Some(Self {
            kind: head[3],
            flags: head[4],
            stream: u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]]),
            payload,
        })
    }
}

impl Raw {
    /// Says the preface and settings, each an id and a value.
    pub fn new(gate: &Gate, settings: &[(u16, u32)]) -> Self {
        let stream = TcpStream::connect(gate.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut raw = Self { stream };
        raw.bytes(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        let setting = |(id, value): &(u16, u32)| [&id.to_be_bytes()[..], &value.to_be_bytes()[..]].concat();
        let payload: Vec<u8> = settings.iter().flat_map(setting).collect();
        raw.frame(SETTINGS, 0, 0, &payload);
        raw
    }

    /// False once the gate takes nothing more.
    pub fn bytes(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    pub fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> bool {
        self.bytes(&framed(kind, flags, stream, payload))
    }

    /// A GET without a body.
    pub fn get(&mut self, stream: u32, target: &str) -> bool {
        self.frame(HEADERS, END_STREAM | END_HEADERS, stream, &head("GET", target, &[]))
    }

    /// The next frame; none when the connection is over.
    pub fn next(&mut self) -> Option<Frame> {
        Frame::read(&mut self.stream)
    }

    /// The next frame of a kind on a stream, the gate's settings and pings answered meanwhile.
    pub fn until(&mut self, kind: u8, stream: u32) -> Option<Frame> {
        loop {
            let frame = self.next()?;
            if (frame.kind, frame.stream) == (kind, stream) {
                return Some(frame);
            }
            if matches!(frame.kind, SETTINGS | PING) && frame.flags & ACK == 0 {
                let payload = if frame.kind == PING { frame.payload } else { Vec::new() };
                self.frame(frame.kind, ACK, 0, &payload);
            }
        }
    }

    /// Whether a request is refused: its stream reset, the connection ended, or an answer other than 200.
    pub fn is_refused(&mut self, stream: u32) -> bool {
        loop {
            match self.next() {
                None => return true,
                Some(frame) if (frame.kind, frame.stream) == (RST_STREAM, stream) => return true,
                // 200 is an entry of the table (RFC 7541, appendix A).
                Some(frame) if (frame.kind, frame.stream) == (HEADERS, stream) => return frame.payload[0] != 0x88,
                Some(_) => {}
            }
        }
    }

    /// Reads on; whether the gate closes before patience ends.
    pub fn is_ended(&mut self) -> bool {
        loop {
            match self.stream.read(&mut [0; 16384]) {
                Ok(1..) => {}
                Ok(0) => return true,
                Err(error) => return error.kind() != std::io::ErrorKind::WouldBlock,
            }
        }
    }
}

pub fn framed(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// A head, every field a literal that is not indexed (RFC 7541, section 6.2.2).
pub fn head(method: &str, target: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let pseudo = [
        (":method", method),
        (":scheme", "http"),
        (":path", target),
        (":authority", "shop.example"),
    ];
    fields_of(&pseudo.iter().chain(fields).copied().collect::<Vec<_>>())
}

pub fn fields_of(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).ok().filter(|length| *length < 127).unwrap());
            block.extend_from_slice(text.as_bytes());
        }
    }
    block
}
