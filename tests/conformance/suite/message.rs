//! Strict reading of the requests that the shop received: an ambiguous one is not accepted.

use std::fmt;

#[derive(Debug, PartialEq, Eq)]
pub struct Message {
    pub start: String,
    /// Names in lower case.
    pub fields: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
    pub trailers: Vec<(String, Vec<u8>)>,
    pub is_chunked: bool,
}

/// The bytes behind the last whole message of a connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Rest {
    Nothing,
    /// The beginning of a message.
    Cut,
    /// Ambiguous, with the reason.
    Ambiguous(&'static str),
}

impl Message {
    pub fn values(&self, name: &str) -> Vec<&[u8]> {
        values(&self.fields, name)
    }
}

pub fn values<'a>(fields: &'a [(String, Vec<u8>)], name: &str) -> Vec<&'a [u8]> {
    let named = fields.iter().filter(|(own, _)| own == name);
    named.map(|(_, value)| value.as_slice()).collect()
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.start.strip_suffix(" HTTP/1.1").unwrap_or(&self.start);
        f.write_str(start)?;
        match (self.is_chunked, self.body.len()) {
            (false, 0) => Ok(()),
            (false, length) => write!(f, " +{length}"),
            (true, length) => write!(f, " +{length} chunked"),
        }
    }
}

enum Stop {
    More,
    Ambiguous(&'static str),
}

/// All messages of one connection.
pub fn read(mut bytes: &[u8]) -> (Vec<Message>, Rest) {
    let mut messages = Vec::new();
    loop {
        if bytes.is_empty() {
            return (messages, Rest::Nothing);
        }
        match one(&mut bytes) {
            Ok(message) => messages.push(message),
            Err(Stop::More) => return (messages, Rest::Cut),
            Err(Stop::Ambiguous(why)) => return (messages, Rest::Ambiguous(why)),
        }
    }
}

fn one(bytes: &mut &[u8]) -> Result<Message, Stop> {
    let start = text(line(bytes)?)?;
    check_start(&start)?;
    let fields = fields(bytes)?;
    let (lengths, codings) = (values(&fields, "content-length"), values(&fields, "transfer-encoding"));
    let hosts = values(&fields, "host");
    if hosts.len() != 1 || hosts[0].is_empty() || hosts[0].iter().any(|byte| b" ,\t/@?#\\".contains(byte)) {
        return Err(Stop::Ambiguous("host"));
    }
    let is_http10 = start.ends_with("HTTP/1.0");
    let (mut body, mut trailers, is_chunked) = (Vec::new(), Vec::new(), !codings.is_empty());
    match (lengths.as_slice(), codings.as_slice()) {
        ([], []) => {}
        ([length], []) => body = take(bytes, number(length, 10).ok_or(Stop::Ambiguous("length"))?)?.to_vec(),
        ([], [coding]) if coding.eq_ignore_ascii_case(b"chunked") && !is_http10 => {
            (body, trailers) = chunks(bytes)?;
        }
        _ => return Err(Stop::Ambiguous("framing")),
    }
    Ok(Message {
        start,
        fields,
        body,
        trailers,
        is_chunked,
    })
}

fn check_start(start: &str) -> Result<(), Stop> {
    let parts: Vec<&str> = start.split(' ').collect();
    let [method, target, "HTTP/1.1" | "HTTP/1.0"] = parts[..] else {
        return Err(Stop::Ambiguous("request line"));
    };
    if !is_token(method.as_bytes()) || target.is_empty() || target.contains(['#', '\t']) {
        return Err(Stop::Ambiguous("request line"));
    }
    Ok(())
}

fn fields(bytes: &mut &[u8]) -> Result<Vec<(String, Vec<u8>)>, Stop> {
    let mut fields = Vec::new();
    loop {
        let line = line(bytes)?;
        if line.is_empty() {
            return Ok(fields);
        }
        let colon = line
            .iter()
            .position(|byte| *byte == b':')
            .ok_or(Stop::Ambiguous("line"))?;
        if !is_token(&line[..colon]) {
            return Err(Stop::Ambiguous("field name"));
        }
        let name = String::from_utf8_lossy(&line[..colon]).to_ascii_lowercase();
        fields.push((name, line[colon + 1..].trim_ascii().to_vec()));
    }
}

type Chunked = (Vec<u8>, Vec<(String, Vec<u8>)>);

fn chunks(bytes: &mut &[u8]) -> Result<Chunked, Stop> {
    let mut body = Vec::new();
    loop {
        let size = number(line(bytes)?, 16).ok_or(Stop::Ambiguous("chunk size"))?;
        if size == 0 {
            return Ok((body, fields(bytes)?));
        }
        body.extend_from_slice(take(bytes, size)?);
        if !line(bytes)?.is_empty() {
            return Err(Stop::Ambiguous("chunk end"));
        }
    }
}

/// Where a chunked body ends, if it does; an invalid chunk counts as its end, so that it has an answer too.
pub fn body_end(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    match chunks(&mut rest) {
        Ok(_) => Some(bytes.len() - rest.len()),
        Err(Stop::More) => None,
        Err(Stop::Ambiguous(_)) => Some(bytes.len()),
    }
}

/// A line that ends with CR LF and holds no other control byte than a tab.
fn line<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], Stop> {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
        return Err(Stop::More);
    };
    let line = bytes[..end].strip_suffix(b"\r").ok_or(Stop::Ambiguous("line end"))?;
    if line.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
        return Err(Stop::Ambiguous("control byte"));
    }
    *bytes = &bytes[end + 1..];
    Ok(line)
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8], Stop> {
    let (taken, rest) = bytes.split_at_checked(count).ok_or(Stop::More)?;
    *bytes = rest;
    Ok(taken)
}

fn number(digits: &[u8], radix: u32) -> Option<usize> {
    let sound = digits.iter().all(|digit| (*digit as char).is_digit(radix));
    let digits = std::str::from_utf8(digits).ok().filter(|_| sound)?;
    usize::from_str_radix(digits, radix).ok()
}

fn text(line: &[u8]) -> Result<String, Stop> {
    // Bytes beyond ASCII are the target's own business, and shown as they are.
    if line.is_empty() {
        return Err(Stop::Ambiguous("empty line"));
    }
    Ok(String::from_utf8_lossy(line).into_owned())
}

fn is_token(bytes: &[u8]) -> bool {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !bytes.is_empty() && bytes.iter().all(fits)
}
