//! Finds where one message ends and the next begins, on the raw bytes, and decides which bytes pass, wait for more, or are
//! refused.
//!
//! A head passes whole or not at all, so hyper never sees the beginning of a refused head. The lines between chunks pass
//! whole too; bodies pass as they arrive.

use super::head::{self, Framing};
use crate::client::framing::Malformed;

/// The state of one direction of one connection, from a client.
pub(super) struct Machine {
    stage: Stage,
    /// Of the bytes that wait for more, how many were searched for an end.
    searched: usize,
    /// An empty line was let pass before a head (RFC 9112, section 2.2).
    blank: bool,
    upgrade: bool,
    /// Heads that passed.
    heads: u64,
    head_bytes: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Head,
    Length(u64),
    ChunkSize,
    Chunk(u64),
    ChunkEnd,
    Trailers,
    /// A head that asks for another protocol has passed, and has no answer yet.
    Asked,
    /// Another protocol speaks.
    Tunnel,
    Refused,
}

/// The decision about received bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Taken {
    /// This many bytes pass; the rest waits for more, or is refused.
    pub pass: usize,
    pub refused: Option<Refused>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// Before anything of the request has passed.
    Head(Malformed),
    /// In the middle of a body.
    Body,
}

/// The result of one step over the available bytes.
enum Step {
    Pass(usize),
    More,
    Refuse(Refused),
}

impl Machine {
    /// Heads, and trailer sections, of at most `head_bytes`.
    pub fn new(head_bytes: usize) -> Self {
        Self {
            stage: Stage::Head,
            searched: 0,
            blank: false,
            upgrade: false,
            heads: 0,
            head_bytes,
        }
    }

    pub fn heads(&self) -> u64 {
        self.heads
    }

    /// Whether the next bytes wait for the answer to a request for another protocol.
    pub fn waits_for_upgrade(&self) -> bool {
        self.stage == Stage::Asked
    }

    pub fn is_tunnel(&self) -> bool {
        self.stage == Stage::Tunnel
    }

    pub fn is_refused(&self) -> bool {
        self.stage == Stage::Refused
    }

    /// The other protocol speaks from here on.
    pub fn upgraded(&mut self) {
        self.stage = Stage::Tunnel;
    }

    pub fn refuse(&mut self) {
        self.stage = Stage::Refused;
    }

    /// Judges `bytes`, of which the first are those that waited for more.
    pub fn take(&mut self, bytes: &[u8]) -> Taken {
        let mut pass = 0;
        loop {
            let rest = &bytes[pass..];
            if rest.is_empty() {
                return Taken { pass, refused: None };
            }
            match self.step(rest) {
                Step::Pass(count) => {
                    pass += count;
                    self.searched = 0;
                }
                Step::More => return Taken { pass, refused: None },
                Step::Refuse(refused) => {
                    self.stage = Stage::Refused;
                    let refused = Some(refused);
                    return Taken { pass, refused };
                }
            }
        }
    }

    fn step(&mut self, rest: &[u8]) -> Step {
        match self.stage {
            Stage::Head => self.head(rest),
            Stage::Length(left) => {
                let (count, left) = part(left, rest.len());
                self.stage = Stage::Length(left);
                if left == 0 {
                    self.message_ends();
                }
                Step::Pass(count)
            }
            Stage::ChunkSize => self.chunk_size(rest),
            Stage::Chunk(left) => {
                let (count, left) = part(left, rest.len());
                self.stage = if left == 0 { Stage::ChunkEnd } else { Stage::Chunk(left) };
                Step::Pass(count)
            }
            Stage::ChunkEnd => match rest {
                [b'\r', b'\n', ..] => {
                    self.stage = Stage::ChunkSize;
                    Step::Pass(2)
                }
                [b'\r'] => Step::More,
                _ => Step::Refuse(Refused::Body),
            },
            Stage::Trailers => self.trailers(rest),
            Stage::Asked | Stage::Refused => Step::More,
            Stage::Tunnel => Step::Pass(rest.len()),
        }
    }

    fn head(&mut self, rest: &[u8]) -> Step {
        if !self.blank && rest.starts_with(b"\r") {
            if rest.len() == 1 {
                return Step::More;
            }
            if rest[1] == b'\n' {
                self.blank = true;
                return Step::Pass(2);
            }
        }
        let too_long = Step::Refuse(Refused::Head(Malformed::TooLong));
        // PERF: most heads arrive whole, and their lines are found once. In the others only the new bytes are searched for
        // the end.
        let read = if self.searched == 0 {
            self.searched = rest.len();
            head::read(rest)
        } else {
            self.end(rest).and_then(|end| head::read(&rest[..end]))
        };
        let head = match read {
            None if rest.len() <= self.head_bytes => return Step::More,
            Some((end, head)) if end <= self.head_bytes => head.map(|head| (end, head)),
            _ => return too_long,
        };
        let (end, head) = match head {
            Ok(head) => head,
            Err(malformed) => return Step::Refuse(Refused::Head(malformed)),
        };
        self.heads += 1;
        self.blank = false;
        self.upgrade = head.upgrade;
        match head.body {
            Framing::Length(length @ 1..) => self.stage = Stage::Length(length),
            Framing::Chunked => self.stage = Stage::ChunkSize,
            Framing::Length(0) | Framing::None => self.message_ends(),
        }
        Step::Pass(end)
    }

    fn message_ends(&mut self) {
        self.stage = if self.upgrade { Stage::Asked } else { Stage::Head };
    }

    /// Hex digits and CR LF. Chunk extensions are refused: no client needs them, and parsers disagree about them.
    fn chunk_size(&mut self, rest: &[u8]) -> Step {
        let most = rest.iter().take(MAX_SIZE_DIGITS + 1);
        let digits = most.take_while(|byte| byte.is_ascii_hexdigit()).count();
        let size = rest[..digits].iter().fold(0, |size, digit| {
            size * 16 + u64::from((*digit as char).to_digit(16).unwrap_or(0))
        });
        match &rest[digits..] {
            [] | [b'\r'] if digits <= MAX_SIZE_DIGITS => Step::More,
            [b'\r', b'\n', ..] if (1..=MAX_SIZE_DIGITS).contains(&digits) => {
                self.stage = if size == 0 { Stage::Trailers } else { Stage::Chunk(size) };
                Step::Pass(digits + 2)
            }
            _ => Step::Refuse(Refused::Body),
        }
    }

    fn trailers(&mut self, rest: &[u8]) -> Step {
        let end = match rest {
            [b'\r'] => return Step::More,
            [b'\r', b'\n', ..] => 2,
            _ => match self.end(rest) {
                None if rest.len() <= self.head_bytes => return Step::More,
                Some(end) if end <= self.head_bytes => end,
                _ => return Step::Refuse(Refused::Body),
            },
        };
        if head::trailers(&rest[..end]).is_err() {
            return Step::Refuse(Refused::Body);
        }
        self.message_ends();
        Step::Pass(end)
    }

    /// Behind the first empty line, however its ends are written; a strict look at them comes later.
    fn end(&mut self, rest: &[u8]) -> Option<usize> {
        let from = self.searched;
        self.searched = rest.len();
        let mut ends = memchr::memchr_iter(b'\n', &rest[from..]).map(|at| from + at);
        ends.find(|at| matches!(&rest[..*at], [] | [b'\r'] | [.., b'\n'] | [.., b'\n', b'\r']))
            .map(|at| at + 1)
    }
}

/// Of `left` bytes, how many are among the `count` available ones, and how many remain.
fn part(left: u64, count: usize) -> (usize, u64) {
    let pass = usize::try_from(left).unwrap_or(usize::MAX).min(count);
    (pass, left - pass as u64)
}

/// Digits of a chunk's size: as many as 48 bits have.
const MAX_SIZE_DIGITS: usize = 12;

#[cfg(test)]
mod tests;
