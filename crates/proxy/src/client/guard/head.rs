//! Strict reading of one request head: everything that RFC 9112 lets a recipient repair, ignore or choose is refused.

use super::target;
use crate::client::framing::Malformed;

/// How a head frames the bytes behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Head {
    pub body: Framing,
    /// The connection may be given to another protocol.
    pub upgrade: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Framing {
    None,
    Length(u64),
    Chunked,
}

/// Reads a head up to its empty line: its length, and its result. None if the end has not arrived yet.
pub(super) fn read(bytes: &[u8]) -> Option<(usize, Result<Head, Malformed>)> {
    let mut lines = Lines::of(bytes);
    // An error in a head is reported only when the whole head has arrived.
    let head = head(&mut lines);
    lines.by_ref().for_each(drop);
    lines.has_ended.then_some((lines.begin, head))
}

fn head(lines: &mut Lines<'_>) -> Result<Head, Malformed> {
    let version = start(line(lines.next().ok_or(Malformed::Line)?)?)?;
    let mut fields = Fields::default();
    for (count, bytes) in lines.enumerate() {
        let bytes = line(bytes)?;
        if bytes.is_empty() {
            return fields.head(version);
        }
        if count >= MAX_FIELDS {
            return Err(Malformed::TooMany);
        }
        let (name, value) = field(bytes)?;
        fields.note(name, value)?;
    }
    Err(Malformed::Line)
}

/// The fields of a trailer section, its empty line included.
pub(super) fn trailers(section: &[u8]) -> Result<(), Malformed> {
    for (count, bytes) in Lines::of(section).enumerate() {
        let bytes = line(bytes)?;
        if !bytes.is_empty() {
            field(bytes)?;
        }
        if count > MAX_FIELDS {
            return Err(Malformed::TooMany);
        }
    }
    Ok(())
}

/// Lines with their ends, up to an empty one and with it; a last line without an end is left out.
struct Lines<'a> {
    bytes: &'a [u8],
    ends: memchr::Memchr<'a>,
    /// Where the next line begins.
    begin: usize,
    /// The empty line was given out.
    has_ended: bool,
}

impl<'a> Lines<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            ends: memchr::memchr_iter(b'\n', bytes),
            begin: 0,
            has_ended: false,
        }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.has_ended {
            return None;
        }
        let end = self.ends.next()? + 1;
        let line = &self.bytes[self.begin..end];
        self.begin = end;
        self.has_ended = matches!(line, b"\n" | b"\r\n");
        Some(line)
    }
}

/// A line without its end, which is CR LF (RFC 9112, section 2.2), and with no other control byte than a tab in it.
fn line(bytes: &[u8]) -> Result<&[u8], Malformed> {
    let bytes = bytes.strip_suffix(b"\r\n").ok_or(Malformed::Line)?;
    // PERF: without a branch for each byte the compiler checks sixteen at a time.
    let is_text = |byte: &u8| (*byte >= b' ' && *byte != 0x7F) || *byte == b'\t';
    if bytes.iter().fold(true, |all, byte| all & is_text(byte)) {
        Ok(bytes)
    } else {
        Err(Malformed::Line)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Http10,
    Http11,
}

/// Method, target and version, one space between each (RFC 9112, section 3).
fn start(line: &[u8]) -> Result<Version, Malformed> {
    let mut parts = line.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(version), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Malformed::Start);
    };
    if !is_token(method) || target.is_empty() || target.contains(&b'\t') {
        return Err(Malformed::Start);
    }
    let version = match version {
        b"HTTP/1.1" => Version::Http11,
        b"HTTP/1.0" => Version::Http10,
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor] if major.is_ascii_digit() && minor.is_ascii_digit() => {
            return Err(Malformed::Version);
        }
        _ => return Err(Malformed::Start),
    };
    target::check(target).map(|()| version)
}

/// A name with its colon directly behind it, and a value (RFC 9112, section 5). A folded line has no name.
fn field(line: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let end = line.iter().position(|byte| !TOKEN[usize::from(*byte)]);
    match end.map(|end| line.split_at(end)) {
        Some((name @ [_, ..], [b':', value @ ..])) => Ok((name, value.trim_ascii())),
        _ => Err(Malformed::Line),
    }
}

/// The framing by the fields.
#[derive(Default)]
struct Fields {
    length: Option<u64>,
    chunked: bool,
    upgrade: bool,
}

impl Fields {
    fn note(&mut self, name: &[u8], value: &[u8]) -> Result<(), Malformed> {
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = length(value).filter(|_| self.length.is_none());
            self.length = Some(length.ok_or(Malformed::Length)?);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(Malformed::TransferEncoding);
            }
            self.chunked = true;
        }
        self.upgrade |= name.eq_ignore_ascii_case(b"upgrade");
        Ok(())
    }

    /// RFC 9112, section 6.3: a length beside `chunked` may be an attempt at smuggling, and HTTP/1.0 knows no `chunked`.
    fn head(self, version: Version) -> Result<Head, Malformed> {
        let body = match (self.length, self.chunked) {
            (Some(_), true) => return Err(Malformed::Length),
            (None, true) if version == Version::Http10 => return Err(Malformed::TransferEncoding),
            (None, true) => Framing::Chunked,
            (Some(length), false) => Framing::Length(length),
            (None, false) => Framing::None,
        };
        Ok(Head {
            body,
            upgrade: self.upgrade,
        })
    }
}

/// Digits alone, and no more than any body can have.
fn length(value: &[u8]) -> Option<u64> {
    let fits = (1..=MAX_DIGITS).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
    fits.then(|| value.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}

/// RFC 9110, section 5.6.2.
fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|byte| TOKEN[usize::from(*byte)])
}

/// The signs of a token.
const TOKEN: [bool; 256] = {
    let mut token = [false; 256];
    let mut byte = 0_u8;
    while byte < 0x7F {
        let is_sign = matches!(
            byte,
            b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
        );
        token[byte as usize] = byte.is_ascii_alphanumeric() || is_sign;
        byte += 1;
    }
    token
};

/// Most fields of a request; hyper takes no more.
pub(crate) const MAX_FIELDS: usize = 100;
/// Digits of a length: a million gigabytes.
const MAX_DIGITS: usize = 15;
