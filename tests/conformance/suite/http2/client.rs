//! A client made of frames: plays a case's steps and writes down every frame that comes back.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use super::case::{Case, Expect, Sign, Step};
use super::wire::{
    ACK, DATA, END_STREAM, GOAWAY, HEADERS, PING, PREFACE, RST_STREAM, SETTINGS, STREAMS, TABLE, frame, get, ping,
    settings, status,
};
use crate::suite::client::Delivery;

/// How long a client goes on listening once everything that must come has.
const QUIET: Duration = Duration::from_millis(40);
/// How long the end of a connection may take once it was announced.
const FAREWELL: Duration = Duration::from_millis(500);
/// Pause between two bytes that are sent alone, and how many are; the rest is sent in pieces.
const PAUSE: Duration = Duration::from_micros(50);
const ALONE: usize = 512;
const PIECE: usize = 1_009;

/// The client's observations.
#[derive(Debug, Default)]
pub struct Heard {
    pub streams: BTreeMap<u32, Told>,
    /// Why the connection was ended, in the other end's last words.
    pub goaway: Option<u32>,
    pub closed: bool,
    /// Our PINGs that were answered, and settings acknowledged.
    pub pongs: usize,
    pub acknowledged: usize,
    /// The kind of the first frame of all.
    pub first: Option<u8>,
    /// The other end's settings.
    pub settings: Vec<(u16, u32)>,
}

/// The frames received on a stream.
#[derive(Debug, Default)]
pub struct Told {
    pub status: Option<u16>,
    pub bytes: usize,
    pub is_over: bool,
    pub reset: Option<u32>,
}

impl Heard {
    pub fn is_over(&self, stream: u32) -> bool {
        self.streams
            .get(&stream)
            .is_some_and(|told| told.is_over || told.reset.is_some())
    }

    /// The connection was ended for a fault.
    pub fn is_failed(&self) -> bool {
        self.closed || self.goaway.is_some_and(|code| code != 0)
    }

    pub fn bytes(&self) -> usize {
        self.streams.values().map(|told| told.bytes).sum()
    }

    /// The streams' ends that are no whole answer.
    pub fn resets(&self) -> impl Iterator<Item = u32> + '_ {
        self.streams.values().filter_map(|told| told.reset)
    }
}

/// A connection on which frames are sent and recorded.
pub struct Wire {
    stream: TcpStream,
    raw: Vec<u8>,
    pub heard: Heard,
    delivery: Delivery,
}

impl Wire {
    pub fn new(address: SocketAddr, delivery: Delivery, patience: Duration) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(patience))?;
        Ok(Self {
            stream,
            raw: Vec::new(),
            heard: Heard::default(),
            delivery,
        })
    }

    /// Preface and settings; the table of the other end is left empty, so that a status can be read without one.
    pub fn open(&mut self, own: &[(u16, u32)], patience: Duration) {
        self.send(PREFACE);
        self.send(&settings(&[&[(TABLE, 0)], own].concat()));
        self.listen(patience, |heard| heard.acknowledged > 0 && heard.first.is_some());
    }

    /// False once nothing more is taken.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        if self.delivery == Delivery::AtOnce {
            return self.stream.write_all(bytes).is_ok();
        }
        let (alone, rest) = bytes.split_at(bytes.len().min(ALONE));
        alone.chunks(1).chain(rest.chunks(PIECE)).all(|piece| {
            let sent = self.stream.write_all(piece).is_ok();
            thread::park_timeout(PAUSE);
            sent
        })
    }

    /// Reads until `enough`, the end of the connection, or the end of patience; whether it was enough.
    pub fn listen(&mut self, patience: Duration, enough: impl Fn(&Heard) -> bool) -> bool {
        let until = Instant::now() + patience;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            self.take();
            if self.heard.closed || enough(&self.heard) {
                return enough(&self.heard);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
                return false;
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => self.heard.closed = true,
                Ok(count) => self.raw.extend_from_slice(&buffer[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return false,
                Err(_) => self.heard.closed = true,
            }
        }
    }

    /// Writes down every whole frame that has come.
    fn take(&mut self) {
        while self.raw.len() >= 9 {
            let length = u32::from_be_bytes([0, self.raw[0], self.raw[1], self.raw[2]]);
            let end = 9 + usize::try_from(length).unwrap_or(usize::MAX - 9);
            if self.raw.len() < end {
                return;
            }
            let whole: Vec<u8> = self.raw.drain(..end).collect();
            self.note(&whole);
        }
    }

    fn note(&mut self, whole: &[u8]) {
        let (kind, flags, payload) = (whole[3], whole[4], &whole[9..]);
        let stream = u32::from_be_bytes([whole[5] & 0x7f, whole[6], whole[7], whole[8]]);
        let word = |at: usize| {
            payload.get(at..at + 4).map_or(u32::MAX, |four| {
                u32::from_be_bytes([four[0], four[1], four[2], four[3]])
            })
        };
        self.heard.first.get_or_insert(kind);
        match kind {
            HEADERS | DATA | RST_STREAM => {
                let told = self.heard.streams.entry(stream).or_default();
                match kind {
                    HEADERS if told.status.is_none_or(|status| status < 200) => told.status = status(payload),
                    DATA => told.bytes += payload.len(),
                    RST_STREAM => told.reset = Some(word(0)),
                    _ => {}
                }
                told.is_over |= kind != RST_STREAM && flags & END_STREAM != 0;
            }
            GOAWAY => self.heard.goaway = Some(word(4)),
            SETTINGS if flags & ACK != 0 => self.heard.acknowledged += 1,
            PING if flags & ACK != 0 => self.heard.pongs += 1,
            SETTINGS => {
                let value = |six: &[u8]| {
                    (
                        u16::from_be_bytes([six[0], six[1]]),
                        u32::from_be_bytes([six[2], six[3], six[4], six[5]]),
                    )
                };
                self.heard.settings.extend(payload.chunks_exact(6).map(value));
                let _ = self.stream.write_all(&frame(SETTINGS, ACK, 0, &[]));
            }
            PING => drop(self.stream.write_all(&frame(PING, ACK, 0, payload))),
            _ => {}
        }
    }

    /// Requests on as many streams as the other end takes at once, and one more.
    fn exceed(&mut self) {
        let most = self.heard.settings.iter().find(|(id, _)| *id == STREAMS);
        let most = most.map_or(100, |(_, value)| *value).min(1_000);
        let all: Vec<u8> = (0..=most).flat_map(|at| get(2 * at + 1, "/", &[])).collect();
        self.send(&all);
    }

    /// Whether the other end still answers, twice, so that all its earlier frames have arrived.
    fn is_alive(&mut self, patience: Duration) -> bool {
        let before = self.heard.pongs;
        (1..=2).all(|round| {
            self.send(&ping(*b"answered"));
            self.listen(patience, |heard| heard.pongs >= before + round || heard.is_failed())
        })
    }
}

/// Plays a case at this address; waits for what must come for `patience` at most.
pub fn play(case: &Case, address: SocketAddr, delivery: Delivery, patience: Duration) -> std::io::Result<Heard> {
    let mut wire = Wire::new(address, delivery, patience)?;
    if let Some(opening) = &case.opening {
        wire.open(opening, patience);
    }
    for step in &case.steps {
        match step {
            // Bytes that cannot be sent any more were answered by a close.
            Step::Send(bytes) => drop(wire.send(bytes)),
            Step::Exceed => wire.exceed(),
            Step::Hear(sign) => {
                let sign = *sign;
                wire.listen(patience, |heard| came(heard, sign) || heard.is_failed());
            }
        }
    }
    finish(case, &mut wire, patience);
    Ok(wire.heard)
}

fn came(heard: &Heard, sign: Sign) -> bool {
    match sign {
        Sign::Acknowledged(count) => heard.acknowledged >= count,
        Sign::Data(stream) => heard.streams.get(&stream).is_some_and(|told| told.bytes > 0),
        Sign::Over(stream) => heard.is_over(stream),
    }
}

fn finish(case: &Case, wire: &mut Wire, patience: Duration) {
    let streams = case.streams.clone();
    if matches!(case.expect, Expect::Passes(_) | Expect::Either(_)) {
        wire.listen(patience, |heard| {
            streams.iter().all(|stream| heard.is_over(*stream)) || heard.is_failed()
        });
    }
    if let Expect::Bytes(count) = case.expect {
        wire.listen(patience, |heard| heard.bytes() >= count || heard.is_failed());
    }
    if case.opening.is_some() && !wire.heard.is_failed() {
        wire.is_alive(patience);
    }
    let is_to_end = matches!(
        case.expect,
        Expect::Malformed | Expect::Stream(_) | Expect::Connection(_)
    );
    if is_to_end && !wire.heard.is_failed() {
        // The result of stream 1 may still be on its way.
        wire.listen(patience / 4, |heard| {
            heard.is_failed() || heard.resets().next().is_some() || heard.is_over(1)
        });
    }
    let announced = wire.heard.goaway.is_some_and(|code| code != 0);
    wire.listen(
        if announced || case.opening.is_none() {
            FAREWELL
        } else {
            QUIET
        },
        |_| false,
    );
}
