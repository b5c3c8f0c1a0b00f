//! A client on a raw socket: plays a case's steps and records the answer.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use super::case::{Case, Step};

/// How long a client goes on listening on a connection that stays open after all answers.
const QUIET: Duration = Duration::from_millis(60);
/// Between two bytes that are to come alone, and how many of a message do; the rest comes in pieces.
const PAUSE: Duration = Duration::from_micros(50);
const ALONE: usize = 2_048;
const PIECE: usize = 1_009;

/// How a message is delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    AtOnce,
    ByteByByte,
}

/// The client's observations.
#[derive(Debug, Default)]
pub struct Heard {
    /// Final answers.
    pub answers: Vec<Answer>,
    pub interims: usize,
    /// The bytes behind a 101.
    pub tunnel: Vec<u8>,
    /// The other end has closed.
    pub closed: bool,
    /// Bytes behind the answers that are none.
    pub odd: usize,
}

/// An answer, whole or cut.
#[derive(Debug, Default, Clone)]
pub struct Answer {
    pub status: u16,
    /// Names in lower case.
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub is_whole: bool,
}

impl Answer {
    pub fn field(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(own, _)| own == name);
        field.map(|(_, value)| value.as_str())
    }
}

/// Plays a case at this address; waits for what must come for `patience` at most.
pub fn play(case: &Case, address: SocketAddr, delivery: Delivery, patience: Duration) -> std::io::Result<Heard> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(patience))?;
    let mut ear = Ear {
        raw: Vec::new(),
        closed: false,
        is_head: case.is_head(),
    };
    for step in &case.steps {
        match step {
            // Bytes that cannot be sent any more were answered by a close.
            Step::Send(bytes) => drop(send(&mut stream, bytes, delivery)),
            Step::Hear(text) => {
                let has = |ear: &Ear| ear.raw.windows(text.len()).any(|part| part == text.as_bytes());
                ear.listen(&mut stream, patience, has);
            }
            Step::Finish => drop(stream.shutdown(Shutdown::Write)),
        }
    }
    let wanted = case.answers();
    ear.listen(&mut stream, patience, |ear| {
        let heard = ear.heard();
        heard.answers.iter().filter(|answer| answer.is_whole).count() >= wanted && !says_close(&heard)
    });
    ear.listen(&mut stream, QUIET, |_| false);
    Ok(ear.heard())
}

fn says_close(heard: &Heard) -> bool {
    let last = heard.answers.last();
    last.is_some_and(|answer| {
        answer
            .field("connection")
            .is_some_and(|value| value.eq_ignore_ascii_case("close"))
    })
}

fn send(stream: &mut TcpStream, bytes: &[u8], delivery: Delivery) -> std::io::Result<()> {
    if delivery == Delivery::AtOnce {
        return stream.write_all(bytes);
    }
    let (alone, rest) = bytes.split_at(bytes.len().min(ALONE));
    for piece in alone.chunks(1).chain(rest.chunks(PIECE)) {
        stream.write_all(piece)?;
        thread::park_timeout(PAUSE);
    }
    Ok(())
}

/// Everything that came so far.
struct Ear {
    raw: Vec<u8>,
    closed: bool,
    is_head: bool,
}

impl Ear {
    /// Reads until `enough`, the end of the connection, or the end of patience.
    fn listen(&mut self, stream: &mut TcpStream, patience: Duration, enough: impl Fn(&Self) -> bool) {
        let until = Instant::now() + patience;
        let mut buffer = vec![0; 64 * 1024];
        while !self.closed && !enough(self) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
                return;
            }
            match stream.read(&mut buffer) {
                Ok(0) => self.closed = true,
                Ok(count) => self.raw.extend_from_slice(&buffer[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return,
                Err(_) => self.closed = true,
            }
        }
    }

    fn heard(&self) -> Heard {
        let mut heard = Heard {
            closed: self.closed,
            ..Heard::default()
        };
        let mut rest = self.raw.as_slice();
        while !rest.is_empty() {
            let Some((answer, after)) = self.answer(rest) else {
                break;
            };
            match answer.status {
                101 => {
                    heard.tunnel = after.to_vec();
                    heard.answers.push(answer);
                    return heard;
                }
                100..200 => heard.interims += 1,
                _ => heard.answers.push(answer),
            }
            rest = after;
        }
        heard.odd = rest.len();
        heard
    }

    /// The first answer in the bytes, and the bytes behind it; none before its head is whole.
    fn answer<'a>(&self, bytes: &'a [u8]) -> Option<(Answer, &'a [u8])> {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.get(9..12).filter(|_| head[12..].starts_with([' ', '\r']))?;
        let status = status.parse().ok()?;
        let fields: Vec<(String, String)> = head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut answer = Answer {
            status,
            fields,
            body: Vec::new(),
            is_whole: true,
        };
        let rest = &bytes[end..];
        if self.is_head || matches!(status, 100..200 | 204 | 304) {
            return Some((answer, rest));
        }
        let length = answer.field("content-length").and_then(|length| length.parse().ok());
        let chunked = answer
            .field("transfer-encoding")
            .is_some_and(|coding| coding.contains("chunked"));
        let end = match length {
            _ if chunked => chunks(rest, &mut answer.body),
            Some(length) => rest.get(..length).map(|body| {
                answer.body = body.to_vec();
                length
            }),
            None if self.closed => {
                answer.body = rest.to_vec();
                Some(rest.len())
            }
            None => None,
        };
        answer.is_whole = end.is_some();
        Some((answer, &rest[end.unwrap_or(rest.len())..]))
    }
}

/// Puts chunks together; where they end, if they do.
fn chunks(bytes: &[u8], body: &mut Vec<u8>) -> Option<usize> {
    let mut at = 0;
    loop {
        let line = bytes[at..].windows(2).position(|two| two == b"\r\n")?;
        let size = std::str::from_utf8(&bytes[at..at + line]).ok()?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        at += line + 2;
        if size == 0 {
            let end = bytes[at..].windows(2).position(|two| two == b"\r\n")?;
            return if end == 0 {
                Some(at + 2)
            } else {
                Some(at + bytes[at..].windows(4).position(|four| four == b"\r\n\r\n")? + 4)
            };
        }
        body.extend_from_slice(bytes.get(at..at + size)?);
        at += size + 2;
        bytes.get(..at)?;
    }
}
